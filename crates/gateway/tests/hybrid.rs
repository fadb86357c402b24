//! Hybrids over the real app: a program tells what it can, a small model the rest; proven together, served together, and taken out
//! of service when either goes wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use apprentice::{Apprentice, Learned, Small};
use ledger::packet::{Execution, Packet, Reason, verify_with};
use serde_json::{Value, json};
use store::View as _;
use wire::Wire;
use world::upstream::{Act, Seen, Upstream, served_by};
use world::work::{Work, choice, executed, says, trust};
use world::{Reply, Setup};

const LARGE: &str = "gpt-4o";
const SMALL: &str = "gpt-4o-mini";

/// A mail: its team is told by a word, its order is in it, and how its writer feels nobody learns from words.
fn mail(at: u64) -> Value {
    let draw = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize;
    let thing = ["invoice", "parcel", "password"][draw % 3];
    let when = ["today", "yesterday", "again"][draw / 3 % 3];
    let text = format!("it is about the {thing} of order {} {when}", 10_000 + draw / 9 % 80_000);
    let system = "Give the order, the mood and the team of the mail as JSON.";
    json!({
        "model": LARGE,
        "messages": [{ "role": "system", "content": system }, { "role": "user", "content": text }],
    })
}

/// What a mail says, by what a model is asked.
fn read(body: &Value) -> (u64, &'static str, &'static str) {
    let messages = body["messages"].as_array().unwrap();
    let text = messages.last().unwrap()["content"].as_str().unwrap();
    let order: u64 = text.split(' ').find_map(|word| word.parse().ok()).unwrap();
    let mood = if order.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0 { "calm" } else { "angry" };
    let team = [("invoice", "billing"), ("parcel", "shipping"), ("password", "access")];
    (order, mood, team.into_iter().find(|(word, _)| text.contains(word)).unwrap().1)
}

fn right(body: &Value) -> String {
    let (order, mood, team) = read(body);
    format!(r#"{{"order":{order},"mood":"{mood}","team":"{team}"}}"#)
}

/// How the small model behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Mind {
    Right,
    /// Refuses to answer.
    Fails,
    /// Says what live never says.
    Strange,
    /// Says more than it was asked.
    Chatty,
    /// Is always wrong, in the right words.
    Wrong,
    /// Says nothing at all.
    Silent,
}

fn answer(mind: u8, seen: &Seen) -> Act {
    if seen.body["model"] != SMALL {
        return says(LARGE, &right(&seen.body));
    }
    let mood = read(&seen.body).1;
    let other = if mood == "calm" { "angry" } else { "calm" };
    if mind == Mind::Silent as u8 {
        return Act::Hang;
    }
    if mind == Mind::Fails as u8 {
        let error = json!({ "error": { "message": "too small", "type": "invalid_request_error" } });
        return Act::Say(400, Vec::new(), error);
    }
    says(
        SMALL,
        &match mind {
            mind if mind == Mind::Strange as u8 => json!({ "mood": "bright" }).to_string(),
            mind if mind == Mind::Chatty as u8 => json!({ "mood": mood, "team": "sales" }).to_string(),
            mind if mind == Mind::Wrong as u8 => json!({ "mood": other }).to_string(),
            _ => json!({ "mood": mood }).to_string(),
        },
    )
}

/// A gateway whose small model can change its mind.
struct Office {
    work: Work,
    mind: Arc<AtomicU8>,
    upstream: Upstream,
}

impl Office {
    async fn open(setup: Setup) -> Self {
        let mind = Arc::new(AtomicU8::new(Mind::Right as u8));
        let its = Arc::clone(&mind);
        let upstream = Upstream::start(move |_, seen| answer(its.load(Ordering::SeqCst), seen)).await;
        let models = served_by(&[("openai", &upstream, &[Wire::Chat])]);
        let world = Setup { models, ..setup }.start().await;
        Self { work: Work { world, at: 0, changed: Arc::default() }, mind, upstream }
    }

    /// One that asks the small model whenever it may.
    async fn asking() -> Self {
        let small = Small { model: SMALL.to_owned(), percent: 100 };
        Self::open(Setup { small: Some(small), max_body_bytes: 16 << 20, ..Setup::protected() }).await
    }

    fn is(&self, mind: Mind) {
        self.mind.store(mind as u8, Ordering::SeqCst);
    }

    /// What the small model was asked so far.
    fn asked(&self) -> Vec<Value> {
        let small = |seen: Seen| (seen.body["model"] == SMALL).then_some(seen.body);
        self.upstream.seen().into_iter().filter_map(small).collect()
    }

