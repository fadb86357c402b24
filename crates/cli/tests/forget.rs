//! Forgetting, with the real binary: a person on request, old events after their time, and nothing that proves the rest.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::time::{Duration, Instant};

use schema::TenantId;
use serde_json::{Value, json};
use store::conformance::Story;
use store::sqlite::{Durability, SqliteStore};
use store::{Commit, Store};
use world::World;
use world::gateway::{Gateway, Reply};

fn get(gateway: &Gateway, path: &str) -> Reply {
    gateway.request("GET", path, &[], "")
}

/// Asks again until the answer is as wanted.
#[expect(clippy::disallowed_methods, reason = "a test may not wait for ever")]
fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn job(gateway: &Gateway, kind: &str) -> Value {
    wait_for(kind, || {
        let jobs = get(gateway, "/api/v1/jobs?state=done").json();
        jobs["jobs"].as_array().unwrap().iter().find(|job| job["kind"] == kind).cloned()
    })
}

/// Whether any file in the world says this.
fn is_anywhere(world: &World, text: &str) -> bool {
    let says = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    world.listing().iter().any(|(_, bytes)| says(bytes))
}

fn verify(world: &World, packet: &Reply) -> world::Ended {
    assert_eq!(packet.status, 200, "{}", String::from_utf8_lossy(&packet.body));
    std::fs::write(world.path("packet.json"), &packet.body).unwrap();
    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    let ended = world.punk(&["verify", "packet.json", "--trust", "keys.txt", "--json"]);
    std::fs::remove_file(world.path("packet.json")).unwrap();
    ended
}

#[test]
fn an_erased_person_is_nowhere_and_what_happened_is_still_proven() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let run = gateway.chat("my xyzzy diagnosis").header("x-punk-run-id").to_owned();
    let other = gateway.ask("about nobody").header("x-punk-run-id").to_owned();
    let trace = json!({ "runId": run, "type": "tool.called", "payload": { "tool": "plugh" } });
    assert_eq!(gateway.request("POST", "/api/v1/trace", &[], &trace.to_string()).status, 201);
    let whole = verify(&world, &gateway.packet(&run));
    assert_eq!((whole.code, whole.json()["withheld"].clone()), (0, json!([])), "{}", whole.told());
    // What is about somebody is never at rest in the open.
    assert!(!is_anywhere(&world, "xyzzy") && !is_anywhere(&world, "plugh"));
    assert!(is_anywhere(&world, "about nobody"), "this test can see what is not sealed");
    assert!(is_anywhere(&world, "user-7"), "the name is there, once");

    let erase = |path: &str| gateway.request("DELETE", path, &[("x-punk-agent", "dpo")], "");
    let erased = erase("/api/v1/subjects/user-7?reason=asked%20to");
    assert_eq!(erased.status, 200, "{}", String::from_utf8_lossy(&erased.body));
    assert_eq!(erased.json()["runs"], 1);
    assert!(!is_anywhere(&world, "user-7"), "neither in the database nor in its log");

    let detail = get(&gateway, &format!("/api/v1/runs/{run}")).json();
    assert_eq!(detail["run"].get("subject"), None);
    assert_eq!(detail["run"]["model"], "gpt-4o", "what it was and what it cost is still known");
    assert!(detail["events"][0]["payload"]["request"]["withheld"].is_string());
    assert!(!get(&gateway, "/api/v1/runs").json().to_string().contains("user-7"));
    let left = verify(&world, &gateway.packet(&run));
    assert_eq!(left.code, 0, "{}", left.told());
    let withheld = left.json()["withheld"].to_string();
    assert!(withheld.contains("event 1: request") && withheld.contains("event 1: subject"), "{withheld}");
    assert_eq!(verify(&world, &gateway.packet(&other)).json()["withheld"], json!([]));

    // The erasure is a run of its own, with a proof of its own, and the views have been told.
    let record = erased.json()["runId"].as_str().unwrap().to_owned();
    let said = get(&gateway, &format!("/api/v1/runs/{record}")).json();
    assert_eq!((&said["run"]["kind"], &said["run"]["agent"]), (&json!("audit"), &json!("dpo")));
    assert_eq!(said["events"][1]["type"], "audit.subject_erased");
    assert_eq!(said["events"][1]["payload"]["reason"], "asked to");
    assert_eq!(said["events"][1]["payload"]["subjectId"], erased.json()["subjectId"]);
    assert_eq!(verify(&world, &gateway.packet(&record)).code, 0);
    job(&gateway, "erasure_sweep");

    for (path, status) in [
        ("/api/v1/subjects/user-7", 404),
        ("/api/v1/subjects/nobody", 404),
        ("/api/v1/subjects/user-7?reason=", 400),
        ("/api/v1/subjects/user-7?why=x", 400),
    ] {
        let refused = erase(path);
        assert_eq!(refused.status, status, "{path}");
        assert!(refused.json()["error"]["hint"].is_string());
    }
    // Who comes back is somebody new.
    let again = gateway.chat("hello again").header("x-punk-run-id").to_owned();
    assert_eq!(get(&gateway, &format!("/api/v1/runs/{again}")).json()["run"]["subject"], "user-7");
    drop(gateway);
    let checked = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
    let rebuilt = world.punk(&["rebuild", "--json"]);
    let view = |name: &str, entries: u64| json!({ "name": name, "entries": entries, "repaired": 0 });
    let views = [("runs", 4), ("cache", 0), ("usage", 2), ("agents", 1), ("conduct", 1), ("learning", 0)];
    let views = views.map(|(name, entries)| view(name, entries));
    assert_eq!(rebuilt.json()["views"], json!(views));
}

