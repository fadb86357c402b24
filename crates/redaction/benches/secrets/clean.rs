//! Lines without a secret in them.

use std::path::{Path, PathBuf};

use redaction::{Class, Detectors};

/// Prints how many clean lines raise an alarm, and says whether that is few enough.
pub(crate) fn alarms(detectors: &Detectors, named: &[PathBuf], data: &Path, bar: f64, explain: bool) -> bool {
    let sources = if named.is_empty() {
        standard(data)
    } else {
        named.iter().map(|path| (name(path), vec![path.clone()])).collect()
    };
    println!("\n{:<28} {:>9} {:>8} {:>10}", "clean", "lines", "alarms", "share");
    let (mut lines, mut alarms) = (0, 0);
    for (name, files) in sources {
        let (mut here, mut alarmed) = (0, 0);
        for file in &files {
            let Ok(text) = std::fs::read_to_string(file) else {
                println!("{name:<28} {} cannot be read: set PUNK_BENCH_DATA, or name files", file.display());
                return false;
            };
            for line in of_file(file, &text) {
                here += 1;
                let found = detectors.find(&line);
                if let Some(finding) = found.iter().find(|finding| finding.class != Class::Placeholder) {
                    alarmed += 1;
                    if explain {
                        let from = line.floor_char_boundary(finding.range.start.saturating_sub(60));
                        println!(
                            "  ALARM {} {:?} …{:?}",
                            finding.rule,
                            finding.encoding,
                            &line[from..finding.range.end]
                        );
                    }
                }
            }
        }
        if here == 0 {
            println!("{name:<28} has no lines");
            return false;
        }
        println!("{name:<28} {here:>9} {alarmed:>8} {:>9.4} %", 100.0 * alarmed as f64 / here as f64);
        lines += here;
        alarms += alarmed;
    }
    let share = alarms as f64 / lines as f64;
    let met = share <= bar;
    println!(
        "{:<28} {lines:>9} {alarms:>8} {:>9.4} %  bar {} % {}",
        "all",
        100.0 * share,
        100.0 * bar,
        if met { "met" } else { "MISSED" }
    );
    met
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Chats, tasks, sources and lock files that are there wherever the project is built.
fn standard(data: &Path) -> Vec<(String, Vec<PathBuf>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut sources: Vec<(String, Vec<PathBuf>)> =
        ["banking77", "snips2017", "gsm8k", "tau_bench", "bfcl_v4", "agentdojo"]
            .iter()
            .map(|folder| ((*folder).to_owned(), files(&data.join(folder), &["json", "jsonl", "csv"], 0)))
            .collect();
    sources.push(("lock files".to_owned(), vec![root.join("Cargo.lock"), root.join("package-lock.json")]));
    sources.push(("documents".to_owned(), files(&root.join("docs"), &["md"], 3)));
    sources.push((
        "our sources".to_owned(),
        files(&root.join("crates"), &["rs"], 2)
            .into_iter()
            .filter(|path| !path.to_string_lossy().contains("/redaction/"))
            .collect(),
    ));
    let registry = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")))
        .unwrap_or_default()
        .join("registry/src");
    for (name, endings) in [
        ("sources: Rust", &["rs"][..]),
        ("sources: JavaScript", &["js", "ts", "css", "html"]),
        ("sources: Python, C, shell", &["py", "c", "h", "sh"]),
        ("sources: Markdown", &["md"]),
        ("sources: TOML, YAML, JSON", &["toml", "yml", "yaml", "json"]),
    ] {
        let mut found = files(&registry, endings, 6);
        found.sort();
        // Every so many, so that no crate outweighs the others.
        let step = (found.len() / 400).max(1);
        sources.push((name.to_owned(), found.into_iter().step_by(step).collect()));
    }
    sources
}

fn files(folder: &Path, endings: &[&str], depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                found.extend(files(&path, endings, depth - 1));
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted))
            && std::fs::read_to_string(&path).is_ok()
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines of a file. A JSON file that is one value gives the lines of its strings, which is what a chat consists of.
fn of_file(path: &Path, text: &str) -> Vec<String> {
    let is_json = path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
    if is_json
        && text.lines().any(|line| line.len() > 4000)
        && let Ok(value) = serde_json::from_str(text)
    {
        let mut lines = Vec::new();
        strings(&value, &mut lines);
        return lines;
    }
    text.lines().map(str::to_owned).collect()
}

fn strings(value: &serde_json::Value, lines: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => lines.extend(text.lines().map(str::to_owned)),
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, lines)),
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    serde_json::Value::String(text) if !text.contains('\n') => {
                        lines.push(format!("\"{name}\": {value}"));
                    }
                    _ => strings(value, lines),
                }
            }
        }
        _ => {}
    }
}
