//! The whole loop over the store in memory: runs in the log become patterns, artifacts, promotions and demotions, and the log alone says so.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use std::num::NonZeroU32;
use std::sync::Arc;

use apprentice::{Apprentice, Considered, Learned, Made, Report, Shelf, StoredPattern, order, read};
use ledger::{Deed, Recorder, Salt};
use schema::{RunId, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use store::memory::MemoryStore;
use store::{Append, Commit, Record, RecordFilter, RecordKind, Settle, Store, View as _};
use wire::Wire;

const ALL: NonZeroU32 = NonZeroU32::new(1000).unwrap();
const CHOICE: u64 = 7;

struct World {
    store: Arc<dyn Store>,
    apprentice: Arc<Apprentice>,
    tenant: TenantId,
    at: u64,
}

fn clock() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).unwrap()
}

fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

fn request(text: &str) -> Value {
    let messages = json!([{ "role": "system", "content": "Say what colour it is to be." }, { "role": "user", "content": text }]);
    json!({ "model": "gpt-4o", "messages": messages })
}

/// What is asked the `at`-th time, and what a model says to it.
fn mail(at: u64) -> (String, &'static str) {
    let draw = artifact::text::mix(at) as usize;
    let (colour, thing) =
        (["red", "green", "blue"][draw % 3], ["door", "lamp", "chair", "table"][draw / 3 % 4]);
    (format!("please paint the {thing} number {at} {colour} today"), colour)
}

impl World {
    fn new(auto_promote: bool) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let apprentice = Arc::new(Apprentice::new(Arc::clone(&store), clock, CHOICE, auto_promote));
        Self { store, apprentice, tenant: TenantId::NIL, at: 0 }
    }

    fn run_id(&mut self) -> (RunId, Timestamp) {
        self.at += 1;
        let at = 1_700_000_000_000 + self.at * 1000;
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.at.to_be_bytes());
        (RunId::new(at, bytes), Timestamp::from_millis(at).unwrap())
    }

    async fn record(
        &mut self,
        text: &str,
        route: &str,
        answer: &str,
        beside: Option<(&str, Value)>,
    ) -> RunId {
        let (run, at) = self.run_id();
        let mut recorder = Recorder::new(self.tenant, run);
        let mut salt = || Salt::from_bytes([1; 16]);
        let started = json!({ "kind": "chat", "wire": "chat", "model": "gpt-4o", "request": request(text), "app": "a", "agent": "b" });
        recorder.append(at, "run.started", members(started), &mut salt).unwrap();
        if let Some((r#type, fields)) = beside {
            recorder.append(at, r#type, members(fields), &mut salt).unwrap();
        }
        let answer = json!({ "model": "gpt-4o", "choices": [{ "parts": [{ "type": "text", "text": answer }], "stop": "end" }] });
        let finished = json!({
            "status": "completed", "route": route, "answer": answer, "costMicroUsd": 100, "latencyMs": 800,
            "savedMicroUsd": 0, "inputTokens": 1, "outputTokens": 1,
        });
        recorder.append(at, "run.finished", members(finished), &mut salt).unwrap();
        self.append(recorder.end()).await;
        run
    }

    async fn append(&self, events: ledger::Recorded) {
        let append = Append { events, settle: Settle::Leaf, subject: None };
        let commit = Commit { appends: vec![append], ..Commit::default() };
        self.store.tenant(self.tenant).commit(commit).await.unwrap();
    }

    async fn live(&mut self, from: u64, to: u64) {
        for at in from..to {
            let (text, answer) = mail(at);
            self.record(&text, "live", answer, None).await;
        }
    }

    async fn order(&mut self, r#type: &str, target: &str) {
        let (run, at) = self.run_id();
        let fields = members(json!({ "target": target, "actor": "ann" }));
        let deed = Deed { app: "a", agent: "b", r#type, fields };
        self.append(deed.record(self.tenant, run, at, || Salt::from_bytes([1; 16])).unwrap()).await;
    }

    async fn tick(&self) -> Report {
        self.apprentice.tick(self.tenant, &|| true).await.unwrap()
    }

    async fn records(&self, kind: RecordKind) -> Vec<Record> {
        self.store.tenant(self.tenant).records(&RecordFilter::of(kind), None, ALL).await.unwrap()
    }

    async fn made(&self) -> Made {
        read(&self.records(RecordKind::Artifact).await[0]).unwrap()
    }

    async fn state(&self) -> String {
        self.records(RecordKind::Pattern).await[0].group.clone()
    }

    /// Brings it to where an artifact is proven.
    async fn proven(&mut self) {
        for part in 0..12 {
            self.live(part * 60, part * 60 + 60).await;
            self.tick().await;
            if self.state().await == "eligible" {
                return;
            }
        }
        panic!("not proven: {:?}", self.made().await.gates().to_string());
    }
}

#[tokio::test]
async fn repeated_work_becomes_a_pattern_a_shadow_and_an_artifact_that_an_operator_promotes() {
    let mut world = World::new(false);
    world.live(0, 15).await;
    assert_eq!(world.tick().await.patterns_discovered, 1);
    assert_eq!(world.state().await, "observed");
    world.live(15, 20).await;
    world.tick().await;
    assert_eq!(world.state().await, "synthesizing");
    world.proven().await;
    let made = world.made().await;
    assert!(made.gates().all_pass() && made.confidence() >= 0.99, "{:?}", made.gates());
    assert!(
        world.records(RecordKind::Attempt).await.iter().any(|record| record.body["outcome"] == "synthesized")
    );
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    assert_eq!(world.state().await, "promoted");

    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
    let asked = Wire::Chat.read_request(&request("please paint the door number 7 red today")).unwrap();
    let mut served = 0;
    for at in 0..64_u8 {
        let run = RunId::new(1, [at; 10]);
        match shelf.consider(world.tenant, "gpt-4o", &asked, (run, false, clock())) {
            Considered::Serve(offered) => {
                served += 1;
                assert_eq!(offered.answer.text(), "red");
            }
            Considered::Audit(offered) => shelf.compared(&offered, true),
            other => panic!("{other:?}"),
        }
    }
    assert!((32..62).contains(&served), "the canary grows, and an audit stays: {served}");
    let other = TenantId::new(1, [1; 10]);
    assert!(matches!(
        shelf.consider(other, "gpt-4o", &asked, (RunId::NIL, false, clock())),
        Considered::Nothing
    ));
}

#[tokio::test]
async fn what_is_proven_is_promoted_by_itself_only_where_that_is_on_and_on_record() {
    let mut world = World::new(true);
    let mut promoted = Vec::new();
    for part in 0..12 {
        world.live(part * 60, part * 60 + 60).await;
        promoted.extend(world.tick().await.auto_promoted);
    }
    assert_eq!(promoted.len(), 1);
    assert_eq!(world.state().await, "promoted");
    assert!(world.made().await.changes.iter().any(|changed| changed.reason == "promoted by punk"));
}

#[tokio::test]
async fn wherever_ticks_cut_the_log_and_whatever_is_forgotten_the_same_is_learned() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    let (text, answer) = mail(9_000);
    let said = json!({ "artifactId": id, "version": 3, "said": "mauve" });
    world.record(&text, "live", answer, Some(("artifact.compared", said))).await;
    let executed = json!({ "artifactId": id, "version": 3, "artifact": "x", "engine": "y" });
    world.record(&text, "artifact", answer, Some(("artifact.executed", executed))).await;
    world.tick().await;
    let made = world.made().await;
    assert_eq!((made.served, made.course.audited().disagreed), (1, 1));

    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    let rebuilt = view.rebuild(world.tenant).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
    assert!(rebuilt.entries >= 3, "{rebuilt:?}");

    // Another process goes on from what the first has kept.
    let fresh = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    world.live(9_001, 9_080).await;
    fresh.tick(world.tenant, &|| true).await.unwrap();
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
}

#[tokio::test]
async fn a_teacher_that_changes_its_mind_takes_the_artifact_out_of_service() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    for at in 5_000..5_030 {
        let (text, said) = mail(at);
        let compared = json!({ "artifactId": id, "version": 1, "said": said });
        world.record(&text, "live", "no paint today", Some(("artifact.compared", compared))).await;
    }
    let report = world.tick().await;
    assert_eq!(report.demoted.len(), 1, "{report:?}");
    let made = world.made().await;
    assert!(!made.gates().all_pass());
    assert_eq!(world.state().await, "shadow");
    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_correction_quarantines_and_names_the_version_until_an_operator_releases() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    let executed = json!({ "artifactId": id, "version": 4, "artifact": "x", "engine": "y" });
    let (text, answer) = mail(1);
    let run = world.record(&text, "artifact", answer, Some(("artifact.executed", executed))).await;
    let row = world.store.tenant(world.tenant).run(run).await.unwrap().unwrap();
    let mut recorder = Recorder::resume(world.tenant, run, row.seq, row.head);
    let said = members(json!({ "type": "rating", "rating": -1, "correction": "mauve" }));
    recorder.append(row.updated_at, "feedback.recorded", said, || Salt::from_bytes([2; 16])).unwrap();
    world.append(recorder.end()).await;
    assert_eq!(world.tick().await.quarantined.len(), 1);
    let made = world.made().await;
    assert_eq!((made.corrections[0].run, made.corrections[0].version), (run, 4));
    assert_eq!(world.state().await, "quarantined");
    world.order(order::RELEASED, &id).await;
    world.tick().await;
    assert_eq!(world.state().await, "shadow");
}

