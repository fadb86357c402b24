//! The governor over a real server: what is refused, what is asked, what people can and cannot do about it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use schema::{Approval, Timestamp};
use serde_json::{Value, json};
use store::{Commit, RecordBody, RecordChange, RecordKind};
use world::upstream::{Act, Seen, Upstream};
use world::{Reply, Setup, World};

/// What most tests go by: a model that nobody may ask, one that people are asked about, and tools of each kind.
const OFFICE: &str = "
name: office
version: '1'
defaultEffect: allow
rules:
  - effect: deny
    actions: ['model:chat']
    when: { model: ['o1*'] }
  - effect: allow
    actions: ['model:chat']
    requiresApproval: true
    when: { model: ['gpt-4-turbo'] }
  - effect: deny
    actions: ['execute:delete_everything']
  - effect: allow
    actions: ['execute:send_money']
    approval: { needed: 2 }
  - effect: allow
    actions: ['write:email']
    requiresApproval: true
";

fn governed() -> Setup {
    Setup::protected().governed(&[("office.yaml", OFFICE)])
}

fn chat_body(model: &str, content: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": content }] })
}

async fn chat(world: &World, key: &str, model: &str, content: &str) -> Reply {
    world.with(key, "POST", "/v1/chat/completions", &chat_body(model, content)).await
}

async fn chat_with(world: &World, key: &str, approval: &str, body: &Value) -> Reply {
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str()), ("x-punk-approval", approval)];
    world.send("POST", "/v1/chat/completions", &headers, body).await
}

async fn decide(world: &World, key: &str, approval: &str, decision: &str) -> Reply {
    let body = json!({ "decision": decision, "reason": "because" });
    world.with(key, "POST", &format!("/api/v1/approvals/{approval}/decide"), &body).await
}

/// An agent's key, and those of two people.
async fn people(world: &World) -> (String, String, String) {
    let person = |name: &str| json!({ "name": name, "scopes": ["read", "approve"] });
    (
        world.key(&json!({ "name": "agent" })).await,
        world.key(&person("ada")).await,
        world.key(&person("bob")).await,
    )
}

/// The approval that a refusal names.
#[track_caller]
fn asked(reply: &Reply) -> String {
    assert_eq!((reply.status, reply.code().as_str()), (403, "punk_approval_required"), "{reply:?}");
    assert_eq!(reply.header("x-punk-route"), Some("approval_required"));
    reply.json()["error"]["approvalId"].as_str().unwrap().to_owned()
}

/// A tool that a model has to call.
fn calls(tool: &str, content: &str, stream: bool) -> Value {
    json!({
        "model": "gpt-4o", "stream": stream,
        "messages": [{ "role": "user", "content": content }],
        "tools": [{ "type": "function", "function": { "name": tool, "description": "acts",
            "parameters": { "type": "object", "properties": { "to": { "type": "string" } }, "required": ["to"] } } }],
        "tool_choice": "required",
    })
}

#[tokio::test]
async fn a_denied_call_names_its_rule_asks_nobody_and_is_a_run() {
    let world = governed().start().await;
    let (agent, ..) = people(&world).await;
    let reply = chat(&world, &agent, "o1-mini", "hello").await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "punk_policy_denied"));
    assert_eq!(reply.json()["error"]["verdict"], json!({ "effect": "deny", "policy": "office", "rule": 0 }));
    let run = reply.header("x-punk-run-id").unwrap().to_owned();
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    assert_eq!(detail["run"]["status"], "blocked", "{detail}");
    let approvals = world.operate("GET", "/api/v1/approvals", &Value::Null).await.json();
    assert_eq!(approvals["approvals"], json!([]));
}

