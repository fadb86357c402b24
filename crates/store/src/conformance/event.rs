//! What a commit promises, and what is read back.

use ledger::{ChainError, Event};
use schema::{RunId, Seq};
use serde_json::json;

use super::{Corner, Story, limit};
use crate::{Commit, CommitError, RunFilter, Settle, Store};

pub async fn a_working_store_is_ready(store: &dyn Store) {
    store.ready().await.unwrap();
}

pub async fn an_unknown_run_is_empty(store: &dyn Store) {
    let corner = Corner::of(store);
    let run: RunId = corner.fresh();
    assert_eq!(corner.read(run).await, []);
    assert_eq!(corner.tenant.run(run).await.unwrap(), None);
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(10)).await.unwrap(), []);
    assert!(corner.tenant.prove(run).await.unwrap().is_none());
}

pub async fn an_event_reads_back_as_it_was_written(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let mut events = vec![
        story.event("run.started", json!({})),
        story.event(
            "quote \" and \\ and é",
            json!({ "näme": "ж\u{1f600}\u{2028}", "": "", "nul": "a\u{0}b" }),
        ),
        story.event("numbers", json!({ "n": [0, -1, 9_007_199_254_740_991_i64, 0.1, 2.5e-7, 1e21] })),
        story.event("nested", json!({ "deep": [[], {}, null, true, { "a": { "b": [1] } }] })),
        story.event("long", json!({ "text": "x".repeat(100_000) })),
        story.event("secret", json!({ "hidden": "a name", "shown": 1 })),
    ];
    let secret = &mut events.last_mut().unwrap().payload;
    let hidden = secret["hidden"].withheld("hidden").unwrap();
    secret.insert("hidden".to_owned(), hidden);

    corner.append([story.append(events.clone(), Settle::Open)]).await.unwrap();
    assert_eq!(corner.read(story.run).await, events);
}

pub async fn events_are_read_in_order_past_a_place_and_up_to_a_limit(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let mut all: Vec<Event> = Vec::new();
    for size in [1, 3, 2, 7, 1, 4] {
        let append = story.go_on(size);
        all.extend(append.events.to_vec());
        corner.append([append]).await.unwrap();
    }
    // Another run of the same tenant, so that a read that forgets the run would show.
    corner.append([corner.story().go_on(5)]).await.unwrap();

    for after in 0..=all.len() {
        for most in 1..=all.len() + 1 {
            let read = corner.tenant.events(story.run, Seq(after as u64), limit(most as u32)).await.unwrap();
            let wanted = &all[after..all.len().min(after + most)];
            assert_eq!(read, wanted, "past {after}, at most {most}");
        }
    }
    for beyond in [Seq(all.len() as u64 + 1), Seq(u64::MAX)] {
        assert_eq!(corner.tenant.events(story.run, beyond, limit(u32::MAX)).await.unwrap(), []);
    }
}

pub async fn whole_runs_are_read_in_the_order_that_they_are_asked_for(store: &dyn Store) {
    let (corner, elsewhere) = (Corner::of(store), Corner::of(store));
    let mut told = Vec::new();
    for size in [2, 40, 1] {
        let mut story = corner.story();
        let append = story.go_on(size);
        told.push((story.run, append.events.to_vec()));
        corner.append([append]).await.unwrap();
    }
    let mut theirs = elsewhere.story();
    elsewhere.append([theirs.go_on(3)]).await.unwrap();
    let asked = [told[1].0, theirs.run, told[2].0, corner.fresh(), told[0].0, told[1].0];
    let read = corner.tenant.whole_runs(&asked).await.unwrap();
    let ours = |at: usize| told[at].1.clone();
    assert_eq!(read, [ours(1), Vec::new(), ours(2), Vec::new(), ours(0), ours(1)], "and nobody else's");
    assert!(corner.tenant.whole_runs(&[]).await.unwrap().is_empty());
}

