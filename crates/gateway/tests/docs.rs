//! The documentation is served as pages: every page of `docs/`, and no link that leads nowhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use world::{Setup, World};

/// What follows `name="` in a page, each time.
fn values(page: &str, name: &str) -> Vec<String> {
    let start = format!(" {name}=\"");
    page.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

async fn read(world: &World, path: &str) -> (u16, String, String) {
    let reply = world.send("GET", path, &[], &Value::Null).await;
    let media = reply.header("content-type").unwrap_or_default().to_owned();
    (reply.status, media, String::from_utf8_lossy(&reply.body).into_owned())
}

#[tokio::test]
async fn every_page_is_there_and_every_link_leads_somewhere() {
    let world = Setup::protected().start().await;
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting = vec!["/docs".to_owned()];
    let mut links: BTreeSet<(String, String)> = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let (status, media, text) = read(&world, &path).await;
        assert_eq!(status, 200, "{path}");
        // The page of the API is drawn by a script, and the rest is no page.
        let is_page = media.starts_with("text/html") && path != "/docs/api" && path != "/";
        if is_page {
            for link in values(&text, "href") {
                let place = link.split('#').next().unwrap().to_owned();
                if !link.contains("://") && !place.is_empty() {
                    waiting.push(place);
                }
                links.insert((path.clone(), link));
            }
        }
        pages.insert(path, if is_page { text } else { String::new() });
    }
    for (from, link) in links {
        let Some((place, anchor)) = link.split_once('#').filter(|_| !link.contains("://")) else { continue };
        let page = if place.is_empty() { &pages[&from] } else { &pages[place] };
        assert!(
            page.is_empty() || values(page, "id").iter().any(|id| id == anchor),
            "{from} links to {link}"
        );
    }
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (folder, prefix) in [
        ("", "/docs/"),
        ("how-to", "/docs/how-to/"),
        ("reference", "/docs/reference/"),
        ("explanation", "/docs/explanation/"),
    ] {
        for entry in std::fs::read_dir(docs.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(stem) = name.strip_suffix(".md").filter(|stem| *stem != "README") else { continue };
            assert!(pages.contains_key(&format!("{prefix}{stem}")), "no page leads to {folder}/{name}");
        }
    }
}

#[tokio::test]
async fn a_page_is_text_guarded_and_named_for_those_who_hear_it() {
    let world = Setup::protected().start().await;
    for path in ["/docs", "/docs/tutorial", "/docs/reference/errors"] {
        let reply = world.send("GET", path, &[], &Value::Null).await;
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        assert!(
            text.contains("<html lang=\"en\">") && text.contains("<nav id=\"contents\" aria-label="),
            "{path}"
        );
        assert_eq!(text.matches("<h1").count(), 1, "{path}");
        assert_eq!(text.matches("aria-current=\"page\"").count(), 1, "{path}");
        for no in ["<script", " style=\"", " onclick=", "javascript:"] {
            assert!(!text.contains(no), "{path} has {no}");
        }
    }
    // What looks like HTML in a page is shown.
    let (_, _, text) = read(&world, "/docs/reference/evidence-packet").await;
    assert!(text.contains("&lt;origin&gt;") && !text.contains("<origin>"));
    for path in ["/docs/nothing", "/docs/../Cargo.toml", "/docs/how-to", "/docs/tutorial.md"] {
        assert_eq!(read(&world, path).await.0, 404, "{path}");
    }
}