#[tokio::test]
async fn an_operator_retires_a_pattern_and_it_stays_so() {
    let mut world = World::new(false);
    world.live(0, 30).await;
    world.tick().await;
    let pattern: StoredPattern = read(&world.records(RecordKind::Pattern).await[0]).unwrap();
    world.order(order::RETIRED, &pattern.study.id.to_string()).await;
    world.live(30, 90).await;
    world.tick().await;
    assert_eq!(world.state().await, "retired");
}

#[tokio::test]
async fn of_two_who_read_the_same_log_one_counts() {
    let mut world = World::new(false);
    world.live(0, 40).await;
    let other = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    let (one, two) =
        tokio::join!(world.apprentice.tick(world.tenant, &|| true), other.tick(world.tenant, &|| true));
    assert_eq!(one.unwrap().lessons + two.unwrap().lessons, 40);
    let pattern: StoredPattern = read(&world.records(RecordKind::Pattern).await[0]).unwrap();
    assert_eq!(pattern.study.pattern.run_count, 40);
}

/// What compares must not be able to act: there is no way from here to a permit, a model or the network.
#[test]
fn nothing_here_can_act() {
    let manifest = include_str!("../Cargo.toml");
    let needs = manifest.split("[dependencies]").nth(1).unwrap().split("[dev-dependencies]").next().unwrap();
    for able in ["governance", "providers", "egress", "gateway", "outbox", "hyper"] {
        assert!(!needs.lines().any(|line| line.starts_with(able)), "`{able}` can act");
    }
}