#[tokio::test]
async fn an_approved_request_works_once_by_being_sent_again() {
    for setup in [governed(), Setup { policies: governed().policies, ..Setup::on_disk() }] {
        let world = setup.start().await;
        let (agent, ada, _) = people(&world).await;
        let approval = asked(&chat(&world, &agent, "gpt-4-turbo", "hello").await);
        let again = asked(&chat(&world, &agent, "gpt-4-turbo", "hello").await);
        assert_eq!(again, approval, "the same question is put once");
        let shown =
            world.with(&ada, "GET", &format!("/api/v1/approvals/{approval}"), &Value::Null).await.json();
        assert_eq!(
            shown["payload"],
            chat_body("gpt-4-turbo", "hello"),
            "people see what exactly they approve"
        );
        assert_eq!(decide(&world, &ada, &approval, "approve").await.status, 200);
        let reply = chat(&world, &agent, "gpt-4-turbo", "hello").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let next = asked(&chat(&world, &agent, "gpt-4-turbo", "hello").await);
        assert_ne!(next, approval, "it worked once");
        let run = reply.header("x-punk-run-id").unwrap();
        let packet = world.operate("GET", &format!("/api/v1/runs/{run}/evidence-packet"), &Value::Null).await;
        assert_eq!(packet.status, 200, "{packet:?}");
        let trail = world.operate("GET", "/api/v1/audit", &Value::Null).await.json();
        let actions: Vec<&str> =
            trail["audit"].as_array().unwrap().iter().filter_map(|row| row["action"].as_str()).collect();
        assert!(actions.contains(&"audit.approval_decided") && actions.contains(&"audit.approval_used"));
    }
}

#[tokio::test]
async fn nobody_approves_who_may_not() {
    let world = governed().start().await;
    let (agent, ada, _) = people(&world).await;
    let plain = decide(&world, &agent, "apr_00000000000000000000000000", "approve").await;
    assert_eq!((plain.status, plain.code().as_str()), (403, "punk_scope_missing"), "{plain:?}");
    let both = world.key(&json!({ "name": "both", "scopes": ["gateway", "read", "approve"] })).await;
    let machine = world.key(&json!({ "name": "machine", "admin": true })).await;
    let approval = asked(&chat(&world, &both, "gpt-4-turbo", "hello").await);
    for (who, key, code) in [
        ("who asked", &both, "punk_vote_refused"),
        ("a machine, admin or not", &machine, "punk_scope_missing"),
    ] {
        let reply = decide(&world, key, &approval, "approve").await;
        assert_eq!((reply.status, reply.code().as_str()), (403, code), "{who}: {reply:?}");
    }
    let bare = json!({ "decision": "reject" });
    let reply = world.with(&ada, "POST", &format!("/api/v1/approvals/{approval}/decide"), &bare).await;
    assert_eq!((reply.status, reply.json()["error"]["param"].as_str()), (400, Some("reason")), "{reply:?}");
    assert_eq!(decide(&world, &ada, &approval, "reject").await.status, 200);
    let late = decide(&world, &ada, &approval, "approve").await;
    assert_eq!((late.status, late.code().as_str()), (409, "punk_vote_refused"));
    asked(&chat(&world, &both, "gpt-4-turbo", "hello").await);
}

#[tokio::test]
async fn an_approval_is_for_one_payload_and_one_caller() {
    let world = governed().start().await;
    let (agent, ada, _) = people(&world).await;
    let other = world.key(&json!({ "name": "other" })).await;
    let approval = asked(&chat(&world, &agent, "gpt-4-turbo", "pay 10").await);
    decide(&world, &ada, &approval, "approve").await;
    let body = chat_body("gpt-4-turbo", "pay 10");
    for (what, key, body) in [
        ("another payload", &agent, chat_body("gpt-4-turbo", "pay 100")),
        ("another caller", &other, body.clone()),
    ] {
        let reply = chat_with(&world, key, &approval, &body).await;
        assert_eq!((reply.status, reply.code().as_str()), (409, "punk_approval_unfit"), "{what}: {reply:?}");
    }
    assert_eq!(chat_with(&world, &agent, &approval, &body).await.status, 200);
    let spent = chat_with(&world, &agent, &approval, &body).await;
    assert_eq!((spent.status, spent.code().as_str()), (409, "punk_approval_unfit"), "{spent:?}");
}

