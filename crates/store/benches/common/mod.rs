//! What the benches write, and how they judge what they measured.

#![allow(dead_code, reason = "none of them uses all of it")]

use std::time::Duration;

use ledger::{Recorded, Recorder, Salt};
use schema::{RunId, TenantId, Timestamp};
use serde_json::{Value, json};
use store::{Append, Commit, Settle};

/// As in the `punk` binary.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Events in the append of a whole request.
pub(crate) const EVENTS: usize = 6;

/// The run of this number; runs sort by their numbers.
pub(crate) fn run(n: u64) -> RunId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&n.to_be_bytes());
    RunId::new(1_790_000_000_000 + n, random)
}

/// A commit that begins and ends these runs, with `count` events each.
pub(crate) fn commit(runs: impl IntoIterator<Item = u64>, count: usize) -> Commit {
    let append = |n| Append { events: events(n, count), settle: Settle::Leaf, subject: None };
    Commit { appends: runs.into_iter().map(append).collect(), ..Commit::default() }
}

/// Events of some 430 bytes.
pub(crate) fn events(n: u64, count: usize) -> Recorded {
    let mut recorder = Recorder::new(TenantId::NIL, run(n));
    let at = Timestamp::from_millis(1_790_000_000_000 + n).unwrap();
    let fields = json!({ "provider": "openai", "model": "gpt-4o-mini", "text": "x".repeat(70) });
    let Value::Object(fields) = fields else { return recorder.end() };
    for _ in 0..count {
        recorder.append(at, "model.completed", fields.clone(), || Salt::from_bytes([7; 16])).unwrap();
    }
    recorder.end()
}

/// The figure in the middle: a disk has moods.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// User and system time of this process so far.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
