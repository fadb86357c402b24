//! The loop over the real app: repeated work is seen, learned, proven, promoted, served, audited, and taken out of service again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ledger::packet::Execution;
use ledger::trust::Trust;
use serde_json::{Value, json};
use store::View as _;
use wire::Wire;
use world::upstream::{Act, Upstream, served_by};
use world::{OPERATOR, Reply, Setup, World};

const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// What is asked the `at`-th time: the same kind of work, never the same words.
fn ask(at: u64) -> Value {
    let draw = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize;
    let (colour, thing) = (COLOURS[draw % 3], ["door", "lamp", "chair", "table"][draw / 3 % 4]);
    let text = format!("please paint the {thing} number {at} {colour} today");
    let system = "Choose one of these labels: red, green, blue. Answer with the label alone.";
    json!({
        "model": "gpt-4o",
        "messages": [{ "role": "system", "content": system }, { "role": "user", "content": text }],
    })
}

fn right(body: &Value) -> &'static str {
    let text = body["messages"][1]["content"].as_str().unwrap();
    COLOURS.into_iter().find(|colour| text.contains(colour)).unwrap_or("red")
}

/// Work that goes on: a gateway, and where it is.
struct Work {
    world: World,
    at: u64,
    /// Whether the model has changed its mind.
    changed: Arc<AtomicBool>,
}