#[test]
fn old_events_are_given_up_on_record_and_the_rest_verifies() {
    let world = World::new();
    // Runs of years ago: one finished, one that never was, and one that somebody still adds to.
    std::fs::create_dir(world.path("data")).unwrap();
    let old = |number: u64| schema::RunId::new(1_700_000_000_000 + number, [7; 10]);
    let mut stories: Vec<Story> = (0u64..3).map(|number| Story::new(TenantId::NIL, old(number))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(&world.path("data/punk.db"), Durability::Commit).unwrap();
        let appends = vec![stories[0].finish(), stories[1].go_on(3), stories[2].go_on(1)];
        let commit = Commit { appends, ..Commit::default() };
        store.tenant(TenantId::NIL).commit(commit).await.unwrap();
    });
    let keep_all = Gateway::start(&world, &[("PUNK_WORKER_EMBEDDED", "false")]);
    let trace = json!({ "runId": stories[2].run, "type": "note", "payload": {} });
    assert_eq!(keep_all.request("POST", "/api/v1/trace", &[], &trace.to_string()).status, 201);
    let new = keep_all.chat("of today").header("x-punk-run-id").to_owned();
    assert_eq!(get(&keep_all, &format!("/api/v1/runs/{}", stories[0].run)).status, 200);
    drop(keep_all);

    let gateway = Gateway::start(&world, &[("PUNK_RETENTION_DAYS", "30")]);
    wait_for("the sweep", || {
        (get(&gateway, &format!("/api/v1/runs/{}", stories[0].run)).status == 410).then_some(())
    });
    for story in &stories[..2] {
        for path in ["", "/evidence-packet"] {
            let gone = get(&gateway, &format!("/api/v1/runs/{}{path}", story.run));
            assert_eq!((gone.status, &gone.json()["error"]["code"]), (410, &json!("punk_run_sealed")));
        }
    }
    for kept in [stories[2].run.to_string(), new.clone()] {
        assert_eq!(get(&gateway, &format!("/api/v1/runs/{kept}")).status, 200);
    }
    assert_eq!(verify(&world, &gateway.packet(&new)).code, 0);
    let listed = get(&gateway, "/api/v1/runs").json();
    let record =
        listed["runs"].as_array().unwrap().iter().find(|run| run["kind"] == "audit").unwrap().clone();
    let record = record["id"].as_str().unwrap();
    let said = get(&gateway, &format!("/api/v1/runs/{record}")).json();
    assert_eq!(said["events"][1]["payload"]["runs"], json!([stories[1].run, stories[0].run]));
    assert_eq!(verify(&world, &gateway.packet(record)).code, 0);
    drop(gateway);
    let checked = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
    assert!(checked.stdout.contains("2 sealed"), "{}", checked.stdout);
    assert_eq!(world.punk(&["rebuild", "--json"]).json()["views"][0]["repaired"], 0);
}

#[test]
fn rebuilding_needs_a_database_of_its_own() {
    let world = World::new();
    let missing = world.punk_writes_nothing(&["rebuild", "--json"]);
    assert_eq!((missing.code, &missing.error_json()["error"]["code"]), (1, &json!("punk_no_database")));
    let gateway = Gateway::start(&world, &[]);
    gateway.chat("one");
    let busy = world.punk(&["rebuild"]);
    assert_eq!(busy.code, 3, "{}", busy.told());
    assert!(
        busy.stderr.contains("in use") && busy.stderr.contains("stop the other process"),
        "{}",
        busy.told()
    );
    drop(gateway);
    let told = ["runs: 1", "cache: 0", "usage: 1", "agents: 1", "conduct: 1", "learning: 0"];
    let told: String = told.map(|view| format!("{view}, all as their events say\n")).concat();
    assert_eq!(world.punk(&["rebuild"]).stdout, told);
}
