//! Whether a store gets slower as it grows: `cargo bench -p store --bench growth`.
//!
//! Two databases of each kind, one with 50 thousand events and one with 5 million, asked in turn, so that both meet the same
//! machine. Postgres is measured where `PUNK_TEST_POSTGRES_URL` names a server; the bench says so when it is not. A bar that
//! is not met makes it exit with 1. `PUNK_GROWTH_EVENTS` sets another size for the large one; `-- sqlite` and `-- postgres`
//! measure only that.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

mod common;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{EVENTS, commit, median};
use schema::TenantId;
use store::postgres::PostgresStore;
use store::sqlite::{Durability, SqliteStore};
use store::{Commit, RunFilter, Store};

const SMALL: u64 = 50_000;
const LARGE: u64 = 5_000_000;
/// Events in an append.
const EACH: u64 = EVENTS as u64;
/// Appends in a commit while filling, and commits at once.
const BULK: u64 = 50;
const FILLERS: u64 = 4;
/// Appends of a round, and how many write at once.
const APPENDS: u64 = 800;
const WRITERS: u64 = 16;
const ROUNDS: usize = 9;
const LIMIT: f64 = 1.3;
const PAGE: NonZeroU32 = NonZeroU32::new(50).unwrap();

fn main() {
    let large = std::env::var("PUNK_GROWTH_EVENTS").map_or(LARGE, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|it| it == name);
    let mut met = true;
    if is_asked("sqlite") {
        met &= runtime.block_on(sqlite(large));
    }
    match std::env::var("PUNK_TEST_POSTGRES_URL") {
        _ if !is_asked("postgres") => {}
        Ok(url) => met &= runtime.block_on(postgres(&url, large)),
        Err(_) => println!("Postgres: NOT MEASURED; PUNK_TEST_POSTGRES_URL names no server"),
    }
    if !met {
        std::process::exit(1);
    }
}

async fn sqlite(large: u64) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let open = |name: &str| Arc::new(SqliteStore::open(&path(name), Durability::Commit).unwrap());
    let (small, big) = (open("small.db"), open("large.db"));
    let took = fill_both(&*small, &*big, large).await;
    let met = compare("SQLite", took, small, big, large).await;
    let bytes = std::fs::metadata(path("large.db")).unwrap().len();
    println!("  {:.0} bytes an event in the database", bytes as f64 / large as f64);
    met
}

async fn postgres(url: &str, large: u64) -> bool {
    let (server, _) = url.rsplit_once('/').unwrap();
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    for name in ["punk_growth_small", "punk_growth_large"] {
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    }
    let open =
        async |name: &str| Arc::new(PostgresStore::connect(&format!("{server}/{name}")).await.unwrap());
    let (small, big) = (open("punk_growth_small").await, open("punk_growth_large").await);
    let took = fill_both(&*small, &*big, large).await;
    // What autovacuum would do in a while, so that it does not do it while we measure.
    for name in ["punk_growth_small", "punk_growth_large"] {
        let (client, connection) =
            tokio_postgres::connect(&format!("{server}/{name}"), tokio_postgres::NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        client.batch_execute("VACUUM ANALYZE").await.unwrap();
        drop(client);
        let _ = driver.await;
    }
    let met = compare("Postgres", took, small, big, large).await;
    let size = client.query_one("SELECT pg_database_size('punk_growth_large')", &[]).await.unwrap();
    println!("  {:.0} bytes an event in the database", size.get::<_, i64>(0) as f64 / large as f64);
    for name in ["punk_growth_small", "punk_growth_large"] {
        let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    }
    drop(client);
    let _ = driver.await;
    met
}

async fn fill_both(small: &dyn Store, large: &dyn Store, events: u64) -> [Duration; 2] {
    [fill(small, SMALL).await, fill(large, events).await]
}

async fn compare(
    name: &str,
    took: [Duration; 2],
    small: Arc<dyn Store>,
    large: Arc<dyn Store>,
    events: u64,
) -> bool {
    println!(
        "{name}: {SMALL} events in {:.0} s, {events} in {:.0} s",
        took[0].as_secs_f64(),
        took[1].as_secs_f64()
    );
    let (mut next_small, mut next_large) = (SMALL / EACH, events / EACH);
    let mut rounds = Vec::new();
    // The first round of each warms up.
    for round in 0..=ROUNDS {
        let measured = (round_of(&small, &mut next_small).await, round_of(&large, &mut next_large).await);
        if round > 0 {
            rounds.push(measured);
        }
    }
    let mut met = true;
    let mut bar = |what: &str, figure: fn(&Round) -> Duration| {
        let micros = |it: Vec<Duration>| median(it.iter().map(|took| took.as_secs_f64() * 1e6).collect());
        let at_small = micros(rounds.iter().map(|(small, _)| figure(small)).collect());
        let at_large = micros(rounds.iter().map(|(_, large)| figure(large)).collect());
        let ratio = at_large / at_small;
        let holds = ratio <= LIMIT;
        met &= holds;
        println!(
            "  {what:<44} {at_small:>8.1} µs → {at_large:>8.1} µs  {ratio:>5.2} ×  bar ≤ {LIMIT} {}",
            if holds { "met" } else { "MISSED" }
        );
    };
    bar("an append of 6 events, 16 writers", |round| round.append);
    bar("a lone append of 6 events, p50", |round| round.alone);
    bar("the newest 50 runs, p50", |round| round.list);
    met
}

/// What a round came to, for one append or one list.
struct Round {
    append: Duration,
    alone: Duration,
    list: Duration,
}

async fn round_of(store: &Arc<dyn Store>, next: &mut u64) -> Round {
    let first = *next;
    *next += APPENDS + APPENDS / 4;
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let tenant = store.tenant(TenantId::NIL);
            let mine: Vec<Commit> =
                (0..APPENDS / WRITERS).map(|i| commit([first + i * WRITERS + writer], EVENTS)).collect();
            tokio::spawn(async move {
                for commit in mine {
                    tenant.commit(commit).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let append = began.elapsed() / u32::try_from(APPENDS).unwrap();
    let tenant = store.tenant(TenantId::NIL);
    let mut alone = Vec::new();
    for n in first + APPENDS..*next {
        let commit = commit([n], EVENTS);
        let began = Instant::now();
        tenant.commit(commit).await.unwrap();
        alone.push(began.elapsed());
    }
    let mut lists = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        assert_eq!(tenant.runs(&RunFilter::ALL, None, PAGE).await.unwrap().len(), 50);
        lists.push(began.elapsed());
    }
    alone.sort_unstable();
    lists.sort_unstable();
    Round { append, alone: alone[alone.len() / 2], list: lists[lists.len() / 2] }
}

/// Fills an empty store with so many events.
async fn fill(store: &dyn Store, events: u64) -> Duration {
    let began = Instant::now();
    let runs = events / EACH;
    let fillers: Vec<_> = (0..FILLERS)
        .map(|filler| {
            let tenant = store.tenant(TenantId::NIL);
            tokio::spawn(async move {
                let mut first = filler * BULK;
                while first < runs {
                    tenant.commit(commit(first..runs.min(first + BULK), EVENTS)).await.unwrap();
                    first += FILLERS * BULK;
                }
            })
        })
        .collect();
    for filler in fillers {
        filler.await.unwrap();
    }
    began.elapsed()
}
