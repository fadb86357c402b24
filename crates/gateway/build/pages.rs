//! The documentation as pages for people: `docs/` in Markdown becomes HTML, with a way from each page to all others.
//!
//! What a page says is text and nothing else: HTML in it is shown, not obeyed. Links between pages lead where the pages are
//! served; `tests/docs.rs` follows every one of them.

use std::fs;
use std::io;
use std::path::Path;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::files::File;

/// The parts of the documentation, as people read it: a title, and the folder.
const PARTS: [(&str, &str); 4] =
    [("Begin", ""), ("How to", "how-to"), ("Reference", "reference"), ("Explanation", "explanation")];

/// A page before it is one.
struct Source {
    /// Where it is served, below `/docs/`; the first page is `index`.
    path: String,
    part: usize,
    title: String,
    text: String,
}

/// All pages, and what they are made of.
pub(crate) fn of(docs: &Path, parts: &Path) -> io::Result<Vec<File>> {
    let sources = read(docs)?;
    let mut files: Vec<File> = sources
        .iter()
        .map(|source| File {
            path: source.path.clone(),
            media: "text/html; charset=utf-8",
            bytes: page(source, &sources).into_bytes(),
        })
        .collect();
    for (name, path, media) in [
        ("index.html", "api", "text/html; charset=utf-8"),
        ("docs.css", "docs.css", "text/css; charset=utf-8"),
        ("docs.js", "docs.js", "text/javascript; charset=utf-8"),
        ("manual.css", "manual.css", "text/css; charset=utf-8"),
    ] {
        files.push(File { path: path.to_owned(), media, bytes: fs::read(parts.join(name))? });
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn read(docs: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for (part, (_, folder)) in PARTS.iter().enumerate() {
        let place = docs.join(folder);
        if !place.is_dir() {
            continue;
        }
        for entry in fs::read_dir(place)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".md")) else { continue };
            let text = fs::read_to_string(docs.join(folder).join(format!("{name}.md")))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(name).to_owned();
            let path = match (name, *folder) {
                ("README", "") => "index".to_owned(),
                (name, "") => name.to_owned(),
                (name, folder) => format!("{folder}/{name}"),
            };
            sources.push(Source { path, part, title, text });
        }
    }
    sources.sort_by_key(order);
    Ok(sources)
}

/// The first page first, then the tutorial, then by title.
fn order(source: &Source) -> (usize, u8, String) {
    let rank = match source.path.as_str() {
        "index" => 0,
        "tutorial" => 1,
        _ => 2,
    };
    (source.part, rank, source.title.to_lowercase())
}

fn page(source: &Source, all: &[Source]) -> String {
    let title = escaped(&source.title);
    let (contents, body) = (contents(source, all), body(source));
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Punk</title>
<link rel="stylesheet" href="/docs/docs.css">
<link rel="stylesheet" href="/docs/manual.css">
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="top">
  <a class="brand" href="/docs"><span class="mark" aria-hidden="true"></span>Punk <em>docs</em></a>
  <a class="raw" href="/docs/api">API</a>
  <a class="raw next" href="/">Dashboard</a>
</header>
<div class="frame">
  <nav id="contents" aria-label="Documentation">{contents}</nav>
  <main id="main" class="page" tabindex="-1">
{body}  </main>
</div>
</body>
</html>
"##
    )
}

fn contents(source: &Source, all: &[Source]) -> String {
    let mut text = String::new();
    for (part, (name, _)) in PARTS.iter().enumerate() {
        text.push_str(&format!("<h2>{name}</h2><ul>"));
        for other in all.iter().filter(|other| other.part == part) {
            let current = if other.path == source.path { " aria-current=\"page\"" } else { "" };
            let (place, title) = (served(&other.path), escaped(&other.title));
            text.push_str(&format!("<li><a href=\"{place}\"{current}>{title}</a></li>"));
        }
        if *name == "Reference" {
            text.push_str("<li><a href=\"/docs/api\">The API, to look around in</a></li>");
        }
        text.push_str("</ul>");
    }
    text
}

fn body(source: &Source) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> =
        Parser::new_ext(&source.text, options).map(|event| told(event, source)).collect();
    name_headings(&mut events);
    let mut text = String::new();
    html::push_html(&mut text, events.into_iter());
    // A table may be wider than the page.
    text.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

/// What is text stays text, and what leads somewhere leads where that is served.
fn told<'e>(event: Event<'e>, source: &Source) -> Event<'e> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = CowStr::from(place(&dest_url, source));
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        other => other,
    }
}

/// Where a link of a page leads.
fn place(link: &str, source: &Source) -> String {
    if link.contains("://") || link.starts_with('#') || link.starts_with('/') {
        return link.to_owned();
    }
    let (file, anchor) =
        link.split_once('#').map_or((link, String::new()), |(file, anchor)| (file, format!("#{anchor}")));
    let mut parts: Vec<&str> = source.path.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    match path.as_str() {
        "reference/openapi.json" => "/api/v1/openapi.json".to_owned(),
        "README.md" => format!("/docs{anchor}"),
        path => format!("/docs/{}{anchor}", path.strip_suffix(".md").unwrap_or(path)),
    }
}

fn served(path: &str) -> String {
    if path == "index" { "/docs".to_owned() } else { format!("/docs/{path}") }
}

/// Gives every heading an id of its words, as code hosts do, so that links into a page lead somewhere.
fn name_headings(events: &mut [Event<'_>]) {
    let mut seen: Vec<String> = Vec::new();
    for at in 0..events.len() {
        if !matches!(events[at], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Heading(_)));
        let words: String = events[at..]
            .iter()
            .take_while(|event| !end(event))
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        let slug = slug(&words);
        let count = seen.iter().filter(|known| **known == slug).count();
        seen.push(slug.clone());
        let name = if count == 0 { slug } else { format!("{slug}-{count}") };
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[at] {
            *id = Some(name.into());
        }
    }
}

fn slug(words: &str) -> String {
    let words = words.trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('`', "")
}