pub async fn a_stale_append_changes_nothing(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let first = story.go_on(2);
    let again = Story::new(corner.id, story.run).go_on(1);
    corner.append([first.clone()]).await.unwrap();

    // Too early a place, and one that the run has not reached.
    let ahead = story.go_on(1);
    let further = story.go_on(1);
    for (stale, expected) in [(again, Seq::START), (first.clone(), Seq::START), (further, Seq(3))] {
        let refused = corner.append([stale]).await.unwrap_err();
        let CommitError::Moved { run, expected: believed, actual } = refused else {
            panic!("expected `Moved`: {refused:?}")
        };
        assert_eq!((run, believed, actual), (story.run, expected, Seq(2)));
    }
    assert_eq!(corner.read(story.run).await, *first.events);
    assert_eq!(corner.tenant.run(story.run).await.unwrap().unwrap().seq, Seq(2));

    corner.append([ahead]).await.unwrap();
    assert_eq!(corner.read(story.run).await.len(), 3);
}

pub async fn events_that_do_not_continue_the_run_are_refused(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let first = story.go_on(1);
    corner.append([first.clone()]).await.unwrap();

    let honest = story.clone().go_on(2);
    // Events as such are checked before a store sees them; what they go on with is for the store to say.
    let mut otherwise = Story::new(corner.id, story.run);
    otherwise.event("run.started", json!({ "kind": "another beginning" }));
    let mut foreign = Story::new(corner.fresh(), story.run);
    foreign.go_on(1);
    let cases = [("of another beginning", otherwise.go_on(2)), ("of another tenant", foreign.go_on(2))];
    for (case, append) in cases {
        let mut bystander = corner.story();
        let refused = corner.append([bystander.finish(), append]).await.unwrap_err();
        let CommitError::Refused { run, cause } = refused else { panic!("{case}: {refused:?}") };
        assert_eq!(run, story.run, "{case}");
        assert!(matches!(cause, ChainError::Hash { .. }), "{case}: {cause}");
        assert_eq!(corner.read(story.run).await, *first.events, "{case}");
        assert_eq!(corner.read(bystander.run).await, [], "{case}");
    }
    corner.append([honest]).await.unwrap();
}

pub async fn all_of_a_commit_is_there_or_none_of_it(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut moved = corner.story();
    corner.append([moved.go_on(1)]).await.unwrap();
    let log = corner.tenant.log_head().await.unwrap();

    let policy = format!("a policy of {}", corner.id);
    let named = ledger::sha256(policy.as_bytes());
    let (mut fresh, mut stale, job) = (corner.story(), Story::new(corner.id, moved.run), corner.job());
    let commit = Commit {
        appends: vec![fresh.finish(), stale.finish()],
        policies: vec![policy.clone()],
        jobs: vec![job.clone()],
        ..Commit::default()
    };
    let refused = corner.tenant.commit(commit).await;
    assert!(matches!(refused, Err(CommitError::Moved { run, .. }) if run == moved.run), "{refused:?}");

    assert_eq!(corner.read(fresh.run).await, []);
    assert_eq!(corner.tenant.run(fresh.run).await.unwrap(), None);
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(10)).await.unwrap().len(), 1);
    assert_eq!(corner.tenant.log_head().await.unwrap(), log);
    assert_eq!(corner.tenant.job(job.id).await.unwrap(), None);
    assert_eq!(corner.tenant.jobs(None, None, limit(10)).await.unwrap(), []);
    assert_eq!(corner.claim(5000, 6000, 10).await, []);
    // The policy's text is not there either: a run that names it is proven without it.
    let decided = moved.event("policy.decided", json!({ "policies": [named] }));
    corner.append([moved.append(vec![decided], Settle::Leaf)]).await.unwrap();
    let proof = corner.tenant.prove(moved.run).await.unwrap().unwrap();
    assert_eq!(proof.record.policies, [""; 0]);

    // The same, without the stale half, is all there.
    let appends = vec![Story::new(corner.id, fresh.run).finish(), corner.story().finish()];
    let commit =
        Commit { appends, policies: vec![policy.clone()], jobs: vec![job.clone()], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(fresh.run).await.len(), 2);
    assert_eq!(corner.tenant.log_head().await.unwrap().0, log.0 + 3);
    assert!(corner.tenant.job(job.id).await.unwrap().is_some());
    assert_eq!(corner.tenant.prove(moved.run).await.unwrap().unwrap().record.policies, [policy]);
}