#[tokio::test]
async fn of_many_who_use_one_approval_at_once_one_succeeds() {
    for setup in [governed(), Setup { policies: governed().policies, ..Setup::on_disk() }] {
        let world = Arc::new(setup.start().await);
        let (agent, ada, _) = people(&world).await;
        let approval = asked(&chat(&world, &agent, "gpt-4-turbo", "once").await);
        decide(&world, &ada, &approval, "approve").await;
        let tries = (0..32).map(|_| {
            let (world, agent) = (Arc::clone(&world), agent.clone());
            tokio::spawn(async move { chat(&world, &agent, "gpt-4-turbo", "once").await.status })
        });
        let mut won = 0;
        for tried in tries.collect::<Vec<_>>() {
            won += u32::from(tried.await.unwrap() == 200);
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn what_expires_while_people_decide_is_rejected() {
    let world = governed().start().await;
    let (agent, ada, _) = people(&world).await;
    let approval = asked(&chat(&world, &agent, "gpt-4-turbo", "late").await);
    age(&world, &approval).await;
    let reply = decide(&world, &ada, &approval, "approve").await;
    assert_eq!((reply.status, reply.code().as_str()), (409, "punk_vote_refused"), "{reply:?}");
    let shown = world.operate("GET", &format!("/api/v1/approvals/{approval}"), &Value::Null).await.json();
    assert_eq!(shown["approval"]["status"], "expired");
    let fresh = asked(&chat(&world, &agent, "gpt-4-turbo", "late").await);
    assert_ne!(fresh, approval, "the question is put anew");
    decide(&world, &ada, &fresh, "approve").await;
    age(&world, &fresh).await;
    let again = asked(&chat(&world, &agent, "gpt-4-turbo", "late").await);
    assert_ne!(again, fresh, "what was approved too long ago is void");
}

/// Lets the time of an approval be over.
async fn age(world: &World, id: &str) {
    let store = world.store.tenant(schema::TenantId::NIL);
    let record = store.record(RecordKind::Approval, id).await.unwrap().unwrap();
    let mut approval: Approval = serde_json::from_value(record.body.clone()).unwrap();
    approval.expires_at = Timestamp::from_millis(1_000).unwrap();
    let to = RecordBody {
        group: record.group,
        key: record.key,
        body: json!(approval),
        created_at: record.created_at,
        due_at: Some(approval.expires_at),
    };
    let change =
        RecordChange { kind: RecordKind::Approval, id: record.id, expected: record.version, to: Some(to) };
    store.commit(Commit { records: vec![change], ..Commit::default() }).await.unwrap();
}

#[tokio::test]
async fn a_tool_call_that_policy_denies_never_reaches_the_caller() {
    let world = governed().start().await;
    let (agent, ..) = people(&world).await;
    let whole = world
        .with(&agent, "POST", "/v1/chat/completions", &calls("delete_everything", "do it to x", false))
        .await;
    assert_eq!((whole.status, whole.code().as_str()), (403, "punk_policy_denied"), "{whole:?}");
    let bearer = format!("Bearer {agent}");
    let body = calls("delete_everything", "do it to x", true).to_string();
    let headers = [("authorization", bearer.as_str())];
    let response = world.response("POST", "/v1/chat/completions", &headers, Bytes::from(body)).await;
    let told = response.into_body().collect().await.unwrap().to_bytes();
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("punk_policy_denied"), "{told}");
    assert!(!told.contains("delete_everything") && !told.contains("[DONE]"), "{told}");
    let run = whole.header("x-punk-run-id").unwrap();
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    let effect = &detail["sideEffects"][0];
    assert_eq!(
        (&effect["toolName"], &effect["status"]),
        (&json!("delete_everything"), &json!("blocked")),
        "{detail}"
    );
    // Whoever only observes is told what would have been, and gets the answer.
    let observer = world.key(&json!({ "name": "observer", "gatewayMode": "observe" })).await;
    let reply =
        world.with(&observer, "POST", "/v1/chat/completions", &calls("delete_everything", "x", false)).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let run = reply.header("x-punk-run-id").unwrap();
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    assert_eq!(detail["sideEffects"][0]["status"], "planned", "{detail}");
}

#[tokio::test]
async fn an_answer_that_was_held_back_is_given_as_it_was_when_enough_people_approve() {
    let world = governed().start().await;
    let (agent, ada, bob) = people(&world).await;
    let body = calls("send_money", "send it to carol", false);
    let approval = asked(&world.with(&agent, "POST", "/v1/chat/completions", &body).await);
    assert_eq!(decide(&world, &ada, &approval, "approve").await.json()["approval"]["status"], "pending");
    asked(&chat_with(&world, &agent, &approval, &body).await);
    assert_eq!(decide(&world, &bob, &approval, "approve").await.json()["approval"]["status"], "approved");
    let changed = calls("send_money", "send it to mallory", false);
    let reply = chat_with(&world, &agent, &approval, &changed).await;
    assert_eq!((reply.status, reply.code().as_str()), (409, "punk_approval_unfit"), "{reply:?}");
    let reply = chat_with(&world, &agent, &approval, &body).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let call = &reply.json()["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "send_money");
    asked(&chat_with(&world, &agent, &approval, &body).await);
}

#[tokio::test]
async fn a_planned_side_effect_is_judged_and_asked_about_once() {
    let world = governed().start().await;
    let (agent, ada, _) = people(&world).await;
    let tools = json!({ "tools": { "mail": { "level": 3, "action": "write:email" } } });
    assert_eq!(world.operate("PATCH", "/api/v1/settings", &tools).await.status, 200);
    let run = world.with(&agent, "POST", "/api/v1/runs", &json!({ "model": "gpt-4o" })).await.json();
    let plan = |tool: &str, payload: Value| {
        let effect = json!({ "toolName": tool, "level": 2, "payload": payload });
        json!({ "runId": run["runId"], "type": "side_effect.planned", "payload": effect })
    };
    let trace = |body: Value| {
        let (world, agent) = (&world, agent.clone());
        async move { world.with(&agent, "POST", "/api/v1/trace", &body).await.json() }
    };
    assert_eq!(trace(plan("harmless", json!({}))).await["verdict"]["effect"], "allow");
    let denied = trace(plan("delete_everything", json!({}))).await;
    assert_eq!(denied["verdict"], json!({ "effect": "deny", "policy": "office", "rule": 2 }), "{denied}");
    let asked = trace(plan("mail", json!({ "to": "a" }))).await;
    assert_eq!(asked["verdict"]["effect"], "approval_required", "{asked}");
    let approval = asked["approvalId"].as_str().unwrap();
    decide(&world, &ada, approval, "approve").await;
    let other = trace(plan("mail", json!({ "to": "b" }))).await;
    assert_eq!(other["verdict"]["effect"], "approval_required", "another payload is another question");
    let allowed = trace(plan("mail", json!({ "to": "a" }))).await;
    assert_eq!(
        (&allowed["verdict"]["effect"], &allowed["sideEffectId"]),
        (&json!("allow"), &asked["sideEffectId"]),
        "{allowed}"
    );
    let path = format!("/api/v1/runs/{}", run["runId"].as_str().unwrap());
    let detail = world.operate("GET", &path, &Value::Null).await.json();
    let statuses: Vec<&str> = detail["sideEffects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| effect["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["planned", "blocked", "planned", "planned"], "{detail}");
}

#[tokio::test]
async fn memory_from_strangers_holds_actions_back_until_its_own_source_is_verified() {
    let world = Setup::protected().start().await;
    let agent = world.key(&json!({ "name": "agent" })).await;
    let quarantine = json!({ "memory_quarantine": { "enabled": true, "threshold": 3 } });
    assert_eq!(world.operate("PATCH", "/api/v1/settings", &quarantine).await.status, 200);
    let begin = || async {
        let run = world.with(&agent, "POST", "/api/v1/runs", &json!({ "model": "gpt-4o" })).await.json();
        run["runId"].as_str().unwrap().to_owned()
    };
    let influence = |run: String, source: &'static str, lane: &'static str| {
        let (world, agent) = (&world, agent.clone());
        async move {
            let body = json!({ "source": source, "trustLane": lane });
            let reply = world.with(&agent, "POST", &format!("/api/v1/runs/{run}/memory"), &body).await;
            assert_eq!(reply.status, 201, "{reply:?}");
        }
    };
    let plan = |run: String, level: u8| {
        let (world, agent) = (&world, agent.clone());
        async move {
            let effect = json!({ "toolName": "post", "level": level, "payload": { "text": "hi" } });
            let body = json!({ "runId": run, "type": "side_effect.planned", "payload": effect });
            world.with(&agent, "POST", "/api/v1/trace", &body).await.json()["verdict"]["effect"].clone()
        }
    };
    let run = begin().await;
    assert_eq!(plan(run.clone(), 3).await, "allow", "nothing had a part in it");
    influence(run.clone(), "web:example.com", "untrusted").await;
    assert_eq!(plan(run.clone(), 3).await, "approval_required");
    assert_eq!(plan(run.clone(), 2).await, "allow", "below the threshold");
    influence(run.clone(), "crm:contacts", "verified").await;
    assert_eq!(plan(run.clone(), 3).await, "approval_required", "another source covers nothing");
    influence(run.clone(), "web:example.com", "human_approved").await;
    assert_eq!(plan(run.clone(), 3).await, "allow", "its own source was approved");
    let of_old = json!({ "memory_quarantine": { "coverage": "run" } });
    assert_eq!(world.operate("PATCH", "/api/v1/settings", &of_old).await.status, 200);
    let run = begin().await;
    influence(run.clone(), "web:example.com", "untrusted").await;
    influence(run.clone(), "crm:contacts", "verified").await;
    assert_eq!(plan(run, 3).await, "allow", "one verified influence covers the run, where that is wanted");
}

#[tokio::test]
async fn a_budget_is_never_overspent_by_however_many_ask_at_once_on_two_nodes() {
    for on_disk in [false, true] {
        let setup = if on_disk { Setup::on_disk() } else { Setup::protected() };
        let store = Arc::clone(&setup.store);
        let nodes = if on_disk {
            // A database on the disk has one owner.
            vec![Arc::new(setup.start().await)]
        } else {
            let other = Setup { store, ..Setup::protected() };
            vec![Arc::new(setup.start().await), Arc::new(other.start().await)]
        };
        let agent = nodes[0].key(&json!({ "name": "agent" })).await;
        let body =
            json!({ "model": "gpt-4o", "max_tokens": 50, "messages": [{ "role": "user", "content": "hi" }] });
        let first = nodes[0].with(&agent, "POST", "/v1/chat/completions", &body).await;
        assert_eq!(first.status, 200);
        let budget = json!({ "name": "tight", "limitUsd": 0.01, "per": "agent", "only": "anonymous", "window": "total" });
        assert_eq!(nodes[0].operate("POST", "/api/v1/budgets", &budget).await.status, 201);
        // The other node learns of it within seconds.
        wait_for_budget(&nodes, &agent).await;
        let clients = (0..64).map(|client| {
            let (node, agent, body) = (Arc::clone(&nodes[client % nodes.len()]), agent.clone(), body.clone());
            tokio::spawn(async move {
                let mut served = 0;
                for _ in 0..12 {
                    let reply = node.with(&agent, "POST", "/v1/chat/completions", &body).await;
                    match reply.status {
                        200 => served += 1,
                        _ => assert_eq!(reply.code(), "punk_budget_exhausted", "{reply:?}"),
                    }
                }
                served
            })
        });
        let mut served = 0;
        for client in clients.collect::<Vec<_>>() {
            served += client.await.unwrap();
        }
        let shown = nodes[0].operate("GET", "/api/v1/budgets", &Value::Null).await.json();
        let spent = shown["budgets"][0]["spentUsd"].as_f64().unwrap();
        assert!(spent <= 0.01, "spent {spent} in {served} calls");
        assert!(served > 0 && served < 64 * 12, "{served} were served");
        assert_eq!(shown["budgets"][0]["reservedUsd"], 0.0, "nothing stays set aside");
    }
}

async fn wait_for_budget(nodes: &[Arc<World>], agent: &str) {
    for node in nodes {
        // An answer longer than the budget can pay for is refused as soon as the budget is known.
        let long = json!({ "model": "gpt-4o", "max_tokens": 16_000, "messages": [{ "role": "user", "content": "hi" }] });
        let known = async {
            while node.with(agent, "POST", "/v1/chat/completions", &long).await.status == 200 {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), known).await.expect("the budget is known");
    }
}

#[tokio::test]
async fn a_hard_budget_refuses_what_nobody_knows_the_price_of_and_a_soft_one_only_tells() {
    let world = Setup::protected().start().await;
    let agent = world.key(&json!({ "name": "agent" })).await;
    let soft =
        json!({ "name": "soft", "limitUsd": 0.000001, "per": "tenant", "window": "day", "hard": false });
    world.operate("POST", "/api/v1/budgets", &soft).await;
    assert_eq!(chat(&world, &agent, "gpt-4o", "hello").await.status, 200);
    assert_eq!(chat(&world, &agent, "nobody-knows", "hello").await.status, 200);
    let hard = json!({ "name": "hard", "limitUsd": 1000, "per": "tenant", "window": "day" });
    let made = world.operate("POST", "/api/v1/budgets", &hard).await.json();
    let reply = chat(&world, &agent, "nobody-knows", "hello").await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "punk_budget_exhausted"), "{reply:?}");
    let id = made["id"].as_str().unwrap();
    assert_eq!(reply.json()["error"]["verdict"]["policy"], format!("budget:{id}"));
    assert_eq!(world.operate("DELETE", &format!("/api/v1/budgets/{id}"), &Value::Null).await.status, 200);
    assert_eq!(chat(&world, &agent, "nobody-knows", "hello").await.status, 200);
}

#[tokio::test]
async fn an_exception_lifts_its_policy_for_whom_it_is_made_until_it_ends() {
    let world = governed().start().await;
    let agent = world.key(&json!({ "name": "agent" })).await;
    let except = json!({ "policy": "office", "rule": 0, "actions": ["model:chat"], "agent": "bot", "reason": "a test", "hours": 1 });
    let made = world.operate("POST", "/api/v1/exceptions", &except).await;
    assert_eq!(made.status, 201, "{made:?}");
    let ask = |name: &'static str| {
        let (world, bearer) = (&world, format!("Bearer {agent}"));
        async move {
            let headers = [("authorization", bearer.as_str()), ("x-punk-agent", name)];
            world.send("POST", "/v1/chat/completions", &headers, &chat_body("o1-mini", "hello")).await.status
        }
    };
    assert_eq!((ask("bot").await, ask("other").await), (200, 403));
    let id = made.json()["exception"]["id"].as_str().unwrap().to_owned();
    world.operate("DELETE", &format!("/api/v1/exceptions/{id}"), &Value::Null).await;
    assert_eq!(ask("bot").await, 403);
    for (member, value) in [("policy", json!("nowhere")), ("hours", json!(0)), ("actions", json!([]))] {
        let mut wrong = except.clone();
        wrong[member] = value;
        let reply = world.operate("POST", "/api/v1/exceptions", &wrong).await;
        assert_eq!((reply.status, reply.json()["error"]["param"].as_str()), (400, Some(member)), "{reply:?}");
    }
}

