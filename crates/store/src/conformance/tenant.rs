//! What one tenant can find out about another: nothing.

use ledger::sha256;
use schema::{Day, Digest, JobId, RunId, Seq};
use serde_json::{Value, json};

use super::api_key::{change, create, key};
use super::subject::{about, erase, masters, named};
use super::{Corner, Story, at, limit};
use crate::{
    CacheFilter, CacheKind, Commit, CommitError, JobState, KeyChange, MeterKey, RecordFilter, RecordKind,
    RunFilter, Settle, Settlement, Store, TenantStore, Want,
};

/// A meter that both have.
const METER: MeterKey = MeterKey { meter: Digest::ZERO, window: 0 };

/// Every method of every tenant trait is called with another tenant's ids; `tests/memory.rs` fails while one is missing.
pub async fn a_tenant_sees_nothing_of_another(store: &dyn Store) {
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    let policy = format!("a policy of {}", owner.id);
    let mut story = owner.story();
    let decided = vec![
        story.event("run.started", json!({ "kind": "chat", "agent": "helper" })),
        story.event(
            "policy.decided",
            json!({ "policies": [sha256(policy.as_bytes())], "verdict": { "effect": "deny" } }),
        ),
    ];
    let append = story.append(decided, Settle::Open);
    let commit =
        Commit { appends: vec![append], policies: vec![policy.clone()], jobs: vec![], ..Commit::default() };
    owner.tenant.commit(commit).await.unwrap();
    owner.append([story.finish()]).await.unwrap();
    let dead = owner.bury(owner.job()).await;
    let waiting = owner.job();
    owner.enqueue([waiting.clone()]).await;
    let cached = vec![super::cache::value("x", 1)];
    let records = vec![super::record::small(RecordKind::Budget, "budget")];
    let want = Want { key: METER, limit: 9, amount: 1, hard: true };
    owner.tenant.reserve(story.run.into(), &[want], at(1), at(5)).await.unwrap();
    let settled = vec![Settlement { id: dead.into(), spent: vec![(METER, 3)] }];
    owner.tenant.commit(Commit { cache: cached, records, settled, ..Commit::default() }).await.unwrap();

    // What the stranger sees with the owner's ids is what it sees with ids that nobody has.
    let nothing = sight(&*stranger.tenant, stranger.fresh(), [stranger.fresh(), stranger.fresh()]).await;
    assert_eq!(sight(&*stranger.tenant, story.run, [dead, waiting.id]).await, nothing);
    let before = sight(&*owner.tenant, story.run, [dead, waiting.id]).await;
    assert_ne!(before, nothing);

    // It cannot go on with the owner's run, neither as itself nor in the owner's name,
    let append = story.clone().go_on(1);
    let moved = stranger.append([append]).await.unwrap_err();
    assert!(matches!(moved, CommitError::Moved { actual: Seq::START, .. }), "{moved:?}");
    let forged = stranger.append([Story::new(owner.id, story.run).go_on(1)]).await.unwrap_err();
    assert!(matches!(forged, CommitError::Refused { .. }), "{forged:?}");
    // nor touch or take out what it has cached,
    stranger.tenant.touch(CacheKind::ToolResult, sha256(b"x")).await.unwrap();
    assert_eq!(stranger.tenant.invalidate(&CacheFilter::default()).await.unwrap(), 0);
    assert_eq!(stranger.tenant.sweep_cache(at(5_000_000)).await.unwrap(), 0);
    // nor take or give back of its meters,
    let want = Want { key: METER, limit: 1, amount: 1, hard: true };
    stranger.tenant.reserve(story.run.into(), &[want], at(1), at(2)).await.unwrap();
    stranger.tenant.release(story.run.into()).await.unwrap();
    // nor put its dead job back.
    assert!(!stranger.tenant.requeue(dead, at(3000)).await.unwrap());
    assert!(!stranger.tenant.requeue(waiting.id, at(3000)).await.unwrap());
    assert_eq!(sight(&*stranger.tenant, story.run, [dead, waiting.id]).await, nothing);
    assert_eq!(sight(&*owner.tenant, story.run, [dead, waiting.id]).await, before);

    // A run and a job that happen to have the owner's ids are the stranger's own and touch nothing of the owner's,
    let mut namesake = Story::new(stranger.id, story.run);
    stranger.append([namesake.finish()]).await.unwrap();
    assert_eq!(stranger.read(story.run).await.len(), 2);
    let mut job = stranger.job();
    job.id = waiting.id;
    // (whether there can be two jobs of one id is the adapter's business)
    let _ = stranger.tenant.commit(Commit { jobs: vec![job], ..Commit::default() }).await;
    if let Some(job) = stranger.tenant.job(waiting.id).await.unwrap() {
        assert_eq!((job.tenant, job.kind), (stranger.id, stranger.kind.clone()));
    }
    // and naming the owner's policy does not show its text.
    let named = namesake.event("policy.decided", json!({ "policies": [sha256(policy.as_bytes())] }));
    stranger.append([namesake.append(vec![named], Settle::Leaf)]).await.unwrap();
    let proof = stranger.tenant.prove(story.run).await.unwrap().unwrap();
    assert_eq!((proof.record.tenant, proof.size), (stranger.id, 2));
    assert_eq!(proof.record.policies, [""; 0]);
    assert_eq!(sight(&*owner.tenant, story.run, [dead, waiting.id]).await, before);
    assert_eq!(owner.tenant.prove(story.run).await.unwrap().unwrap().record.policies, [policy]);
}

