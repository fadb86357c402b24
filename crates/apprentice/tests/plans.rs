//! Requests with tools: what only calls is learned as a plan, and what has side effects waits for somebody.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use apprentice::{Considered, Shelf, order};
use schema::RunId;
use serde_json::{Value, json};
use store::RecordKind;
use wire::{Part, Stop, Wire};
use world::{CHOICE, Told, World, clock};

const CITIES: [&str; 6] = ["Bern", "Oslo", "Rome", "Kyoto", "Lagos", "Quito"];

fn asked(text: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" }, "days": { "type": "integer" } } });
    json!({
        "model": "gpt-4o",
        "messages": [{ "role": "system", "content": "Look the weather up." }, { "role": "user", "content": text }],
        "tools": [{ "type": "function", "function": { "name": "forecast", "parameters": parameters } }],
    })
}

/// What is asked the `at`-th time, and the arguments of the call that a model wants.
fn weather(at: u64) -> (String, Value) {
    let draw = artifact::text::mix(at) as usize;
    let (order, days) = (1_000 + draw / 7 % 9_000, 1 + draw % 14);
    let city = CITIES[draw / 100 % CITIES.len()];
    (
        format!("weather for order {order} in {city} please, {days} days"),
        json!({ "days": days, "order": order }),
    )
}

async fn call(world: &mut World, at: u64, level: u8) -> RunId {
    let (text, arguments) = weather(at);
    let part = json!({ "type": "tool_call", "id": format!("call_{at}"), "name": "forecast", "arguments": arguments.to_string() });
    // As the gateway records that a call was judged.
    let judged = json!({ "toolName": "forecast", "facts": { "level": level } });
    let beside = vec![("policy.decided", judged)];
    world
        .tell(Told { request: asked(&text), route: "live", answer: (json!([part]), "tool_calls"), beside })
        .await
}

async fn calls(world: &mut World, from: u64, to: u64, level: u8) {
    for at in from..to {
        call(world, at, level).await;
    }
}

async fn proven(world: &mut World, level: u8) {
    for part in 0..12 {
        calls(world, part * 60, part * 60 + 60, level).await;
        world.tick().await;
        if matches!(world.state().await.as_str(), "eligible" | "promoted") {
            return;
        }
    }
    panic!("not proven: {:?} {:?}", world.state().await, world.records(RecordKind::Attempt).await);
}

#[tokio::test]
async fn calls_of_tools_are_learned_as_a_plan_that_calls_the_same() {
    let mut world = World::new(false);
    proven(&mut world, 0).await;
    let made = world.made().await;
    assert_eq!(made.kind, "plan");
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    assert!(world.texts().await[0].contains(r#""form":"plan""#), "{:?}", world.texts().await);

    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
    let (text, arguments) = weather(9_000);
    let request = Wire::Chat.read_request(&asked(&text)).unwrap();
    let served = (0..64_u8).find_map(|at| {
        let place = (RunId::new(1, [at; 10]), false, clock());
        let Considered::Serve(offered) = shelf.consider(world.tenant, "gpt-4o", &request, place) else {
            return None;
        };
        Some(offered)
    });
    let answer = served.unwrap().answer;
    assert_eq!(answer.choices[0].stop, Some(Stop::ToolCalls));
    let [Part::ToolCall(call)] = answer.choices[0].parts.as_slice() else { panic!("{answer:?}") };
    assert_eq!(
        (call.name.as_str(), serde_json::from_str::<Value>(&call.arguments).unwrap()),
        ("forecast", arguments)
    );

    // Another tool beside it is other work, of which nothing is known.
    let mut other = asked(&text);
    other["tools"].as_array_mut().unwrap().push(json!({ "type": "function", "function": { "name": "pay" } }));
    let other = Wire::Chat.read_request(&other).unwrap();
    let considered = shelf.consider(world.tenant, "gpt-4o", &other, (RunId::NIL, false, clock()));
    assert!(matches!(considered, Considered::Pass(_)), "{considered:?}");
}

#[tokio::test]
async fn what_has_side_effects_is_never_promoted_without_being_asked_for() {
    let mut harmless = World::new(true);
    proven(&mut harmless, 0).await;
    harmless.tick().await;
    assert_eq!(harmless.state().await, "promoted");

    let mut world = World::new(true);
    proven(&mut world, 3).await;
    calls(&mut world, 2_000, 2_100, 3).await;
    let report = world.tick().await;
    assert!(report.auto_promoted.is_empty(), "{report:?}");
    let made = world.made().await;
    assert_eq!((world.state().await.as_str(), made.course.side_effects()), ("eligible", 3));
    let gates = made.gates();
    let gate = gates.0.iter().find(|gate| gate.name == "side effects").unwrap();
    assert_eq!(gate.reason, "level 3: an operator has to promote");
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    assert_eq!(world.state().await, "promoted");
}

#[tokio::test]
async fn what_turns_out_to_have_side_effects_serves_no_more() {
    let mut world = World::new(true);
    proven(&mut world, 0).await;
    world.tick().await;
    assert_eq!(world.state().await, "promoted");
    call(&mut world, 5_000, 2).await;
    let report = world.tick().await;
    assert_eq!(report.demoted.len(), 1, "{report:?}");
    assert_eq!(world.state().await, "shadow");
}

#[tokio::test]
async fn a_recorded_answer_that_calls_is_made_again_with_the_ids_it_had() {
    let mut world = World::new(false);
    proven(&mut world, 0).await;
    let text = world.texts().await.pop().unwrap();
    let (said, arguments) = weather(7_777);
    let call = json!({ "type": "tool_call", "id": "call_of_this_run", "name": "forecast", "arguments": arguments.to_string() });
    let recorded = json!({ "model": "gpt-4o", "choices": [{ "parts": [call], "stop": "tool_calls" }] });
    let request = asked(&said);
    let again = |recorded: &Value| {
        apprentice::reexecute(apprentice::ENGINE, &text, ("chat", "gpt-4o", &request), (Some(recorded), None))
            .unwrap()
    };
    assert_eq!(again(&recorded), recorded);
    let mut forged = recorded;
    forged["choices"][0]["parts"][0]["arguments"] = json!("{}");
    assert_ne!(again(&forged), forged);
}