#[tokio::test]
async fn trust_is_earned_lost_and_overridden_with_a_reason() {
    let world = governed().start().await;
    let agent = world.key(&json!({ "name": "agent" })).await;
    for _ in 0..6 {
        chat(&world, &agent, "o1-mini", "no").await;
    }
    let shown = world.operate("GET", "/api/v1/agents/anonymous", &Value::Null).await.json();
    let agent = &shown["agent"];
    assert_eq!(
        (&agent["trustTier"], &agent["trustComponents"]["calm"]),
        (&json!("unverified"), &json!(0)),
        "{shown}"
    );
    let bare = world.operate("PATCH", "/api/v1/agents/anonymous", &json!({ "trustTier": "trusted" })).await;
    assert_eq!((bare.status, bare.json()["error"]["param"].as_str()), (400, Some("reason")), "{bare:?}");
    let patch = json!({ "trustTier": "privileged", "tags": ["night"], "reason": "known" });
    let changed = world.operate("PATCH", "/api/v1/agents/anonymous", &patch).await.json();
    assert_eq!(changed["agent"]["override"]["reason"], "known", "{changed}");
    let why = json!({ "action": "model:chat", "agent": "anonymous" });
    let explained = world.operate("POST", "/api/v1/policies/explain", &why).await.json();
    let facts = &explained["facts"];
    assert_eq!(
        (&facts["trustTier"], &facts["tags"]),
        (&json!("privileged"), &json!(["night"])),
        "{explained}"
    );
    let back = json!({ "trustTier": null, "reason": "back to what it did" });
    let changed = world.operate("PATCH", "/api/v1/agents/anonymous", &back).await.json();
    assert_eq!(changed["agent"]["trustTier"], "unverified");
}

