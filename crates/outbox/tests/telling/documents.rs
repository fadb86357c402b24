//! What a sink is told of runs.

use ledger::note::VerifierKey;
use outbox::{AuditShipment, Private, Shape, Sink, verify_context};
use schema::{RunId, Seq};
use serde_json::{Value, json};
use store::conformance::Story;
use store::{Commit, Seal, Settle};

use crate::receiver::Receiver;
use crate::world::{NOW, World, clock, handled, nobody, tenant};

/// A governed call of a key, about somebody, with much said in it.
fn call(number: u8) -> (Story, store::Append) {
    let mut story = Story::new(tenant(1), RunId::new(NOW, [number; 10]));
    let started = json!({
        "kind": "chat", "app": "shop", "agent": "ada", "subject": "hunter", "keyId": "key_1", "request": "hunter2",
    });
    let verdict = json!({ "effect": "allow", "policy": "office", "rule": 1 });
    let events = vec![
        story.event("run.started", started),
        story.event("policy.decided", json!({ "verdict": verdict })),
        story.event("run.finished", json!({ "status": "completed", "route": "live", "answer": "hunter2" })),
    ];
    let append = story.append(events, Settle::Leaf);
    (story, append)
}

async fn commit(world: &World, append: store::Append) {
    world.tenant(1).commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
}

/// What a sink of this shape is told of all runs.
async fn told(world: &World, shape: Shape) -> Vec<Value> {
    let receiver = Receiver::fine().await;
    let sink = Sink::http("siem", &receiver.url, None, Private::Allowed, nobody()).unwrap().with_runs(shape);
    let shipment = AuditShipment::new(world.store.clone(), vec![sink], world.logs(), clock);
    handled(&shipment, json!({ "sink": "siem" })).await.unwrap();
    let mut all: Vec<Value> = receiver.seen().iter().map(|seen| seen.json()).collect();
    assert_eq!(all.pop().unwrap()["format"], "punk.checkpoint/1");
    all.sort_by_key(|document| document["leaf"].as_u64());
    all
}

fn key(world: &World, number: u8) -> VerifierKey {
    world.logs().key(tenant(number)).unwrap().verifier().clone()
}

#[tokio::test]
async fn a_context_says_who_and_by_which_verdict_and_nothing_that_was_said() {
    let world = World::memory();
    let (mut story, append) = call(1);
    commit(&world, append).await;
    let later = vec![story.event("feedback.given", json!({ "score": 1 }))];
    commit(&world, story.append(later, Settle::Leaf)).await;
    let [first, second] = told(&world, Shape::Punk).await.try_into().unwrap();
    let leaves = world.tenant(1).leaves(0, store::conformance::limit(9)).await.unwrap();
    let mut expected = json!({
        "format": "punk.context/1", "origin": format!("punk.local/{}", tenant(1)), "tenant": tenant(1),
        "run": story.run, "kind": "chat", "app": "shop", "agent": "ada", "key": "key_1", "actor": "key_1",
        "status": "completed", "route": "live",
        "verdict": { "effect": "allow", "policy": "office", "rule": 1 },
        "head": leaves[0].head, "seq": 3, "leaf": 0, "finishedAt": first["finishedAt"],
        "signature": first["signature"],
    });
    assert_eq!(first, expected);
    assert!(first["finishedAt"].is_string());
    assert!(!format!("{first}{second}").contains("hunter"), "{first}");
    (expected["head"], expected["seq"], expected["leaf"]) = (json!(leaves[1].head), json!(4), json!(1));
    expected["signature"] = second["signature"].clone();
    assert_eq!(second, expected, "the later leaf binds more");
}

#[tokio::test]
async fn a_context_is_signed_by_its_log_and_no_member_can_be_changed() {
    let world = World::memory();
    commit(&world, call(1).1).await;
    let [context] = told(&world, Shape::Punk).await.try_into().unwrap();
    assert!(verify_context(&context, &key(&world, 1)));
    assert!(!verify_context(&context, &key(&world, 2)), "another log");
    for name in context.as_object().unwrap().keys() {
        let mut changed = context.clone();
        changed[name] = json!("x");
        assert!(!verify_context(&changed, &key(&world, 1)), "{name}");
        changed.as_object_mut().unwrap().remove(name);
        assert!(!verify_context(&changed, &key(&world, 1)), "without {name}");
    }
    let mut more = context.clone();
    more["more"] = json!(1);
    assert!(!verify_context(&more, &key(&world, 1)));
    let mut doubled = context.clone();
    doubled["signature"] = format!("{0}\n{0}", context["signature"].as_str().unwrap()).into();
    assert!(!verify_context(&doubled, &key(&world, 1)));
}

#[tokio::test]
async fn an_insforge_receiver_finds_its_members_around_the_signed_context() {
    let world = World::memory();
    commit(&world, call(1).1).await;
    let shape = Shape::InsForge { environment: Some("prod".to_owned()) };
    let [envelope] = told(&world, shape).await.try_into().unwrap();
    assert!(verify_context(&envelope["context"], &key(&world, 1)));
    let mut around = envelope;
    around.as_object_mut().unwrap().remove("context");
    assert_eq!(
        around,
        json!({
            "orgId": tenant(1), "actorId": "key_1", "actorType": "key",
            "correlationId": RunId::new(NOW, [1; 10]), "policyScope": "office", "environment": "prod",
        })
    );
}

#[tokio::test]
async fn a_run_that_was_given_up_is_still_told_with_its_head() {
    let world = World::memory();
    let (story, append) = call(1);
    commit(&world, append).await;
    let seal = vec![Seal { run: story.run, expected: Seq(3) }];
    world.tenant(1).commit(Commit { seal, ..Commit::default() }).await.unwrap();
    commit(&world, call(2).1).await;
    let [given_up, there] = told(&world, Shape::Punk).await.try_into().unwrap();
    assert_eq!(
        (&given_up["kind"], &given_up["verdict"], &given_up["seq"]),
        (&Value::Null, &Value::Null, &json!(3))
    );
    assert_eq!(there["kind"], "chat");
    assert!(verify_context(&given_up, &key(&world, 1)));
}