pub async fn a_subject_is_its_tenants_own(store: &dyn Store) {
    store.seal_with(masters());
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    let mut ada = owner.story();
    owner.append([about(&mut ada, "ada")]).await.unwrap();
    let id = owner.tenant.subject(&named("ada").unwrap()).await.unwrap().unwrap();

    assert_eq!(stranger.tenant.subject(&named("ada").unwrap()).await.unwrap(), None);
    assert_eq!(stranger.tenant.runs_of(id, None, limit(9)).await.unwrap(), []);
    let commit = Commit { erase: vec![id], ..Commit::default() };
    assert!(matches!(stranger.tenant.commit(commit).await, Err(CommitError::NoSubject(_))));
    let mut namesake = stranger.story();
    stranger.append([about(&mut namesake, "ada")]).await.unwrap();
    erase(&stranger, "ada").await.unwrap();
    assert_eq!(owner.tenant.run(ada.run).await.unwrap().unwrap().fields["subject"], json!("ada"));
    assert!(owner.read(ada.run).await[2].payload["answer"].value().is_some_and(Value::is_string));
}

pub async fn a_key_is_its_tenants_own(store: &dyn Store) {
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    let mine = key(&owner);
    change(&owner, vec![create(&mine)]).await.unwrap();
    assert_eq!(stranger.tenant.api_key(mine.id).await.unwrap(), None);
    assert_eq!(stranger.tenant.api_keys(None, limit(9)).await.unwrap(), []);
    let refused = change(&stranger, vec![KeyChange::Revoke { id: mine.id, at: at(5_000) }]).await;
    assert!(matches!(refused, Err(CommitError::NoKey(id)) if id == mine.id), "{refused:?}");
    assert_eq!(owner.tenant.api_key(mine.id).await.unwrap(), Some(mine));
}

