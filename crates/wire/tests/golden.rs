//! What comes in by one wire and goes out by another, in files: `golden/cases` holds what comes in, a file beside it
//! for each wire that it goes out by holds what becomes of it.
//!
//! A case is `{"wire", "request"}`, `{"wire", "answer"}` or `{"wire", "stream"}`; a stream is a list of frames, each
//! its data or `{"event", "data"}`. To add one, write the case and run with `UPDATE_EXPECT=1`; then read what it wrote.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::{Value, json};
use wire::{Delta, Gather, Stamp, Wire, sse};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn cases() -> Vec<(String, Value)> {
    let mut cases: Vec<(String, Value)> = fs::read_dir(folder().join("cases"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (name, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        })
        .collect();
    cases.sort_by(|(one, _), (other, _)| one.cmp(other));
    cases
}

fn stamp(echo: serde_json::Map<String, Value>) -> Stamp {
    Stamp { id: "0123456789abcdef".to_owned(), created: 1_790_000_000, model: "house/model".to_owned(), echo }
}

/// What becomes of the case on this wire, as text.
fn outcome(case: &Value, to: Wire) -> String {
    let from: Wire = serde_json::from_value(case["wire"].clone()).unwrap();
    if let Some(body) = case.get("request") {
        match from.read_request(body).and_then(|request| to.write_request(&request)) {
            Ok(translated) => pretty(&json!({ "body": translated.body, "left_out": translated.left_out })),
            Err(refused) => format!("refused {}\n", refused.message),
        }
    } else if let Some(body) = case.get("answer") {
        match from.read_answer(body) {
            Ok(answer) => pretty(&to.write_answer(&answer, &stamp(serde_json::Map::new()))),
            Err(broken) => format!("broken {}\n", broken.message),
        }
    } else {
        let mut writer = to.writer(&stamp(serde_json::Map::new()), true);
        let mut out = Vec::new();
        for delta in deltas(from, &case["stream"]) {
            writer.write(&delta, &mut out);
        }
        String::from_utf8(out).unwrap()
    }
}

fn deltas(from: Wire, frames: &Value) -> Vec<Delta> {
    let mut bytes = Vec::new();
    for frame in frames.as_array().unwrap() {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match frame.get("event") {
            Some(name) => sse::write_frame(name.as_str(), &text(&frame["data"]), &mut bytes),
            None => sse::write_frame(None, &text(frame), &mut bytes),
        }
    }
    let mut decoder = sse::Decoder::default();
    let (mut reader, mut out) = (from.reader(), Vec::new());
    decoder.feed(&bytes);
    decoder.finish();
    while let Some(frame) = decoder.next().unwrap() {
        reader.read(&frame.event.unwrap(), &mut out).unwrap();
    }
    reader.close(&mut out);
    out
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn file_of(name: &str, to: Wire) -> String {
    format!("{name}.{}.txt", to.as_str())
}

#[test]
fn every_wire_goes_with_every_wire() {
    for (name, case) in cases() {
        for to in Wire::ALL {
            expect_file![folder().join(file_of(&name, to))].assert_eq(&outcome(&case, to));
        }
    }
}

#[test]
fn every_golden_file_has_its_case() {
    let expected: BTreeSet<String> = cases()
        .iter()
        .flat_map(|(name, _)| Wire::ALL.map(|to| file_of(name, to)))
        .chain(["cases".to_owned()])
        .collect();
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let found: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(found, expected);
}

/// What a caller reads from a stream of ours is what the vendor said in its own.
#[test]
fn a_stream_says_the_same_on_every_wire_that_can_say_it() {
    let mut checked = 0;
    for (name, case) in cases() {
        let Some(frames) = case.get("stream") else { continue };
        let from: Wire = serde_json::from_value(case["wire"].clone()).unwrap();
        let told = deltas(from, frames);
        let mut gather = Gather::default();
        told.iter().for_each(|delta| gather.take(delta));
        if !gather.ended() {
            continue;
        }
        let answer = gather.clone().into_answer();
        for to in Wire::ALL {
            if to != Wire::Chat && answer.choices.len() > 1 {
                continue;
            }
            let mut out = Vec::new();
            let mut writer = to.writer(&stamp(serde_json::Map::new()), true);
            told.iter().for_each(|delta| writer.write(delta, &mut out));
            let mut decoder = sse::Decoder::default();
            decoder.feed(&out);
            let (mut reader, mut again, mut heard) = (to.reader(), Gather::default(), Vec::new());
            while let Some(frame) = decoder.next().unwrap() {
                reader.read(&frame.event.unwrap(), &mut heard).unwrap();
            }
            heard.iter().for_each(|delta| again.take(delta));
            assert!(again.ended(), "{name} on {}", to.as_str());
            let again = again.into_answer();
            assert_eq!(words(&again), words(&answer), "{name} on {}", to.as_str());
            assert_eq!(calls(&again), calls(&answer), "{name} on {}", to.as_str());
            assert_eq!(
                again.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
                answer.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
                "{name} on {}",
                to.as_str()
            );
            checked += 1;
        }
    }
    assert!(checked > 0);
}

/// What was said, a refusal included: not every wire tells them apart.
fn words(answer: &wire::Answer) -> String {
    let parts = answer.choices.iter().flat_map(|choice| &choice.parts);
    let text = |part: &wire::Part| match part {
        wire::Part::Text { text, .. } | wire::Part::Refusal { text } => Some(text.clone()),
        _ => None,
    };
    parts.filter_map(text).collect()
}

fn calls(answer: &wire::Answer) -> Vec<wire::ToolCall> {
    let parts = answer.choices.iter().flat_map(|choice| &choice.parts);
    let call = |part: &wire::Part| match part {
        // No arguments are an object without members: some wires have no other way to say it.
        wire::Part::ToolCall(call) if call.arguments.is_empty() => {
            Some(wire::ToolCall { arguments: "{}".to_owned(), ..call.clone() })
        }
        wire::Part::ToolCall(call) => Some(call.clone()),
        _ => None,
    };
    parts.filter_map(call).collect()
}
