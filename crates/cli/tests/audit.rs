//! An audit trail is exported from a server that runs, and nothing that was changed in it passes.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use serde_json::{Value, json};
use world::World;
use world::gateway::Gateway;

const DESK: &str = "\
name: desk
version: '1'
defaultEffect: allow
rules:
  - { effect: deny, actions: ['model:*'], when: { model: ['no-*'] } }
";

fn ask(gateway: &Gateway, model: &str, headers: &[(&str, &str)]) -> u16 {
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": "my secret question" }] });
    gateway.request("POST", "/v1/chat/completions", headers, &body.to_string()).status
}

/// A gateway that has allowed, denied, only observed a denial, and made a key.
fn filled() -> (World, Gateway) {
    let world = World::new();
    std::fs::create_dir(world.path("policies")).unwrap();
    let world = world.file("policies/desk.yaml", DESK);
    let gateway = Gateway::start(&world, &[]);
    let key = json!({ "name": "watcher", "app": "desk", "gatewayMode": "observe" }).to_string();
    let made = gateway.request("POST", "/api/v1/keys", &[], &key);
    assert_eq!(made.status, 201);
    let token = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    assert_eq!(ask(&gateway, "gpt-4o", &[]), 200);
    assert_eq!(ask(&gateway, "no-model", &[("x-punk-subject", "user-7")]), 403);
    assert_eq!(ask(&gateway, "no-model", &[("authorization", &token)]), 200, "it only observes");
    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    (world, gateway)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_trail_has_every_change_and_denial_and_shows_nothing_that_was_asked() {
    let (world, _gateway) = filled();
    let ended = world.punk(&["audit", "export", "--out", "trail.jsonl", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.told());
    let said = ended.json();
    assert_eq!((&said["runs"], &said["events"], &said["open"]), (&json!(3), &json!(3), &json!(0)));
    let text = std::fs::read_to_string(world.path("trail.jsonl")).unwrap();
    assert!(!text.contains("secret question") && !text.contains("user-7"), "{text}");
    let trail: Vec<Value> =
        lines(&text).iter().filter_map(|line| line["trail"].as_array()).flatten().cloned().collect();
    let shown: Vec<_> =
        trail.iter().map(|row| (row["type"].as_str().unwrap(), &row["verdict"]["effect"])).collect();
    let deny = json!("deny");
    let expected =
        [("policy.decided", &deny), ("policy.decided", &deny), ("audit.key_created", &Value::Null)];
    assert_eq!(shown, expected, "newest first");
    assert!(trail[2]["target"].as_str().unwrap().starts_with("key_"), "{trail:?}");
    // Where nothing else is, and no gateway writes meanwhile.
    let stranger = World::new();
    for file in ["trail.jsonl", "keys.txt"] {
        std::fs::copy(world.path(file), stranger.path(file)).unwrap();
    }
    let verified =
        stranger.punk_writes_nothing(&["audit", "verify", "trail.jsonl", "--trust", "keys.txt", "--json"]);
    assert_eq!(verified.code, 0, "{}", verified.told());
    let verified = verified.json();
    assert_eq!(
        (&verified["valid"], &verified["runs"], &verified["notChecked"]),
        (&json!(true), &json!(3), &json!(0))
    );

    let ended = world.punk(&["audit", "export", "--out", "trail.jsonl"]);
    assert_eq!(ended.code, 3, "nothing is overwritten");
    // While the server runs, and to standard output: the same runs, and a moment that is later.
    let again = world.punk(&["audit", "export"]);
    assert_eq!(lines(&again.stdout)[1]["run"], lines(&text)[1]["run"]);
}

#[test]
fn a_run_of_a_trail_is_a_packet_for_whoever_puts_its_policies_back() {
    let (world, _gateway) = filled();
    let lines = lines(&world.punk(&["audit", "export"]).stdout);
    let policy = lines.iter().find(|line| line["type"] == "policy").unwrap();
    let denied = lines.iter().find(|line| line["trail"][0]["type"] == "policy.decided").unwrap();
    let mut packet = denied["packet"].clone();
    packet["policies"] = json!({ (policy["digest"].as_str().unwrap()): policy["text"] });
    let bytes = ledger::canonical::to_vec(&packet).unwrap();
    std::fs::write(world.path("packet.json"), bytes).unwrap();
    let ended = world.punk(&["verify", "packet.json", "--trust", "keys.txt"]);
    assert!(
        ended.stdout.starts_with("valid\n") && ended.stdout.contains("event 1: request"),
        "{}",
        ended.told()
    );
}

#[test]
fn whatever_is_changed_left_out_or_added_is_refused() {
    let (world, _gateway) = filled();
    let text = world.punk(&["audit", "export"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    let refused = |what: &str, lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(world.path("trail.jsonl"), text).unwrap();
        let ended = world.punk(&["audit", "verify", "trail.jsonl", "--trust", "keys.txt"]);
        assert_eq!(ended.code, 1, "{what}: {}", ended.told());
        assert!(ended.stdout.starts_with("broken: line "), "{what}: {}", ended.told());
    };
    for place in 0..lines.len() {
        let mut changed = lines.clone();
        changed.remove(place);
        refused("left out", &changed);
        let mut changed = lines.clone();
        changed.insert(place, lines[place]);
        refused("doubled", &changed);
        if place + 1 < lines.len() {
            let mut changed = lines.clone();
            changed.swap(place, place + 1);
            refused("swapped", &changed);
        }
        // A letter or a digit somewhere in the line becomes another.
        let letters: Vec<usize> = lines[place]
            .char_indices()
            .filter(|(_, letter)| letter.is_ascii_alphanumeric())
            .map(|(at, _)| at)
            .collect();
        for at in letters.iter().step_by(letters.len() / 20 + 1) {
            let other = if lines[place].as_bytes()[*at] == b'7' { "8" } else { "7" };
            let mut line = lines[place].to_owned();
            line.replace_range(*at..=*at, other);
            let mut changed = lines.clone();
            changed[place] = &line;
            refused(&format!("line {place}, byte {at}"), &changed);
        }
    }
    std::fs::write(world.path("trail.jsonl"), text.trim_end()).unwrap();
    assert_eq!(world.punk(&["audit", "verify", "trail.jsonl", "--trust", "keys.txt"]).code, 1, "cut off");
}

#[test]
fn a_trail_of_part_of_the_time_has_the_runs_of_that_time_and_one_of_nobody_is_none() {
    let world = World::new();
    let ended = world.punk_writes_nothing(&["audit", "export", "--out", "trail.jsonl", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_database")));
    drop(Gateway::start(&world, &[]));
    let ended = world.punk(&["audit", "export", "--out", "trail.jsonl", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_nothing_to_export")));
    assert!(!world.path("trail.jsonl").exists());
    assert_eq!(world.punk(&["audit", "export", "--from", "yesterday"]).code, 2);

    let (world, gateway) = filled();
    let early =
        world.punk(&["audit", "export", "--to", "2020-01-01", "--out", "early.jsonl", "--json"]).json();
    assert_eq!(early["runs"], json!(0));
    let late =
        world.punk(&["audit", "export", "--from", "2020-01-01", "--out", "late.jsonl", "--json"]).json();
    assert_eq!(late["runs"], json!(3));
    for trail in ["early.jsonl", "late.jsonl"] {
        let ended = world.punk(&["audit", "verify", trail, "--trust", "keys.txt"]);
        assert_eq!(ended.code, 0, "{}", ended.told());
    }
    drop(gateway);
    assert_eq!(world.punk(&["keys", "rotate", "log"]).code, 0);
    std::fs::write(world.path("other.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    let ended = world.punk(&["audit", "verify", "late.jsonl", "--trust", "other.txt"]);
    assert!(ended.code == 1 && ended.stdout.contains("unknown-key"), "{}", ended.told());
    let ended = world.punk(&["audit", "verify", "early.jsonl", "--trust", "other.txt"]);
    assert!(ended.code == 1 && ended.stdout.contains("lists no such key"), "{}", ended.told());
}
