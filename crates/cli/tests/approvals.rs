//! `punk approvals`: the real binary answers what a real gateway asks.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use serde_json::json;
use world::World;
use world::gateway::{Gateway, Reply};

const DESK: &str = "\
name: desk
version: '1'
defaultEffect: allow
rules:
  - { effect: allow, actions: ['model:*'], requiresApproval: true, when: { model: ['ask-*'] } }
";

const OPERATOR: &str = "operator-key";

fn made(gateway: &Gateway, key: &serde_json::Value) -> String {
    let operator = format!("Bearer {OPERATOR}");
    let made = gateway.request("POST", "/api/v1/keys", &[("authorization", &operator)], &key.to_string());
    assert_eq!(made.status, 201);
    made.json()["token"].as_str().unwrap().to_owned()
}

fn ask(gateway: &Gateway, token: &str, content: &str) -> Reply {
    let body = json!({ "model": "ask-me", "messages": [{ "role": "user", "content": content }] });
    let bearer = format!("Bearer {token}");
    gateway.request("POST", "/v1/chat/completions", &[("authorization", &bearer)], &body.to_string())
}

#[test]
fn people_see_what_they_are_asked_and_answer_from_a_terminal() {
    let world = World::new();
    std::fs::create_dir(world.path("policies")).unwrap();
    let world = world.file("policies/desk.yaml", DESK);
    let gateway = Gateway::start(&world, &[("PUNK_API_KEY", OPERATOR)]);
    let agent = made(&gateway, &json!({ "name": "agent" }));
    let ada = made(&gateway, &json!({ "name": "ada", "scopes": ["read", "approve"] }));
    std::fs::write(world.path("ada.key"), format!("{ada}\n")).unwrap();
    std::fs::write(world.path("agent.key"), &agent).unwrap();
    let url = format!("http://{}", gateway.address);
    let punk = |command: &[&str], key: &str| {
        let mut arguments = vec!["approvals"];
        arguments.extend(command);
        arguments.extend(["--url", &url, "--key-file", key]);
        world.punk(&arguments)
    };
    assert_eq!(punk(&["list"], "ada.key").stdout, "nothing\n");
    let asked = ask(&gateway, &agent, "may I?").json();
    let id = asked["error"]["approvalId"].as_str().unwrap().to_owned();
    let list = punk(&["list"], "ada.key");
    assert!(list.stdout.contains(&id) && list.stdout.contains("desk#0"), "{}", list.told());
    let shown = punk(&["show", &id], "ada.key");
    assert!(shown.stdout.contains("may I?"), "{}", shown.told());
    let machine = punk(&["approve", &id], "agent.key");
    assert_eq!(machine.code, 1, "{}", machine.told());
    assert!(!machine.told().contains(&agent), "no key is shown");
    assert_eq!(punk(&["reject", &id], "ada.key").code, 2, "a rejection wants a reason");
    let approved = punk(&["approve", &id, "--reason", "fine"], "ada.key");
    assert_eq!((approved.code, approved.stdout), (0, format!("{id} is approved\n")));
    assert_eq!(ask(&gateway, &agent, "may I?").status, 200);
    let used = punk(&["show", &id, "--json"], "ada.key");
    assert_eq!(used.json()["approval"]["status"], "used", "{}", used.told());
    let nowhere = world.punk(&["approvals", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!(nowhere.code, 3, "{}", nowhere.told());
}
