//! A log in memory, and a learner that reads it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a helper of tests may fail as a test does, and no test uses all of it"
)]

use std::num::NonZeroU32;
use std::sync::Arc;

use apprentice::{Apprentice, Made, Report, StoredPattern, imported_program, order, read};
use ledger::{Deed, Recorder, Salt};
use schema::{RunId, Subject, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use store::memory::MemoryStore;
use store::{Append, Commit, Record, RecordFilter, RecordKind, Settle, Store};

pub(crate) const ALL: NonZeroU32 = NonZeroU32::new(1000).unwrap();
pub(crate) const CHOICE: u64 = 7;

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) apprentice: Arc<Apprentice>,
    pub(crate) tenant: TenantId,
    pub(crate) at: u64,
    /// Whom runs are about from now on.
    pub(crate) subject: Option<Subject>,
    /// Milliseconds from one run to the next.
    pub(crate) pace: u64,
}

pub(crate) fn clock() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).unwrap()
}

pub(crate) fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

pub(crate) fn request(text: &str) -> Value {
    let messages = json!([{ "role": "system", "content": "Say what colour it is to be." }, { "role": "user", "content": text }]);
    json!({ "model": "gpt-4o", "messages": messages })
}

/// What is asked the `at`-th time, and what a model says to it.
pub(crate) fn mail(at: u64) -> (String, &'static str) {
    let draw = artifact::text::mix(at) as usize;
    let (colour, thing) =
        (["red", "green", "blue"][draw % 3], ["door", "lamp", "chair", "table"][draw / 3 % 4]);
    (format!("please paint the {thing} number {at} {colour} today"), colour)
}

/// A run as it is recorded.
pub(crate) struct Told<'t> {
    pub(crate) request: Value,
    pub(crate) route: &'t str,
    /// The parts of the answer, and why it stops.
    pub(crate) answer: (Value, &'t str),
    /// Events between the first and the last.
    pub(crate) beside: Vec<(&'t str, Value)>,
}

impl World {
    pub(crate) fn new(auto_promote: bool) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let apprentice = Arc::new(Apprentice::new(Arc::clone(&store), clock, CHOICE, auto_promote));
        Self { store, apprentice, tenant: TenantId::NIL, at: 0, subject: None, pace: 1000 }
    }

    fn run_id(&mut self) -> (RunId, Timestamp) {
        self.at += 1;
        let at = 1_700_000_000_000 + self.at * self.pace;
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.at.to_be_bytes());
        (RunId::new(at, bytes), Timestamp::from_millis(at).unwrap())
    }

    pub(crate) async fn record(
        &mut self,
        text: &str,
        route: &str,
        answer: &str,
        beside: Option<(&str, Value)>,
    ) -> RunId {
        let answer = (json!([{ "type": "text", "text": answer }]), "end");
        let told = Told { request: request(text), route, answer, beside: beside.into_iter().collect() };
        self.tell(told).await
    }

    pub(crate) async fn tell(&mut self, told: Told<'_>) -> RunId {
        let Told { request, route, answer: (parts, stop), beside } = told;
        let (run, at) = self.run_id();
        let mut recorder = Recorder::new(self.tenant, run);
        let mut salt = || Salt::from_bytes([1; 16]);
        let started = json!({ "kind": "chat", "wire": "chat", "model": "gpt-4o", "request": request, "app": "a", "agent": "b" });
        recorder.append(at, "run.started", members(started), &mut salt).unwrap();
        for (r#type, fields) in beside {
            recorder.append(at, r#type, members(fields), &mut salt).unwrap();
        }
        let answer = json!({ "model": "gpt-4o", "choices": [{ "parts": parts, "stop": stop }] });
        let finished = json!({
            "status": "completed", "route": route, "answer": answer, "costMicroUsd": 100, "latencyMs": 800,
            "savedMicroUsd": 0, "inputTokens": 1, "outputTokens": 1,
        });
        recorder.append(at, "run.finished", members(finished), &mut salt).unwrap();
        self.append(recorder.end()).await;
        run
    }

    pub(crate) async fn append(&self, events: ledger::Recorded) {
        let append = Append { events, settle: Settle::Leaf, subject: self.subject.clone() };
        let commit = Commit { appends: vec![append], ..Commit::default() };
        self.store.tenant(self.tenant).commit(commit).await.unwrap();
    }

    /// Somebody says what they think of an answer.
    pub(crate) async fn feedback(&self, run: RunId, said: Value) {
        let row = self.store.tenant(self.tenant).run(run).await.unwrap().unwrap();
        let mut recorder = Recorder::resume(self.tenant, run, row.seq, row.head);
        let at = row.updated_at;
        recorder.append(at, "feedback.recorded", members(said), || Salt::from_bytes([2; 16])).unwrap();
        self.append(recorder.end()).await;
    }

    pub(crate) async fn live(&mut self, from: u64, to: u64) {
        for at in from..to {
            let (text, answer) = mail(at);
            self.record(&text, "live", answer, None).await;
        }
    }

    pub(crate) async fn order(&mut self, r#type: &str, target: &str) {
        self.order_with(r#type, target, json!({})).await;
    }

    pub(crate) async fn order_with(&mut self, r#type: &str, target: &str, details: Value) {
        let (run, at) = self.run_id();
        let mut fields = members(json!({ "target": target, "actor": "ann" }));
        fields.extend(members(details));
        let deed = Deed { app: "a", agent: "b", r#type, fields };
        self.append(deed.record(self.tenant, run, at, || Salt::from_bytes([1; 16])).unwrap()).await;
    }

    /// Brings a program here that was made elsewhere.
    pub(crate) async fn import(&mut self, text: &str) {
        let digest = ledger::sha256(text.as_bytes());
        let records = vec![imported_program(digest, text, clock())];
        let commit = Commit { records, ..Commit::default() };
        self.store.tenant(self.tenant).commit(commit).await.unwrap();
        self.order(order::IMPORTED, &digest.to_string()).await;
    }

    pub(crate) async fn tick(&self) -> Report {
        self.apprentice.tick(self.tenant, &|| true).await.unwrap()
    }

    pub(crate) async fn records(&self, kind: RecordKind) -> Vec<Record> {
        self.store.tenant(self.tenant).records(&RecordFilter::of(kind), None, ALL).await.unwrap()
    }

    pub(crate) async fn made(&self) -> Made {
        read(&self.records(RecordKind::Artifact).await[0]).unwrap()
    }

    pub(crate) async fn pattern(&self) -> StoredPattern {
        read(&self.records(RecordKind::Pattern).await[0]).unwrap()
    }

    pub(crate) async fn state(&self) -> String {
        self.records(RecordKind::Pattern).await[0].group.clone()
    }

    /// Brings it to where an artifact is proven.
    pub(crate) async fn proven(&mut self) {
        for part in 0..12 {
            self.live(part * 60, part * 60 + 60).await;
            self.tick().await;
            if self.state().await == "eligible" {
                return;
            }
        }
        panic!("not proven: {:?}", self.made().await.gates().to_string());
    }

    /// The texts of the programs that are kept.
    pub(crate) async fn texts(&self) -> Vec<String> {
        let records = self.records(RecordKind::Program).await;
        records.iter().map(|record| record.body["text"].as_str().unwrap().to_owned()).collect()
    }
}
