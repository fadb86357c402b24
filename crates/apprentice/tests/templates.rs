//! Requests without instructions: their kind is mined from what they have in common.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::sync::Arc;

use apprentice::{Apprentice, Considered, Learned, Shelf, order};
use schema::RunId;
use serde_json::{Value, json};
use store::{RecordKind, View as _};
use wire::Wire;
use world::{CHOICE, Told, World, clock, mail};

/// Nothing but what is asked.
fn bare(text: &str) -> Value {
    json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": text }] })
}

async fn ask(world: &mut World, from: u64, to: u64) {
    for at in from..to {
        let (text, colour) = mail(at);
        let answer = (json!([{ "type": "text", "text": colour }]), "end");
        world.tell(Told { request: bare(&text), route: "live", answer, beside: Vec::new() }).await;
        // What comes once is no kind of work.
        if at % 20 == 0 {
            let words: Vec<String> = (0..at / 20 + 5)
                .map(|one| format!("w{}", artifact::text::mix(at * 31 + one) % 9973))
                .collect();
            let answer = (json!([{ "type": "text", "text": "who knows" }]), "end");
            let told = Told { request: bare(&words.join(" q ")), route: "live", answer, beside: Vec::new() };
            world.tell(told).await;
        }
    }
}

#[tokio::test]
async fn what_has_no_instructions_is_learned_by_its_template_and_served_where_it_fits() {
    let mut world = World::new(false);
    for part in 0..12 {
        ask(&mut world, part * 60, part * 60 + 60).await;
        world.tick().await;
        if world.state().await == "eligible" {
            break;
        }
    }
    let patterns = world.records(RecordKind::Pattern).await;
    assert_eq!(patterns.len(), 1, "{patterns:?}");
    let pattern = world.pattern().await;
    assert_eq!(
        (world.state().await.as_str(), pattern.study.name.as_str()),
        ("eligible", "please-paint-the-number-today")
    );
    let template = pattern.study.template.unwrap().shown();
    assert_eq!(template, "please paint the {chair|door|lamp|table} number {number} {blue|green|red} today");

    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    world.tick().await;
    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
    let consider = |text: &str, at: u8| {
        let request = Wire::Chat.read_request(&bare(text)).unwrap();
        shelf.consider(world.tenant, "gpt-4o", &request, (RunId::new(1, [at; 10]), false, clock()))
    };
    let served = (0..64).find_map(|at| match consider("please paint the lamp number 77 green today", at) {
        Considered::Serve(offered) => Some(offered.answer.text()),
        _ => None,
    });
    assert_eq!(served.as_deref(), Some("green"));
    for other in
        ["please paint the lamp number 77 mauve today", "please break the lamp number 77 green today"]
    {
        let considered = consider(other, 1);
        assert!(
            matches!(&considered, Considered::Pass(why) if why.contains("nothing is promoted")),
            "{considered:?}"
        );
    }
    // Whoever verifies finds the same, from the text alone.
    let text = world.texts().await.pop().unwrap();
    let request = bare("please paint the lamp number 77 green today");
    let again =
        apprentice::reexecute(apprentice::ENGINE, &text, ("chat", "gpt-4o", &request), (None, None)).unwrap();
    assert_eq!(again["choices"][0]["parts"][0]["text"], "green");
    let request = bare("please break the lamp number 77 green today");
    assert!(
        apprentice::reexecute(apprentice::ENGINE, &text, ("chat", "gpt-4o", &request), (None, None)).is_err()
    );

    // A run that it served is counted with it, and all of it follows from the log.
    let executed = json!({ "artifactId": id, "version": 1, "artifact": "x", "engine": "y" });
    let answer = (json!([{ "type": "text", "text": "green" }]), "end");
    let request = bare("please paint the lamp number 78 green today");
    let told = Told { request, route: "artifact", answer, beside: vec![("artifact.executed", executed)] };
    world.tell(told).await;
    world.tick().await;
    assert_eq!(world.made().await.served, 1);
    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    let rebuilt = view.rebuild(world.tenant).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
}

#[tokio::test]
async fn what_was_learned_of_a_template_is_proven_anew_where_it_is_brought() {
    let mut elsewhere = World::new(false);
    let mut asked = 0;
    let text = loop {
        ask(&mut elsewhere, asked, asked + 60).await;
        elsewhere.tick().await;
        asked += 60;
        assert!(asked < 900, "nothing was made of it");
        if let Some(text) = elsewhere.texts().await.pop() {
            break text;
        }
    };
    // Where nothing like it was ever asked, and where its template is known by another name already.
    for asked_before in [0, 8] {
        let mut world = World::new(false);
        ask(&mut world, 100, 100 + asked_before).await;
        world.tick().await;
        world.import(&text).await;
        world.tick().await;
        let made = world.made().await;
        assert_eq!((made.kind.as_str(), made.course.proof().tally.compared), ("imported", 0));
        for part in 0..10 {
            ask(&mut world, 200 + part * 60, 260 + part * 60).await;
            world.tick().await;
            if world.state().await == "eligible" {
                break;
            }
        }
        assert_eq!(world.state().await, "eligible", "after {asked_before}");
        assert_eq!(world.records(RecordKind::Pattern).await.len(), 1);
        world.order(order::PROMOTED, &made.id.to_string()).await;
        world.tick().await;
        let shelf = Shelf::new(CHOICE);
        assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
        let request = Wire::Chat.read_request(&bare("please paint the lamp number 77 green today")).unwrap();
        let considered = (0..64).map(|at| {
            shelf.consider(world.tenant, "gpt-4o", &request, (RunId::new(1, [at; 10]), false, clock()))
        });
        assert!(considered.into_iter().any(|one| matches!(one, Considered::Serve(_))));
        let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
        let rebuilt = view.rebuild(world.tenant).await.unwrap();
        assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
    }
}
