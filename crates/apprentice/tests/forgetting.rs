//! A person is forgotten: nothing that was learned from them stays, and what owes them nothing does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::sync::Arc;

use apprentice::{Apprentice, Learned, order};
use schema::{Subject, SubjectId};
use serde_json::json;
use store::{Commit, RecordKind, View as _};
use world::{CHOICE, Told, World, clock};

fn subject(name: &str) -> Subject {
    name.to_owned().try_into().unwrap()
}

async fn erase(world: &World, name: &str) -> SubjectId {
    let store = world.store.tenant(world.tenant);
    let id = store.subject(&subject(name)).await.unwrap().unwrap();
    store.commit(Commit { erase: vec![id], ..Commit::default() }).await.unwrap();
    id
}

fn view(world: &World) -> Learned {
    Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)))
}

/// Work of another kind, in which what people say comes back.
async fn greet(world: &mut World, from: u64, to: u64, name: impl Fn(u64) -> String) {
    for at in from..to {
        let messages = json!([
            { "role": "system", "content": "Tell the badge." },
            { "role": "user", "content": format!("badge of {} please", name(at)) },
        ]);
        let answer = (json!([{ "type": "text", "text": format!("badge-of-{}", name(at)) }]), "end");
        let request = json!({ "model": "gpt-4o", "messages": messages });
        world.tell(Told { request, route: "live", answer, beside: Vec::new() }).await;
    }
}

#[tokio::test]
async fn nothing_that_was_learned_from_an_erased_person_is_left_in_any_record() {
    let mut world = World::new(false);
    // Ada and Bob ask for the same kind of work; only Ada says `zanzibar`.
    let teach = async |world: &mut World| {
        for part in 0..16_u64 {
            world.subject = Some(subject("ada"));
            greet(world, part * 40, part * 40 + 4, |_| "zanzibar".to_owned()).await;
            world.subject = Some(subject("bob"));
            let names = ["smith", "jones", "brown"];
            greet(world, part * 40 + 4, part * 40 + 40, |at| names[(at % 3) as usize].to_owned()).await;
            world.subject = None;
            world.tick().await;
        }
    };
    teach(&mut world).await;
    let has = |records: &[store::Record], word: &str| {
        records.iter().filter(|record| record.body.to_string().contains(word)).count()
    };
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    world.tick().await;
    assert!(
        has(&world.records(RecordKind::Program).await, "zanzibar") > 0,
        "the program knows what Ada says"
    );
    assert!(has(&world.records(RecordKind::Learner).await, "zanzibar") > 0);

    let ada = erase(&world, "ada").await;
    view(&world).forget(world.tenant, ada).await.unwrap();
    for kind in RecordKind::ALL {
        assert_eq!(has(&world.records(kind).await, "zanzibar"), 0, "{kind}");
    }
    // What Bob taught is learned again, from what is left, and goes on being learned.
    assert!(has(&world.records(RecordKind::Learner).await, "smith") > 0);
    let before = world.pattern().await.study.pattern.run_count;
    assert_eq!(before, 576);
    world.subject = Some(subject("bob"));
    greet(&mut world, 1_000, 1_040, |_| "jones".to_owned()).await;
    world.tick().await;
    assert_eq!(world.pattern().await.study.pattern.run_count, 616);
    assert_eq!(view(&world).rebuild(world.tenant).await.unwrap().repaired, 0);
}

#[tokio::test]
async fn what_an_erased_person_taught_nothing_of_serves_on_with_the_same_program() {
    let mut world = World::new(false);
    world.proven().await;
    let made = world.made().await;
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.subject = Some(subject("ada"));
    greet(&mut world, 0, 40, |at| format!("ada-{at}")).await;
    world.subject = None;
    world.tick().await;
    let texts = world.texts().await;
    let ada = erase(&world, "ada").await;
    view(&world).forget(world.tenant, ada).await.unwrap();
    let after = world.records(RecordKind::Artifact).await;
    assert_eq!(
        (after.len(), after[0].id.as_str(), after[0].group.as_str()),
        (1, &*made.id.to_string(), "promoted")
    );
    assert_eq!(world.texts().await, texts, "to the byte");
}

#[tokio::test]
async fn a_learner_that_is_in_memory_elsewhere_forgets_too() {
    let mut world = World::new(false);
    let elsewhere = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    world.subject = Some(subject("ada"));
    greet(&mut world, 0, 20, |_| "zanzibar".to_owned()).await;
    world.subject = None;
    // One tick is one record of the pattern: after the erasure its version is the same number again.
    elsewhere.tick(world.tenant, &|| true).await.unwrap();
    let ada = erase(&world, "ada").await;
    greet(&mut world, 20, 30, |_| "smith".to_owned()).await;
    view(&world).forget(world.tenant, ada).await.unwrap();
    greet(&mut world, 30, 50, |_| "smith".to_owned()).await;
    elsewhere.tick(world.tenant, &|| true).await.unwrap();
    let pattern = world.pattern().await;
    assert_eq!(pattern.study.pattern.run_count, 30, "{pattern:?}");
}
