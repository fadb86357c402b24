//! Pieces of what people write, by field: what no program finds is learned by a tagger, proven as whole answers, and serves like anything.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use std::sync::Arc;

use apprentice::{Apprentice, Considered, Executable, Learned, Shelf, order, reexecute};
use artifact::text::mix;
use schema::{RunId, Subject};
use serde_json::{Value, json};
use store::{Commit, RecordKind, View as _};
use wire::Wire;
use world::{CHOICE, Told, World, clock};

/// What somebody wishes the `at`-th time, and what a model makes of it: names are made up, and not every wish has every field.
fn wish(at: u64) -> (String, Value) {
    let draw = |what: u64, of: u64| mix(at * 31 + what) % of;
    let name = |what: u64| {
        let syllables = ["ka", "lo", "mi", "ter", "san", "vel", "dro", "qui", "bar", "nos"];
        let part = |place: u64| syllables[draw(what * 7 + place, 10) as usize];
        let word = |place: u64| format!("{}{}", part(place), part(place + 1));
        if draw(what, 3) == 0 { format!("{} {}", word(1), word(4)) } else { word(2) }
    };
    let (artist, list) = (name(1), name(2));
    match draw(9, 4) {
        0 => (format!("add {artist} to my {list} playlist"), json!({ "artist": artist, "playlist": list })),
        1 => (
            format!("put something by {artist} on the playlist {list} please"),
            json!({ "artist": artist, "playlist": list }),
        ),
        2 => (format!("add this song to my {list} playlist"), json!({ "playlist": list })),
        _ => (
            format!("please add a track of {artist} to {list}"),
            json!({ "artist": artist, "playlist": list }),
        ),
    }
}

fn request(text: &str) -> Value {
    let system = "Give the artist and the playlist as JSON.";
    json!({ "model": "gpt-4o", "messages": [{ "role": "system", "content": system }, { "role": "user", "content": text }] })
}

async fn say(world: &mut World, text: &str, answer: &Value, beside: Vec<(&str, Value)>) {
    let answer = (json!([{ "type": "text", "text": answer.to_string() }]), "end");
    world.tell(Told { request: request(text), route: "live", answer, beside }).await;
}

async fn live(world: &mut World, from: u64, to: u64) {
    for at in from..to {
        let (text, answer) = wish(at);
        say(world, &text, &answer, Vec::new()).await;
    }
}

/// Goes on until every gate is passed.
async fn proven(world: &mut World) {
    for part in 0..20 {
        live(world, part * 60, part * 60 + 60).await;
        world.tick().await;
        if world.state().await == "eligible" {
            return;
        }
    }
    panic!("not proven: {:?}", world.records(RecordKind::Attempt).await.last());
}

fn view(world: &World) -> Learned {
    Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)))
}

