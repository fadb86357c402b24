//! What the log promises.

use ledger::{Leaf, Log, sha256, verify_consistency, verify_inclusion};
use schema::Seq;
use serde_json::json;

use super::{Corner, Story, limit};
use crate::{Commit, FeedRow, RunProof, Settle, Store};

pub async fn an_empty_log_has_the_empty_root(store: &dyn Store) {
    let corner = Corner::of(store);
    let empty = (0, Log::<Leaf>::default().root());
    assert_eq!(corner.tenant.log_head().await.unwrap(), empty);
    corner.append([corner.story().go_on(3)]).await.unwrap();
    assert_eq!(corner.tenant.log_head().await.unwrap(), empty, "an open run is not in the log");
}

pub async fn an_open_run_has_no_leaf(store: &dyn Store) {
    let corner = Corner::of(store);
    corner.append([corner.story().finish()]).await.unwrap();
    let mut story = corner.story();
    let append = story.go_on(2);
    corner.append([append.clone()]).await.unwrap();
    let proof = prove(&corner, &story).await;
    assert_eq!(proof.record.events, *append.events);
    assert_eq!(proof.record.leaves, []);
    assert_eq!(proof.size, 1);
}

pub async fn a_run_is_proven_against_the_log_it_is_in(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut stories = Vec::new();
    let mut heads = Vec::new();
    // Sizes on both sides of powers of two, where the shape of the tree changes.
    for _ in 0..17 {
        let mut story = corner.story();
        corner.append([story.go_on(2)]).await.unwrap();
        corner.append([story.finish()]).await.unwrap();
        stories.push(story);
        heads.push(corner.tenant.log_head().await.unwrap());
    }

    // The log as the proofs tell it.
    let mut log = Log::default();
    for story in &stories {
        let RunProof { record, size, root } = prove(&corner, story).await;
        assert_eq!((record.tenant, record.run, (size, root)), (corner.id, story.run, heads[16]));
        assert_eq!(record.events, corner.read(story.run).await);
        assert!(record.artifacts.is_empty());
        let [place] = &record.leaves[..] else { panic!("one leaf: {:?}", record.leaves) };
        let leaf = Leaf { run: story.run, seq: Seq(3), head: record.events[2].hash };
        assert_eq!(place.leaf, leaf);
        assert!(verify_inclusion(&leaf, place.index, size, root, &place.path));
        assert_eq!(log.push(leaf), place.index);
        assert_eq!((log.size(), log.root()), heads[log.leaves().len() - 1], "the log only ever grew");
    }
    let (size, root) = heads[16];
    for (old_size, old_root) in heads {
        let path = log.prove_consistency(old_size).unwrap();
        assert!(verify_consistency(old_size, old_root, size, root, &path), "from {old_size}");
    }
}

pub async fn a_second_leaf_binds_later_events(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    corner.append([story.finish()]).await.unwrap();
    corner.append([corner.story().finish()]).await.unwrap();
    let late = story.event("feedback.given", json!({ "score": 1 }));
    corner.append([story.append(vec![late], Settle::Open)]).await.unwrap();
    assert_eq!(prove(&corner, &story).await.record.leaves.len(), 1, "not settled yet");
    let later = story.event("feedback.given", json!({ "score": 2 }));
    corner.append([story.append(vec![later], Settle::Leaf)]).await.unwrap();

    let RunProof { record, size, root } = prove(&corner, &story).await;
    assert_eq!(record.events.len(), 4);
    let bound: Vec<_> =
        record.leaves.iter().map(|place| (place.index, place.leaf.seq, place.leaf.head)).collect();
    let head = |seq: usize| record.events[seq - 1].hash;
    assert_eq!(bound, [(0, Seq(2), head(2)), (2, Seq(4), head(4))], "oldest first");
    for place in &record.leaves {
        assert!(verify_inclusion(&place.leaf, place.index, size, root, &place.path));
    }
}

