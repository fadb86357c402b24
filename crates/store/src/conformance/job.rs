//! What the queue promises until a job is claimed.

use std::time::Duration;

use schema::{JobId, RunId};
use serde_json::json;

use super::{Corner, Story, at, limit};
use crate::{Claimed, Commit, Job, JobState, NewJob, Retry, Store};

pub async fn a_job_commits_with_its_events(store: &dyn Store) {
    let corner = Corner::of(store);
    let (mut story, job) = (corner.story(), corner.job());
    let commit = Commit {
        appends: vec![story.go_on(1)],
        policies: vec![],
        jobs: vec![job.clone()],
        ..Commit::default()
    };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(story.run).await.len(), 1);
    assert_eq!(corner.look(job.id).await.state, JobState::Waiting);
    assert_eq!(corner.claim_one(1000, 2000).await.job.id, job.id);

    // The same commit again is stale, and so is its job.
    let again = NewJob { id: corner.fresh(), ..job };
    let stale = Story::new(corner.id, story.run).go_on(1);
    let commit =
        Commit { appends: vec![stale], policies: vec![], jobs: vec![again.clone()], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap_err();
    assert_eq!(corner.tenant.job(again.id).await.unwrap(), None);
}

pub async fn a_job_reads_back_as_it_was_written(store: &dyn Store) {
    let corner = Corner::of(store);
    let run: RunId = corner.fresh();
    let new = NewJob {
        id: corner.fresh(),
        kind: corner.kind.clone(),
        key: Some("key \" ж".to_owned()),
        payload: json!({ "run": run, "text": "é\u{0}\u{1f600}", "n": [-1, 0.1, null, {}] }),
        priority: -7,
        run_at: at(1_700_000_000_123),
        max_attempts: 12,
    };
    corner.enqueue([new.clone()]).await;
    let kept = Job {
        id: new.id,
        tenant: corner.id,
        kind: new.kind.clone(),
        key: new.key.clone(),
        payload: new.payload.clone(),
        priority: new.priority,
        run_at: new.run_at,
        attempts: 0,
        max_attempts: 12,
        state: JobState::Waiting,
        lease_until: None,
        last_error: None,
    };
    assert_eq!(corner.look(new.id).await, kept);
    assert_eq!(corner.tenant.jobs(None, None, limit(5)).await.unwrap(), std::slice::from_ref(&kept));

    let lease_until = at(1_700_000_001_000);
    let claimed = corner.claim_one(1_700_000_000_123, lease_until.as_millis()).await;
    let leased = Job { state: JobState::Leased, attempts: 1, lease_until: Some(lease_until), ..kept.clone() };
    assert_eq!(claimed.job, leased);
    assert_eq!(corner.look(new.id).await, leased);

    corner.queue.complete(new.id, claimed.token).await.unwrap();
    let done = Job { state: JobState::Done, lease_until: None, ..leased };
    assert_eq!(corner.look(new.id).await, done);
}

pub async fn one_key_has_one_live_job(store: &dyn Store) {
    let corner = Corner::of(store);
    let keyed = || NewJob { key: Some("one".to_owned()), ..corner.job() };
    let count = || async { corner.tenant.jobs(None, None, limit(100)).await.unwrap().len() };
    let first = keyed();

    // The second of one commit, and one beside a waiting job; what else is in the commit is written.
    corner.enqueue([first.clone(), keyed()]).await;
    let mut story = corner.story();
    let commit =
        Commit { appends: vec![story.go_on(1)], policies: vec![], jobs: vec![keyed()], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(story.run).await.len(), 1);
    assert_eq!(count().await, 1);
    // Beside a leased one, and beside one that waits for its retry.
    let claimed = corner.claim_one(1000, 2000).await;
    assert_eq!(claimed.job.id, first.id);
    corner.enqueue([keyed()]).await;
    corner.queue.fail(first.id, claimed.token, "later", Retry::At(at(3000))).await.unwrap();
    corner.enqueue([keyed()]).await;
    assert_eq!(count().await, 1);
    // Another key, another kind, another tenant, no key: all of them are made.
    let other_kind = NewJob { kind: format!("{}_other", corner.kind), ..keyed() };
    let other_key = NewJob { key: Some("two".to_owned()), ..corner.job() };
    corner.enqueue([other_kind, other_key, corner.job(), corner.job()]).await;
    assert_eq!(count().await, 5);
    let neighbour = Corner::of(store);
    let theirs = NewJob { kind: corner.kind.clone(), run_at: at(100_000), ..keyed() };
    neighbour.enqueue([theirs.clone()]).await;
    assert_eq!(neighbour.look(theirs.id).await.state, JobState::Waiting);
    // After the end of the first, whichever it is, there can be a second.
    let due = corner.claim(3000, 4000, 100).await;
    let Claimed { token, .. } = due.into_iter().find(|claimed| claimed.job.id == first.id).unwrap();
    corner.queue.complete(first.id, token).await.unwrap();
    let second = keyed();
    corner.enqueue([second.clone()]).await;
    let claimed = corner.claim_one(3000, 4000).await;
    assert_eq!(claimed.job.id, second.id);
    corner.queue.fail(second.id, claimed.token, "no use", Retry::Never).await.unwrap();
    corner.enqueue([keyed()]).await;
    assert_eq!(count().await, 7);
}