#[tokio::test]
async fn policies_that_change_under_load_give_verdicts_of_one_set_or_the_other() {
    let deny = "name: a\nversion: '1'\ndefaultEffect: deny\nrules: []\n";
    let allow = "name: b\nversion: '1'\ndefaultEffect: allow\nrules: []\n";
    let world = Arc::new(Setup::protected().governed(&[("p.yaml", deny)]).start().await);
    let file = world.policies.clone().unwrap().join("p.yaml");
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let mut seen = (0, 0);
                for _ in 0..60 {
                    let reply = chat(&world, world::OPERATOR, "gpt-4o", "hello").await;
                    match reply.status {
                        200 => seen.0 += 1,
                        _ => {
                            assert_eq!(reply.json()["error"]["verdict"]["policy"], "a", "{reply:?}");
                            seen.1 += 1;
                        }
                    }
                }
                seen
            })
        })
        .collect();
    for round in 0..20 {
        let text = if round % 2 == 0 { allow } else { deny };
        // As an editor that is interrupted would: half of it first.
        std::fs::write(&file, &text[..20]).unwrap();
        let refused = world.operate("POST", "/api/v1/policies/reload", &Value::Null).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "punk_policies_refused"), "{refused:?}");
        let shown = world.operate("GET", "/api/v1/policies", &Value::Null).await.json();
        assert_eq!(shown["refused"]["file"], "p.yaml");
        assert!(shown["refused"]["line"].is_u64(), "{shown}");
        std::fs::write(&file, text).unwrap();
        assert_eq!(world.operate("POST", "/api/v1/policies/reload", &Value::Null).await.status, 200);
    }
    let mut all = (0, 0);
    for client in clients {
        let (allowed, denied) = client.await.unwrap();
        all = (all.0 + allowed, all.1 + denied);
    }
    assert_eq!(all.0 + all.1, 480, "everybody got one of the two");
}

