//! Erasing a person, and what stays.

use ledger::Chain;
use schema::{Seq, Subject};
use serde_json::json;

use super::{Corner, Story, limit};
use crate::{Append, Commit, CommitError, Masters, RunFilter, Settle, Store};

pub(super) fn named(name: &str) -> Option<Subject> {
    Subject::try_from(name.to_owned()).ok()
}

/// A finished run about somebody.
pub(super) fn about(story: &mut Story, name: &str) -> Append {
    let fields =
        json!({ "kind": "chat", "model": "small", "subject": name, "request": { "text": "I am ill" } });
    let started = story.event("run.started", fields);
    let traced = story.event("note", json!({ "text": "called a doctor", "kind": "not ours to show" }));
    let fields = json!({ "status": "completed", "costMicroUsd": 7, "answer": "Get well, Ada" });
    let finished = story.event("run.finished", fields);
    Append { subject: named(name), ..story.append(vec![started, traced, finished], Settle::Leaf) }
}

pub(super) async fn erase(corner: &Corner, name: &str) -> Result<(), CommitError> {
    let subject = corner.tenant.subject(&named(name).unwrap()).await.unwrap().expect("it is known");
    corner.tenant.commit(Commit { erase: vec![subject], ..Commit::default() }).await
}

pub(super) fn masters() -> Masters {
    Masters::throw_away().unwrap()
}

pub async fn what_is_about_a_subject_reads_back_as_it_was_written(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let mut story = corner.story();
    let append = about(&mut story, "ada");
    corner.append([append.clone()]).await.unwrap();
    assert_eq!(corner.read(story.run).await, *append.events);
    let more = Append { subject: named("ada"), ..story.go_on(2) };
    corner.append([more.clone()]).await.unwrap();
    assert_eq!(corner.read(story.run).await, [&*append.events, &more.events].concat());

    let row = corner.tenant.run(story.run).await.unwrap().unwrap();
    assert_eq!(row.fields["subject"], json!("ada"));
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(9)).await.unwrap(), [row]);
    let proof = corner.tenant.prove(story.run).await.unwrap().unwrap();
    assert_eq!(proof.record.events, corner.read(story.run).await);
    crate::audit(&*corner.tenant, corner.id).await.unwrap();
}

