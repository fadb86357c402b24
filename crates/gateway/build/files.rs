//! Which files of a folder are served, and as what.

use std::fs;
use std::io;
use std::path::Path;

/// One file to be served.
pub(crate) struct File {
    /// Where it is below the folder, with `/` on every system.
    pub(crate) path: String,
    pub(crate) media: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Folders of whoever works on the dashboard, not of whoever looks at it.
const NOT_SERVED: &[&str] = &["node_modules", "test", "tests", "types", "scripts"];
/// Files that are for them, too.
const FOR_MAKERS: &[&str] = &["package.json", "package-lock.json", "tsconfig.json", "jsconfig.json"];

/// The files of the dashboard, by path. None, if there is no such folder.
pub(crate) fn of_dashboard(folder: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        walk(folder, "", &mut files)?;
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn walk(folder: &Path, below: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if name.starts_with('.') || NOT_SERVED.contains(&name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &path, files)?;
        } else if !is_for_makers(name) {
            match media(name) {
                Some(media) => files.push(File { path, media, bytes: fs::read(entry.path())? }),
                None => println!(
                    "cargo::warning=dashboard/{path} is not served: build/files.rs has no media type for it"
                ),
            }
        }
    }
    Ok(())
}

fn is_for_makers(name: &str) -> bool {
    let ends = |end: &str| name.ends_with(end);
    FOR_MAKERS.contains(&name)
        || ends(".md")
        || ends(".d.ts")
        || ends(".map")
        || ends(".test.js")
        || ends(".test.mjs")
}

/// What a file is, by how its name ends. A licence has no ending, and must come along.
fn media(name: &str) -> Option<&'static str> {
    if name.starts_with("LICENSE") || name.starts_with("NOTICE") {
        return Some("text/plain; charset=utf-8");
    }
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}
