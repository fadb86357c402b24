//! Kill it: whatever was acknowledged is there afterwards, nothing is doubled, every chain verifies.
//!
//! A few rounds here; `PUNK_KILL_ROUNDS=50` for a long soak. A failing seed is printed and replays with `PUNK_KILL_SEED`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use schema::TenantId;
use serde_json::{Value, json};
use store::Store as _;
use store::postgres::PostgresStore;
use world::World;
use world::gateway::{Gateway, try_request};

const CLIENTS: u64 = 32;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// What the server said it has: by run, the place and the number of each event.
type Acknowledged = Mutex<BTreeMap<String, BTreeMap<u64, u64>>>;

#[test]
fn what_was_acknowledged_survives_kill_9_under_load() {
    kill_it_again_and_again(&[], |world| {
        let checked = world.punk(&["verify", "--ledger", "data/punk.db", "--json"]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9_under_load_on_postgres() {
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    let database = format!("kill_{}", std::process::id());
    let made = Command::new("psql").args([&server, "-qc", &format!("CREATE DATABASE {database}")]).status();
    assert!(made.expect("psql runs; `cargo xtask test` installs it").success());
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{database}");
    kill_it_again_and_again(&[("PUNK_DATABASE_URL", &url)], |_| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = PostgresStore::connect(&url).await.unwrap();
            let audited = store::audit(&*store.tenant(TenantId::NIL), TenantId::NIL).await.unwrap();
            assert!(audited.events > 0);
        });
    });
}

fn kill_it_again_and_again(environment: &[(&str, &str)], audit: impl Fn(&World)) {
    let (rounds, seed) = (setting("PUNK_KILL_ROUNDS", 4), setting("PUNK_KILL_SEED", 7));
    println!("{rounds} rounds, PUNK_KILL_SEED={seed}");
    let world = World::new();
    let acknowledged: Acknowledged = Mutex::default();
    let numbers = AtomicU64::new(1);
    for round in 0..rounds {
        let mut gateway = Gateway::start(&world, environment);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (acknowledged, numbers, over, address) =
                    (&acknowledged, &numbers, &over, gateway.address.clone());
                scope.spawn(move || write_until(client, &address, acknowledged, numbers, over));
            }
            // Not a wait for anything: the moment of the kill is meant to be arbitrary.
            let millis = 100 + (seed + round).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 400;
            thread::sleep(Duration::from_millis(millis));
            gateway.kill();
            over.store(true, Ordering::Relaxed);
        });
        drop(gateway);
        audit(&world);
        let gateway = Gateway::start(&world, environment);
        check(&gateway, &acknowledged.lock().unwrap());
    }
    let events: usize = acknowledged.lock().unwrap().values().map(BTreeMap::len).sum();
    assert!(events as u64 > rounds * 20, "only {events} events were acknowledged: nothing was tested");
    println!("{events} acknowledged events, all there");
}

/// Appends events, to a run of its own and to one that all share, until the server is gone.
fn write_until(
    client: u64,
    address: &str,
    acknowledged: &Acknowledged,
    numbers: &AtomicU64,
    over: &AtomicBool,
) {
    let create =
        || try_request(address, "POST", "/api/v1/runs", &[], "{}").filter(|reply| reply.status == 201);
    let Some(run) = create().map(|reply| reply.json()["runId"].as_str().unwrap().to_owned()) else { return };
    let shared = acknowledged.lock().unwrap().keys().next().cloned();
    acknowledged.lock().unwrap().entry(run.clone()).or_default();
    while !over.load(Ordering::Relaxed) {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let run = shared.as_ref().filter(|_| number.is_multiple_of(5)).unwrap_or(&run);
        let body = json!({ "runId": run, "type": "note", "payload": { "client": client, "number": number } });
        let Some(reply) = try_request(address, "POST", "/api/v1/trace", &[], &body.to_string()) else {
            return;
        };
        match reply.status {
            201 => {
                let seq = reply.json()["seq"].as_u64().unwrap();
                let before = acknowledged.lock().unwrap().get_mut(run).unwrap().insert(seq, number);
                assert_eq!(before, None, "place {seq} of {run} was given away twice");
            }
            409 | 503 => {}
            other => panic!("status {other}: {}", String::from_utf8_lossy(&reply.body)),
        }
    }
}

/// Whatever was acknowledged is where it was said to be, and nothing is there twice.
fn check(gateway: &Gateway, acknowledged: &BTreeMap<String, BTreeMap<u64, u64>>) {
    let mut seen = BTreeMap::new();
    for (run, events) in acknowledged {
        let detail = gateway.request("GET", &format!("/api/v1/runs/{run}"), &[], "").json();
        let recorded = detail["events"].as_array().unwrap();
        let number = |event: &Value| event["payload"]["number"].as_u64();
        for event in recorded.iter().filter(|event| event["type"] == "note") {
            let twice = seen.insert(number(event).unwrap(), run);
            assert_eq!(twice, None, "event {event} is there twice");
        }
        for (seq, expected) in events {
            let event =
                recorded.get(*seq as usize - 1).unwrap_or_else(|| panic!("event {seq} of {run} is lost"));
            assert_eq!(number(event), Some(*expected), "place {seq} of {run} holds another event");
        }
    }
}
