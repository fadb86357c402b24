//! What the ledger costs, beside bare SHA-256 over the same bytes: `cargo bench -p ledger`.
//!
//! Prints one table; the ratios are taken in one run on one machine, so they hold where the microseconds do not.
//! A bar that is not met makes the bench exit with 1.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{World, run_id};
use ledger::audit::Audit;
use ledger::{Chain, Event, Leaf, Log, Salt, sha256};
use schema::{RunId, Timestamp};
use serde_json::{Map, Value, json};

fn main() {
    let mut met = true;
    let mut bar = |name: &str, figure: f64, unit: &str, limit: f64| {
        let holds = figure <= limit;
        met &= holds;
        println!(
            "{name:<58} {figure:>10.2} {unit:<3} bar {limit:>6} {}",
            if holds { "met" } else { "MISSED" }
        );
    };

    let fields = event_fields();
    let bytes = serde_json::to_vec(&fields).unwrap();
    println!("one event of {} bytes in {} fields", bytes.len(), fields.len());
    let sha = micros(200_000, || sha256(black_box(&bytes)));
    let mut chain = Chain::new(World::new(1, 1).tenant, run_id(1));
    let at = Timestamp::from_millis(1_790_000_000_000).unwrap();
    // In small batches: the fields of an event have just been made when it is recorded, they are not fetched from
    // cold memory. Making and dropping them is the caller's and is not counted.
    let mut batches = Vec::new();
    for _ in 0..2_000 {
        let batch = vec![fields.clone(); 32];
        let mut events = Vec::with_capacity(batch.len());
        let began = Instant::now();
        for fields in batch {
            events.push(chain.append(at, "model.completed", fields, || Salt::from_bytes([7; 16])).unwrap());
        }
        batches.push(began.elapsed().as_secs_f64() * 1e6 / 32.0);
        black_box(events);
    }
    batches.sort_by(f64::total_cmp);
    let (fastest, append) = (batches[0], batches[batches.len() / 2]);
    println!("{:<58} {sha:>10.2} µs", "bare SHA-256 of the same bytes");
    bar("canonicalise + digest + chain, median batch", append, "µs", 4.0);
    println!("{:<58} {fastest:>10.2} µs", "the same, fastest batch");
    println!("{:<58} {:>10.1} ×", "ratio to bare SHA-256", append / sha);
    let value = Value::Object(fields);
    let reference = micros(20_000, || serde_json_canonicalizer::to_vec(black_box(&value)).unwrap());
    let direct = micros(200_000, || ledger::canonical::to_vec(black_box(&value)).unwrap());
    println!(
        "{:<58} {direct:>10.2} µs ({:.1}× faster than the reference crate)",
        "canonical form alone",
        reference / direct
    );

    let mut world = World::new(1, 1);
    world.fill(999_998);
    let (chain, events) = world.chat(run_id(1), "user");
    world.leaf(run_id(1), &chain);
    world.fill(1);
    let packet = world.packet(run_id(1), events, 0);
    let (bytes, trust) = (packet.to_bytes().unwrap(), world.trust());
    println!("a packet of {} bytes in a log of {} leaves", bytes.len(), world.log.size());
    bar("its proof", packet.leaves[0].proof.len() as f64 / 1024.0, "KiB", 8.0);
    let verify =
        micros(2_000, || ledger::packet::verify(black_box(&bytes), &trust, governance::replay).unwrap());
    bar("verify it", verify / 1000.0, "ms", 5.0);

    let (events, leaves) = a_million_events();
    let began = Instant::now();
    let mut audit = Audit::new(World::new(1, 1).tenant);
    for (i, (run, event)) in events.iter().enumerate() {
        audit.event(*run, event).unwrap();
        if (i + 1) % 5 == 0 {
            audit.leaf(leaves[i / 5]).unwrap();
        }
    }
    let log: &Log = audit.log();
    black_box(log.root());
    bar("full audit of a million events, 200,000 leaves", began.elapsed().as_secs_f64(), "s", 10.0);

    if !met {
        std::process::exit(1);
    }
}

/// The mean of the fastest of five rounds, so that a busy neighbour does not count.
fn micros<T>(times: u32, mut work: impl FnMut() -> T) -> f64 {
    let rounds = 5;
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let began = Instant::now();
        for _ in 0..times / rounds {
            black_box(work());
        }
        best = best.min(began.elapsed());
    }
    best.as_secs_f64() * 1e6 / f64::from(times / rounds)
}

/// A model's answer as it is recorded: 512 bytes as JSON.
fn event_fields() -> Map<String, Value> {
    let mut fields = json!({
        "provider": "openai", "model": "gpt-4o-mini-2024-07-18", "finishReason": "stop",
        "inputTokens": 1234, "outputTokens": 321, "costMicroUsd": 377,
        "answer": {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "name": "lookup", "arguments": "{\"order\":42}"}]},
    });
    let missing = 512 - serde_json::to_vec(&fields).unwrap().len();
    fields["answer"]["content"] = json!("The parcel left Hamburg. ".repeat(20)[..missing]);
    fields.as_object().unwrap().clone()
}

/// A million events in runs of five, as a store would read them back.
fn a_million_events() -> (Vec<(RunId, Event)>, Vec<Leaf>) {
    let tenant = World::new(1, 1).tenant;
    let at = Timestamp::from_millis(1_790_000_000_000).unwrap();
    let small = json!({ "provider": "openai", "model": "gpt-4o-mini", "inputTokens": 1234, "outputTokens": 321, "costMicroUsd": 377 });
    let small = small.as_object().unwrap();
    let (mut events, mut leaves) = (Vec::with_capacity(1_000_000), Vec::new());
    for n in 0..200_000 {
        let run = run_id(n);
        let mut chain = Chain::new(tenant, run);
        for _ in 0..5 {
            let salt = Salt::from_bytes(*sha256(&n.to_be_bytes()).as_bytes().first_chunk().unwrap());
            events.push((run, chain.append(at, "model.completed", small.clone(), || salt).unwrap()));
        }
        leaves.push(Leaf { run, seq: chain.seq(), head: chain.head() });
    }
    (events, leaves)
}