pub async fn a_record_has_the_policies_its_events_name_and_no_others(store: &dyn Store) {
    let corner = Corner::of(store);
    let texts: Vec<String> = (0..4).map(|number| format!("policy {number} of {}", corner.id)).collect();
    let digest = |number: usize| sha256(texts[number].as_bytes());
    let mut story = corner.story();
    let events = vec![
        story.event("run.started", json!({ "policies": [digest(3)] })),
        story.event("policy.decided", json!({ "policies": [digest(1), digest(0)] })),
        story.event("policy.decided", json!({ "policies": [digest(1), sha256(b"never committed")] })),
    ];
    let append = story.append(events, Settle::Leaf);
    // One comes with another commit, one twice, and one is named by nobody.
    let commit = Commit { policies: texts[1..].to_vec(), ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    let commit =
        Commit { appends: vec![append], policies: texts[..3].to_vec(), jobs: vec![], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();

    let mut wanted = [digest(0), digest(1)];
    wanted.sort();
    let policies = prove(&corner, &story).await.record.policies;
    assert_eq!(policies.iter().map(|text| sha256(text.as_bytes())).collect::<Vec<_>>(), wanted);

    // A run that names none has none.
    let mut other = corner.story();
    corner.append([other.finish()]).await.unwrap();
    assert_eq!(prove(&corner, &other).await.record.policies, [""; 0]);
}

pub async fn leaves_and_policies_are_listed_in_order_page_by_page(store: &dyn Store) {
    let corner = Corner::of(store);
    assert_eq!(corner.tenant.leaves(0, limit(10)).await.unwrap(), []);
    assert_eq!(corner.tenant.policies(None, limit(10)).await.unwrap(), [""; 0]);
    let mut wanted = Vec::new();
    for _ in 0..5 {
        let mut story = corner.story();
        let append = story.finish();
        wanted.push(Leaf { run: story.run, seq: story.seq(), head: append.events[1].hash });
        corner.append([append]).await.unwrap();
    }
    let mut policies: Vec<String> =
        (0..5).map(|number| format!("policy {number} of {}", corner.id)).collect();
    corner.tenant.commit(Commit { policies: policies.clone(), ..Commit::default() }).await.unwrap();
    policies.sort_by_key(|text| sha256(text.as_bytes()));

    let mut log = Log::default();
    let (mut leaves, mut texts) = (Vec::new(), Vec::<String>::new());
    for round in 0..3 {
        let page = corner.tenant.leaves(round * 2, limit(2)).await.unwrap();
        for leaf in &page {
            log.push(*leaf);
        }
        leaves.extend(page);
        let last = texts.last().map(|text| sha256(text.as_bytes()));
        texts.extend(corner.tenant.policies(last, limit(2)).await.unwrap());
    }
    assert_eq!((leaves, texts), (wanted, policies));
    assert_eq!(corner.tenant.log_head().await.unwrap(), (log.size(), log.root()), "the leaves are the log");
    assert_eq!(corner.tenant.leaves(5, limit(2)).await.unwrap(), [], "past the end there is nothing");
}

async fn prove(corner: &Corner, story: &Story) -> RunProof {
    corner.tenant.prove(story.run).await.unwrap().expect("the run is there")
}

pub async fn a_feed_tells_of_each_leaf_with_what_is_new_in_it(store: &dyn Store) {
    let corner = Corner::of(store);
    assert_eq!(corner.tenant.log_size().await.unwrap(), 0);
    assert_eq!(corner.tenant.feed(0, limit(9)).await.unwrap(), []);
    let (mut one, mut other) = (corner.story(), corner.story());
    corner.append([one.finish()]).await.unwrap();
    corner.append([other.go_on(3)]).await.unwrap();
    corner.append([other.finish()]).await.unwrap();
    let late = one.event("feedback.given", json!({ "score": 1 }));
    corner.append([one.append(vec![late], Settle::Leaf)]).await.unwrap();
    assert_eq!(corner.tenant.log_size().await.unwrap(), 3);
    let row = |index, run, seq, after| FeedRow { index, run, seq: Seq(seq), after: Seq(after) };
    let all = [row(0, one.run, 2, 0), row(1, other.run, 4, 0), row(2, one.run, 3, 2)];
    assert_eq!(corner.tenant.feed(0, limit(9)).await.unwrap(), all);
    assert_eq!(corner.tenant.feed(1, limit(1)).await.unwrap(), all[1..2]);
    assert_eq!(corner.tenant.feed(3, limit(9)).await.unwrap(), []);
}

pub async fn whoever_listens_hears_of_a_tenants_commits_and_of_no_others(store: &dyn Store) {
    let (corner, other) = (Corner::of(store), Corner::of(store));
    let mut heard = store.changed(corner.id);
    other.append([other.story().finish()]).await.unwrap();
    assert!(!heard.has_changed().unwrap(), "another tenant's");
    corner.append([corner.story().finish()]).await.unwrap();
    assert!(heard.has_changed().unwrap());
    heard.borrow_and_update();
    let mut refused = corner.story();
    refused.go_on(1);
    corner.append([refused.go_on(1)]).await.unwrap_err();
    assert!(!heard.has_changed().unwrap(), "nothing was written");
    // Whoever waits is woken, and reads what was committed.
    let (size, written) = tokio::join!(
        async {
            heard.changed().await.unwrap();
            corner.tenant.log_size().await.unwrap()
        },
        corner.append([corner.story().finish()])
    );
    written.unwrap();
    assert_eq!(size, 2);
}
