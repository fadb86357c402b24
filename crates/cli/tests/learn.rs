//! The real binary learns: by its own ticks, over its own database; what it serves is verified elsewhere, and what it learned is made again.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use serde_json::json;
use world::World;
use world::gateway::{Gateway, Reply};
use world::process::until;

const THINGS: [&str; 4] = ["door", "lamp", "chair", "table"];

fn ask(gateway: &Gateway, at: usize) -> Reply {
    let draw = at.wrapping_mul(0x9e37_79b9) >> 7;
    let colour = ["red", "green", "blue"][draw % 3];
    let text = format!("please paint the {} number {at} {colour} today", THINGS[draw / 3 % 4]);
    let system = "Choose one of these labels: red, green, blue. Answer with the label alone.";
    let messages = json!([{ "role": "system", "content": system }, { "role": "user", "content": text }]);
    let body = json!({ "model": "gpt-4o", "messages": messages }).to_string();
    let reply = gateway.request("POST", "/v1/chat/completions", &[], &body);
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    reply
}

#[test]
fn the_binary_learns_by_itself_and_what_it_serves_is_verified_elsewhere_and_made_again() {
    let world = World::new();
    let environment = [("PUNK_LEARN_INTERVAL_MS", "100"), ("PUNK_AUTO_PROMOTE", "true")];
    let mut gateway = Gateway::start(&world, &environment);
    (0..500).for_each(|at| drop(ask(&gateway, at)));
    let (mut at, mut run) = (500, String::new());
    until("something is served", || {
        at += 1;
        let reply = ask(&gateway, at);
        reply.header("x-punk-run-id").clone_into(&mut run);
        reply.header("x-punk-route") == "artifact"
    });
    std::fs::write(world.path("packet.json"), gateway.packet(&run).body).unwrap();
    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();

    let url = format!("http://{}", gateway.address);
    let learn = |command: &[&str]| {
        let mut arguments = vec!["learn"];
        arguments.extend(command);
        arguments.extend(["--url", &url]);
        world.punk(&arguments)
    };
    let status = learn(&["status"]);
    assert!(status.stdout.contains("promoted"), "{}", status.told());
    let status = learn(&["status", "--json"]).json();
    let artifact = status["artifacts"][0]["id"].as_str().unwrap().to_owned();
    let pattern = status["patterns"][0]["id"].as_str().unwrap().to_owned();
    let why = learn(&["explain", &artifact]);
    assert!(why.stdout.contains("proof passed: 0 of "), "{}", why.told());
    assert!(learn(&["explain", &pattern]).stdout.contains("attempt synthesized: "));
    assert_eq!(learn(&["explain", "pat_nothing"]).code, 1);
    // A worker tries it on recorded runs, and what came of it is shown.
    let path = format!("/api/v1/artifacts/{artifact}");
    assert_eq!(gateway.request("POST", &format!("{path}/replay"), &[], "").status, 202);
    until("the artifact was tried on recorded runs", || {
        let replay = gateway.request("GET", &path, &[], "").json()["artifact"]["lastReplay"].clone();
        replay["answered"].as_u64().is_some_and(|answered| answered > 50) && replay["disagreed"] == 0
    });
    assert_eq!(learn(&["export", &artifact, "artifact.json"]).code, 0);
    let imported = learn(&["import", "artifact.json", "--trust", "keys.txt"]);
    assert!(imported.stdout.contains("is compared with live from now on"), "{}", imported.told());
    let text = std::fs::read_to_string(world.path("artifact.json")).unwrap();
    std::fs::write(world.path("forged.json"), text.replacen("red", "mud", 1)).unwrap();
    let forged = learn(&["import", "forged.json", "--trust", "keys.txt"]);
    assert_eq!(forged.code, 1, "{}", forged.told());
    gateway.kill();
    drop(gateway);

    let verified = world.punk_writes_nothing(&["verify", "packet.json", "--trust", "keys.txt"]);
    assert_eq!(verified.code, 0, "{}", verified.told());
    assert!(
        verified.stdout.contains("not checked") && verified.stdout.contains("none"),
        "{}",
        verified.told()
    );
    let rebuilt = world.punk(&["rebuild"]);
    assert!(
        rebuilt.stdout.contains("learning: ") && !rebuilt.stdout.contains("repaired"),
        "{}",
        rebuilt.told()
    );
}
