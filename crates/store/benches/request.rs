//! What it takes to record a proxied request, for a profiler that counts instructions as much as for a reader:
//! `cargo bench -p store --bench request [alone|together] [requests]`.
//!
//! A request here is what the gateway commits for one: five events of a run that begins and ends in it, a leaf, an entry of
//! the cache, and the settlement of two meters. It has no bar; it shows where the bytes go.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

mod common;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use common::{cpu_time, run};
use ledger::{Recorded, Recorder, Salt};
use schema::{Digest, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use store::group_commit::Options;
use store::sqlite::{Durability, SqliteStore};
use store::{Append, CacheHeld, CacheKind, CacheWrite, Commit, MeterKey, Settle, Settlement, Store};

const WRITERS: u64 = 64;
/// How long an answer may serve again, and how many may.
const SERVES: u64 = 3_600_000;
const ENTRIES: NonZeroU32 = NonZeroU32::new(100_000).unwrap();

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let count = asked.iter().find_map(|it| it.parse().ok()).unwrap_or(20_000);
    let is_asked =
        |name: &str| asked.iter().all(|it| it.parse::<u64>().is_ok()) || asked.iter().any(|it| it == name);
    for (name, writers) in [("alone", 1), ("together", WRITERS)] {
        if is_asked(name) {
            measure(name, writers, count);
        }
    }
}

fn measure(name: &str, writers: u64, count: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let options = Options { alone: writers == 1, ..Options::default() };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(&path, Durability::Commit, options).unwrap());
    // Made one by one, so that memory shows the store's; what that takes is taken off.
    let (began, cpu, written) = (Instant::now(), cpu_time(), written());
    runtime.block_on(async {
        let tasks: Vec<_> = (0..writers)
            .map(|writer| {
                let tenant = store.tenant(TenantId::NIL);
                tokio::spawn(async move {
                    for n in (writer..count).step_by(writers as usize) {
                        tenant.commit(request(n)).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let (wall, cpu, written) = (began.elapsed(), cpu_time() - cpu, self::written() - written);
    let cpu_of_making = cpu_time();
    (0..count).for_each(|n| drop(std::hint::black_box(request(n))));
    let cpu = cpu.saturating_sub(cpu_time() - cpu_of_making);
    let each = |figure: f64| figure / count as f64;
    let body = serde_json::to_vec(&request(1).appends[0].events[..]).unwrap().len();
    let size = std::fs::metadata(&path).unwrap().len();
    println!("{name}: {count} requests of {body} bytes, {writers} at once");
    println!(
        "  {:>8.1} µs of CPU a request, {:.1} µs of time",
        each(cpu.as_secs_f64() * 1e6),
        each(wall.as_secs_f64() * 1e6)
    );
    println!(
        "  {:>8.0} bytes written a request, {:.0} in the database",
        each(written as f64),
        each(size as f64)
    );
    println!("  {:>8.1} MiB of memory, {:.1} at most", memory("VmRSS"), memory("VmHWM"));
}

/// What the gateway commits for one request.
fn request(n: u64) -> Commit {
    let meter = |name: u8, window| MeterKey { meter: Digest::from_bytes([name; 32]), window };
    let spent = vec![(meter(1, 0), 42), (meter(2, 1_790_000_000_000), 1)];
    let append = Append { events: events(n), settle: Settle::Leaf, subject: None };
    Commit {
        appends: vec![append],
        settled: vec![Settlement { id: run(n).into(), spent }],
        cache: vec![entry(n)],
        ..Commit::default()
    }
}

/// What an identical request is answered with.
fn entry(n: u64) -> CacheWrite {
    CacheWrite {
        kind: CacheKind::ExactResponse,
        key: key(n),
        held: CacheHeld::Run(run(n)),
        subject: None,
        model: Some("gpt-4o-mini".to_owned()),
        created_at: at(n),
        expires_at: at(n + SERVES),
        bytes: 700,
        at_most: Some(ENTRIES),
    }
}

fn key(n: u64) -> Digest {
    ledger::sha256(&n.to_le_bytes())
}

fn at(n: u64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + n).unwrap()
}

fn events(n: u64) -> Recorded {
    let mut recorder = Recorder::new(TenantId::NIL, run(n));
    let at = self::at(n);
    let agent = if n.is_multiple_of(2) { "helper" } else { "buyer" };
    let told = [
        (
            "run.started",
            json!({
                "kind": "chat", "app": "shop", "agent": agent, "subject": null,
                "gatewayMode": "govern", "keyId": "key_01kz7d2vcm000000000000000e", "model": "gpt-4o-mini",
                "wire": "openai.chat", "stream": false, "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
                "request": { "model": "gpt-4o-mini", "messages": [{ "role": "user", "content": "x".repeat(800) }] },
            }),
        ),
        (
            "policy.decided",
            json!({
                "engine": "cedar", "policies": Digest::from_bytes([3; 32]), "action": "model.call",
                "verdict": { "effect": "allow", "policy": "tenant:default", "reason": "a rule permits it" },
                "context": { "model": "gpt-4o-mini", "app": "shop", "tokens": 210, "tools": 0 },
            }),
        ),
        (
            "model.attempted",
            json!({
                "provider": "openai", "model": "gpt-4o-mini", "key": 0, "outcome": "served", "fault": null,
                "startedMs": 1, "tookMs": 20,
            }),
        ),
        (
            "model.completed",
            json!({
                "provider": "openai", "model": "gpt-4o-mini", "finishReason": "stop", "usageEstimated": false,
                "costMicroUsd": 42, "inputTokens": 210, "outputTokens": 64, "cacheReadTokens": 0, "cacheWriteTokens": 0,
                "reasoningTokens": 0,
            }),
        ),
        (
            "run.finished",
            json!({
                "status": "completed", "route": "live",
                "explanation": { "route": "live", "passed": [{ "route": "exact", "reason": "nothing kept" }] },
                "savedMicroUsd": 0, "savedMs": 0, "ghostSavedMicroUsd": 0, "ghostRoute": null, "provider": "openai",
                "latencyMs": 21, "answer": { "content": [{ "type": "text", "text": "y".repeat(600) }] },
                "costMicroUsd": 42, "inputTokens": 210, "outputTokens": 64, "cacheReadTokens": 0, "cacheWriteTokens": 0,
                "reasoningTokens": 0, "finishReason": "stop", "usageEstimated": false, "upstream": "openai",
                "cacheKey": key(n), "cacheExpiresAt": self::at(n + SERVES), "cacheBytes": 700,
            }),
        ),
    ];
    for (r#type, fields) in told {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        recorder.append(at, r#type, fields, || Salt::from_bytes([7; 16])).unwrap();
    }
    recorder.end()
}

/// Bytes that this process handed to the operating system to write.
fn written() -> u64 {
    field(&std::fs::read_to_string("/proc/self/io").unwrap(), "wchar").unwrap()
}

fn memory(name: &str) -> f64 {
    field(&std::fs::read_to_string("/proc/self/status").unwrap(), name).unwrap() as f64 / 1024.0
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
