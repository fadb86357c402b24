//! What a durable append costs, beside a bare program that only inserts: `cargo bench -p store`.
//!
//! Everything in one run on one machine, so that the ratios hold where the figures do not. A bar that is not met makes the
//! bench exit with 1.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ledger::{Chain, Event, Salt};
use rusqlite::{Connection, params};
use schema::{RunId, Seq, TenantId, Timestamp};
use serde_json::{Value, json};
use store::group_commit::Options;
use store::sqlite::{Durability, SqliteStore};
use store::{Append, Commit, Settle, Store};

const EVENTS: usize = 6;
const WRITERS: usize = 64;

fn main() {
    let mut met = true;
    let mut bar = |name: &str, figure: f64, unit: &str, limit: f64| {
        let holds = figure >= limit;
        met &= holds;
        println!(
            "{name:<66} {figure:>10.1} {unit:<9} bar {limit:>7} {}",
            if holds { "met" } else { "MISSED" }
        );
    };
    println!(
        "an append: {EVENTS} events of {} bytes, one run, one leaf",
        serde_json::to_vec(&events(1)[0]).unwrap().len()
    );
    for durability in [Durability::Commit, Durability::Fsync] {
        let appends = if durability == Durability::Commit { 12_000 } else { 6_000 };
        let bare = bare_inserts(durability, 2_000);
        let alone = store_appends(durability, 1, appends / 8, Options { batch: 1, ..Options::default() });
        let single =
            store_appends(durability, WRITERS, appends / 4, Options { batch: 1, ..Options::default() });
        let group = store_appends(durability, WRITERS, appends, Options::default());
        let level = format!("{durability:?}").to_lowercase();
        println!("level `{level}`");
        println!("{:<66} {:>10.0} appends/s", "  a bare program, one insert a commit", bare.per_second);
        println!("{:<66} {:>10.0} appends/s", "  one commit an append, 64 writers", single.per_second);
        println!(
            "{:<66} {:>10.0} appends/s",
            "  group commit, 64 writers, every append acknowledged", group.per_second
        );
        let limit = if durability == Durability::Commit { 4.0 } else { 15.0 };
        bar(
            &format!("  group commit over one commit an append, `{level}`"),
            group.per_second / single.per_second,
            "×",
            limit,
        );
        if durability == Durability::Commit {
            bar(
                "  events acknowledged per second of CPU",
                group.per_cpu_second * EVENTS as f64,
                "events/s",
                20_000.0,
            );
        }
        // Turned round, so that more is better here too: at most twice a bare commit is at least half its speed.
        bar(
            &format!("  a lone append beside a bare commit, `{level}` (p50)"),
            bare.p50.as_secs_f64() / alone.p50.as_secs_f64(),
            "×",
            0.5,
        );
        println!("{:<66} {:>10.0} µs", "  a lone append, p50", alone.p50.as_secs_f64() * 1e6);
        println!("{:<66} {:>10.0} µs", "  a lone append, p99", alone.p99.as_secs_f64() * 1e6);
    }
    if !met {
        std::process::exit(1);
    }
}

struct Measured {
    per_second: f64,
    per_cpu_second: f64,
    p50: Duration,
    p99: Duration,
}

fn measured(mut each: Vec<Duration>, wall: Duration, cpu: Duration) -> Measured {
    each.sort_unstable();
    let at = |share: f64| each[((each.len() - 1) as f64 * share) as usize];
    let count = each.len() as f64;
    Measured {
        per_second: count / wall.as_secs_f64(),
        per_cpu_second: count / cpu.as_secs_f64(),
        p50: at(0.5),
        p99: at(0.99),
    }
}

/// What the least possible program does: the same bytes as one row, one commit each.
fn bare_inserts(durability: Durability, count: u64) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(folder.path().join("bare.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    let synchronous = if durability == Durability::Fsync { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous).unwrap();
    connection.execute_batch("CREATE TABLE t (run BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID").unwrap();
    let body = serde_json::to_vec(&events(1)).unwrap();
    let (began, cpu) = (Instant::now(), cpu_time());
    let mut each = Vec::new();
    for n in 0..count {
        let one = Instant::now();
        connection
            .prepare_cached("INSERT INTO t VALUES (?, ?)")
            .unwrap()
            .execute(params![run(n).as_bytes(), body])
            .unwrap();
        each.push(one.elapsed());
    }
    measured(each, began.elapsed(), cpu_time() - cpu)
}

fn store_appends(durability: Durability, writers: usize, count: usize, options: Options) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let commits: Vec<Vec<Commit>> = (0..writers)
        .map(|w| (0..count / writers).map(|i| commit((w * count + i) as u64)).collect())
        .collect();
    let store: Arc<dyn Store> = Arc::new(open(&folder.path().join("punk.db"), durability, options));
    let (began, cpu) = (Instant::now(), cpu_time());
    let each = runtime.block_on(async {
        let tasks: Vec<_> = commits
            .into_iter()
            .map(|commits| {
                let tenant = store.tenant(TenantId::NIL);
                tokio::spawn(async move {
                    let mut each = Vec::with_capacity(commits.len());
                    for commit in commits {
                        let one = Instant::now();
                        tenant.commit(commit).await.unwrap();
                        each.push(one.elapsed());
                    }
                    each
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.unwrap());
        }
        all
    });
    measured(each, began.elapsed(), cpu_time() - cpu)
}

fn open(path: &Path, durability: Durability, options: Options) -> SqliteStore {
    SqliteStore::open_with(path, durability, options).unwrap()
}

/// User and system time of this process so far.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn run(n: u64) -> RunId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&n.to_be_bytes());
    RunId::new(1_790_000_000_000 + n, random)
}

fn commit(n: u64) -> Commit {
    let append = Append { run: run(n), expected: Seq::START, events: events(n), settle: Settle::Leaf };
    Commit { appends: vec![append], ..Commit::default() }
}

fn events(n: u64) -> Vec<Event> {
    let mut chain = Chain::new(TenantId::NIL, run(n));
    let at = Timestamp::from_millis(1_790_000_000_000).unwrap();
    let fields = json!({ "provider": "openai", "model": "gpt-4o-mini", "text": "x".repeat(70) });
    let Value::Object(fields) = fields else { return Vec::new() };
    (0..EVENTS)
        .map(|_| chain.append(at, "model.completed", fields.clone(), || Salt::from_bytes([7; 16])).unwrap())
        .collect()
}