pub async fn priority_then_time_then_age_decide(store: &dyn Store) {
    let corner = Corner::of(store);
    let make = |priority, run_at| NewJob { priority, run_at: at(run_at), ..corner.job() };
    // Made in this order; the names say in which order they go.
    let (fifth, sixth, third, fourth) = (make(0, 500), make(0, 500), make(0, 100), make(0, 200));
    let (last, second, first) = (make(-3, 1), make(9, 900), make(9, 800));
    let order = [&first, &second, &third, &fourth, &fifth, &sixth, &last].map(|job| job.id);
    // Written in yet another order: age is what the id says.
    corner.enqueue([sixth, last, first].into_iter().chain([fifth, third, second, fourth])).await;

    let mut claimed = corner.claim(1000, 2000, 3).await;
    claimed.extend(corner.claim(1000, 2000, 1).await);
    claimed.extend(corner.claim(1000, 2000, 10).await);
    assert_eq!(claimed.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>(), order);
    // Leases that ran out go by the same order.
    let again = corner.claim(2000, 3000, 10).await;
    assert_eq!(again.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>(), order);
}

pub async fn a_job_is_not_claimed_before_its_time(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = NewJob { priority: i32::MAX, ..corner.job() };
    corner.enqueue([job.clone()]).await;
    assert_eq!(corner.claim(999, 2000, 10).await, []);
    assert_eq!(corner.look(job.id).await.attempts, 0);
    assert_eq!(corner.claim_one(1000, 2000).await.job.id, job.id);
}

pub async fn only_the_kinds_asked_for_are_claimed(store: &dyn Store) {
    let corner = Corner::of(store);
    let kinds = ["a", "b", "c"].map(|kind| format!("{}_{kind}", corner.kind));
    let jobs = kinds.clone().map(|kind| NewJob { kind, ..corner.job() });
    corner.enqueue(jobs.clone()).await;
    let [a, b, c] = jobs.map(|job| job.id);
    // A part of a name is not the name.
    let part = corner.kinds();
    let cases: [(&[String], &[JobId]); 4] =
        [(&[], &[]), (part, &[]), (&kinds[1..2], &[b]), (&kinds, &[a, c])];
    for (asked, wanted) in cases {
        let claimed = corner.queue.claim(asked, at(1000), at(2000), limit(10)).await.unwrap();
        assert_eq!(claimed.iter().map(|claimed| claimed.job.id).collect::<Vec<_>>(), wanted, "{asked:?}");
    }
}

pub async fn next_due_is_the_earliest(store: &dyn Store) {
    let corner = Corner::of(store);
    let other = format!("{}_other", corner.kind);
    let next_due = || async { corner.queue.next_due(corner.kinds()).await.unwrap() };
    assert_eq!(next_due().await, None);

    let (late, early) = (corner.job(), NewJob { run_at: at(700), ..corner.job() });
    let elsewhere = NewJob { kind: other.clone(), run_at: at(10), ..corner.job() };
    corner.enqueue([late.clone(), early.clone(), elsewhere]).await;
    assert_eq!(next_due().await, Some(at(700)));
    assert_eq!(corner.queue.next_due(&[corner.kind.clone(), other]).await.unwrap(), Some(at(10)));
    assert_eq!(corner.queue.next_due(&[]).await.unwrap(), None);

    // A leased job falls due when its lease runs out, and a job with an end never.
    let claimed = corner.claim_one(700, 900).await;
    assert_eq!(claimed.job.id, early.id);
    assert_eq!(next_due().await, Some(at(900)));
    corner.queue.extend(early.id, claimed.token, at(5000)).await.unwrap();
    assert_eq!(next_due().await, Some(at(1000)));
    corner.queue.complete(early.id, claimed.token).await.unwrap();
    let claimed = corner.claim_one(1000, 2000).await;
    corner.queue.fail(late.id, claimed.token, "later", Retry::At(at(8000))).await.unwrap();
    assert_eq!(next_due().await, Some(at(8000)));
    let claimed = corner.claim_one(8000, 9000).await;
    corner.queue.fail(late.id, claimed.token, "no use", Retry::Never).await.unwrap();
    assert_eq!(next_due().await, None);
}

