//! Programs that leave fields open: they are proven together with the small model that was asked, by opinions from before live answered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::sync::Arc;

use apprentice::{Apprentice, ConsideredPart, Learned, Shelf, Small, order};
use schema::RunId;
use serde_json::{Value, json};
use store::View as _;
use wire::Wire;
use world::{CHOICE, Told, World, clock};

fn small(model: &str) -> Option<Small> {
    Some(Small { model: model.to_owned(), percent: 100 })
}

/// A world in which this model may be asked.
fn asking(world: World, model: &str) -> World {
    let apprentice = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false).with_small(small(model));
    World { apprentice: Arc::new(apprentice), ..world }
}

/// What is asked the `at`-th time, and what live says to it. The mood is in none of its words.
fn mail(at: u64) -> (Value, Value) {
    let draw = artifact::text::mix(at) as usize;
    let (word, team) = [("invoice", "billing"), ("parcel", "shipping")][draw % 2];
    let order = 10_000 + draw / 2 % 80_000;
    let mood = ["calm", "angry"][draw / 200_000 % 2];
    let text = format!("it is about the {word} of order {order}");
    (world::request(&text), json!({ "order": order, "mood": mood, "team": team }))
}

/// The small model that was asked, and what it makes of the answer that live will give.
type Opinion<'o> = (&'o str, fn(Value) -> Value);

/// Live answers; before that there may have been an opinion.
async fn live(world: &mut World, at: u64, opinion: Option<Opinion<'_>>) {
    let (request, answer) = mail(at);
    let mut beside = Vec::new();
    if let Some((model, said)) = opinion {
        let made = world.made().await;
        let asked = json!({ "small": model, "fields": made.open, "costMicroUsd": 40, "tookMs": 300 });
        let said = said(answer.clone());
        beside.push(("artifact.asked", asked));
        let compared = json!({ "artifactId": made.id, "version": made.version, "said": said });
        beside.push(("artifact.compared", compared));
    }
    let parts = json!([{ "type": "text", "text": answer.to_string() }]);
    world.tell(Told { request, route: "live", answer: (parts, "end"), beside }).await;
}

async fn made() -> World {
    let mut world = asking(World::new(false), "tiny");
    for at in 0..120 {
        live(&mut world, at, None).await;
        if at % 60 == 59 {
            world.tick().await;
        }
    }
    world
}

fn wrong(mut said: Value) -> Value {
    said["mood"] = json!("bored");
    said
}

#[tokio::test]
async fn what_is_told_in_part_is_proven_with_the_model_that_was_asked_and_with_no_other() {
    let mut world = made().await;
    let made = world.made().await;
    assert_eq!((made.kind.as_str(), made.open.as_slice()), ("hybrid", ["mood".to_owned()].as_slice()));
    assert_eq!(made.asks.as_deref(), Some("tiny"));
    assert_eq!(made.course.proof().tally.compared, 0, "what nobody was asked before is no evidence");

    // What another model said proves nothing, right or wrong.
    for at in 1_000..1_020 {
        live(&mut world, at, Some(("other", wrong))).await;
    }
    world.tick().await;
    assert_eq!(world.made().await.course.proof().tally.compared, 0);

    for at in 2_000..2_400 {
        live(&mut world, at, Some(("tiny", |said| said))).await;
    }
    world.tick().await;
    assert_eq!(world.state().await, "eligible", "{}", world.made().await.gates());
    // What the opinions cost and took is not what live costs and takes.
    assert_eq!(world.pattern().await.study.pattern.averages(), (68, 566));
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    world.tick().await;
    assert_eq!(world.state().await, "promoted");

    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    let rebuilt = view.rebuild(world.tenant).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");

    // What was proven with one model is not proven with another, and without any nothing can be.
    let mut world = asking(world, "other");
    live(&mut world, 3_000, None).await;
    world.tick().await;
    live(&mut world, 3_001, None).await;
    world.tick().await;
    let made = world.made().await;
    assert_eq!((world.state().await.as_str(), made.asks.as_deref()), ("shadow", Some("other")));
    let apprentice = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    let mut world = World { apprentice: Arc::new(apprentice), ..world };
    world.tick().await;
    live(&mut world, 3_002, None).await;
    world.tick().await;
    let gates = world.made().await.gates();
    let gate = gates.0.iter().find(|gate| gate.name == "small model").unwrap();
    assert!(!gate.passed && gate.reason.contains("nobody may be asked for mood"), "{gate:?}");
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
}

#[tokio::test]
async fn opinions_that_differ_prove_nothing() {
    let mut world = made().await;
    for at in 1_000..1_400 {
        live(&mut world, at, Some(("tiny", if at % 20 == 0 { wrong } else { |said| said }))).await;
    }
    world.tick().await;
    let tally = world.made().await.course.proof().tally;
    assert_eq!(world.state().await, "shadow");
    assert!(tally.compared > 50 && tally.disagreed > 0, "{tally:?}");
}

#[tokio::test]
async fn a_draft_is_offered_only_where_its_own_small_model_may_be_asked() {
    let world = made().await;
    let (request, whole) = mail(9_000);
    let request = Wire::Chat.read_request(&request).unwrap();
    let consider = async |allowed: Option<Small>, observed: bool| {
        let shelf = Shelf::new(CHOICE).with_small(allowed);
        assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 0, "nothing serves");
        assert!(!shelf.has_any(world.tenant));
        shelf.consider_part(world.tenant, "gpt-4o", &request, (RunId::NIL, observed, clock()))
    };
    assert!(matches!(consider(None, false).await, ConsideredPart::Nothing));
    assert!(matches!(consider(small("other"), false).await, ConsideredPart::Pass(_)));
    assert!(
        matches!(consider(small("tiny"), true).await, ConsideredPart::Pass(_)),
        "who observes asks nobody"
    );
    let ConsideredPart::Opine(draft) = consider(small("tiny"), false).await else { panic!("an opinion") };
    let question = draft.question(&request);
    assert_eq!((question.model.as_str(), question.stream, question.messages.len()), ("tiny", false, 3));
    let told = |text: &str| {
        let choice = json!({ "parts": [{ "type": "text", "text": text }], "stop": "end" });
        serde_json::from_value(json!({ "model": "tiny", "choices": [choice] })).unwrap()
    };
    let (offered, _) = draft.complete(&told(&json!({ "mood": whole["mood"] }).to_string())).unwrap();
    assert_eq!(offered.said, whole);
    for nonsense in ["calm", "[]", "{}", r#"{"mood":"bored"}"#, r#"{"mood":"calm","order":1}"#] {
        assert!(draft.complete(&told(nonsense)).is_err(), "{nonsense}");
    }
}
