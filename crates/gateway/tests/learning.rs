//! The loop over the real app: repeated work is seen, learned, proven, promoted, served, audited, and taken out of service again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apprentice::{Apprentice, Learned, ReplayEvaluation};
use ledger::packet::Execution;
use serde_json::{Value, json};
use store::View as _;
use wire::Wire;
use world::upstream::{Act, Upstream, served_by};
use world::work::{Work, choice, executed, says, trust};
use world::{OPERATOR, Reply, Setup};

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

impl Work {
    /// With a model that can change its mind.
    async fn new(setup: Setup) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        let mind = changed.clone();
        let upstream = Upstream::start(move |_, seen| {
            says("gpt-4o", if mind.load(Ordering::SeqCst) { "no colour at all" } else { right(&seen.body) })
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

    /// Has an artifact tried on recorded runs, as a worker would.
    async fn replayed(&self, artifact: &str) -> Value {
        let path = format!("/api/v1/artifacts/{artifact}/replay");
        let wanted = self.post(&path).await;
        assert_eq!(wanted.status, 202, "{wanted:?}");
        assert_eq!(self.post(&path).await.json(), wanted.json(), "one at a time");
        let waiting = self.get("/api/v1/jobs?state=waiting").await;
        let job = wanted.json()["jobId"].clone();
        assert!(waiting["jobs"].as_array().unwrap().iter().any(|one| one["id"] == job), "{waiting}");
        let kinds = [ReplayEvaluation::KIND.to_owned()];
        let later = schema::Timestamp::from_millis(world::now().as_millis() + 60_000).unwrap();
        let queue = self.world.store.jobs();
        let claimed = queue.claim(&kinds, later, later, NonZeroU32::MIN).await.unwrap().remove(0);
        let learner = Apprentice::new(self.world.store.clone(), world::now, choice(&self.world), false);
        let id = artifact.parse().unwrap();
        learner.replay(claimed.job.tenant, id, "ann", &|| true).await.unwrap().unwrap();
        queue.complete(claimed.job.id, claimed.token).await.unwrap();
        self.tick().await;
        self.get(&format!("/api/v1/artifacts/{artifact}")).await["artifact"]["lastReplay"].clone()
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
    let events = detail["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event["type"] == "artifact.executed"), "{detail}");
    let path = format!("/api/v1/runs/{run}/evidence-packet");
    let packet = work.world.operate("GET", &path, &Value::Null).await.body;
    let trust = trust(&work.world, schema::TenantId::NIL);
    let verified = ledger::packet::verify_with(&packet, &trust, governance::replay, executed);
    assert!(verified.as_ref().is_ok_and(|report| report.not_checked.is_empty()), "{verified:?}");
    let other = |_: &Execution<'_>| Ok::<_, String>(Some(json!({ "model": "gpt-4o", "choices": [] })));
    let broken = ledger::packet::verify_with(&packet, &trust, governance::replay, other).unwrap_err();
    assert_eq!(broken.reason, ledger::packet::Reason::ArtifactReplay);
    let bundle = work.get(&format!("/api/v1/runs/{run}/replay-bundle")).await;
    assert_eq!(bundle["bundle"], Value::Null, "what an artifact answered teaches nothing");

    // What was asked meanwhile is read first, so that both times the same runs are tried.
    work.tick().await;
    let replayed = work.replayed(&artifact).await;
    assert_eq!((&replayed["disagreed"], &replayed["known"]), (&json!(0), &json!(0)), "{replayed}");
    assert!(replayed["answered"].as_u64().unwrap() > 50, "{replayed}");
    let again = work.replayed(&artifact).await;
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
    let learner = Apprentice::new(work.world.store.clone(), world::now, choice(&work.world), false);
    let rebuilt = Learned(Arc::new(learner)).rebuild(schema::TenantId::NIL).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
}

async fn kept(work: &Work, kind: &str) -> u64 {
    let stats = work.get("/api/v1/cache/stats").await;
    let stats = stats["stats"].as_array().unwrap().clone();
    stats.iter().find(|stats| stats["cacheType"] == kind).unwrap()["entries"].as_u64().unwrap()
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
    // From the version on: what it was made of, what was proven when it was, and the text that answered.
    let versions = shown["versions"].as_array().unwrap();
    let version = versions.iter().find(|one| one["version"] == correction["version"]).unwrap();
    assert!(version["samples"].as_u64().unwrap() > 300, "{version}");
    assert!(version["proof"]["compared"].as_u64().unwrap() > 300, "{version}");
    assert_eq!((&version["proof"]["disagreed"], &version["servedRuns"]), (&json!(0), &json!(1)), "{version}");
    let made_with = version["madeWithRunId"].as_str().unwrap();
    assert_eq!(work.get(&format!("/api/v1/runs/{made_with}")).await["run"]["status"], "completed");
    let events = work.get(&format!("/api/v1/runs/{run}")).await["events"].clone();
    let event = events.as_array().unwrap().iter().find(|event| event["type"] == "artifact.executed").unwrap();
    assert!(event.to_string().contains(version["digest"].as_str().unwrap()), "{event}");
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

#[tokio::test]
async fn what_a_forgotten_person_taught_serves_no_more_and_no_packet_claims_that_it_could_be_executed() {
    let mut work = Work::new(Setup::on_disk()).await;
    // Somebody else asks the same, in words of their own.
    let bearer = format!("Bearer {OPERATOR}");
    let ada = [("authorization", bearer.as_str()), ("x-punk-subject", "ada")];
    for at in 70_000..70_040 {
        let mut body = ask(at);
        let text = body["messages"][1]["content"].as_str().unwrap().replace("please", "zanzibar");
        body["messages"][1]["content"] = json!(text);
        assert_eq!(work.world.send("POST", "/v1/chat/completions", &ada, &body).await.status, 200);
    }
    work.promote().await;
    let run = work.served().await.header("x-punk-run-id").unwrap().to_owned();
    work.tick().await;
    let path = format!("/api/v1/runs/{run}/evidence-packet");
    let trusted = trust(&work.world, schema::TenantId::NIL);
    let verify = |packet: &[u8]| {
        ledger::packet::verify_with(packet, &trusted, governance::replay, executed).unwrap().not_checked
    };
    let packet = work.world.operate("GET", &path, &Value::Null).await.body;
    assert!(verify(&packet).is_empty());

    let reply = work.world.operate("DELETE", "/api/v1/subjects/ada", &Value::Null).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let subject = reply.json()["subjectId"].as_str().unwrap().parse().unwrap();
    let learner = Apprentice::new(work.world.store.clone(), world::now, choice(&work.world), false);
    Learned(Arc::new(learner)).forget(schema::TenantId::NIL, subject).await.unwrap();
    work.tick().await;
    for kind in store::RecordKind::ALL {
        let filter = store::RecordFilter::of(kind);
        let all =
            work.world.store.tenant(schema::TenantId::NIL).records(&filter, None, NonZeroU32::MAX).await;
        let left = all.unwrap().iter().filter(|record| record.body.to_string().contains("zanzibar")).count();
        assert_eq!(left, 0, "{kind}");
    }
    // The run is as it was, and whoever verifies it is told what cannot be checked any more.
    let packet = work.world.operate("GET", &path, &Value::Null).await.body;
    let not_checked = verify(&packet);
    assert!(not_checked.len() == 1 && not_checked[0].contains("withheld"), "{not_checked:?}");
    assert!(work.pattern().await["runCount"].as_u64().unwrap() > 300, "what others taught is learned again");
}

#[tokio::test]
async fn what_is_the_same_is_declared_on_record_and_nonsense_is_refused_by_its_field() {
    let mut work = Work::new(Setup::protected()).await;
    for _ in 0..20 {
        work.call().await;
    }
    work.tick().await;
    let pattern = work.pattern().await;
    assert_eq!(pattern["equivalence"], json!({ "by": "exact" }), "{pattern}");
    let path = format!("/api/v1/patterns/{}/equivalence", pattern["id"].as_str().unwrap());
    let declare = async |body: Value| work.world.operate("PUT", &path, &body).await;
    for (body, param) in [
        (json!({ "by": "words", "least": 1.5 }), "least"),
        (json!({ "by": "json", "tolerances": { "total": 1 } }), "tolerances"),
        (json!({ "by": "json", "tolerances": { "/total": -1 } }), "tolerances"),
    ] {
        let refused = declare(body).await;
        assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!(param)), "{refused:?}");
    }
    let declared =
        declare(json!({ "by": "json", "tolerances": { "/total": 0.01 }, "ignored": ["/at"] })).await;
    assert_eq!(declared.status, 200, "{declared:?}");
    let shown = json!({ "by": "json", "tolerances": { "/total": 0.01 }, "ignored": ["/at"] });
    assert_eq!(declared.json()["pattern"]["equivalence"], shown);
    let audit = work.get("/api/v1/audit").await.to_string();
    assert!(audit.contains("audit.pattern_comparator_declared"), "{audit}");
}

#[tokio::test]
async fn two_names_of_one_model_are_one_pattern() {
    let work = Work::new(Setup::protected()).await;
    for at in 0..20 {
        let mut body = ask(at);
        body["model"] = json!(["gpt-4o", "openai/gpt-4o"][(at % 2) as usize]);
        assert_eq!(work.world.operate("POST", "/v1/chat/completions", &body).await.status, 200);
    }
    work.tick().await;
    let patterns = work.get("/api/v1/patterns").await["patterns"].clone();
    assert_eq!(patterns.as_array().unwrap().len(), 1, "{patterns}");
    assert_eq!(
        (&patterns[0]["runCount"], &patterns[0]["model"]),
        (&json!(20), &json!("gpt-4o")),
        "{patterns}"
    );
}

/// Work in which a tool is called: what is asked the `at`-th time.
fn order(at: u64) -> Value {
    let draw = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize;
    let text = format!("customer {} wants slot {} booked", 100 + draw % 900, 1_000 + draw / 900 % 9_000);
    let parameters = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
    json!({
        "model": "gpt-4o",
        "messages": [{ "role": "system", "content": "Do what the mail wants." }, { "role": "user", "content": text }],
        "tools": [{ "type": "function", "function": { "name": "book_slot", "parameters": parameters } }],
    })
}

fn wanted(body: &Value) -> Value {
    let text = body["messages"][1]["content"].as_str().unwrap();
    let mut numbers = text.split(' ').filter_map(|word| word.parse::<u64>().ok());
    json!({ "customer": numbers.next(), "order": numbers.next() })
}

#[tokio::test]
async fn a_learned_call_of_a_tool_waits_for_an_operator_and_is_judged_like_any_other() {
    let upstream = Upstream::start(move |_, seen| {
        let function = json!({ "name": "book_slot", "arguments": wanted(&seen.body).to_string() });
        let call = json!({ "id": "call_upstream", "type": "function", "function": function });
        let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
        let usage = json!({ "prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49 });
        Act::Say(
            200,
            Vec::new(),
            json!({
                "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice], "usage": usage,
            }),
        )
    });
    let models = served_by(&[("openai", &upstream.await, &[Wire::Chat])]);
    let policy = "name: house\nversion: '1'\nrules:\n  - actions: ['model:*']\n    effect: allow\n  - actions: ['*']\n    effect: allow\ndefaultEffect: deny\n";
    let setup =
        Setup { models, auto_promote: true, ..Setup::protected() }.governed(&[("house.yaml", policy)]);
    let mut work = Work { world: setup.start().await, at: 0, changed: Arc::default() };
    let call = async |work: &mut Work| {
        work.at += 1;
        let reply = work.world.operate("POST", "/v1/chat/completions", &order(work.at)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
    };
    for _ in 0..12 {
        for _ in 0..60 {
            assert_eq!(call(&mut work).await.header("x-punk-route"), Some("live"));
        }
        work.tick().await;
        if work.pattern().await["state"] == "eligible" {
            break;
        }
    }
    let shown = work.artifact().await;
    assert_eq!((&shown["state"], &shown["type"]), (&json!("eligible"), &json!("plan")), "{shown}");
    assert_eq!(shown["sideEffectLevel"], 3, "nobody declared the tool: {shown}");
    let gates = shown["gates"].as_array().unwrap();
    let gate = gates.iter().find(|gate| gate["name"] == "side effects").unwrap();
    assert_eq!(gate["reason"], "level 3: an operator has to promote");
    let id = shown["id"].as_str().unwrap().to_owned();
    assert_eq!(work.post(&format!("/api/v1/artifacts/{id}/promote")).await.status, 200);

    let mut served = None;
    for _ in 0..64 {
        let reply = call(&mut work).await;
        if reply.header("x-punk-route") == Some("artifact") {
            served = Some(reply);
            break;
        }
    }
    let reply = served.unwrap();
    let choice = reply.json()["choices"][0].clone();
    assert_eq!(choice["finish_reason"], "tool_calls", "{choice}");
    let called = &choice["message"]["tool_calls"][0];
    let arguments: Value = serde_json::from_str(called["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!((&called["function"]["name"], arguments), (&json!("book_slot"), wanted(&order(work.at))));
    assert!(!called["id"].as_str().unwrap().is_empty(), "{called}");
    let run = reply.header("x-punk-run-id").unwrap();
    let detail = work.get(&format!("/api/v1/runs/{run}")).await;
    let events: Vec<&str> =
        detail["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert!(events.contains(&"side_effect.planned") && events.contains(&"artifact.executed"), "{events:?}");
    let packet =
        work.world.operate("GET", &format!("/api/v1/runs/{run}/evidence-packet"), &Value::Null).await.body;
    let trusted = trust(&work.world, schema::TenantId::NIL);
    let verified = ledger::packet::verify_with(&packet, &trusted, governance::replay, executed);
    assert!(verified.as_ref().is_ok_and(|report| report.not_checked.is_empty()), "{verified:?}");

    // What policy does not allow of a model it does not allow of a program.
    let folder = work.world.policies.clone().unwrap();
    let denies = policy.replace("  - actions: ['*']\n    effect: allow\n", "");
    std::fs::write(folder.join("house.yaml"), denies).unwrap();
    assert_eq!(work.post("/api/v1/policies/reload").await.status, 200);
    let mut refused = 0;
    for _ in 0..8 {
        work.at += 1;
        let reply = work.world.operate("POST", "/v1/chat/completions", &order(work.at)).await;
        refused += usize::from(reply.status == 403);
    }
    assert_eq!(refused, 8);
}

/// A wish in free words, and what a model makes of it.
fn wish(at: u64) -> (Value, Value) {
    let draw = |what: u64, of: u64| {
        let mixed = (at * 31 + what).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % of
    };
    let name = |what: u64| {
        let syllables = ["ka", "lo", "mi", "ter", "san", "vel", "dro", "qui", "bar", "nos"];
        let part = |place: u64| syllables[draw(what * 7 + place, 10) as usize];
        format!("{}{}{}", part(1), part(2), part(3))
    };
    let (artist, list) = (name(1), name(2));
    let (text, wanted) = match draw(9, 3) {
        0 => (format!("add {artist} to my {list} playlist"), json!({ "artist": artist, "playlist": list })),
        1 => (format!("add this song to my {list} playlist"), json!({ "artist": null, "playlist": list })),
        _ => (
            format!("please put a track by {artist} on {list}"),
            json!({ "artist": artist, "playlist": list }),
        ),
    };
    let system = "Give the artist and the playlist as JSON.";
    let messages = json!([{ "role": "system", "content": system }, { "role": "user", "content": text }]);
    (json!({ "model": "gpt-4o", "messages": messages }), wanted)
}

#[tokio::test]
async fn pieces_of_free_words_are_learned_served_whole_and_executed_again_by_whoever_verifies() {
    let wanted: std::collections::HashMap<String, Value> = (0..2_000)
        .map(wish)
        .map(|(body, wanted)| (body["messages"][1]["content"].to_string(), wanted))
        .collect();
    let upstream = Upstream::start(move |_, seen| {
        says("gpt-4o", &wanted[&seen.body["messages"][1]["content"].to_string()].to_string())
    });
    let models = served_by(&[("openai", &upstream.await, &[Wire::Chat])]);
    let setup = Setup { models, ..Setup::protected() };
    let work = Work { world: setup.start().await, at: 0, changed: Arc::default() };
    let ask = async |at: u64| work.world.operate("POST", "/v1/chat/completions", &wish(at).0).await;
    let mut at = 0;
    while work.get("/api/v1/artifacts?state=eligible").await["artifacts"][0].is_null() {
        for _ in 0..60 {
            assert_eq!(ask(at).await.header("x-punk-route"), Some("live"));
            at += 1;
        }
        work.tick().await;
        assert!(at < 1_500, "not proven: {}", work.artifact().await);
    }
    let made = work.artifact().await;
    assert_eq!(made["type"], "tagger", "{made}");
    let id = made["id"].as_str().unwrap();
    assert_eq!(work.post(&format!("/api/v1/artifacts/{id}/promote")).await.status, 200);

    let mut served = None;
    for at in at..at + 64 {
        let reply = ask(at).await;
        if reply.header("x-punk-route") == Some("artifact") {
            let text = reply.json()["choices"][0]["message"]["content"].clone();
            assert_eq!(serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(), wish(at).1);
            served = Some(reply.header("x-punk-run-id").unwrap().to_owned());
        }
    }
    let path = format!("/api/v1/runs/{}/evidence-packet", served.unwrap());
    let packet = work.world.operate("GET", &path, &Value::Null).await.body;
    let trusted = trust(&work.world, schema::TenantId::NIL);
    let verified = ledger::packet::verify_with(&packet, &trusted, governance::replay, executed).unwrap();
    assert!(verified.not_checked.is_empty(), "{:?}", verified.not_checked);

    let file = work.get(&format!("/api/v1/artifacts/{id}/export")).await;
    let tenant = work.world.operate("POST", "/api/v1/tenants", &json!({ "name": "other" })).await.json();
    let key = work.world.key(&json!({ "name": "k", "admin": true, "tenant": tenant["tenant"]["id"] })).await;
    let body = json!({ "program": file["program"], "origin": file["origin"] });
    let imported = work.world.with(&key, "POST", "/api/v1/artifacts/import", &body).await;
    assert_eq!(imported.status, 201, "{imported:?}");
    let path = format!("/api/v1/artifacts/{}/export", imported.json()["artifact"]["id"].as_str().unwrap());
    let again = work.world.with(&key, "GET", &path, &Value::Null).await.json();
    assert_eq!(again["program"], file["program"], "it travels as it is");
}
