//! The whole way, with the real binary: a chat over HTTP, a decision, an answer, a commit, a packet, a proof.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use world::World;
use world::gateway::Gateway;

/// What the second verifier, in another language, says.
fn second_verifier(packet: &Path, trust: &Path) -> String {
    let script =
        Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../tests/verifier/verify.mjs");
    let output = Command::new("node").arg(script).args([packet, trust]).output();
    String::from_utf8(output.expect("node runs; `cargo xtask test` installs it").stdout).unwrap()
}

#[test]
fn a_chat_is_governed_answered_recorded_and_provable_to_a_stranger() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let reply = gateway.chat("Where is my parcel? 📦");
    assert_eq!((reply.status, reply.header("x-punk-route")), (200, "live"));
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "You said: Where is my parcel? 📦");
    let run = reply.header("x-punk-run-id").to_owned();

    let packet = gateway.packet(&run);
    assert_eq!(packet.status, 200);
    std::fs::write(world.path("packet.json"), &packet.body).unwrap();
    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    drop(gateway);

    let verified = world.punk_writes_nothing(&["verify", "packet.json", "--trust", "keys.txt"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.starts_with("valid\n") && verified.stdout.contains(&run), "{}", verified.stdout);
    assert_eq!(second_verifier(&world.path("packet.json"), &world.path("keys.txt")), "valid\n");

    // Whoever holds it may show less of it.
    let shown =
        world.punk(&["withhold", "packet.json", "1.subject", "1.request", "4.answer", "--out", "shown.json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let less = std::fs::read_to_string(world.path("shown.json")).unwrap();
    assert!(!less.contains("parcel") && !less.contains("user-7"));
    let verified = world.punk(&["verify", "shown.json", "--trust", "keys.txt", "--json"]).json();
    assert_eq!(verified["withheld"], json!(["event 1: request", "event 1: subject", "event 4: answer"]));
    assert_eq!(second_verifier(&world.path("shown.json"), &world.path("keys.txt")), "valid\n");

    // A prefix is a chain, and not a packet.
    let mut prefix: Value = serde_json::from_slice(&packet.body).unwrap();
    prefix["events"].as_array_mut().unwrap().truncate(2);
    std::fs::write(world.path("prefix.json"), prefix.to_string()).unwrap();
    assert_eq!(world.punk(&["verify", "prefix.json", "--chain"]).code, 0);
    assert_eq!(world.punk(&["verify", "prefix.json", "--trust", "keys.txt"]).code, 1);

    let text = String::from_utf8(packet.body).unwrap();
    for (what, tampered, reason) in [
        ("the question", text.replace("parcel", "barrel"), "event-hash"),
        ("the verdict", text.replace("\"effect\":\"allow\"", "\"effect\":\"denied\""), "event-hash"),
        (
            "the row",
            text.replace("\"status\":\"completed\",\"subject\"", "\"status\":\"failed\",\"subject\""),
            "run-row",
        ),
        ("the policy", text.replace(r#"{\"policies\":[]}"#, r#"{\"policies\": []}"#), "policy-bytes"),
        ("the bytes", format!("{text}\n"), "not-canonical"),
    ] {
        assert_ne!(tampered, text, "{what} was not tampered with");
        std::fs::write(world.path("tampered.json"), tampered).unwrap();
        let refused = world.punk(&["verify", "tampered.json", "--trust", "keys.txt", "--json"]);
        assert_eq!(refused.code, 1, "{what}: {}", refused.stdout);
        let said: Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!((&said["valid"], &said["reason"]), (&json!(false), &json!(reason)), "{what}");
        let second = second_verifier(&world.path("tampered.json"), &world.path("keys.txt"));
        assert!(second.starts_with(&format!("broken {reason}:")), "{what}: {second}");
    }
}

#[test]
fn what_was_answered_is_there_after_a_kill() {
    let world = World::new();
    let mut runs = Vec::new();
    for round in 0..5 {
        let gateway = Gateway::start(&world, &[]);
        for i in 0..4 {
            runs.push(
                gateway.chat(&format!("round {round}, question {i}")).header("x-punk-run-id").to_owned(),
            );
        }
        drop(gateway); // kill -9
    }
    let gateway = Gateway::start(&world, &[]);
    for run in &runs {
        assert_eq!(gateway.packet(run).status, 200, "{run}");
    }
    let checked = world.punk(&["verify", "--ledger", "data/punk.db", "--json"]);
    let said: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((&said["valid"], &said["logs"][0]["size"]), (&json!(true), &json!(runs.len())));
}

#[test]
fn a_refused_request_names_the_field_and_creates_nothing() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[("PUNK_MAX_BODY_BYTES", "2097152")]);
    let runs = || gateway.request("GET", "/api/v1/runs", &[], "").json()["runs"].clone();
    assert_eq!(runs(), json!([]));
    let message = json!([{ "role": "user", "content": "hi" }]);
    for (body, param) in [
        (json!({ "messages": message }), "model"),
        (json!({ "model": "", "messages": message }), "model"),
        (json!({ "model": "m" }), "messages"),
        (json!({ "model": "m", "messages": [] }), "messages"),
        (json!({ "model": "m", "messages": message, "stream": "yes" }), "stream"),
        (json!({ "model": "m", "messages": message, "n": 0 }), "n"),
        (json!({ "model": "m", "messages": [{ "role": "boss", "content": "hi" }] }), "messages[0].role"),
        (json!({ "model": "m", "messages": [{ "role": "user", "content": 7 }] }), "messages[0].content"),
        (
            json!({ "model": "m", "messages": [{ "role": "user", "content": [{ "type": "image_url" }] }] }),
            "messages[0].content[0].image_url",
        ),
        (json!([]), ""),
    ] {
        let reply = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
        let error = &reply.json()["error"];
        assert_eq!((reply.status, error["param"].as_str()), (400, Some(param)), "{body}");
        assert!(
            error["message"].is_string()
                && error["hint"].is_string()
                && error["type"] == "invalid_request_error"
        );
    }
    for (body, status) in [("{", 400), ("", 400), ("\u{1f4a9}", 400), (" ".repeat(3 << 20).as_str(), 413)] {
        assert_eq!(gateway.request("POST", "/v1/chat/completions", &[], body).status, status);
    }
    let long = "x".repeat(121);
    let headers = [("x-punk-agent", long.as_str())];
    assert_eq!(gateway.request("POST", "/v1/chat/completions", &headers, "{}").status, 400);
    assert_eq!(gateway.request("GET", "/v1/chat/completions", &[], "").status, 405);
    assert_eq!(gateway.request("GET", "/nothing/here", &[], "").json()["error"]["code"], "punk_no_such_path");
    for unknown in ["run_00000000000000000000000000", "nonsense", "ten_00000000000000000000000000"] {
        assert_eq!(gateway.packet(unknown).status, 404, "{unknown}");
    }
    assert_eq!(runs(), json!([]), "something was recorded");
}

#[test]
fn with_an_api_key_nobody_gets_in_without_it_and_it_is_written_nowhere() {
    let world = World::new();
    let key = "correct-horse-battery-staple";
    let gateway = Gateway::start(&world, &[("PUNK_API_KEY", key)]);
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": format!("my key is {key} and sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6d") }] });
    let ask = |headers: &[(&str, &str)]| {
        gateway.request("POST", "/v1/chat/completions", headers, &body.to_string())
    };
    for wrong in ["Bearer wrong", "Bearer ", "Basic x", "Bearer correct-horse-battery-staplE"] {
        assert_eq!(ask(&[("authorization", wrong)]).status, 401, "{wrong}");
    }
    assert_eq!(ask(&[]).json()["error"]["type"], "authentication_error");
    let bearer = format!("Bearer {key}");
    let reply = ask(&[("authorization", bearer.as_str())]);
    assert_eq!(reply.status, 200);
    assert_eq!(gateway.packet(reply.header("x-punk-run-id")).status, 401);
    for (path, bytes) in world.listing() {
        let holds = |secret: &str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds(key) && !holds("4fT9xQz7LmN2"), "a credential was written to {}", path.display());
    }
}

#[test]
fn it_does_not_open_itself_to_others_without_a_key() {
    let refused = World::new().punk_writes_nothing(&["serve", "--host", "0.0.0.0"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("PUNK_API_KEY"), "{}", refused.stderr);
}

#[test]
fn a_second_server_on_the_port_touches_nothing() {
    let (first, second) = (World::new(), World::new());
    let gateway = Gateway::start(&first, &[]);
    let port = gateway.address.rsplit(':').next().unwrap();
    let refused = second.punk_writes_nothing(&["serve", "--port", port]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("--port"), "{}", refused.stderr);
    // Nor does one on another port get at the same ledger.
    let refused = first.punk(&["serve", "--port", "0"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("in use by another process"), "{}", refused.stderr);
}

#[test]
fn withhold_refuses_what_is_not_there_or_needed_and_overwrites_nothing() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let run = gateway.chat("hello").header("x-punk-run-id").to_owned();
    std::fs::write(world.path("packet.json"), gateway.packet(&run).body).unwrap();
    drop(gateway);
    for (field, said) in [
        ("9.subject", "there is no event 9"),
        ("1.nothing", "event 1 (run.started) has no field `nothing`\nhint: it has agent, app"),
        ("2.policies", "cannot be withheld"),
    ] {
        let ended = world.punk_writes_nothing(&["withhold", "packet.json", field]);
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert_eq!(world.punk_writes_nothing(&["withhold", "packet.json", "subject"]).code, 2);
    assert_eq!(world.punk_writes_nothing(&["withhold", "packet.json"]).code, 2);
    assert_eq!(
        world.punk_writes_nothing(&["withhold", "packet.json", "1.subject", "--out", "packet.json"]).code,
        3
    );
}

#[test]
fn verify_says_what_it_could_not_read() {
    let world = World::new()
        .file("bad.txt", "log nonsense\n")
        .file("packet.json", "{}")
        .file("keys.txt", "quorum none\n");
    let ended = world.punk_writes_nothing(&["verify", "packet.json", "--trust", "bad.txt"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("bad.txt: line 1:"), "{}", ended.stderr);
    assert_eq!(world.punk_writes_nothing(&["verify", "nowhere.json", "--trust", "keys.txt"]).code, 3);
    assert_eq!(world.punk_writes_nothing(&["verify", "packet.json"]).code, 2, "a trust file is not optional");
    assert_eq!(world.punk_writes_nothing(&["verify", "--ledger", "nowhere.db"]).code, 3);
    let broken = world.punk_writes_nothing(&["verify", "packet.json", "--trust", "keys.txt"]);
    assert_eq!(
        (broken.code, broken.stdout.as_str()),
        (1, "broken (unknown-format): there is no member `format`\n")
    );
    let damaged = world.file("punk.db", "{}\n").punk_writes_nothing(&["verify", "--ledger", "punk.db"]);
    assert_eq!(damaged.code, 1);
    assert!(damaged.stdout.contains("not a database"), "{}", damaged.stdout);
}

#[test]
fn what_comes_after_the_end_is_bound_by_a_leaf_of_its_own() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let run = gateway.chat("hello").header("x-punk-run-id").to_owned();
    let before = gateway.packet(&run).body;
    let note =
        json!({ "runId": run, "type": "tool.completed", "payload": { "name": "lookup", "result": 7 } });
    let traced = gateway.request("POST", "/api/v1/trace", &[], &note.to_string());
    assert_eq!((traced.status, traced.json()["seq"].clone()), (201, json!(5)));
    let after = gateway.packet(&run);
    assert_eq!(after.json()["leaves"].as_array().unwrap().len(), 2);
    std::fs::write(world.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    for (name, packet) in [("before.json", before), ("after.json", after.body)] {
        std::fs::write(world.path(name), packet).unwrap();
        assert_eq!(world.punk(&["verify", name, "--trust", "keys.txt"]).code, 0, "{name}");
        assert_eq!(second_verifier(&world.path(name), &world.path("keys.txt")), "valid\n");
    }
}

#[test]
fn runs_are_begun_traced_and_listed_and_nonsense_is_refused_by_name() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let get = |path: &str| gateway.request("GET", path, &[], "");
    let post = |path: &str, body: &Value| gateway.request("POST", path, &[], &body.to_string());
    let begun = post(
        "/api/v1/runs",
        &json!({ "model": "gpt-4o", "metadata": { "key": "sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0iXb" } }),
    );
    assert_eq!(begun.status, 201);
    let run = begun.json()["runId"].as_str().unwrap().to_owned();
    gateway.chat("hello");
    let page = get("/api/v1/runs?limit=1").json();
    assert_eq!(page["runs"][0]["status"], "completed");
    let next = get(&format!("/api/v1/runs?limit=1&before={}", page["next"].as_str().unwrap())).json();
    assert_eq!(next["runs"][0]["id"], json!(run));
    let detail = get(&format!("/api/v1/runs/{run}")).json();
    assert_eq!(detail["events"][0]["payload"]["metadata"]["key"], "⟨secret:1⟩");
    assert_eq!(gateway.packet(&run).status, 409, "it is not finished");

    let trace = |run: &str, r#type: &str| post("/api/v1/trace", &json!({ "runId": run, "type": r#type }));
    for reserved in ["run.finished", "policy.decided", "audit.x", "side_effect.blocked", "", &"x".repeat(121)]
    {
        let refused = trace(&run, reserved);
        assert_eq!(
            (refused.status, refused.json()["error"]["param"].clone()),
            (400, json!("type")),
            "{reserved}"
        );
    }
    assert_eq!(trace("run_00000000000000000000000000", "note").status, 404);
    assert_eq!(post("/api/v1/trace", &json!({ "runId": run, "type": "note", "paylod": {} })).status, 400);
    assert_eq!(post("/api/v1/runs", &json!({ "modle": "x" })).status, 400);
    for query in ["limit=0", "limit=201", "limit=x", "before=nonsense", "nonsense=1"] {
        assert_eq!(get(&format!("/api/v1/runs?{query}")).status, 400, "{query}");
    }
    assert_eq!(get("/api/v1/jobs?state=dead").json()["jobs"], json!([]));
    assert_eq!(get("/api/v1/jobs?state=asleep").status, 400);
    assert_eq!(post("/api/v1/jobs/job_00000000000000000000000000/requeue", &json!({})).status, 404);
    assert_eq!(get("/ready").json(), json!({ "ready": true }));
    assert_eq!(
        get(&format!("/api/v1/runs/{run}")).json()["events"].as_array().unwrap().len(),
        1,
        "nothing was recorded"
    );
}