pub async fn an_erased_subject_is_gone_and_its_chains_still_verify(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let (mut ada, mut bob, mut nobody) = (corner.story(), corner.story(), corner.story());
    corner.append([about(&mut ada, "ada"), about(&mut bob, "bob")]).await.unwrap();
    corner.append([nobody.finish()]).await.unwrap();
    let before = corner.read(ada.run).await;
    let log = corner.tenant.log_head().await.unwrap();
    let id = corner.tenant.subject(&named("ada").unwrap()).await.unwrap().unwrap();
    assert_eq!(corner.tenant.runs_of(id, None, limit(9)).await.unwrap(), [ada.run]);

    erase(&corner, "ada").await.unwrap();

    assert_eq!(corner.tenant.subject(&named("ada").unwrap()).await.unwrap(), None);
    let after = corner.read(ada.run).await;
    let mut chain = Chain::new(corner.id, ada.run);
    for (event, was) in after.iter().zip(&before) {
        chain.verify_next(event).unwrap();
        assert_eq!((event.hash, event.at, &event.r#type), (was.hash, was.at, &was.r#type));
    }
    assert_eq!(after.len(), 3);
    // What is about the person is gone; what things were and what they cost is not.
    let value = |event: usize, field: &str| after[event].payload[field].value().cloned();
    assert_eq!(value(0, "model"), Some(json!("small")));
    assert_eq!(value(2, "costMicroUsd"), Some(json!(7)));
    for (event, field) in [(0, "subject"), (0, "request"), (1, "text"), (1, "kind"), (2, "answer")] {
        assert_eq!(value(event, field), None, "{field} of event {event}");
    }
    let row = corner.tenant.run(ada.run).await.unwrap().unwrap();
    assert_eq!((row.fields.get("subject"), &row.fields["costMicroUsd"]), (None, &json!(7)));
    let listed = format!("{:?}", corner.tenant.runs(&RunFilter::ALL, None, limit(9)).await.unwrap());
    assert!(!listed.contains("\"ada\""), "{listed}");
    assert_eq!(corner.tenant.log_head().await.unwrap(), log);
    crate::audit(&*corner.tenant, corner.id).await.unwrap();
    // Nobody else is touched.
    assert_eq!(corner.tenant.run(bob.run).await.unwrap().unwrap().fields["subject"], json!("bob"));
    assert!(
        corner.read(bob.run).await.iter().all(|event| event.payload.values().all(|f| f.value().is_some()))
    );

    // The run goes on, and the person can come back: what comes now is sealed anew.
    let more = Append { subject: named("ada"), ..ada.go_on(1) };
    corner.append([more.clone()]).await.unwrap();
    assert_eq!(corner.read(ada.run).await[3..], *more.events);
    assert_eq!(corner.read(ada.run).await[..3], after);
    let mut again = corner.story();
    corner.append([about(&mut again, "ada")]).await.unwrap();
    let id_now = corner.tenant.subject(&named("ada").unwrap()).await.unwrap().unwrap();
    assert_ne!(id_now, id);
    assert_eq!(corner.tenant.run(again.run).await.unwrap().unwrap().fields["subject"], json!("ada"));
    crate::audit(&*corner.tenant, corner.id).await.unwrap();
}

pub async fn an_erasure_commits_with_its_record_or_not_at_all(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let mut ada = corner.story();
    corner.append([about(&mut ada, "ada")]).await.unwrap();
    let id = corner.tenant.subject(&named("ada").unwrap()).await.unwrap().unwrap();

    // A record that cannot be written: nothing is erased.
    let stale = Story::new(corner.id, ada.run).finish();
    let commit = Commit { appends: vec![stale], erase: vec![id], ..Commit::default() };
    assert!(matches!(corner.tenant.commit(commit).await, Err(CommitError::Moved { .. })));
    assert_eq!(corner.tenant.run(ada.run).await.unwrap().unwrap().fields["subject"], json!("ada"));

    let mut record = corner.story();
    let commit = Commit { appends: vec![record.finish()], erase: vec![id], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(record.run).await.len(), 2);
    assert_eq!(corner.tenant.subject(&named("ada").unwrap()).await.unwrap(), None);

    // A second time there is nobody, and then the record is not written either.
    let mut record = corner.story();
    let commit = Commit { appends: vec![record.finish()], erase: vec![id], ..Commit::default() };
    let refused = corner.tenant.commit(commit).await.unwrap_err();
    assert!(matches!(refused, CommitError::NoSubject(subject) if subject == id), "{refused:?}");
    assert_eq!(corner.read(record.run).await, []);
}

pub async fn subjects_that_come_and_go_at_once_lose_nothing_else(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let mut first = corner.story();
    corner.append([about(&mut first, "ada")]).await.unwrap();
    let write = async {
        for _ in 0..20 {
            let mut story = corner.story();
            corner.append([about(&mut story, "ada")]).await.unwrap();
        }
    };
    let forget = async {
        for _ in 0..5 {
            if let Some(id) = corner.tenant.subject(&named("ada").unwrap()).await.unwrap() {
                corner.tenant.commit(Commit { erase: vec![id], ..Commit::default() }).await.unwrap();
            }
        }
    };
    tokio::join!(write, forget);
    let audited = crate::audit(&*corner.tenant, corner.id).await.unwrap();
    assert_eq!((audited.runs, audited.events, audited.leaves), (21, 63, 21));
    // Whoever wrote last is read in full: nothing is sealed under a key that was gone before.
    let mut last = corner.story();
    let append = about(&mut last, "ada");
    corner.append([append.clone()]).await.unwrap();
    assert_eq!(corner.read(last.run).await, *append.events);
    assert_eq!(corner.tenant.events(last.run, Seq(1), limit(9)).await.unwrap(), append.events[1..]);
}