impl Work {
    /// With a model that can change its mind.
    async fn new(setup: Setup) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        let mind = changed.clone();
        let upstream = Upstream::start(move |_, seen| {
            let said = if mind.load(Ordering::SeqCst) { "no colour at all" } else { right(&seen.body) };
            let choice = json!({ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" });
            let usage = json!({ "prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42 });
            Act::Say(
                200,
                Vec::new(),
                json!({
                    "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice], "usage": usage,
                }),
            )
        });
        let models = served_by(&[("openai", &upstream.await, &[Wire::Chat])]);
        Self { world: Setup { models, ..setup }.start().await, at: 0, changed }
    }

    async fn call(&mut self) -> Reply {
        self.at += 1;
        let reply = self.world.operate("POST", "/v1/chat/completions", &ask(self.at)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
    }

    async fn get(&self, path: &str) -> Value {
        let reply = self.world.operate("GET", path, &Value::Null).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    async fn post(&self, path: &str) -> Reply {
        self.world.operate("POST", path, &Value::Null).await
    }

    async fn tick(&self) -> Value {
        let reply = self.post("/api/v1/learning/tick").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    async fn pattern(&self) -> Value {
        self.get("/api/v1/patterns").await["patterns"][0].clone()
    }

    async fn artifact(&self) -> Value {
        self.get("/api/v1/artifacts").await["artifacts"][0].clone()
    }

    /// Goes on until every gate is passed.
    async fn prove(&mut self) -> String {
        for _ in 0..12 {
            for _ in 0..60 {
                assert_eq!(self.call().await.header("x-punk-route"), Some("live"));
            }
            self.tick().await;
            if self.pattern().await["state"] == "eligible" {
                return self.artifact().await["id"].as_str().unwrap().to_owned();
            }
        }
        panic!("not proven: {:?}", self.artifact().await);
    }

    async fn promote(&mut self) -> String {
        let id = self.prove().await;
        let reply = self.post(&format!("/api/v1/artifacts/{id}/promote")).await;
        assert_eq!(
            (reply.status, &reply.json()["artifact"]["state"]),
            (200, &json!("promoted")),
            "{reply:?}"
        );
        id
    }

    /// Calls until the artifact answers.
    async fn served(&mut self) -> Reply {
        for _ in 0..64 {
            let reply = self.call().await;
            if reply.header("x-punk-route") == Some("artifact") {
                return reply;
            }
        }
        panic!("nothing was served: {:?}", self.artifact().await);
    }
}

#[tokio::test]
async fn repeated_work_is_learned_proven_promoted_served_and_taken_out_again() {
    let mut work = Work::new(Setup::protected()).await;
    for _ in 0..40 {
        work.call().await;
    }
    let report = work.tick().await;
    assert_eq!((&report["lessons"], &report["patternsDiscovered"]), (&json!(40), &json!(1)), "{report}");
    let pattern = work.pattern().await;
    assert_eq!(
        (&pattern["taskClass"], &pattern["runCount"]),
        (&json!("classification"), &json!(40)),
        "{pattern}"
    );
    assert!(pattern["averageCostUsd"].as_f64().unwrap() > 0.0, "{pattern}");
    assert!(!pattern["reasons"].as_array().unwrap().is_empty());
    let id = pattern["id"].as_str().unwrap();
    let attempt = work.post(&format!("/api/v1/patterns/{id}/synthesize")).await.json();
    assert!(!attempt["attempt"]["report"].as_array().unwrap().is_empty(), "{attempt}");
    assert!(attempt["attempt"]["by"].as_str().unwrap() != "punk", "{attempt}");

    let artifact = work.promote().await;
    let attempts = work.get(&format!("/api/v1/learning/attempts?patternId={id}")).await;
    assert!(
        attempts["attempts"].as_array().unwrap().iter().any(|one| one["outcome"] == "synthesized"),
        "{attempts}"
    );
    let detail = work.get(&format!("/api/v1/artifacts/{artifact}")).await;
    assert!(
        detail["artifact"]["gates"].as_array().unwrap().iter().all(|gate| gate["passed"] == true),
        "{detail}"
    );
    assert!(
        !detail["evaluations"].as_array().unwrap().is_empty() && detail["pattern"]["id"] == id,
        "{detail}"
    );

    let reply = work.served().await;
    let said = reply.json()["choices"][0]["message"]["content"].clone();
    assert_eq!(said, right(&ask(work.at)));
    let run = reply.header("x-punk-run-id").unwrap().to_owned();
    let detail = work.get(&format!("/api/v1/runs/{run}")).await;
    let explanation = &detail["run"]["routeExplanation"];
    assert_eq!(
        (&explanation["route"], &explanation["artifact"]["artifactId"]),
        (&json!("artifact"), &json!(artifact))
    );
    assert!(explanation["estimatedSavedUsd"].as_f64().unwrap() > 0.0, "{explanation}");
    assert!(detail["run"]["savedUsd"].as_f64().unwrap() > 0.0, "{detail}");
    let executed =
        detail["events"].as_array().unwrap().iter().find(|event| event["type"] == "artifact.executed");
    assert!(executed.is_some(), "{detail}");
    let path = format!("/api/v1/runs/{run}/evidence-packet");
    let packet = work.world.operate("GET", &path, &Value::Null).await.body;
    let trust = trust(&work.world, schema::TenantId::NIL);
    let execute = |execution: &Execution<'_>| {
        let (wire, model, request) = execution.asked.unwrap();
        apprentice::reexecute(execution.engine, execution.artifact, wire, model, request).map(Some)
    };
    let verified = ledger::packet::verify_with(&packet, &trust, governance::replay, execute);
    assert!(verified.as_ref().is_ok_and(|report| report.not_checked.is_empty()), "{verified:?}");
    let other = |_: &Execution<'_>| Ok::<_, String>(Some(json!({ "model": "gpt-4o", "choices": [] })));
    let broken = ledger::packet::verify_with(&packet, &trust, governance::replay, other).unwrap_err();
    assert_eq!(broken.reason, ledger::packet::Reason::ArtifactReplay);
    let bundle = work.get(&format!("/api/v1/runs/{run}/replay-bundle")).await;
    assert_eq!(bundle["bundle"], Value::Null, "what an artifact answered teaches nothing");

    let replayed = work.post(&format!("/api/v1/artifacts/{artifact}/replay")).await.json();
    assert_eq!((&replayed["disagreed"], &replayed["known"]), (&json!(0), &json!(0)), "{replayed}");
    assert!(replayed["answered"].as_u64().unwrap() > 50, "{replayed}");
    let again = work.post(&format!("/api/v1/artifacts/{artifact}/replay")).await.json();
    assert_eq!(again["known"], again["runs"], "what was compared is not compared again: {again}");
    assert!(kept(&work, "evaluation").await > 50);

    // Streamed, if that is asked for; and not at all, if something new is.
    let mut streamed = ask(9_000);
    streamed["stream"] = json!(true);
    let mut seen = Vec::new();
    for _ in 0..40 {
        let reply = work.world.operate("POST", "/v1/chat/completions", &streamed).await;
        seen.push((
            reply.header("x-punk-route").unwrap().to_owned(),
            String::from_utf8_lossy(&reply.body).into_owned(),
        ));
    }
    assert!(seen.iter().any(|(route, body)| route == "artifact" && body.contains("[DONE]")), "{seen:?}");
    let bearer = format!("Bearer {OPERATOR}");
    let headers = [("authorization", bearer.as_str()), ("cache-control", "no-cache")];
    let fresh = work.world.send("POST", "/v1/chat/completions", &headers, &ask(9_001)).await;
    assert_eq!(fresh.header("x-punk-route"), Some("live"));
    let mut strange = ask(9_002);
    strange["messages"][1]["content"] = json!("quo usque tandem abutere, Catilina, patientia nostra?");
    let other = work.world.operate("POST", "/v1/chat/completions", &strange).await;
    let run = other.header("x-punk-run-id").unwrap();
    let passed =
        work.get(&format!("/api/v1/runs/{run}")).await["run"]["routeExplanation"]["rejected"].clone();
    assert!(passed.as_array().unwrap().iter().any(|one| one["route"] == "artifact"), "{passed}");
    let savings = work.get("/api/v1/savings").await;
    assert!(
        savings["artifactHitRate"].as_f64().unwrap() > 0.0
            && savings["totalSavedUsd"].as_f64().unwrap() > 0.0,
        "{savings}"
    );

    // The model changes its mind: what is audited differs, and soon nothing is served any more.
    work.changed.store(true, Ordering::SeqCst);
    let mut wrong = 0;
    for _ in 0..200 {
        wrong += usize::from(work.call().await.header("x-punk-route") == Some("artifact"));
    }
    assert!(wrong < 40, "{wrong} answers of the old kind were served");
    let report = work.tick().await;
    assert_eq!(report["demoted"], json!([artifact]), "{report}");
    assert!(kept(&work, "negative").await > 0, "inputs to which live said something else are avoided");
    assert_eq!(work.call().await.header("x-punk-route"), Some("live"));
    assert_eq!(work.artifact().await["state"], "shadow");
    let audit = work.get("/api/v1/audit").await.to_string();
    assert!(audit.contains("audit.artifact_promoted") && audit.contains("audit.artifact_changed"), "{audit}");

    // All of it follows from the log.
    let learner =
        apprentice::Apprentice::new(work.world.store.clone(), world::now, choice(&work.world), false);
    let rebuilt = apprentice::Learned(Arc::new(learner)).rebuild(schema::TenantId::NIL).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
}

async fn kept(work: &Work, kind: &str) -> u64 {
    let stats = work.get("/api/v1/cache/stats").await;
    let stats = stats["stats"].as_array().unwrap().clone();
    stats.iter().find(|stats| stats["cacheType"] == kind).unwrap()["entries"].as_u64().unwrap()
}

/// Who is trusted: the log of a tenant.
fn trust(world: &World, tenant: schema::TenantId) -> Trust {
    let keys = Arc::new(crypto::KeyRing::open(&world.folder).unwrap());
    let key = outbox::Logs::new("test".to_owned(), keys).key(tenant).unwrap();
    Trust::parse(&format!("log {}\nquorum none\n", key.verifier())).unwrap()
}

#[tokio::test]
async fn an_exported_artifact_is_the_same_where_it_is_imported_and_is_proven_anew_there() {
    let mut work = Work::new(Setup { max_body_bytes: 16 << 20, ..Setup::protected() }).await;
    let artifact = work.promote().await;
    let file = work.get(&format!("/api/v1/artifacts/{artifact}/export")).await;
    let portable: apprentice::Portable = serde_json::from_value(file.clone()).unwrap();
    let trusted = trust(&work.world, schema::TenantId::NIL);
    assert!(portable.check(&trusted).is_ok());
    let mut forged = portable.clone();
    forged.proof["served"] = json!(1_000_000);
    assert!(forged.check(&trusted).is_err(), "nobody vouches for another proof");
    let mut forged = portable.clone();
    forged.program = forged.program.replace("red", "mud");
    assert!(forged.check(&trusted).is_err(), "nor for another program");

    let tenant = work.world.operate("POST", "/api/v1/tenants", &json!({ "name": "other" })).await.json();
    let id = tenant["tenant"]["id"].as_str().unwrap();
    assert!(portable.check(&trust(&work.world, id.parse().unwrap())).is_err(), "another log did not sign it");
    let key = work.world.key(&json!({ "name": "k", "admin": true, "tenant": id })).await;
    let body = json!({ "program": portable.program, "origin": portable.origin });
    let imported = work.world.with(&key, "POST", "/api/v1/artifacts/import", &body).await;
    assert_eq!(imported.status, 201, "{imported:?}");
    let there = imported.json()["artifact"].clone();
    assert_eq!((&there["state"], &there["type"]), (&json!("shadow"), &json!("imported")), "{there}");
    assert_eq!(there["gates"][0]["passed"], false, "what was proven elsewhere is not proven here");
    let path = format!("/api/v1/artifacts/{}/export", there["id"].as_str().unwrap());
    let again = work.world.with(&key, "GET", &path, &Value::Null).await.json();
    assert_eq!(again["program"], file["program"]);
    for at in 30_000..30_030 {
        let reply = work.world.with(&key, "POST", "/v1/chat/completions", &ask(at)).await;
        assert_eq!(reply.header("x-punk-route"), Some("live"));
    }
    work.world.with(&key, "POST", "/api/v1/learning/tick", &Value::Null).await;
    let path = format!("/api/v1/artifacts/{}", there["id"].as_str().unwrap());
    let compared = work.world.with(&key, "GET", &path, &Value::Null).await.json();
    assert!(compared["artifact"]["shadow"]["compared"].as_u64().unwrap() > 10, "{compared}");
    assert_eq!(compared["artifact"]["shadow"]["disagreed"], 0);
}

fn choice(world: &World) -> u64 {
    apprentice::choice_of(&crypto::KeyRing::open(&world.folder).unwrap())
}

#[tokio::test]
async fn a_correction_quarantines_at_once_and_names_the_version() {
    let mut work = Work::new(Setup::on_disk()).await;
    let artifact = work.promote().await;
    let served = work.served().await;
    let run = served.header("x-punk-run-id").unwrap().to_owned();
    let good = json!({ "type": "rating", "rating": 1 });
    work.world.operate("POST", &format!("/api/v1/runs/{run}/feedback"), &good).await;
    work.tick().await;
    assert_eq!(work.artifact().await["state"], "promoted");
    let bad = json!({ "type": "rating", "rating": -1, "correction": "mauve" });
    let reply = work.world.operate("POST", &format!("/api/v1/runs/{run}/feedback"), &bad).await;
    assert_eq!(reply.status, 201);
    work.tick().await;
    let shown = work.artifact().await;
    assert_eq!(shown["state"], "quarantined", "{shown}");
    let executed =
        work.get(&format!("/api/v1/runs/{run}")).await["run"]["routeExplanation"]["artifact"].clone();
    let correction = &shown["corrections"][0];
    assert_eq!(
        (&correction["runId"], &correction["version"]),
        (&json!(run), &executed["version"]),
        "{shown}"
    );
    for _ in 0..20 {
        assert_eq!(work.call().await.header("x-punk-route"), Some("live"));
    }
    assert_eq!(work.pattern().await["state"], "quarantined");
    let refused = work.post(&format!("/api/v1/artifacts/{artifact}/promote")).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "punk_gate_not_satisfied"));
    let released = work.post(&format!("/api/v1/artifacts/{artifact}/release")).await.json();
    assert_eq!(released["artifact"]["state"], "shadow");
}

#[tokio::test]
async fn an_artifact_serves_its_own_tenant_alone_on_every_node_and_is_rolled_back_by_one_call() {
    let mut work = Work::new(Setup::protected()).await;
    let refused = work.post("/api/v1/artifacts/art_00000000000000000000000000/promote").await;
    assert_eq!(refused.status, 404);
    let artifact = work.promote().await;
    work.served().await;
    let tenant = work.world.operate("POST", "/api/v1/tenants", &json!({ "name": "other" })).await.json();
    let key = json!({ "name": "k", "admin": true, "tenant": tenant["tenant"]["id"] });
    let key = work.world.key(&key).await;
    for at in 20_000..20_040 {
        let reply = work.world.with(&key, "POST", "/v1/chat/completions", &ask(at)).await;
        assert_eq!(reply.header("x-punk-route"), Some("live"));
    }
    for (method, path) in [
        ("GET", format!("/api/v1/artifacts/{artifact}")),
        ("POST", format!("/api/v1/artifacts/{artifact}/promote")),
        ("POST", format!("/api/v1/artifacts/{artifact}/rollback")),
        ("POST", format!("/api/v1/artifacts/{artifact}/quarantine")),
    ] {
        assert_eq!(work.world.with(&key, method, &path, &Value::Null).await.status, 404, "{path}");
    }
    let rolled = work.post(&format!("/api/v1/artifacts/{artifact}/rollback")).await.json();
    assert_eq!(rolled["artifact"]["state"], "shadow", "{rolled}");
    for _ in 0..20 {
        assert_eq!(work.call().await.header("x-punk-route"), Some("live"));
    }
}

#[tokio::test]
async fn what_is_proven_serves_by_itself_where_that_is_on() {
    let mut work = Work::new(Setup { auto_promote: true, ..Setup::protected() }).await;
    let mut promoted = Vec::new();
    for _ in 0..12 {
        for _ in 0..60 {
            work.call().await;
        }
        promoted.extend(work.tick().await["autoPromoted"].as_array().unwrap().clone());
    }
    assert_eq!(promoted.len(), 1);
    work.served().await;
}
