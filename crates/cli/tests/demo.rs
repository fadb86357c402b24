//! `punk demo`: what it tells is what happens, step by step, and a second time it needs the model less.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use serde_json::Value;
use world::World;

/// The transcript without what differs from one time to the next: ids, hashes, numbers, times, and which ticket was drawn.
fn normalised(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let label = line.trim_start();
        let line = match label.split_once("  ") {
            Some((name @ ("ticket" | "answer"), _)) if line.starts_with("      ") => {
                let (begin, _) = line.split_at(line.find(name).unwrap() + name.len());
                format!("{begin}  …")
            }
            _ => line.split(' ').map(word).collect::<Vec<_>>().join(" "),
        };
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

/// A word with its numbers as `0`, and its ids and hashes as `…`.
fn word(word: &str) -> String {
    let mut plain = String::new();
    for part in word.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        let body = part.trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let end = &part[body.len()..];
        let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
        let is_id = body.split_once('_').is_some_and(|(prefix, rest)| prefix.len() == 3 && rest.len() == 26);
        if is_id {
            plain.push_str(&format!("{}_…", &body[..3]));
        } else if has_digit && body.len() > 12 {
            plain.push('…');
        } else {
            plain.push_str(&numbers(body));
        }
        plain.push_str(end);
    }
    // What is left of `0.000133`, of a time or of an address.
    while plain.contains("0.0") || plain.contains("0:0") || plain.contains("0-0") {
        plain = plain.replace("0.0", "0").replace("0:0", "0").replace("0-0", "0");
    }
    plain
}

fn numbers(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if plain.ends_with('0') => {}
            '0'..='9' => plain.push('0'),
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn the_first_time_it_tells_this_story() {
    let world = World::new();
    let ended = world.punk(&["demo", "--fast"]);
    assert_eq!(ended.code, 0, "{}", ended.told());
    assert!(!ended.stdout.contains('\u{1b}'), "nobody looks on, so nothing is coloured");
    expect_test::expect_file!["demo.txt"].assert_eq(&normalised(&ended.stdout));
    // What it wrote is a ledger like any other.
    let checked = world.punk(&["verify", "--ledger", "data/demo/punk.db"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
}

/// The steps of a demo in JSON, by their names.
fn steps(world: &World) -> Vec<Value> {
    let ended = world.punk(&["demo", "--fast", "--json", "--data-dir", "elsewhere"]);
    assert_eq!(ended.code, 0, "{}", ended.told());
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn share(steps: &[Value]) -> u64 {
    let last = steps.last().unwrap();
    let text = last["facts"]["share without a model, this time"].as_str().unwrap();
    text.trim_end_matches(" %").parse().unwrap()
}

#[test]
fn a_line_of_json_is_a_step_and_the_second_time_the_model_is_needed_less() {
    // A key that lies around is not for the demo.
    let world = World::new().set("OPENAI_API_KEY", "sk-not-to-be-used").set("PUNK_PORT", "1");
    let first = steps(&world);
    let names: Vec<&str> = first.iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "live",
            "exact_cache",
            "tool_cache",
            "pattern",
            "synthesis",
            "proof",
            "promotion",
            "artifact",
            "policy_block",
            "approval",
            "quarantine",
            "redaction",
            "evidence",
            "tampered",
            "savings",
        ]
    );
    let fact = |name: &str, fact: &str| {
        let step = first.iter().find(|step| step["step"] == name).unwrap();
        match &step["facts"][fact] {
            Value::Array(lines) => lines[0].as_str().unwrap().to_owned(),
            Value::String(text) => text.clone(),
            other => panic!("{name}, {fact}: {other}"),
        }
    };
    for (name, about, begins) in [
        ("live", "route", "live"),
        ("exact_cache", "route", "exact_cache"),
        ("tool_cache", "then", "hit"),
        ("synthesis", "promote it now", "409 punk_gate_not_satisfied"),
        ("proof", "gates", "passed"),
        ("promotion", "state", "promoted"),
        ("artifact", "route", "artifact"),
        ("policy_block", "refused", "403 punk_policy_denied"),
        ("approval", "asked", "403 punk_approval_required"),
        ("approval", "by itself", "403"),
        ("approval", "Ada", "approved"),
        ("quarantine", "Punk says", "quarantined"),
        ("redaction", "the key is in the ledger", "no"),
        ("redaction", "the caller gets it back", "yes"),
        ("evidence", "says", "valid"),
        ("tampered", "says", "broken"),
    ] {
        let said = fact(name, about);
        assert!(said.starts_with(begins), "{name}, {about}: {said}");
    }
    let second = steps(&world);
    assert!(share(&second) > share(&first) + 10, "{} and then {}", share(&first), share(&second));
}