pub async fn jobs_are_listed_by_state_page_by_page(store: &dyn Store) {
    let corner = Corner::of(store);
    // Three of each state, mixed by age: the kind of end is the id's place modulo four.
    let jobs: Vec<NewJob> = (0..12).map(|_| corner.job()).collect();
    corner.enqueue(jobs.clone()).await;
    for (place, Claimed { job, token }) in corner.claim(1000, 2000, 12).await.into_iter().enumerate() {
        match place % 4 {
            0 => corner.queue.fail(job.id, token, "later", Retry::At(at(9000))).await.unwrap(),
            1 => corner.queue.complete(job.id, token).await.unwrap(),
            2 => corner.queue.fail(job.id, token, "no use", Retry::Never).await.unwrap(),
            _ => continue,
        };
    }
    let newest_first = |place: Option<usize>| {
        let wanted =
            jobs.iter().enumerate().rev().filter(move |(at, _)| place.is_none_or(|place| at % 4 == place));
        wanted.map(|(_, job)| job.id).collect::<Vec<_>>()
    };
    let states = [
        (None, None),
        (Some(JobState::Waiting), Some(0)),
        (Some(JobState::Done), Some(1)),
        (Some(JobState::Dead), Some(2)),
        (Some(JobState::Leased), Some(3)),
    ];
    for (state, place) in states {
        for most in [1, 2, 3, 12, 100] {
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let page = corner.tenant.jobs(state, before, limit(most)).await.unwrap();
                assert!(page.len() <= most as usize);
                let Some(last) = page.last() else { break };
                assert!(
                    before.is_none_or(|before| page[0].id < before),
                    "a page begins past the one before it"
                );
                before = Some(last.id);
                for job in page {
                    assert!(state.is_none_or(|state| job.state == state));
                    assert_eq!(job.lease_until.is_some(), job.state == JobState::Leased);
                    assert_eq!(corner.look(job.id).await, job);
                    seen.push(job.id);
                }
            }
            assert_eq!(seen, newest_first(place), "{state:?}, {most} a page");
        }
    }
}

pub async fn old_jobs_that_are_done_are_forgotten_but_for_the_newest(store: &dyn Store) {
    let corner = Corner::of(store);
    // Of a time that nobody else uses, in a store that others may be using too.
    let mut salt = [0; 10];
    salt.copy_from_slice(&corner.id.as_bytes()[6..16]);
    let job = |millis: u64, kind: &str| NewJob {
        id: JobId::new(millis, salt),
        kind: format!("{}{kind}", corner.kind),
        ..corner.job()
    };
    let [first, second, third, waits, other] =
        [job(1, ""), job(2, ""), job(3, ""), job(4, ""), job(5, "other")];
    corner.enqueue([first.clone(), second.clone(), third.clone(), other.clone()]).await;
    let kinds = [first.kind.clone(), other.kind.clone()];
    for Claimed { job, token } in corner.queue.claim(&kinds, at(1000), at(2000), limit(10)).await.unwrap() {
        corner.queue.complete(job.id, token).await.unwrap();
    }
    corner.enqueue([waits.clone()]).await;
    let left = async || {
        let jobs = corner.tenant.jobs(None, None, limit(10)).await.unwrap();
        jobs.into_iter().rev().map(|job| job.id).collect::<Vec<_>>()
    };
    assert!(store.forget_jobs(at(2), limit(100)).await.unwrap() >= 1);
    assert_eq!(left().await, [second.id, third.id, waits.id, other.id], "only what was made before then");
    store.forget_jobs(at(9), limit(100)).await.unwrap();
    assert_eq!(
        left().await,
        [third.id, waits.id, other.id],
        "the newest of a kind stays, and so does what waits"
    );
}

pub async fn waiting_for_work_never_lasts_for_ever(store: &dyn Store) {
    const LONG: Duration = Duration::from_secs(30);
    let corner = Corner::of(store);
    // Nothing comes.
    tokio::time::timeout(LONG, corner.queue.changed()).await.expect("it looks up now and then");
    // Work comes while somebody waits.
    let wait = tokio::time::timeout(LONG, corner.queue.changed());
    let (waited, ()) = tokio::join!(wait, corner.enqueue([corner.job()]));
    waited.expect("it notices work");
}