#[tokio::test]
async fn another_decision_maker_is_asked_as_well_and_its_silence_is_a_denial() {
    let answers = |body: Value| move |_: usize, _: &Seen| Act::Say(200, Vec::new(), body.clone());
    let refuses =
        |_: usize, _: &Seen| Act::Say(403, Vec::new(), json!({ "error": "forbidden", "policy": "mesh-1" }));
    let deny = |policy: &str| json!({ "effect": "deny", "policy": format!("remote:{policy}"), "rule": null });
    for (what, remote, verdict) in [
        ("yes", Upstream::start(answers(json!({ "decision": "allow", "policy": "p" }))).await, Value::Null),
        ("no", Upstream::start(refuses).await, deny("mesh-1")),
        (
            "ask",
            Upstream::start(answers(json!({ "effect": "approval_required", "policy": "p" }))).await,
            json!({ "effect": "approval_required", "policy": "remote:p", "rule": null }),
        ),
        (
            "both",
            Upstream::start(answers(json!({ "effect": "allow", "allowed": false }))).await,
            deny("unnamed"),
        ),
        ("nonsense", Upstream::start(answers(json!([1, 2]))).await, deny("unreadable")),
        ("trouble", Upstream::start(|_, _| Act::Say(500, Vec::new(), json!({}))).await, deny("failing")),
        ("silence", Upstream::start(|_, _| Act::Hang).await, deny("late")),
        ("nobody", Upstream::nowhere(), deny("unreachable")),
    ] {
        let to = gateway::RemoteGovernor {
            url: remote.url.clone(),
            key: Some(crypto::Secret::new("key-of-the-mesh".to_owned())),
            patience: std::time::Duration::from_millis(if what == "silence" { 200 } else { 10_000 }),
        };
        let world = Setup { remote: Some(to), ..Setup::protected() }.start().await;
        let reply = chat(&world, world::OPERATOR, "gpt-4o", "hello").await;
        let told = if reply.status == 200 { Value::Null } else { reply.json()["error"]["verdict"].clone() };
        assert_eq!(told, verdict, "{what}: {reply:?}");
        if let Some(seen) = remote.seen().first() {
            let header = |name: &str| seen.headers.get(name).and_then(|value| value.to_str().ok());
            assert_eq!(header("authorization"), Some("Bearer key-of-the-mesh"));
            assert_eq!(header("x-meshguard-action"), Some("model:chat"));
            assert_eq!(seen.body["agent"]["id"], "anonymous", "{what}");
        }
        let run = reply.header("x-punk-run-id").unwrap();
        let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await;
        assert!(!String::from_utf8_lossy(&detail.body).contains("key-of-the-mesh"));
    }
}

