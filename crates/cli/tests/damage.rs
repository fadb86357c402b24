//! A damaged database: the server does not start on it, and does not serve what is damaged under it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use serde_json::json;
use world::World;
use world::gateway::Gateway;

/// Makes one word another wherever it is, as a disk would that lost a bit. How often it was there.
fn change(world: &World, from: &str, to: &str) -> usize {
    assert_eq!(from.len(), to.len());
    let mut changed = 0;
    for name in ["data/punk.db", "data/punk.db-wal"] {
        let Ok(mut bytes) = std::fs::read(world.path(name)) else { continue };
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|place| bytes[*place..].starts_with(from.as_bytes()))
            .collect();
        for place in &places {
            bytes[*place..*place + from.len()].copy_from_slice(to.as_bytes());
        }
        if !places.is_empty() {
            // Written in place: the server has the file open.
            use std::io::{Seek as _, Write as _};
            let mut file = std::fs::OpenOptions::new().write(true).open(world.path(name)).unwrap();
            for place in &places {
                file.seek(std::io::SeekFrom::Start(*place as u64)).unwrap();
                file.write_all(to.as_bytes()).unwrap();
            }
        }
        changed += places.len();
    }
    changed
}

#[test]
fn what_is_damaged_under_a_running_server_is_not_served_and_the_rest_is() {
    let world = World::new();
    // Without whoever learns from what was asked, and would have read it before it is damaged.
    let gateway = Gateway::start(&world, &[("PUNK_WORKER_EMBEDDED", "false")]);
    let run = |content: &str| gateway.ask(content).header("x-punk-run-id").to_owned();
    let (good, bad) = (run("a good one"), run("a parcel"));
    // Whoever reads has it brought into the database; who reads its events would keep them in memory.
    assert_eq!(gateway.request("GET", "/api/v1/runs", &[], "").status, 200);
    assert!(change(&world, "a parcel", "a barrel") > 0);
    let get = |path: String| gateway.request("GET", &path, &[], "");
    for path in [format!("/api/v1/runs/{bad}"), format!("/api/v1/runs/{bad}/evidence-packet")] {
        let reply = get(path);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (500, &json!("punk_store_damaged")));
        assert!(reply.json()["error"]["hint"].as_str().unwrap().contains("punk restore"));
    }
    assert_eq!(get(format!("/api/v1/runs/{good}")).status, 200);
    assert_eq!(get("/health".into()).status, 200);
    // A backup of it is none, and leaves nothing.
    let refused = world.punk(&["backup", "copy.db", "--json"]);
    assert_eq!((refused.code, &refused.error_json()["error"]["code"]), (1, &json!("punk_store_damaged")));
    assert!(refused.stderr.contains(&bad) && refused.stderr.contains("event 1"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 1, "the data folder and nothing else");
    let exported = world.punk(&["export", "--out", "all.jsonl"]);
    assert_eq!(exported.code, 1, "{}", exported.told());
    assert!(!world.path("all.jsonl").exists());
}

#[test]
fn the_server_does_not_start_on_a_damaged_database_and_says_what_is_damaged() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let run = gateway.ask("a parcel").header("x-punk-run-id").to_owned();
    drop(gateway);
    // Started once more and backed up, so that everything is in the main file.
    assert_eq!(world.punk(&["backup", "good.db"]).code, 0);
    assert_eq!(world.punk(&["restore", "good.db", "--replace"]).code, 0);
    assert!(change(&world, "a parcel", "a barrel") > 0);
    let before = std::fs::read(world.path("data/punk.db")).unwrap();
    let refused = world.punk(&["serve", "--port", "0", "--json"]);
    assert_eq!((refused.code, &refused.error_json()["error"]["code"]), (3, &json!("punk_store_damaged")));
    assert!(refused.stderr.contains(&run) && refused.stderr.contains("event 1"), "{}", refused.stderr);
    assert!(std::fs::read(world.path("data/punk.db")).unwrap() == before, "nothing was written");
    let checked = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.contains(&run), "{}", checked.stdout);
    // The way out that the message names.
    assert_eq!(world.punk(&["restore", "good.db", "--replace"]).code, 0);
    assert_eq!(Gateway::start(&world, &[]).packet(&run).status, 200);
}

#[test]
fn commits_behind_damage_in_the_log_are_not_dropped_silently_and_the_rest_can_be_saved() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let ask = |number: usize| {
        let run = gateway.ask(&format!("{number}")).header("x-punk-run-id").to_owned();
        // Whoever asks for it has it brought into the database: a commit for each.
        assert_eq!(gateway.packet(&run).status, 200);
        run
    };
    let runs: Vec<String> = (0..30).map(ask).collect();
    drop(gateway); // kill -9: everything is in the log
    let mut log = std::fs::read(world.path("data/punk.db-wal")).unwrap();
    let middle = 32 + log.len() / 4_120 / 2 * 4_120 + 1_000;
    log[middle] ^= 0x40;
    std::fs::write(world.path("data/punk.db-wal"), &log).unwrap();
    for arguments in [&["serve", "--port", "0"][..], &["verify", "--ledger", "data/punk.db"]] {
        let refused = world.punk(arguments);
        assert!(refused.code == 1 || refused.code == 3, "{}", refused.told());
        let said = refused.stdout + &refused.stderr;
        assert!(said.contains("write-ahead log is damaged") && said.contains("commits follow it"), "{said}");
        assert!(std::fs::read(world.path("data/punk.db-wal")).unwrap() == log, "it is left alone");
    }
    // As docs/how-to/back-up-and-restore.md says.
    let saved = world.punk(&["backup", "whole.db", "--json"]);
    assert_eq!(saved.code, 0, "{}", saved.told());
    let whole = usize::try_from(saved.json()["runs"].as_u64().unwrap()).unwrap();
    assert!(0 < whole && whole < runs.len(), "{whole} runs are before the damage");
    assert_eq!(world.punk(&["restore", "whole.db", "--replace"]).code, 0);
    assert!(std::fs::read(world.path("data/punk.db.replaced-1-wal")).unwrap() == log, "and is kept");
    let gateway = Gateway::start(&world, &[]);
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(
            gateway.packet(run).status,
            if number < whole { 200 } else { 404 },
            "run {number} of {whole}"
        );
    }
}
