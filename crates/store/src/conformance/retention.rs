//! Giving up old events, and making derived rows again.

use ledger::verify_inclusion;
use schema::Seq;

use super::{Corner, Story, limit};
use crate::{Commit, CommitError, Rebuilt, RunFilter, Seal, Store};

pub async fn a_sealed_run_leaves_its_head_in_the_log(store: &dyn Store) {
    let corner = Corner::of(store);
    let (mut old, mut open, mut kept) = (corner.story(), corner.story(), corner.story());
    let (ended, begun) = (old.finish(), open.go_on(3));
    corner.append([ended.clone()]).await.unwrap();
    corner.append([begun.clone()]).await.unwrap();
    corner.append([kept.finish()]).await.unwrap();
    let seals =
        vec![Seal { run: old.run, expected: old.seq() }, Seal { run: open.run, expected: open.seq() }];
    corner.tenant.commit(Commit { seal: seals.clone(), ..Commit::default() }).await.unwrap();

    // The events and the rows are gone,
    for run in [old.run, open.run] {
        assert_eq!(corner.read(run).await, []);
        assert_eq!(corner.tenant.run(run).await.unwrap(), None);
        assert!(corner.tenant.prove(run).await.unwrap().is_none());
    }
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(9)).await.unwrap().len(), 1);
    // the heads are in the log: the one that had no leaf got one,
    let leaves = corner.tenant.leaves(0, limit(9)).await.unwrap();
    assert_eq!(leaves.len(), 3);
    for (append, story) in [(&ended, &old), (&begun, &open)] {
        let left = corner.tenant.sealed(story.run).await.unwrap().unwrap();
        let leaf = leaves[left.leaf as usize];
        assert_eq!((left.seq, left.head), (story.seq(), append.events.last().unwrap().hash));
        assert_eq!((leaf.run, leaf.seq, leaf.head), (story.run, left.seq, left.head));
    }
    assert_eq!(corner.tenant.sealed(kept.run).await.unwrap(), None);
    // and what remains verifies against it.
    let proof = corner.tenant.prove(kept.run).await.unwrap().unwrap();
    let place = &proof.record.leaves[0];
    assert!(verify_inclusion(&place.leaf, place.index, proof.size, proof.root, &place.path));
    crate::audit(&*corner.tenant, corner.id).await.unwrap();

    // Once sealed it is not there to be sealed.
    let again = corner.tenant.commit(Commit { seal: seals, ..Commit::default() }).await;
    assert!(matches!(again, Err(CommitError::Moved { actual: Seq::START, .. })), "{again:?}");
}

pub async fn a_run_that_went_on_is_not_sealed(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let (mut story, mut other) = (corner.story(), corner.story());
    corner.append([story.go_on(1), other.finish()]).await.unwrap();
    let seals =
        vec![Seal { run: other.run, expected: other.seq() }, Seal { run: story.run, expected: story.seq() }];
    corner.append([story.finish()]).await.unwrap();
    let moved = corner.tenant.commit(Commit { seal: seals.clone(), ..Commit::default() }).await;
    assert!(matches!(moved, Err(CommitError::Moved { run, .. }) if run == story.run), "{moved:?}");
    assert_eq!(corner.read(other.run).await.len(), 2, "all of a commit or none of it");
    // Nor can a stranger do it, or see what was done.
    let seals = vec![seals[0]];
    let refused = stranger.tenant.commit(Commit { seal: seals.clone(), ..Commit::default() }).await;
    assert!(matches!(refused, Err(CommitError::Moved { .. })), "{refused:?}");
    corner.tenant.commit(Commit { seal: seals, ..Commit::default() }).await.unwrap();
    assert_eq!(stranger.tenant.sealed(other.run).await.unwrap(), None);
}

pub async fn a_sealed_run_is_not_begun_again(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    corner.append([story.finish()]).await.unwrap();
    let seal = vec![Seal { run: story.run, expected: story.seq() }];
    corner.tenant.commit(Commit { seal, ..Commit::default() }).await.unwrap();
    let again = corner.append([Story::new(corner.id, story.run).finish()]).await;
    let moved = again.unwrap_err();
    assert!(matches!(moved, CommitError::Moved { actual, .. } if actual == story.seq()), "{moved:?}");
}

pub async fn rows_made_again_are_equal_to_what_was_there(store: &dyn Store) {
    store.seal_with(crate::Masters::throw_away().unwrap());
    let corner = Corner::of(store);
    let subject = schema::Subject::try_from("ada".to_owned()).ok();
    for n in 0..7 {
        let mut story = corner.story();
        corner.append([crate::Append { subject: subject.clone(), ..story.go_on(n % 3 + 1) }]).await.unwrap();
        corner.append([story.finish()]).await.unwrap();
    }
    let before = corner.tenant.runs(&RunFilter::ALL, None, limit(20)).await.unwrap();
    for view in store.views() {
        let rebuilt = view.rebuild(corner.id).await.unwrap();
        assert_eq!(rebuilt.repaired, 0, "{}", view.name());
        assert!(view.name() != "runs" || rebuilt == Rebuilt { entries: 7, repaired: 0 }, "{rebuilt:?}");
    }
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(20)).await.unwrap(), before);
    assert!(store.tenants(None, limit(100_000)).await.unwrap().contains(&corner.id));
    let id = corner.tenant.subject(&subject.unwrap()).await.unwrap().unwrap();
    corner.tenant.commit(Commit { erase: vec![id], ..Commit::default() }).await.unwrap();
    for view in store.views() {
        view.forget(corner.id, id).await.unwrap();
        assert_eq!(view.rebuild(corner.id).await.unwrap().repaired, 0, "an erasure leaves nothing to repair");
    }
}
