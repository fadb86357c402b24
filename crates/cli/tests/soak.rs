//! Mixed load with faults, half a minute here and an hour by `cargo xtask soak mixed --minutes 60`: callers that ask well, ask
//! badly and go away, upstreams that fail in every way, a database that somebody else holds, a gateway that is killed and
//! restarted. At the end: no panic, no leak, nothing acknowledged that is not there, no run without an end, chains that verify.
//!
//! `PUNK_SOAK_SECONDS`, `PUNK_SOAK_SEED`; `PUNK_SOAK_JSON=1` prints the summary as JSON.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use world::World;
use world::gateway::try_request;
use world::load::setting;
use world::process::{Process, Signal, until};
use world::soak::{Came, Random, Soak, What};
use world::upstream::{Upstream, moment};

const CLIENTS: u64 = 24;
/// From this on somebody may hold the database for half a minute.
const LONG: u64 = 600;
/// How many acknowledged runs are read back, spread over all of them.
const READ_BACK: usize = 2_000;
/// By how much memory may grow over the second half of a process's life: caches fill up, and then it stays.
const GROWTH_KIB: u64 = 24 * 1_024;

const SERVE: [&str; 4] = [
    "serve",
    "--set=limits.requests_per_minute=0",
    "--set=limits.chat_requests_per_minute=0",
    "--set=limits.ip_requests_per_minute=0",
];

/// How often what was done to it.
#[derive(Debug, Default)]
struct Faults {
    locked: u64,
    killed: u64,
    restarted: u64,
}

