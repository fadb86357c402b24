//! Take the database away: whatever was acknowledged is there afterwards, nothing is doubled, every chain verifies, and
//! `punk serve` says what is wrong and goes on when the database is back, without a restart.
//!
//! A few rounds here; `PUNK_KILL_ROUNDS=50` for a long soak, and `PUNK_OUTAGE_SECONDS=30` for long outages. A failing seed is printed and replays with `PUNK_KILL_SEED`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::thread;
use std::time::Duration;

use world::World;
use world::gateway::{Gateway, Reply};
use world::load::{self, Load, setting};
use world::postgres::Cluster;
use world::upstream::moment;

/// Beyond what a busy machine needs.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn what_was_acknowledged_survives_connections_that_are_cut_under_load() {
    const CUT: &str =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'punk%'";
    again_and_again(|cluster, _, load, seed| {
        for cut in 0..5 {
            let before = load.acknowledged();
            wait_until("the clients write again", || load.acknowledged() > before);
            // Not a wait for anything: the moment of the cut is meant to be arbitrary.
            thread::sleep(load::moment(seed + cut) / 5);
            cluster.ask(CUT).unwrap();
        }
    });
}

#[test]
fn what_was_acknowledged_survives_a_database_server_that_is_killed_under_load() {
    again_and_again(|cluster, gateway, load, seed| {
        thread::sleep(load::moment(seed));
        match seed % 2 {
            0 => cluster.kill(),
            _ => cluster.stop_at_once(),
        }
        let refused = gateway.request("POST", "/api/v1/runs", &[], "{}");
        // Whoever asks is looked up before anything is written, so either may be what is missing first.
        check_refusal(&refused, &["punk_ledger_unavailable", "punk_store_unavailable"]);
        check_refusal(&gateway.request("GET", "/ready", &[], ""), &["punk_store_unavailable"]);
        wait_until("it knows", || gateway.request("GET", "/ready", &[], "").status == 503);
        // Not a wait for anything: an outage lasts.
        let (began, outage) = (moment(), Duration::from_secs(setting("PUNK_OUTAGE_SECONDS", 1)));
        loop {
            check_refusal(&gateway.ask("anybody there?"), &["punk_store_unavailable"]);
            check_refusal(&gateway.request("GET", "/ready", &[], ""), &["punk_store_unavailable"]);
            // It is there all the same.
            assert_eq!(gateway.request("GET", "/health", &[], "").status, 200);
            if began.elapsed() > outage {
                break;
            }
        }
        cluster.start_again();
        wait_until("it is ready again", || gateway.request("GET", "/ready", &[], "").status == 200);
        let before = load.acknowledged();
        wait_until("the clients write again", || load.acknowledged() > before + 32);
    });
}

/// Writes to one gateway, round after round, while `trouble` happens to its database.
fn again_and_again(trouble: impl Fn(&mut Cluster, &Gateway, &Load, u64)) {
    let (rounds, seed) = (setting("PUNK_KILL_ROUNDS", 4), setting("PUNK_KILL_SEED", 7));
    println!("{rounds} rounds, PUNK_KILL_SEED={seed}");
    let (world, load) = (World::new(), Load::default());
    let mut cluster = Cluster::start();
    let url = cluster.url("127.0.0.1", "postgres");
    let gateway = Gateway::start(&world, &[("PUNK_DATABASE_URL", &url)]);
    for round in 0..rounds {
        load.upon(&gateway.address, || trouble(&mut cluster, &gateway, &load, seed + round));
        wait_until("it is ready", || gateway.request("GET", "/ready", &[], "").status == 200);
        load.check(&gateway);
        load::audit(&url);
    }
    let events = load.acknowledged();
    assert!(events > rounds * 20, "only {events} events were acknowledged: nothing was tested");
    println!("{events} acknowledged events, all there");
}

#[track_caller]
fn check_refusal(reply: &Reply, codes: &[&str]) {
    assert_eq!(reply.status, 503, "{}", String::from_utf8_lossy(&reply.body));
    let error = &reply.json()["error"];
    assert!(codes.contains(&error["code"].as_str().unwrap()), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("log of the server"), "{error}");
    assert_eq!(reply.header("retry-after"), "2");
}

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(20);
    for _ in 0..SOON.as_millis() / PAUSE.as_millis() {
        if holds() {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("after {SOON:?} it does not hold that {what}");
}