    async fn call(&mut self) -> Reply {
        self.work.at += 1;
        let reply = self.work.world.operate("POST", "/v1/chat/completions", &mail(self.work.at)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
    }

    async fn calls(&mut self, times: usize) {
        for _ in 0..times {
            assert_eq!(self.call().await.header("x-punk-route"), Some("live"));
        }
        self.work.tick().await;
    }

    async fn promoted(&mut self) -> String {
        for _ in 0..12 {
            self.calls(60).await;
            if self.work.pattern().await["state"] == "eligible" {
                let id = self.work.artifact().await["id"].as_str().unwrap().to_owned();
                let reply = self.work.post(&format!("/api/v1/artifacts/{id}/promote")).await;
                assert_eq!(reply.json()["artifact"]["state"], "promoted", "{reply:?}");
                return id;
            }
        }
        panic!("not proven: {} {}", self.work.pattern().await, self.work.artifact().await);
    }

    /// Calls until the hybrid answers.
    async fn served(&mut self) -> Reply {
        for _ in 0..64 {
            let reply = self.call().await;
            if reply.header("x-punk-route") == Some("hybrid") {
                return reply;
            }
        }
        panic!("nothing was served: {}", self.work.artifact().await);
    }
}

fn content(reply: &Reply) -> String {
    reply.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

/// The fields of the first event of a type, and where it is.
fn event<'e>(run: &'e Value, r#type: &str) -> Option<(usize, &'e Value)> {
    let events = run["events"].as_array().unwrap();
    let at = events.iter().position(|event| event["type"] == r#type)?;
    Some((at, &events[at]["payload"]))
}

#[tokio::test]
async fn what_a_program_tells_in_part_is_proven_promoted_and_served_with_what_a_small_model_tells() {
    let mut office = Office::asking().await;
    office.calls(60).await;
    office.calls(60).await;
    let made = office.work.artifact().await;
    assert_eq!((&made["type"], &made["state"]), (&json!("hybrid"), &json!("shadow")), "{made}");
    assert_eq!((&made["openFields"], &made["smallModel"]), (&json!(["mood"]), &json!(SMALL)), "{made}");
    assert!(office.asked().is_empty(), "nothing was open before it was made");
    let audit = office.work.get("/api/v1/audit").await.to_string();
    assert!(audit.contains("audit.small_model_set"), "{audit}");

    // In the shadow the small model is asked first, for what is missing alone, and both calls are paid for.
    let reply = office.call().await;
    assert_eq!(reply.header("x-punk-route"), Some("live"));
    let question = office.asked().pop().unwrap();
    let wanted = question["messages"][1]["content"].as_str().unwrap();
    assert!(wanted.contains(r#""mood": one of "angry", "calm""#) && !wanted.contains("team"), "{wanted}");
    let run = office.work.run(&reply).await;
    let (asked_at, asked) = event(&run, "artifact.asked").unwrap();
    assert_eq!((&asked["small"], &asked["fields"]), (&json!(SMALL), &json!(["mood"])), "{asked}");
    let events = run["events"].as_array().unwrap();
    let calls: Vec<(usize, &Value)> =
        events.iter().enumerate().filter(|(_, one)| one["type"] == "model.completed").collect();
    assert_eq!(calls.len(), 2, "{run}");
    assert!(calls[0].0 < asked_at && asked_at < calls[1].0, "the opinion comes before live's answer: {run}");
    let cost = |at: usize| calls[at].1["payload"]["costMicroUsd"].as_u64().unwrap();
    let (_, finished) = event(&run, "run.finished").unwrap();
    assert!(cost(0) > 0 && cost(1) > cost(0), "{run}");
    assert_eq!(finished["costMicroUsd"], cost(0) + cost(1), "{run}");
    assert_eq!(event(&run, "artifact.compared").unwrap().1["agreed"], true, "{run}");
    assert!(office.work.verified(&reply, executed).await.unwrap().not_checked.is_empty());

    let artifact = office.promoted().await;
    let reply = office.served().await;
    let body = mail(office.work.at);
    assert_eq!(content(&reply), right(&body), "as live would have written it");
    let run = office.work.run(&reply).await;
    let explanation = &run["run"]["routeExplanation"];
    assert_eq!(explanation["artifact"]["artifactId"], json!(artifact), "{explanation}");
    let completion = json!({ "model": SMALL, "fields": ["mood"] });
    assert_eq!(explanation["artifact"]["completion"], completion, "{explanation}");
    assert!(event(&run, "artifact.executed").is_some() && event(&run, "artifact.asked").is_some(), "{run}");
    let (cost, saved) = (run["run"]["costUsd"].as_f64().unwrap(), run["run"]["savedUsd"].as_f64().unwrap());
    assert!(cost > 0.0 && saved > cost, "{run}");

    // Whoever verifies executes the program's fields again, and is told that the model's are by its word.
    let report = office.work.verified(&reply, executed).await.unwrap();
    assert!(report.not_checked.len() == 1 && report.not_checked[0].contains("(mood)"), "{report:?}");
    let forged = |execution: &Execution<'_>| {
        let other = if execution.told.unwrap().contains("calm") { "angry" } else { "calm" };
        executed(&Execution { told: Some(&json!({ "mood": other }).to_string()), ..*execution })
    };
    let broken = office.work.verified(&reply, forged).await.unwrap_err();
    assert_eq!(broken.reason, Reason::ArtifactReplay);
    let silent = |execution: &Execution<'_>| executed(&Execution { told: None, ..*execution });
    assert_eq!(office.work.verified(&reply, silent).await.unwrap_err().reason, Reason::ArtifactReplay);
    let mut packet: Packet = serde_json::from_slice(&office.work.packet(&reply).await).unwrap();
    let call = packet.events.iter().find(|event| event.r#type == "artifact.asked").unwrap().seq;
    packet.withhold(call, "told").unwrap();
    let trusted = trust(&office.work.world, schema::TenantId::NIL);
    let hidden = verify_with(&packet.to_bytes().unwrap(), &trusted, governance::replay, executed).unwrap();
    assert!(hidden.not_checked.iter().any(|line| line.contains("because a field is withheld")), "{hidden:?}");

    // Streamed, if that is asked for.
    let mut streamed = None;
    for at in 0..40 {
        let mut body = mail(500_000 + at);
        body["stream"] = json!(true);
        let reply = office.work.world.operate("POST", "/v1/chat/completions", &body).await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if reply.header("x-punk-route") == Some("hybrid") {
            streamed = Some(text);
        }
    }
    assert!(streamed.is_some_and(|text| text.contains("[DONE]")));

    // It travels as it is, and is proven anew where it is brought.
    let file = office.work.get(&format!("/api/v1/artifacts/{artifact}/export")).await;
    let tenant =
        office.work.world.operate("POST", "/api/v1/tenants", &json!({ "name": "other" })).await.json();
    let key =
        office.work.world.key(&json!({ "name": "k", "admin": true, "tenant": tenant["tenant"]["id"] })).await;
    let body = json!({ "program": file["program"], "origin": file["origin"] });
    let there = office.work.world.with(&key, "POST", "/api/v1/artifacts/import", &body).await.json();
    let there = &there["artifact"];
    assert_eq!((&there["state"], &there["openFields"]), (&json!("shadow"), &json!(["mood"])), "{there}");
    let path = format!("/api/v1/artifacts/{}/export", there["id"].as_str().unwrap());
    let again = office.work.world.with(&key, "GET", &path, &Value::Null).await.json();
    assert_eq!(again["program"], file["program"]);

    // All of it follows from the log.
    let learner =
        Apprentice::new(office.work.world.store.clone(), world::now, choice(&office.work.world), false);
    let rebuilt = Learned(Arc::new(learner)).rebuild(schema::TenantId::NIL).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
}

#[tokio::test]
async fn whatever_is_wrong_with_the_small_model_goes_live_and_what_differs_serves_no_more() {
    let mut office = Office::asking().await;
    let artifact = office.promoted().await;
    office.served().await;

    for (mind, why) in [
        (Mind::Fails, "`gpt-4o-mini`: the upstream answered with status 400"),
        (Mind::Strange, "`mood` is unlike what live says there"),
        (Mind::Chatty, "`team` was not asked for"),
    ] {
        office.is(mind);
        for _ in 0..2 {
            let reply = office.call().await;
            assert_eq!(reply.header("x-punk-route"), Some("live"));
            assert_eq!(content(&reply), right(&mail(office.work.at)));
            let run = office.work.run(&reply).await;
            let unused = event(&run, "artifact.asked").unwrap().1["unused"].as_str().unwrap().to_owned();
            assert!(unused.contains(why), "{unused}");
            assert!(event(&run, "artifact.compared").is_none(), "what is no answer is no opinion: {run}");
            let rejected = run["run"]["routeExplanation"]["rejected"].to_string();
            assert!(rejected.contains(why), "the explanation says why it is not theirs: {rejected}");
            assert!(office.work.verified(&reply, executed).await.unwrap().not_checked.is_empty());
        }
        // It is asked again, and all is well.
        office.is(Mind::Right);
        let reply = office.call().await;
        assert!(event(&office.work.run(&reply).await, "artifact.asked").unwrap().1["told"].is_string());
    }

    // It says what could be right, and is not: what is audited differs, and soon nothing is served any more.
    office.is(Mind::Wrong);
    let mut wrong = 0;
    for _ in 0..200 {
        let reply = office.call().await;
        if reply.header("x-punk-route") == Some("hybrid") {
            assert_ne!(content(&reply), right(&mail(office.work.at)));
            wrong += 1;
        }
    }
    assert!(wrong < 40, "{wrong} wrong answers were served");
    let report = office.work.tick().await;
    assert_eq!(report["demoted"], json!([artifact]), "{report}");
    assert_eq!(office.work.artifact().await["state"], "shadow");
    assert_eq!(office.call().await.header("x-punk-route"), Some("live"));

    // What comes to nothing again and again is left alone for a while.
    office.is(Mind::Fails);
    let before = office.asked().len();
    for _ in 0..8 {
        assert_eq!(office.call().await.header("x-punk-route"), Some("live"));
    }
    assert_eq!(office.asked().len() - before, 3);
    let reply = office.call().await;
    let rejected = office.work.run(&reply).await["run"]["routeExplanation"]["rejected"].to_string();
    assert!(rejected.contains("asking `gpt-4o-mini` came to nothing of late"), "{rejected}");
}

#[tokio::test]
async fn without_a_small_model_nothing_is_made_in_part_and_nobody_is_asked() {
    let mut office = Office::open(Setup::protected()).await;
    for _ in 0..3 {
        office.calls(60).await;
    }
    assert_eq!(office.work.pattern().await["state"], "negative");
    assert!(office.work.artifact().await.is_null());
    let attempts = office.work.get("/api/v1/learning/attempts").await["attempts"].to_string();
    assert!(
        attempts.contains("mood: no deterministic program, and no small model may be asked"),
        "{attempts}"
    );
    assert!(office.asked().is_empty());
}

#[tokio::test]
async fn policy_decides_whether_the_small_model_is_asked() {
    let policy = format!(
        "name: house\nversion: '1'\nrules:\n  - actions: ['model:*']\n    when: {{ model: ['{SMALL}'] }}\n    effect: deny\n  - actions: ['*']\n    effect: allow\ndefaultEffect: deny\n"
    );
    let small = Some(Small { model: SMALL.to_owned(), percent: 100 });
    let setup = Setup { small, ..Setup::protected() }.governed(&[("house.yaml", &policy)]);
    let mut office = Office::open(setup).await;
    for _ in 0..4 {
        office.calls(60).await;
    }
    let made = office.work.artifact().await;
    assert_eq!((&made["type"], &made["shadow"]["compared"]), (&json!("hybrid"), &json!(0)), "{made}");
    let reply = office.call().await;
    let run = office.work.run(&reply).await;
    let rejected = run["run"]["routeExplanation"]["rejected"].to_string();
    assert!(
        rejected.contains("nothing is compared: policy does not let `gpt-4o-mini` be asked"),
        "{rejected}"
    );
    assert!(event(&run, "artifact.asked").is_none() && office.asked().is_empty(), "{run}");
}

#[tokio::test]
async fn who_hangs_up_while_the_small_model_is_asked_owes_that_call() {
    let mut office = Office::asking().await;
    office.calls(60).await;
    office.calls(60).await;
    assert_eq!(office.work.artifact().await["type"], "hybrid");
    office.is(Mind::Silent);
    let seen = office.upstream.seen().len();
    let body = mail(900_000);
    tokio::select! {
        reply = office.work.world.operate("POST", "/v1/chat/completions", &body) => panic!("nothing answers here: {reply:?}"),
        () = office.upstream.was_asked(seen + 1) => {}
    }
    office.upstream.was_left(1).await;
    let mut newest = Value::Null;
    for _ in 0..500 {
        newest = office.work.get("/api/v1/runs?limit=1").await["runs"][0].clone();
        if newest["status"] == "cancelled" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let run = office.work.get(&format!("/api/v1/runs/{}", newest["id"].as_str().unwrap())).await;
    let (_, completed) = event(&run, "model.completed").unwrap();
    assert_eq!((&completed["model"], &completed["usageEstimated"]), (&json!(SMALL), &json!(true)), "{run}");
    let (_, finished) = event(&run, "run.finished").unwrap();
    assert!(finished["costMicroUsd"].as_u64().unwrap() > 0, "{run}");
    assert_eq!(finished["costMicroUsd"], completed["costMicroUsd"], "{run}");
    assert!(event(&run, "artifact.asked").unwrap().1["unused"].is_string(), "{run}");
}
