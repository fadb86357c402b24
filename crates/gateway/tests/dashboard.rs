//! The dashboard is inside the binary: every file of it is served as it is in the repository, and nothing else is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use gateway::Rates;
use serde_json::Value;
use world::{Reply, Setup, World};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboard")
}

/// Every file below a folder, by its path there.
fn files(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &path, found);
        } else {
            found.push(path);
        }
    }
}

/// What kind of file is served; nothing for what is for whoever works on it.
fn media(path: &str) -> Option<&'static str> {
    let kinds = [
        (".html", "text/html; charset=utf-8"),
        (".css", "text/css; charset=utf-8"),
        (".js", "text/javascript; charset=utf-8"),
        (".mjs", "text/javascript; charset=utf-8"),
        (".svg", "image/svg+xml"),
    ];
    let makers = ["types/", "tests/", "test/", "scripts/", "node_modules/"];
    if makers.iter().any(|folder| path.starts_with(folder)) || path.contains(".test.") {
        return None;
    }
    kinds.iter().find(|(end, _)| path.ends_with(end)).map(|(_, media)| *media)
}

async fn get(world: &World, path: &str, headers: &[(&str, &str)]) -> Reply {
    world.send("GET", path, headers, &Value::Null).await
}

#[track_caller]
fn is_guarded(reply: &Reply) {
    assert_eq!(reply.header("content-security-policy"), Some(POLICY), "{reply:?}");
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
}

#[tokio::test]
async fn every_file_is_served_as_it_is_without_a_key_packed_and_only_once() {
    let world = Setup::protected().start().await;
    let mut all = Vec::new();
    files(&folder(), "", &mut all);
    let mut served = 0;
    for path in all {
        let Some(media) = media(&path) else { continue };
        served += 1;
        let place = format!("/assets/{path}");
        let bytes = std::fs::read(folder().join(&path)).unwrap();
        let plain = get(&world, &place, &[]).await;
        assert_eq!((plain.status, plain.header("content-type")), (200, Some(media)), "{path}");
        assert_eq!(plain.body, bytes, "{path}");
        assert_eq!(plain.header("content-encoding"), None);
        is_guarded(&plain);
        let packed = get(&world, &place, &[("accept-encoding", "br, gzip")]).await;
        if packed.header("content-encoding") == Some("gzip") {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, bytes, "{path}");
            assert!(packed.body.len() < bytes.len(), "{path}");
            assert_ne!(packed.header("etag"), plain.header("etag"), "two forms, two names: {path}");
        } else {
            assert_eq!(packed.body, bytes, "{path}");
        }
        for (reply, encoding) in [(&plain, "identity"), (&packed, "gzip")] {
            let tag = reply.header("etag").unwrap();
            let again = get(&world, &place, &[("if-none-match", tag), ("accept-encoding", encoding)]).await;
            assert_eq!((again.status, again.body.len()), (304, 0), "{path}: {again:?}");
            assert_eq!((again.header("etag"), again.header("content-type")), (Some(tag), None));
        }
        let head = world.send("HEAD", &place, &[], &Value::Null).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), Some(bytes.len().to_string().as_str()), "{path}");
    }
    assert!(served > 5, "only {served} files are served");
}

#[tokio::test]
async fn the_page_is_at_the_root_and_names_only_files_that_are_there() {
    let world = Setup::protected().start().await;
    let page = get(&world, "/", &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.body, std::fs::read(folder().join("index.html")).unwrap());
    is_guarded(&page);
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    let named: Vec<&str> = ["href=\"/assets/", "src=\"/assets/"]
        .iter()
        .flat_map(|start| text.split(start).skip(1))
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(!named.is_empty(), "{text}");
    for path in named {
        assert_eq!(get(&world, &format!("/assets/{path}"), &[]).await.status, 200, "{path}");
    }
    for elsewhere in ["src=\"http", "href=\"http", "src=\"//", "href=\"//"] {
        assert!(!text.contains(elsewhere), "{elsewhere}");
    }
}

#[tokio::test]
async fn what_is_not_of_the_page_is_not_there() {
    let world = Setup::protected().start().await;
    let mut all = Vec::new();
    files(&folder(), "", &mut all);
    let for_makers = all.iter().filter(|path| {
        ["README.md", "package.json", "jsconfig.json", "tsconfig.json"].iter().any(|end| path.ends_with(end))
            || path.ends_with(".d.ts")
    });
    for path in for_makers.cloned().chain([
        "".into(),
        "..".into(),
        "../Cargo.toml".into(),
        "%2e%2e/Cargo.toml".into(),
        "index.html/".into(),
    ]) {
        let reply = get(&world, &format!("/assets/{path}"), &[]).await;
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
    }
}

#[tokio::test]
async fn pages_are_not_counted() {
    let rates = Rates {
        requests_per_minute: 2,
        chat_requests_per_minute: 2,
        user_requests_per_minute: 2,
        ip_requests_per_minute: 2,
    };
    let world = Setup { rates, ..Setup::protected() }.start().await;
    for _ in 0..20 {
        let page = get(&world, "/", &[]).await;
        assert_eq!((page.status, page.header("ratelimit")), (200, None), "{page:?}");
    }
}