#[tokio::test]
async fn what_is_said_in_free_words_is_tagged_proven_as_a_whole_and_served() {
    let mut world = World::new(false);
    proven(&mut world).await;
    let attempts = world.records(RecordKind::Attempt).await;
    let reports: Vec<String> = attempts.iter().map(|attempt| attempt.body["report"].to_string()).collect();
    assert!(reports.iter().any(|report| report.contains("a tagger learns it")), "{reports:?}");
    assert!(reports.iter().any(|report| report.contains("a tagger of artist, playlist")), "{reports:?}");
    let made = world.made().await;
    assert_eq!(made.kind, "tagger");
    assert!(made.gates().all_pass(), "{}", made.gates());
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;

    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
    let (mut served, mut wrong) = (0, 0);
    for at in 50_000..50_400 {
        let (text, answer) = wish(at);
        let asked = Wire::Chat.read_request(&request(&text)).unwrap();
        let mut id = [0; 10];
        id[2..].copy_from_slice(&at.to_be_bytes());
        match shelf.consider(world.tenant, "gpt-4o", &asked, (RunId::new(1, id), false, clock())) {
            Considered::Serve(offered) => {
                served += 1;
                wrong += usize::from(offered.said != answer);
            }
            Considered::Audit(offered) => shelf.compared(&offered, offered.said == answer),
            Considered::Pass(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(served > 150 && wrong <= 2, "{served} served, {wrong} wrong");
    let strange = Wire::Chat.read_request(&request("book a table for four at the mill")).unwrap();
    let considered = shelf.consider(world.tenant, "gpt-4o", &strange, (RunId::NIL, false, clock()));
    assert!(matches!(considered, Considered::Pass(_)), "{considered:?}");
}

#[tokio::test]
async fn a_tagger_is_rebuilt_goes_on_elsewhere_travels_and_is_executed_again_the_same() {
    let mut world = World::new(false);
    proven(&mut world).await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    let (text, answer) = wish(90_000);
    let said = json!({ "artifactId": id, "version": 3, "said": { "playlist": "another" } });
    say(&mut world, &text, &answer, vec![("artifact.compared", said)]).await;
    world.tick().await;
    assert_eq!(world.made().await.course.audited().disagreed, 1);
    assert_eq!(view(&world).rebuild(world.tenant).await.unwrap().repaired, 0);
    // Another process goes on from what the first has kept, and makes the next versions.
    let fresh = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    live(&mut world, 90_001, 90_200).await;
    fresh.tick(world.tenant, &|| true).await.unwrap();
    assert_eq!(view(&world).rebuild(world.tenant).await.unwrap().repaired, 0);

    let texts = world.texts().await;
    let text = texts.last().unwrap();
    assert!(text.len() < 2_000_000, "a program of {} bytes", text.len());
    let read = Executable::read(text).unwrap();
    assert_eq!(&read.text(), text, "to the byte");
    let (asked, wanted) = (60_000..60_050).map(wish).find(|(asked, _)| read.says(asked).is_ok()).unwrap();
    let again =
        reexecute(apprentice::ENGINE, text, ("chat", "gpt-4o", &request(&asked)), (None, None)).unwrap();
    let told = again["choices"][0]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(told).unwrap(), wanted);
}

#[tokio::test]
async fn nothing_of_an_erased_person_is_left_in_a_tagger() {
    let mut world = World::new(false);
    let ada: Subject = "ada".to_owned().try_into().unwrap();
    for part in 0..16 {
        world.subject = Some(ada.clone());
        let answer = json!({ "artist": "zanzibar", "playlist": "mine" });
        say(&mut world, "add zanzibar to my mine playlist", &answer, Vec::new()).await;
        world.subject = None;
        live(&mut world, part * 40, part * 40 + 40).await;
        world.tick().await;
    }
    let holders = |records: Vec<store::Record>| {
        records.iter().filter(|record| record.body.to_string().contains("zanzibar")).count()
    };
    assert!(holders(world.records(RecordKind::Learner).await) > 0, "it learns from what Ada says");
    let store = world.store.tenant(world.tenant);
    let id = store.subject(&ada).await.unwrap().unwrap();
    store.commit(Commit { erase: vec![id], ..Commit::default() }).await.unwrap();
    let before = world.texts().await;
    view(&world).forget(world.tenant, id).await.unwrap();
    for kind in RecordKind::ALL {
        assert_eq!(holders(world.records(kind).await), 0, "{kind}");
    }
    let after = world.texts().await;
    assert!(after.iter().all(|text| !before.contains(text)), "what owed her something is gone");
    assert_eq!(world.made().await.kind, "tagger", "what others taught is learned again");
}

#[tokio::test]
async fn answers_that_are_no_pieces_of_their_inputs_are_left_alone_and_the_report_says_why() {
    let mut world = World::new(false);
    for at in 0..80 {
        let (text, _) = wish(at);
        let answer = json!({ "mood": format!("m{:x}", mix(at)), "artist": format!("a{:x}", mix(at + 1)) });
        say(&mut world, &text, &answer, Vec::new()).await;
    }
    world.tick().await;
    assert_eq!(world.state().await, "negative");
    let attempts = world.records(RecordKind::Attempt).await;
    let report = attempts[0].body["report"].to_string();
    assert!(report.contains("no tagger: 0 of 56 answers are made of pieces of their inputs"), "{report}");
    assert!(report.contains("no tagger: mood: not a piece of the input, 56 times"), "{report}");
}
