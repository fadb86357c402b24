//! How fast text is scanned: `cargo bench -p redaction --bench scan`.
//!
//! Chat text is what people, models and system prompts say in the conversations of the benchmark; what tools return in them, JSON full of
//! numbers, is measured apart. The plain set of expressions is made from the same rules file the
//! other bench makes its samples from, and runs over the same text. A bar that is missed makes the bench exit with 1.
//!
//! `-- --ours` leaves out the set of expressions, which takes long to build; `-- --everything` measures nothing but the first figure.
//!
//! The data is `PUNK_BENCH_DATA`, or `../shared/bench/data`, seen from the workspace.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use redaction::{Class, Detectors};

/// What has to be reached.
const MEGABYTES: f64 = 200.0;
const TIMES_REGEX: f64 = 3.0;
const SHORT_MICROS: f64 = 4.0;
const MIDDLE_MICROS: f64 = 12.0;

fn main() -> ExitCode {
    let data = std::env::var_os("PUNK_BENCH_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/data"),
        PathBuf::from,
    );
    let Some(chat) = chat(&data) else {
        eprintln!(
            "no chats in {}: set PUNK_BENCH_DATA to the folder that has `tau_bench` in it",
            data.display()
        );
        return ExitCode::FAILURE;
    };
    let asks = |option: &str| std::env::args().any(|argument| argument == option);
    let all = Arc::new(Detectors::builder().build().unwrap());
    println!("{:<52} {:>9}", format!("{:.1} MB of chat text", chat.len() as f64 / 1e6), "MB/s");
    let ours =
        rate("everything that is built in, as the gateway runs it", &chat, &|text| all.find(text).len());
    if asks("--everything") {
        return ExitCode::SUCCESS;
    }
    variants(&chat, &all);
    println!("{:<52} {:>9}", "other text, everything that is built in", "MB/s");
    rate("what tools return in the same chats", &said(&data, &["tool"]).unwrap_or_default(), &|text| {
        all.find(text).len()
    });
    rate("JSON of the same chats", &json(&data), &|text| all.find(text).len());
    rate("code", &code(), &|text| all.find(text).len());
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(40_000);
    rate("a picture in base64", &image, &|text| all.find(text).len());
    let mut met = true;
    let mut bar = |name: &str, figure: f64, holds: bool, bar: f64| {
        met &= holds;
        println!("{name:<52} {figure:>9.2} bar {bar} {}", if holds { "met" } else { "MISSED" });
    };
    println!();
    bar("MB/s on chat text", ours, ours >= MEGABYTES, MEGABYTES);
    for (name, length, most) in [
        ("µs for 500 bytes, setup included", 500, SHORT_MICROS),
        ("µs for 2,000 bytes, setup included", 2000, MIDDLE_MICROS),
    ] {
        let micros = of_messages(&chat, length, |text| in_pieces(&all, text, length));
        bar(name, micros, micros <= most, most);
    }
    if !asks("--ours") {
        let Some(plain) = plain_set(&data, &chat) else {
            eprintln!("no expressions in {}", data.display());
            return ExitCode::FAILURE;
        };
        bar("times the plain set", ours / plain, ours / plain >= TIMES_REGEX, TIMES_REGEX);
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints how fast `scan` is on a text.
fn rate(name: &str, text: &str, scan: &dyn Fn(&str) -> usize) -> f64 {
    let rate = megabytes(text, scan);
    println!("{name:<52} {rate:>9.1}");
    rate
}

/// Less than everything, and more.
fn variants(chat: &str, all: &Arc<Detectors>) {
    let secrets = [Class::Secret, Class::PrivateKey, Class::ConnectionString];
    let detectors = Detectors::builder().classes(secrets).build().unwrap();
    let canary = Detectors::builder().canary(0, "heron-4711-lantern").canary(1, "quiet-otter-9923-maple");
    let canary = canary.build().unwrap();
    let custom = Detectors::builder().custom("ticket", r"\bTCK-\d{4,8}\b").unwrap();
    let custom = custom.build().unwrap();
    rate("secrets alone", chat, &|text| detectors.find(text).len());
    rate("everything and two canaries", chat, &|text| canary.find(text).len());
    rate("everything and a pattern", chat, &|text| custom.find(text).len());
    rate("everything, in pieces of 20 bytes", chat, &|text| in_pieces(all, text, 20));
}

/// Prints how fast the expressions are by themselves, and gives the rate of the plain set.
fn plain_set(data: &Path, chat: &str) -> Option<f64> {
    let set = expressions(data)?;
    let part = &chat[..chat.floor_char_boundary(chat.len() / 10)];
    let lines = |text: &str| text.lines().map(|line| set.plain.matches(line).iter().count()).sum();
    let plain = megabytes(&part[..part.floor_char_boundary(20_000)], &lines);
    println!("{:<52} {plain:>9.3}", format!("a plain set of {} expressions, MB/s", set.plain.len()));
    let lines = |text: &str| text.lines().map(|line| set.bytes.matches(line.as_bytes()).iter().count()).sum();
    println!("{:<52} {:>9.1}", "the same over bytes, with 64 MB of states", megabytes(part, &lines));
    Some(plain)
}

fn in_pieces(detectors: &Arc<Detectors>, text: &str, length: usize) -> usize {
    let mut stream = detectors.stream();
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length.min(rest.len())));
        stream.push(piece, &mut found);
        rest = after;
    }
    stream.finish(&mut found);
    found.len()
}