/// Everything that a handle shows, asked about these ids.
async fn sight(tenant: &dyn TenantStore, run: RunId, jobs: [JobId; 2]) -> String {
    const STATES: [Option<JobState>; 5] =
        [None, Some(JobState::Waiting), Some(JobState::Leased), Some(JobState::Done), Some(JobState::Dead)];
    let most = limit(1000);
    let mut seen = vec![
        format!("{:?}", tenant.events(run, Seq::START, most).await.unwrap()),
        format!("{:?}", tenant.whole_runs(&[run]).await.unwrap().concat()),
        format!("{:?}", tenant.run(run).await.unwrap()),
        format!("{:?}", tenant.runs(&RunFilter::ALL, None, most).await.unwrap()),
        format!("{:?}", tenant.runs(&RunFilter::ALL, Some(run), most).await.unwrap()),
        format!("{:?}", tenant.sealed(run).await.unwrap()),
        format!("{:?}", tenant.prove(run).await.unwrap()),
        format!("{:?}", tenant.log_head().await.unwrap()),
        format!("{:?}", tenant.leaves(0, most).await.unwrap()),
        format!("{:?}", tenant.policies(None, most).await.unwrap()),
        format!("{:?}", tenant.log_size().await.unwrap()),
        format!("{:?}", tenant.feed(0, most).await.unwrap()),
        format!("{:?}", tenant.settings().await.unwrap()),
        format!("{:?}", tenant.usage(Day::FIRST, Day::LAST).await.unwrap()),
        format!("{:?}", tenant.agents(None, most).await.unwrap()),
        format!("{:?}", tenant.agent("helper").await.unwrap()),
        format!("{:?}", tenant.conduct("helper", Day::FIRST).await.unwrap()),
        format!("{:?}", tenant.cached(CacheKind::ToolResult, sha256(b"x"), at(9)).await.unwrap()),
        format!("{:?}", tenant.cache_stats(at(9)).await.unwrap()),
        format!("{:?}", tenant.record(RecordKind::Budget, "budget").await.unwrap()),
        format!("{:?}", tenant.records(&RecordFilter::of(RecordKind::Budget), None, most).await.unwrap()),
        format!("{:?}", tenant.record_counts(RecordKind::Budget).await.unwrap()),
        format!("{:?}", tenant.levels(&[METER], at(1)).await.unwrap()),
    ];
    for job in jobs {
        seen.push(format!("{:?}", tenant.job(job).await.unwrap()));
        for state in STATES {
            seen.push(format!("{:?}", tenant.jobs(state, None, most).await.unwrap()));
            seen.push(format!("{:?}", tenant.jobs(state, Some(job), most).await.unwrap()));
        }
    }
    seen.join("\n")
}

pub async fn tenants_are_listed_in_order_with_the_default_one(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let tenant = |id, name: &str| schema::Tenant { id, name: name.to_owned(), created_at: at(7) };
    let mut made = vec![tenant(stranger.id, "Æther \u{0}"), tenant(corner.id, "Shop")];
    corner.tenant.commit(Commit { tenants: made.clone(), ..Commit::default() }).await.unwrap();
    made[1].name = "Shop & Sons".to_owned();
    corner.tenant.commit(Commit { tenants: vec![made[1].clone()], ..Commit::default() }).await.unwrap();
    made.sort_by_key(|tenant| tenant.id);

    let all = store.tenant_rows(None, limit(100_000)).await.unwrap();
    assert_eq!((all[0].id, all[0].name.as_str()), (schema::TenantId::NIL, "Default"));
    assert!(all.is_sorted_by_key(|tenant| tenant.id));
    let mine = |tenant: &&schema::Tenant| [corner.id, stranger.id].contains(&tenant.id);
    assert_eq!(all.iter().filter(mine).cloned().collect::<Vec<_>>(), made);
    assert_eq!(store.tenant_rows(None, limit(1)).await.unwrap(), all[..1]);
    assert_eq!(store.tenant_rows(Some(schema::TenantId::NIL), limit(1)).await.unwrap(), all[1..2]);
    let past = store.tenant_rows(Some(made[0].id), limit(100_000)).await.unwrap();
    assert!(past.contains(&made[1]) && !past.contains(&made[0]));
}

pub async fn what_a_tenant_sets_replaces_what_it_had_set(store: &dyn Store) {
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    assert_eq!(owner.tenant.settings().await.unwrap(), serde_json::Map::new());
    for settings in [json!({ "cache": { "ttl": 5 }, "näme": "\u{0}" }), json!({ "cache": null })] {
        let Value::Object(settings) = settings else { panic!("settings are an object") };
        let mut record = owner.story();
        let appends = vec![record.finish()];
        let commit = Commit { appends, settings: Some(settings.clone()), ..Commit::default() };
        owner.tenant.commit(commit).await.unwrap();
        owner.append([owner.story().finish()]).await.unwrap();
        assert_eq!(owner.tenant.settings().await.unwrap(), settings, "another commit leaves them");
        let stale = Story::new(owner.id, record.run).finish();
        let commit =
            Commit { appends: vec![stale], settings: Some(serde_json::Map::new()), ..Commit::default() };
        owner.tenant.commit(commit).await.unwrap_err();
        assert_eq!(owner.tenant.settings().await.unwrap(), settings, "a refused one too");
    }
    assert_eq!(stranger.tenant.settings().await.unwrap(), serde_json::Map::new());
}
