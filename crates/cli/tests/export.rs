//! An export is read back and checked by nothing but its own lines and the `ledger` crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use ledger::{Chain, Event, Leaf, Log, sha256};
use schema::{RunId, TenantId};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::Command;
use world::World;
use world::gateway::Gateway;

/// What an export was found to hold.
struct Verified {
    /// By run, its events and the row.
    runs: HashMap<RunId, (Vec<Event>, Value)>,
    /// In the order of the lines.
    order: Vec<RunId>,
    leaves: usize,
    policies: usize,
}

/// Reads and checks every line as `docs/reference/export.md` says.
fn verify(text: &str) -> Verified {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    assert_eq!((&head["type"], &head["format"]), (&json!("export"), &json!("punk.export/1")));
    let tenant: TenantId = serde_json::from_value(head["tenant"].clone()).unwrap();
    let mut found = Verified { runs: HashMap::new(), order: Vec::new(), leaves: 0, policies: 0 };
    let (mut log, mut events, mut end) = (Log::default(), 0, None);
    for line in lines {
        assert_eq!(end, None, "nothing follows the end");
        match line["type"].as_str().unwrap() {
            "run" => {
                let run: RunId = serde_json::from_value(line["row"]["id"].clone()).unwrap();
                let chained: Vec<Event> = serde_json::from_value(line["events"].clone()).unwrap();
                let mut chain = Chain::new(tenant, run);
                chained.iter().for_each(|event| chain.verify_next(event).unwrap());
                assert_eq!(
                    (&line["row"]["seq"], &line["row"]["head"]),
                    (&json!(chain.seq()), &json!(chain.head()))
                );
                events += chained.len();
                found.order.push(run);
                assert!(
                    found.runs.insert(run, (chained, line["row"].clone())).is_none(),
                    "{run} is there twice"
                );
            }
            "leaf" => {
                let leaf = |name: &str| line[name].clone();
                let run = serde_json::from_value(leaf("run")).unwrap();
                let seq = serde_json::from_value(leaf("seq")).unwrap();
                let leaf = Leaf { run, seq, head: serde_json::from_value(leaf("head")).unwrap() };
                let bound =
                    found.runs[&run].0.iter().find(|event| event.seq == seq).expect("it is in the export");
                assert_eq!(bound.hash, leaf.head);
                assert_eq!(json!(log.push(leaf)), line["index"]);
            }
            "policy" => {
                assert_eq!(line["digest"], json!(sha256(line["text"].as_str().unwrap().as_bytes())));
                found.policies += 1;
            }
            "end" => end = Some(line),
            other => panic!("a line of type {other}"),
        }
    }
    assert_eq!(head["log"], json!({ "size": log.size(), "root": log.root() }));
    found.leaves = usize::try_from(log.size()).unwrap();
    let (runs, leaves, policies) = (found.runs.len(), found.leaves, found.policies);
    let counted =
        json!({ "type": "end", "runs": runs, "events": events, "leaves": leaves, "policies": policies });
    assert_eq!(end.expect("an export without an end is not whole"), counted);
    found
}

/// Runs of several kinds, one of them longer than a page.
fn fill(gateway: &Gateway) -> Vec<RunId> {
    let mut runs: Vec<RunId> = (0..120)
        .map(|number| gateway.chat(&format!("question {number}")).header("x-punk-run-id").parse().unwrap())
        .collect();
    let long = gateway.request("POST", "/api/v1/runs", &[], r#"{"model":"m"}"#).json()["runId"].clone();
    for number in 0..130 {
        let note = json!({ "runId": long, "type": "note", "payload": { "number": number, "text": "ü \u{1f980} \"quoted\"" } });
        assert_eq!(gateway.request("POST", "/api/v1/trace", &[], &note.to_string()).status, 201);
    }
    let late = json!({ "runId": runs[0], "type": "note.late", "payload": { "score": 1.5 } });
    assert_eq!(gateway.request("POST", "/api/v1/trace", &[], &late.to_string()).status, 201);
    runs.push(serde_json::from_value(long).unwrap());
    runs
}

/// Exports twice while a gateway runs, to a file and to standard output, and compares with what it shows.
fn exports_what_is_there(world: &World, environment: &[(&str, &str)]) -> String {
    let gateway = Gateway::start(world, environment);
    let runs = fill(&gateway);
    let ended = world.punk(&["export", "--out", "all.jsonl", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.told());
    let said = ended.json();
    assert_eq!(
        (&said["runs"], &said["events"], &said["leaves"]),
        (&json!(121), &json!(120 * 4 + 132), &json!(121))
    );
    let text = std::fs::read_to_string(world.path("all.jsonl")).unwrap();
    let found = verify(&text);
    assert_eq!(found.order, runs.iter().rev().copied().collect::<Vec<_>>(), "newest first");
    assert_eq!((found.leaves, found.policies), (121, 1));
    let packet = gateway.packet(&runs[3].to_string()).json();
    assert_eq!(json!(found.runs[&runs[3]].0), packet["events"], "events are as in a packet");
    let ended = world.punk(&["export"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout == text, "the same on standard output");
    text
}

#[test]
fn an_export_of_sqlite_verifies_by_itself_while_the_server_runs_and_after() {
    let world = World::new();
    let text = exports_what_is_there(&world, &[]);
    assert!(world.punk(&["export"]).stdout == text, "the same when nobody has the database open");
    let ended = world.punk(&["export", "--out", "all.jsonl"]);
    assert_eq!(ended.code, 3, "nothing is overwritten");
    assert!(ended.stderr.contains("all.jsonl exists already"), "{}", ended.stderr);
}

#[test]
fn an_export_of_postgres_is_the_same() {
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    let database = format!("export_{}", std::process::id());
    let made = Command::new("psql").args([&server, "-qc", &format!("CREATE DATABASE {database}")]).status();
    assert!(made.expect("psql runs; `cargo xtask test` installs it").success());
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{database}");
    let world = World::new().set("PUNK_DATABASE_URL", &url);
    exports_what_is_there(&world, &[("PUNK_DATABASE_URL", &url)]);
}

#[test]
fn an_export_taken_under_load_is_consistent() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let over = std::sync::atomic::AtomicBool::new(false);
    gateway.chat("first");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let run = gateway.chat("more").header("x-punk-run-id").to_owned();
                    let late = json!({ "runId": run, "type": "feedback.given", "payload": {} });
                    gateway.request("POST", "/api/v1/trace", &[], &late.to_string());
                }
            });
        }
        let mut sizes = Vec::new();
        for _ in 0..5 {
            let ended = world.punk(&["export"]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            sizes.push(verify(&ended.stdout).leaves);
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(sizes[0] < sizes[4], "nothing was written meanwhile: {sizes:?}");
    });
}

#[test]
fn where_nothing_is_there_nothing_is_written() {
    let world = World::new();
    let ended = world.punk_writes_nothing(&["export", "--out", "all.jsonl", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_database")));
    drop(Gateway::start(&world, &[]));
    let ended = world.punk(&["export", "--out", "all.jsonl", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_nothing_to_export")));
    let gateway = Gateway::start(&world, &[]);
    gateway.chat("hello");
    let other = TenantId::new(1, [7; 10]).to_string();
    let ended = world.punk(&["export", "--tenant", &other]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains(&other), "{}", ended.stderr);
    assert!(!world.path("all.jsonl").exists());
    assert_eq!(world.punk(&["export", "--set", "store.path=:memory:"]).code, 2);
}
