//! What is kept, what is given up, and what is on record about it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use std::sync::Arc;
use std::time::Duration;

use jobs::{Context, Failure, Handler, Kind};
use retention::{Actor, EraseError, ErasureSweep, Keeper, RetentionSweep};
use schema::{Day, RunId, Subject, SubjectId, TenantId, Timestamp};
use serde_json::json;
use store::conformance::{Story, limit};
use store::memory::MemoryStore;
use store::{
    Append, Commit, Job, JobState, Rebuilt, RunFilter, Settle, Store, StoreError, TenantStore, View,
};
use tokio::sync::Mutex;

const DAY: u64 = 24 * 60 * 60 * 1000;
const NOW: u64 = 1_800_000_000_000;

fn clock() -> Timestamp {
    Timestamp::from_millis(NOW).unwrap()
}

fn keeper(store: &Arc<dyn Store>) -> Keeper {
    Keeper::new(store.clone(), Vec::new(), clock)
}

fn tenant(number: u8) -> TenantId {
    TenantId::from_bytes([number; 16])
}

/// A finished run. A story's events are of 1970, so its age is that of its id alone.
async fn run_of(store: &dyn TenantStore, tenant: TenantId, age: u64, number: u8) -> RunId {
    let mut story = Story::new(tenant, RunId::new(NOW - age, [number; 10]));
    let append = story.finish();
    store.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    story.run
}

async fn listed(store: &dyn TenantStore) -> Vec<RunId> {
    let rows = store.runs(&RunFilter::ALL, None, limit(10_000)).await.unwrap();
    let runs = rows.into_iter().filter(|row| row.fields["kind"] != "audit");
    runs.map(|row| row.id).collect()
}

#[tokio::test]
async fn what_is_old_goes_in_batches_each_on_record_and_records_stay() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mine = store.tenant(tenant(1));
    let mut old = Vec::new();
    for number in 0..250u64 {
        old.push(run_of(&*mine, tenant(1), 31 * DAY + number, number as u8).await);
    }
    let new = run_of(&*mine, tenant(1), DAY, 7).await;
    let before = mine.log_head().await.unwrap();
    let keep = Duration::from_millis(30 * DAY);

    let swept = keeper(&store).sweep(tenant(1), keep).await.unwrap();
    assert_eq!((swept.runs, swept.events), (250, 500));
    assert_eq!(listed(&*mine).await, [new]);
    for run in &old {
        assert!(mine.sealed(*run).await.unwrap().is_some());
    }
    // Three batches, and every run is named once.
    let rows = mine.runs(&RunFilter::ALL, None, limit(100)).await.unwrap();
    let records: Vec<RunId> =
        rows.iter().filter(|row| row.fields["kind"] == "audit").map(|row| row.id).collect();
    assert_eq!(records.len(), 3);
    let mut named = Vec::new();
    for record in &records {
        let events = mine.events(*record, schema::Seq::START, limit(9)).await.unwrap();
        let runs = events[1].payload["runs"].value().unwrap().as_array().unwrap().clone();
        named.extend(runs.iter().map(|run| run.as_str().unwrap().parse::<RunId>().unwrap()));
    }
    named.sort_unstable();
    old.sort_unstable();
    assert_eq!(named, old);
    // The log only grew: by the records.
    assert_eq!(mine.log_head().await.unwrap().0, before.0 + 3);
    store::audit(&*mine, tenant(1)).await.unwrap();

    // Again there is nothing to do, also when the records have become old.
    let later = || Timestamp::from_millis(NOW + 400 * DAY).unwrap();
    let swept = Keeper::new(store.clone(), Vec::new(), later).sweep(tenant(1), keep).await.unwrap();
    assert_eq!(swept.runs, 1, "the run that was new");
    let swept = Keeper::new(store.clone(), Vec::new(), later).sweep(tenant(1), keep).await.unwrap();
    assert_eq!(swept.runs, 0);
    for record in records {
        assert!(mine.run(record).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn what_agents_did_stays_when_their_runs_are_given_up() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mine = store.tenant(tenant(1));
    for number in 0..3 {
        let mut story = Story::new(tenant(1), RunId::new(NOW - 31 * DAY, [number; 10]));
        let events = vec![
            story.event("run.started", json!({ "kind": "chat", "agent": "helper" })),
            story.event("policy.decided", json!({ "verdict": { "effect": "deny" } })),
            story.event("run.finished", json!({ "status": "blocked" })),
        ];
        let append = story.append(events, Settle::Leaf);
        mine.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    }
    let before = mine.conduct("helper", Day::FIRST).await.unwrap();
    assert_eq!((before.len(), before[0].denied), (1, 3));
    let swept = keeper(&store).sweep(tenant(1), Duration::from_millis(30 * DAY)).await.unwrap();
    assert_eq!(swept.runs, 3);
    for view in store.views() {
        assert_eq!(view.rebuild(tenant(1)).await.unwrap().repaired, 0, "{}", view.name());
    }
    assert_eq!(mine.conduct("helper", Day::FIRST).await.unwrap(), before);
}

#[tokio::test]
async fn the_job_sweeps_every_tenant() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for number in 1..=3 {
        run_of(&*store.tenant(tenant(number)), tenant(number), 100 * DAY, number).await;
    }
    let sweep = RetentionSweep::new(keeper(&store), Some(Duration::from_millis(30 * DAY)));
    assert_eq!(sweep.kind(), Kind::RetentionSweep.as_str());
    sweep.handle(&job(TenantId::NIL, json!({})), &Context::held()).await.unwrap();
    for number in 1..=3 {
        assert_eq!(listed(&*store.tenant(tenant(number))).await, []);
    }
}