/// The text in parts, each at the best of several rounds: the machine is shared, and a part is short enough to be left in peace.
fn megabytes(text: &str, scan: &dyn Fn(&str) -> usize) -> f64 {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(64 * 1024));
        let rounds = (0..9).map(|_| {
            let began = Instant::now();
            black_box(scan(black_box(part)));
            began.elapsed().as_secs_f64()
        });
        seconds += rounds.fold(f64::MAX, f64::min);
        rest = after;
    }
    text.len() as f64 / seconds / 1e6
}

/// How long a message of this length takes, as the mean of many from all over the text, each at the best of several rounds.
fn of_messages(text: &str, length: usize, act: impl Fn(&str) -> usize) -> f64 {
    let messages: Vec<&str> = (0..64)
        .map(|number| {
            let start = text.ceil_char_boundary(text.len() / 65 * number);
            &text[start..text.ceil_char_boundary(start + length)]
        })
        .collect();
    let best = |message: &str| {
        let rounds = (0..15).map(|_| {
            let began = Instant::now();
            for _ in 0..20 {
                black_box(act(black_box(message)));
            }
            began.elapsed().as_secs_f64() * 1e6 / 20.0
        });
        rounds.fold(f64::MAX, f64::min)
    };
    messages.iter().map(|message| best(message)).sum::<f64>() / messages.len() as f64
}

/// The chats as they are sent: JSON, with numbers and escapes.
fn json(data: &Path) -> String {
    let text = std::fs::read_to_string(data.join("tau_bench/gpt-4o-airline.trajectories.json"));
    text.map(|text| text[..text.floor_char_boundary(2_000_000)].to_owned()).unwrap_or_default()
}

/// This crate's own sources, which are full of what looks like secrets.
fn code() -> String {
    let mut text = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match std::fs::read_to_string(entry.path()) {
                Ok(source) => text.push_str(&source),
                Err(_) => folders.push(entry.path()),
            }
        }
    }
    text
}

/// The messages of the chats, as a model would be sent them.
fn chat(data: &Path) -> Option<String> {
    said(data, &["system", "user", "assistant"])
}

/// What these say in the conversations.
fn said(data: &Path, roles: &[&str]) -> Option<String> {
    let file = data.join("tau_bench/gpt-4o-airline.trajectories.json");
    let value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let mut text = String::new();
    messages(&value, roles, &mut text);
    Some(text)
}

fn messages(value: &serde_json::Value, roles: &[&str], text: &mut String) {
    match value {
        serde_json::Value::Array(values) => values.iter().for_each(|value| messages(value, roles, text)),
        serde_json::Value::Object(fields) => {
            let by =
                fields.get("role").and_then(|role| role.as_str()).is_some_and(|role| roles.contains(&role));
            if let Some(content) = fields.get("content").and_then(|content| content.as_str()).filter(|_| by) {
                text.push_str(content);
                text.push('\n');
            }
            fields.values().for_each(|value| messages(value, roles, text));
        }
        _ => {}
    }
}

/// The expressions of the rules file, as somebody would use them who has nothing else.
struct Sets {
    plain: regex::RegexSet,
    /// Without Unicode, and with much more room for states than it would be given.
    bytes: regex::bytes::RegexSet,
}

fn expressions(data: &Path) -> Option<Sets> {
    let file: toml::Table =
        std::fs::read_to_string(data.join("gitleaks_rules/gitleaks.toml")).ok()?.parse().ok()?;
    let rules = file.get("rules")?.as_array()?;
    let patterns: Vec<&str> = rules.iter().filter_map(|rule| rule.get("regex")?.as_str()).collect();
    let plain = regex::RegexSetBuilder::new(&patterns).size_limit(1 << 30).build().ok()?;
    let mut bytes = regex::bytes::RegexSetBuilder::new(&patterns);
    let bytes = bytes.unicode(false).size_limit(1 << 30).dfa_size_limit(1 << 26).build().ok()?;
    Some(Sets { plain, bytes })
}
