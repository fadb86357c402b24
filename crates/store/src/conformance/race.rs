//! What holds when many come at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use ledger::verify_inclusion;
use schema::Seq;
use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Corner, Story, at, limit};
use crate::{Commit, CommitError, RunFilter, Settle, Store};

const MANY: usize = 16;

pub async fn concurrent_appends_to_one_run_let_one_through(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let mut written = Vec::new();
    for round in 0..8 {
        let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
        for task in 0..MANY {
            let (mut mine, start) = (story.clone(), Arc::clone(&start));
            let tenant = store.tenant(corner.id);
            tasks.spawn(async move {
                let event = mine.event("step", json!({ "by": task }));
                let commit = Commit {
                    appends: vec![mine.append(vec![event.clone()], Settle::Leaf)],
                    ..Commit::default()
                };
                start.wait().await;
                (tenant.commit(commit).await, mine, event)
            });
        }
        let mut winner = None;
        for (outcome, mine, event) in tasks.join_all().await {
            match outcome {
                Ok(()) => {
                    assert!(winner.replace((mine, event)).is_none(), "two came through in round {round}");
                }
                Err(CommitError::Moved { run, expected, actual }) => {
                    assert_eq!((run, expected, actual), (story.run, Seq(round), Seq(round + 1)));
                }
                Err(other) => panic!("expected `Moved`: {other:?}"),
            }
        }
        let (mine, event) = winner.expect("one comes through");
        story = mine;
        written.push(event);
    }
    assert_eq!(corner.read(story.run).await, written);
    let proof = corner.tenant.prove(story.run).await.unwrap().unwrap();
    assert_eq!((proof.size, proof.record.leaves.len()), (8, 8));
}

pub async fn concurrent_commits_of_many_runs_lose_nothing(store: &dyn Store) {
    const EACH: usize = 8;
    let corner = Corner::of(store);
    let mut tasks = JoinSet::new();
    for _ in 0..MANY {
        let tenant = store.tenant(corner.id);
        let mut stories: Vec<Story> = (0..EACH).map(|_| corner.story()).collect();
        tasks.spawn(async move {
            for story in &mut stories {
                let appends = vec![story.go_on(2)];
                tenant.commit(Commit { appends, ..Commit::default() }).await.unwrap();
                let appends = vec![story.finish()];
                tenant.commit(Commit { appends, ..Commit::default() }).await.unwrap();
            }
            stories
        });
    }
    let stories: Vec<Story> = tasks.join_all().await.into_iter().flatten().collect();

    let (size, root) = corner.tenant.log_head().await.unwrap();
    let mut indexes = BTreeMap::new();
    for story in &stories {
        let proof = corner.tenant.prove(story.run).await.unwrap().unwrap();
        assert_eq!((proof.size, proof.root), (size, root));
        assert_eq!(proof.record.events.len(), 3);
        for place in proof.record.leaves {
            assert!(verify_inclusion(&place.leaf, place.index, size, root, &place.path));
            indexes.insert(place.index, place.leaf.run);
        }
    }
    assert_eq!(indexes.into_keys().collect::<Vec<_>>(), (0..(MANY * EACH) as u64).collect::<Vec<_>>());
    assert_eq!(size, (MANY * EACH) as u64);
    let listed = corner.tenant.runs(&RunFilter::ALL, None, limit(1000)).await.unwrap();
    assert_eq!(listed.len(), MANY * EACH);
    assert!(listed.iter().all(|row| row.finished && row.seq == Seq(3)));
}

pub async fn a_refused_commit_takes_no_other_with_it(store: &dyn Store) {
    let corner = Corner::of(store);
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
    for task in 0..MANY {
        let (mut story, mut job, stranger) = (corner.story(), corner.job(), corner.fresh());
        let (tenant, start) = (store.tenant(corner.id), Arc::clone(&start));
        job.payload = json!({ "task": task });
        tasks.spawn(async move {
            let append = match task % 4 {
                // Goes on with a run that was never begun.
                1 => {
                    story.go_on(7);
                    story.go_on(1)
                }
                3 => Story::new(stranger, story.run).finish(),
                _ => story.finish(),
            };
            start.wait().await;
            let commit = Commit {
                appends: vec![append],
                policies: vec![],
                jobs: vec![job.clone()],
                ..Commit::default()
            };
            (task, story.run, job.id, tenant.commit(commit).await)
        });
    }
    for (task, run, job, outcome) in tasks.join_all().await {
        let is_as_wanted = match task % 4 {
            1 => matches!(outcome, Err(CommitError::Moved { .. })),
            3 => matches!(outcome, Err(CommitError::Refused { .. })),
            _ => outcome.is_ok(),
        };
        assert!(is_as_wanted, "task {task}: {outcome:?}");
        let is_written = task % 2 == 0;
        assert_eq!(!corner.read(run).await.is_empty(), is_written);
        assert_eq!(corner.tenant.job(job).await.unwrap().is_some(), is_written);
    }
    assert_eq!(corner.tenant.log_head().await.unwrap().0, MANY as u64 / 2);
}

pub async fn concurrent_commits_make_one_job_of_a_key(store: &dyn Store) {
    let corner = Corner::of(store);
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
    for _ in 0..MANY {
        let (mut story, mut job) = (corner.story(), corner.job());
        let (tenant, start) = (store.tenant(corner.id), Arc::clone(&start));
        job.key = Some("one".to_owned());
        tasks.spawn(async move {
            let commit = Commit {
                appends: vec![story.go_on(1)],
                policies: vec![],
                jobs: vec![job],
                ..Commit::default()
            };
            start.wait().await;
            tenant.commit(commit).await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(corner.tenant.jobs(None, None, limit(100)).await.unwrap().len(), 1);
    assert_eq!(
        corner.tenant.runs(&RunFilter::ALL, None, limit(100)).await.unwrap().len(),
        MANY,
        "the events are all there"
    );
}

pub async fn a_due_job_is_claimed_once(store: &dyn Store) {
    let corner = Corner::of(store);
    let ids: Vec<_> = (0..50).map(|_| corner.job()).collect();
    corner.enqueue(ids.clone()).await;
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
    for _ in 0..MANY {
        let (queue, kinds, start) = (store.jobs(), [corner.kind.clone()], Arc::clone(&start));
        tasks.spawn(async move {
            start.wait().await;
            let mut mine = Vec::new();
            loop {
                let claimed = queue.claim(&kinds, at(1000), at(9000), limit(3)).await.unwrap();
                assert!(claimed.len() <= 3);
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed);
            }
        });
    }
    let mut claimed: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    // What one claimer passed over because another was looking at it is still there.
    claimed.extend(corner.claim(1000, 9000, 50).await);
    claimed.sort_by_key(|claimed| claimed.job.id);
    let claimed_ids: Vec<_> = claimed.iter().map(|claimed| claimed.job.id).collect();
    assert_eq!(claimed_ids, ids.iter().map(|job| job.id).collect::<Vec<_>>());
    for claimed in claimed {
        assert_eq!(claimed.job.attempts, 1);
        assert_eq!(corner.look(claimed.job.id).await, claimed.job);
    }
}
