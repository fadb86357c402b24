//! Another program holds the database of a gateway that is under load: what cannot be recorded is refused before anybody is
//! paid, what was acknowledged stays, and it goes on by itself when the database is free again.
//!
//! `PUNK_OUTAGE_SECONDS` says for how long; it must be longer than a write waits.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::time::Duration;

use rusqlite::Connection;
use world::World;
use world::asking::{By, Question, ask};
use world::gateway::{Gateway, Reply};
use world::load::{Load, setting};
use world::process::until;
use world::upstream::{Upstream, moment};

/// Everything the load wrote, and what came of questions whose answer came while nothing could be recorded.
#[test]
fn what_was_acknowledged_survives_a_database_that_is_locked_under_load() {
    let seconds = setting("PUNK_OUTAGE_SECONDS", 8);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::start());
    let world = World::new().file("punk.toml", &upstream.settings());
    let gateway = Gateway::start(&world, &[]);
    let load = Load::default();
    load.upon(&gateway.address, || {
        load.wait_until_under_way();
        // Their answers come at once, and a second into the outage.
        let slow: Vec<_> = ["stream 4 300", "stream 2 600"]
            .map(|text| {
                let address = gateway.address.clone();
                let question = Question { by: By::Chat, text: text.to_owned(), stream: true, cached: false };
                runtime.spawn(async move {
                    let mut answer = ask(&address, &question).await.unwrap();
                    answer.finish().await.unwrap();
                    answer
                })
            })
            .into();
        until("both are under way", || upstream.open() == 2);
        let lock = Connection::open(world.path("data/punk.db")).unwrap();
        lock.busy_timeout(Duration::from_secs(20)).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        let locked = moment();
        until("it knows", || gateway.request("GET", "/ready", &[], "").status == 503);
        let asked = upstream.asked();
        while locked.elapsed() < Duration::from_secs(seconds) {
            let began = moment();
            assert_eq!(gateway.request("GET", "/health", &[], "").status, 200);
            check_refusal(&gateway.request("GET", "/ready", &[], ""));
            check_refusal(&gateway.request("POST", "/api/v1/runs", &[], "{}"));
            check_refusal(&gateway.ask("anybody there?"));
            assert_eq!(
                gateway.request("GET", "/api/v1/runs", &[], "").status,
                200,
                "what is there can be read"
            );
            assert!(
                began.elapsed() < Duration::from_secs(4),
                "nobody waits for the lock: {:?}",
                began.elapsed()
            );
            std::thread::sleep(Duration::from_millis(200));
        }
        assert_eq!(upstream.asked(), asked, "nobody is asked for what could not be recorded");
        drop(lock);
        until("it is ready again", || gateway.request("GET", "/ready", &[], "").status == 200);
        let before = load.acknowledged();
        until("the clients write again", || load.acknowledged() > before + 32);
        for answer in slow {
            let answer = runtime.block_on(answer).unwrap();
            assert!(!answer.is_whole_stream(), "its end was not told: {}", answer.text());
            assert!(answer.text().contains("punk_ledger_unavailable"), "{}", answer.text());
            let path = format!("/api/v1/runs/{}", answer.run.unwrap());
            until("its run is recorded", || gateway.request("GET", &path, &[], "").status == 200);
            let run = gateway.request("GET", &path, &[], "").json()["run"].clone();
            assert_eq!(run["status"], "failed", "{run}");
            assert!(run["costMicroUsd"].is_null() || run["costMicroUsd"].is_u64(), "{run}");
        }
    });
    load.check(&gateway);
    drop(gateway);
    let checked = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
}

#[track_caller]
fn check_refusal(reply: &Reply) {
    assert_eq!(reply.status, 503, "{}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.json()["error"]["code"], "punk_store_unavailable");
    assert_eq!(reply.header("retry-after"), "2");
}
