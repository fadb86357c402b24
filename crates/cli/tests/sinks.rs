//! The real gateway copies the heads of its ledger, and the copy tells when the ledger was rewritten.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use serde_json::json;
use std::time::Duration;
use world::World;
use world::gateway::Gateway;

const SINK: &str = "[sinks.lines]\nkind = 'file'\npath = 'audit.jsonl'\nruns = true\n";

/// The lines of the copy, when it has so many.
fn lines(world: &World, count: usize) -> Vec<serde_json::Value> {
    for _ in 0..600 {
        let text = std::fs::read_to_string(world.path("audit.jsonl")).unwrap_or_default();
        if text.lines().count() >= count {
            return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    unreachable!("no copy after 30 s")
}

#[test]
fn heads_and_runs_are_copied_and_a_rewritten_ledger_is_convicted() {
    let world = World::new();
    let ask = |contents: &[&str]| {
        let mut gateway = Gateway::start(&world, &[]);
        for content in contents {
            assert_eq!(gateway.ask(content).status, 200);
        }
        gateway.kill();
    };
    ask(&["one", "two"]);
    // A schedule that is new runs at the start.
    std::fs::write(world.path("punk.toml"), SINK).unwrap();
    let mut gateway = Gateway::start(&world, &[]);
    let [first, second, head] = lines(&world, 3).try_into().unwrap();
    assert_eq!((&first["format"], &second["leaf"]), (&json!("punk.context/1"), &json!(1)));
    assert_eq!((&head["format"], &head["size"]), (&json!("punk.checkpoint/1"), &json!(2)));
    assert_eq!(first["verdict"]["effect"], "allow");
    gateway.kill();

    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    let compare = || world.punk(&["audit", "compare", "audit.jsonl", "--trust", "keys.txt", "--json"]);
    let ended = compare();
    assert_eq!((ended.code, &ended.json()["consistent"]), (0, &json!(true)), "{}", ended.told());
    // The same keys, another history.
    std::fs::remove_file(world.path("punk.toml")).unwrap();
    for file in std::fs::read_dir(world.path("data")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
    ask(&["one", "something else", "three"]);
    let ended = compare();
    assert_eq!(ended.code, 1, "{}", ended.told());
    assert_eq!(ended.json()["logs"][0]["compared"], json!({ "consistent": false, "kept": 0, "until": 2 }));
    let ended = world.punk(&["audit", "compare", "audit.jsonl", "--trust", "keys.txt"]);
    assert!(ended.stdout.starts_with("rewritten\n"), "{}", ended.told());
}

#[test]
fn a_sink_on_a_private_address_is_refused_before_anything_is_served() {
    let world =
        World::new().file("punk.toml", "[sinks.siem]\nkind = 'http'\nurl = 'http://10.0.0.7/hunter2'\n");
    let ended = world.punk(&["serve", "--set", "server.port=0"]);
    assert_eq!(ended.code, 2, "{}", ended.told());
    assert!(ended.stderr.contains("sinks.siem: 10.0.0.7 is a private address"), "{}", ended.told());
    assert!(ended.stderr.contains("sinks.siem.allow_private"), "{}", ended.told());
}