#[tokio::test]
async fn two_questions_about_one_action_are_both_answered_before_either_approval_is_used() {
    let world = governed().start().await;
    let (agent, ada, _) = people(&world).await;
    let settings = json!({
        "memory_quarantine": { "enabled": true, "threshold": 2 },
        "tools": { "mail": { "level": 3, "action": "write:email" } },
    });
    assert_eq!(world.operate("PATCH", "/api/v1/settings", &settings).await.status, 200);
    let run = world.with(&agent, "POST", "/api/v1/runs", &json!({ "model": "gpt-4o" })).await.json();
    let run = run["runId"].as_str().unwrap();
    let influence = json!({ "source": "web:example.com", "trustLane": "untrusted" });
    world.with(&agent, "POST", &format!("/api/v1/runs/{run}/memory"), &influence).await;
    let effect = json!({ "toolName": "mail", "level": 3, "payload": { "to": "a" } });
    let plan = json!({ "runId": run, "type": "side_effect.planned", "payload": effect });
    let plan = || async { world.with(&agent, "POST", "/api/v1/trace", &plan).await.json() };
    let first = plan().await;
    assert_eq!(first["verdict"]["policy"], "office", "{first}");
    decide(&world, &ada, first["approvalId"].as_str().unwrap(), "approve").await;
    let second = plan().await;
    assert_eq!(second["verdict"]["policy"], "quarantine:memory", "{second}");
    let approval = second["approvalId"].as_str().unwrap();
    let waiting = world.with(&ada, "GET", "/api/v1/approvals?status=approved", &Value::Null).await.json();
    assert_eq!(waiting["approvals"].as_array().unwrap().len(), 1, "the first is not used yet");
    decide(&world, &ada, approval, "approve").await;
    assert_eq!(plan().await["verdict"]["effect"], "allow");
    assert_eq!(plan().await["verdict"]["effect"], "approval_required", "both are used up");
}

