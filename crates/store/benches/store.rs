//! What a durable append costs, beside a bare program that only inserts: `cargo bench -p store`.
//!
//! Everything in one run on one machine, so that the ratios hold where the figures do not. A bar that is not met makes the
//! bench exit with 1.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{EVENTS, commit, cpu_time, events, median, run};
use rusqlite::{Connection, params};
use schema::TenantId;
use store::group_commit::Options;
use store::sqlite::{Durability, SqliteStore};
use store::{Commit, Store};

const WRITERS: usize = 64;
/// Every ratio is taken this often, and the one in the middle counts: a disk has moods.
const ROUNDS: usize = 5;

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
    let size = serde_json::to_vec(&events(1, 1)[0]).unwrap().len();
    println!("events of {size} bytes; every append is a new run with a leaf of its own");
    for (durability, limit) in [(Durability::Commit, 4.0), (Durability::Fsync, 15.0)] {
        let level = format!("{durability:?}").to_lowercase();
        let rounds: Vec<Round> = (0..ROUNDS).map(|_| Round::measure(durability)).collect();
        let middle = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
        let show = |name: &str, figure: f64, unit: &str| println!("{name:<66} {figure:>10.0} {unit}");
        println!("level `{level}`, the median of {ROUNDS} rounds");
        show("  one commit an append of 1 event, 64 writers", middle(|r| r.single.per_second), "appends/s");
        show("  group commit of such, 64 writers", middle(|r| r.group.per_second), "appends/s");
        bar(
            &format!("  group commit over one commit an append, `{level}`"),
            middle(|r| r.group.per_second / r.single.per_second),
            "×",
            limit,
        );
        show("  a bare program, one insert of 6 events a commit", middle(|r| r.bare.per_second), "appends/s");
        show("  group commit of 6 events, 64 writers", middle(|r| r.whole.per_second), "appends/s");
        if durability == Durability::Commit {
            let figure = middle(|r| r.whole.per_cpu_second * EVENTS as f64);
            bar("  events acknowledged per second of CPU", figure, "events/s", 20_000.0);
            let figure = middle(|r| r.bare.per_cpu_second * EVENTS as f64);
            show("  the same of the bare program", figure, "events/s");
        }
        // Turned round, so that more is better here too: at most twice a bare commit is at least half its speed.
        bar(
            &format!("  a bare commit over a lone append of 6 events, `{level}` (p50)"),
            middle(|r| r.bare.p50.as_secs_f64() / r.alone.p50.as_secs_f64()),
            "×",
            0.5,
        );
        show("  a bare commit, p50", middle(|r| r.bare.p50.as_secs_f64() * 1e6), "µs");
        show("  a lone append, p50", middle(|r| r.alone.p50.as_secs_f64() * 1e6), "µs");
        show("  a lone append, p99", middle(|r| r.alone.p99.as_secs_f64() * 1e6), "µs");
    }
    if !met {
        std::process::exit(1);
    }
}

/// Everything once, one after the other, so that what is compared met the same machine.
struct Round {
    bare: Measured,
    alone: Measured,
    single: Measured,
    group: Measured,
    whole: Measured,
}

impl Round {
    fn measure(durability: Durability) -> Self {
        let one_by_one = Options { batch: 1, ..Options::default() };
        let share = if durability == Durability::Commit { 1 } else { 4 };
        Self {
            bare: bare_inserts(durability, 2_000),
            alone: store_appends(durability, 1, 2_000, EVENTS, Options::default()),
            single: store_appends(durability, WRITERS, 12_800 / share, 1, one_by_one),
            group: store_appends(durability, WRITERS, 51_200, 1, Options::default()),
            whole: store_appends(durability, WRITERS, 12_800, EVENTS, Options::default()),
        }
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
    let body = serde_json::to_vec(&events(1, EVENTS)[..]).unwrap();
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

fn store_appends(
    durability: Durability,
    writers: usize,
    count: usize,
    events: usize,
    options: Options,
) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let commits: Vec<Vec<Commit>> = (0..writers)
        .map(|w| (0..count / writers).map(|i| commit([(i * writers + w) as u64], events)).collect())
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