/// A view that remembers whom it was told to forget, and may be out of reach.
struct Memory {
    told: Arc<Mutex<Vec<(TenantId, SubjectId)>>>,
    is_away: bool,
}

#[async_trait::async_trait]
impl View for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }
    async fn forget(&self, tenant: TenantId, subject: SubjectId) -> Result<(), StoreError> {
        if self.is_away {
            return Err(StoreError::unavailable("away"));
        }
        self.told.lock().await.push((tenant, subject));
        Ok(())
    }
    async fn rebuild(&self, _: TenantId) -> Result<Rebuilt, StoreError> {
        Ok(Rebuilt::default())
    }
}

#[tokio::test]
async fn an_erasure_is_on_record_and_every_view_is_told_even_if_later() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (mine, ada) = (store.tenant(tenant(1)), Subject::try_from("ada".to_owned()).unwrap());
    let told = Arc::new(Mutex::new(Vec::new()));
    let view = |is_away| -> Vec<Box<dyn View>> { vec![Box::new(Memory { told: told.clone(), is_away })] };
    let away = Keeper::new(store.clone(), view(true), clock);
    let actor = Actor { app: "shop".into(), agent: "dpo".into(), by: "installation".into() };
    let unknown = away.erase(tenant(1), &ada, &actor, "asked to").await.unwrap_err();
    assert!(matches!(unknown, EraseError::Unknown));
    assert_eq!(listed(&*mine).await, [], "nothing is recorded about nothing");

    for number in 0..3 {
        let mut story = Story::new(tenant(1), RunId::new(NOW, [number; 10]));
        let append = Append { subject: Some(ada.clone()), ..story.finish() };
        mine.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    }
    let erasure = away.erase(tenant(1), &ada, &actor, "asked to").await.unwrap();
    assert_eq!(erasure.runs, 3);
    let events = mine.events(erasure.record, schema::Seq::START, limit(9)).await.unwrap();
    let said = |field: &str| events[1].payload[field].value().unwrap().clone();
    assert_eq!(events[1].r#type, "audit.subject_erased");
    assert_eq!((said("subjectId"), said("reason")), (json!(erasure.subject), json!("asked to")));
    assert!(!format!("{events:?}").contains("\"ada\""));

    // The job came with it, and is tried until the views can be reached.
    let waiting = mine.jobs(Some(JobState::Waiting), None, limit(9)).await.unwrap();
    let [job] = waiting.as_slice() else { panic!("one job: {waiting:?}") };
    assert_eq!(job.kind, Kind::ErasureSweep.as_str());
    let later = ErasureSweep(away).handle(job, &Context::held()).await;
    assert!(matches!(later, Err(Failure::Retry(_))), "{later:?}");
    let there = ErasureSweep(Keeper::new(store.clone(), view(false), clock));
    there.handle(job, &Context::held()).await.unwrap();
    assert_eq!(*told.lock().await, [(tenant(1), erasure.subject)]);
    let broken = there.handle(&self::job(tenant(1), json!({})), &Context::held()).await;
    assert!(matches!(broken, Err(Failure::GiveUp(_))), "{broken:?}");
}

fn job(tenant: TenantId, payload: serde_json::Value) -> Job {
    Job {
        id: schema::JobId::from_bytes([1; 16]),
        tenant,
        kind: String::new(),
        key: None,
        payload,
        priority: 0,
        run_at: clock(),
        attempts: 1,
        max_attempts: 3,
        state: JobState::Leased,
        lease_until: None,
        last_error: None,
    }
}