#[test]
fn mixed_load_with_faults_leaves_no_panic_no_leak_no_unfinished_run_and_chains_that_verify() {
    let (seconds, seed) = (setting("PUNK_SOAK_SECONDS", 24), setting("PUNK_SOAK_SEED", 7));
    println!("{seconds} s, PUNK_SOAK_SEED={seed}");
    world::streams::allow_files(1_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::start());
    let world = World::new().file("punk.toml", &upstream.settings());
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let mut punk = Process::start_on(&world, &socket, &SERVE, &[]);
    let soak = Arc::new(Soak::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (soak, address) = (soak.clone(), address.clone());
            runtime.spawn(async move { soak.client(&address, seed * 1_000 + client).await })
        })
        .collect();

    let (began, mut random, mut faults) = (moment(), Random(seed), Faults::default());
    let elapsed = || began.elapsed().as_secs_f64() / seconds as f64;
    let mut told = 0.0;
    let mut progress = |part: f64| {
        if part >= told + 0.1 {
            told = part;
            let answered = soak.count(|_, came| came == Came::Answered);
            println!("{:>3.0} %: {answered} answered", part * 100.0);
        }
    };
    // The first half: everything, in rounds of chance, so that a slow machine sees more than one kind, too. What does not live long
    // has no time to leak.
    let mut round = Vec::new();
    while elapsed() < 0.5 {
        pause(&mut random, seconds);
        if round.is_empty() {
            round.extend([0, 1, 2]);
        }
        match round.swap_remove(random.below(round.len() as u64) as usize) {
            0 => lock(&world, seconds, &mut random, &mut faults),
            1 => {
                punk.kill();
                punk = Process::start_on(&world, &socket, &SERVE, &[]);
                faults.killed += 1;
            }
            _ => {
                punk.send(Signal::TERM);
                let ended = punk.ended();
                assert_eq!(ended.code, 0, "{}", ended.stderr);
                punk = Process::start_on(&world, &socket, &SERVE, &[]);
                faults.restarted += 1;
            }
        }
        progress(elapsed());
    }
    // The second: one process, until the end.
    let fresh = punk.files();
    let mut memory = None;
    while elapsed() < 1.0 {
        pause(&mut random, seconds);
        lock(&world, seconds, &mut random, &mut faults);
        if elapsed() > 0.75 {
            memory.get_or_insert_with(|| punk.memory());
        }
        progress(elapsed());
    }
    soak.over.store(true, Ordering::Relaxed);
    for client in clients {
        runtime.block_on(client).unwrap();
    }
    until("the upstream is left alone", || upstream.open() == 0);
    until("it is ready", || get(&address, "/ready").0 == 200);
    let (at_first, at_last, files) = (memory.unwrap(), punk.memory(), punk.files());
    let acknowledged = soak.acknowledged.lock().unwrap().clone();
    for run in acknowledged.iter().step_by(acknowledged.len() / READ_BACK + 1) {
        let (status, body) = get(&address, &format!("/api/v1/runs/{run}"));
        assert_eq!(status, 200, "{run} was acknowledged: {body}");
        assert_eq!(body["run"]["status"], "completed", "{body}");
    }
    let (_, unfinished) = get(&address, "/api/v1/runs?status=running");
    punk.send(Signal::TERM);
    let ended = punk.ended();
    let log = ended.stderr;
    let panics = log.lines().filter(|line| line.contains("panicked")).count();
    let lost =
        log.lines().filter(|line| line.contains("and is lost") || line.contains("and are lost")).count();
    let verified = world.punk(&["verify", "--ledger", "data/punk.db"]);

    let summary = json!({
        "seconds": seconds, "seed": seed, "acknowledged": acknowledged.len(), "upstreamAsked": upstream.asked(),
        "faults": { "locked": faults.locked, "killed": faults.killed, "restarted": faults.restarted },
        "questions": soak.tally.lock().unwrap().iter()
            .map(|((what, came), count)| (format!("{what:?}/{came:?}"), json!(count)))
            .collect::<serde_json::Map<_, _>>(),
        "memoryKib": [at_first, at_last], "files": [fresh, files], "panics": panics, "lost": lost,
        "violations": soak.violations.lock().unwrap().len(), "verified": verified.code == 0,
    });
    if setting("PUNK_SOAK_JSON", 0) == 1 {
        println!("{summary}");
    } else {
        println!("{summary:#}");
    }
    let violations = soak.violations.lock().unwrap();
    assert!(violations.is_empty(), "{} violations, such as {:#?}", violations.len(), violations.first());
    assert_eq!((panics, lost), (0, 0), "{log}");
    assert_eq!(unfinished["runs"].as_array().map(Vec::len), Some(0), "{unfinished}");
    assert_eq!(verified.code, 0, "{}", verified.told());
    assert!(at_last < at_first + GROWTH_KIB, "memory grew from {at_first} to {at_last} KiB");
    // Connections to upstreams are kept for the next call, no more than there were calls at once; and four readers.
    assert!(files <= fresh + 3 * CLIENTS as usize + 16, "open files grew from {fresh} to {files}");
    for what in [What::Whole, What::Stream, What::Cached, What::Tool] {
        assert!(
            soak.count(|asked, came| asked == what && came == Came::Answered) > 0,
            "no {what:?} was answered"
        );
    }
    assert!(faults.locked > 0 && faults.killed + faults.restarted > 0, "{faults:?}");
}

/// Lets the load be for a while.
fn pause(random: &mut Random, seconds: u64) {
    let most = (seconds * 1_000 / 20).min(10_000);
    std::thread::sleep(Duration::from_millis(300 + random.below(most)));
}

/// Holds the database as another program would: mostly for less than a write waits, in a long soak for much longer too.
fn lock(world: &World, seconds: u64, random: &mut Random, faults: &mut Faults) {
    let held = match random.below(5) {
        0 if seconds >= LONG => Duration::from_secs(30),
        _ => Duration::from_millis(100 + random.below(1_500)),
    };
    let lock = Connection::open(world.path("data/punk.db")).unwrap();
    lock.busy_timeout(Duration::from_secs(30)).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(held);
    faults.locked += 1;
}

fn get(address: &str, path: &str) -> (u16, serde_json::Value) {
    let reply = try_request(address, "GET", path, &[], "").unwrap();
    (reply.status, reply.json())
}