#[tokio::test]
async fn a_rate_counts_the_calls_in_answers_and_is_given_back_what_was_not_told() {
    let policy = "name: a\nversion: '1'\ndefaultEffect: allow\nrules:\n  - { effect: deny, actions: ['execute:forbidden'] }\n  - { actions: ['execute:ping'], rate: { limit: 3, per: tenant, window: total } }\n";
    let world = Setup::protected().governed(&[("a.yaml", policy)]).start().await;
    let both = |tools: &[&str]| {
        let tools: Vec<Value> = tools
            .iter()
            .map(|name| json!({ "type": "function", "function": { "name": name, "description": "acts", "parameters": { "type": "object", "properties": {} } } }))
            .collect();
        json!({ "model": "gpt-4o", "tools": tools, "tool_choice": "required",
            "messages": [{ "role": "user", "content": "ping" }] })
    };
    let ask = |body: Value| {
        let world = &world;
        async move { world.operate("POST", "/v1/chat/completions", &body).await.status }
    };
    for call in 0..3 {
        assert_eq!(ask(both(&["ping"])).await, 200, "call {call}");
    }
    assert_eq!(ask(both(&["ping"])).await, 403, "three is all there is");
    assert_eq!(ask(both(&["forbidden"])).await, 403);
}

#[tokio::test]
async fn what_was_set_aside_is_given_back_when_a_named_approval_does_not_fit() {
    let world = governed().start().await;
    let (agent, ..) = people(&world).await;
    let budget = json!({ "name": "b", "limitUsd": 1, "per": "tenant", "window": "day" });
    assert_eq!(world.operate("POST", "/api/v1/budgets", &budget).await.status, 201);
    let body = chat_body("gpt-4-turbo", "hello");
    let reply = chat_with(&world, &agent, "apr_00000000000000000000000000", &body).await;
    assert_eq!((reply.status, reply.code().as_str()), (409, "punk_approval_unfit"), "{reply:?}");
    let shown = world.operate("GET", "/api/v1/budgets", &Value::Null).await.json();
    assert_eq!(shown["budgets"][0]["reservedUsd"], 0.0, "{shown}");
}
