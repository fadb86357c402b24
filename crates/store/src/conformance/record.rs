//! What is promised of records.

use std::collections::BTreeMap;
use std::sync::Arc;

use ledger::sha256;
use schema::{ApprovalId, Digest};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Corner, Story, at, limit};
use crate::{
    Commit, CommitError, Record, RecordBody, RecordChange, RecordFilter, RecordKind, Store, TenantStore,
};

const ASKED: RecordKind = RecordKind::Approval;
const MANY: usize = 16;

fn key(name: &str) -> Digest {
    sha256(name.as_bytes())
}

fn body(group: &str, said: Value) -> RecordBody {
    RecordBody { group: group.to_owned(), key: None, body: said, created_at: at(1_000), due_at: None }
}

fn change(kind: RecordKind, id: &str, expected: u64, to: Option<RecordBody>) -> RecordChange {
    RecordChange { kind, id: id.to_owned(), expected, to }
}

/// An id that sorts by the time it was made.
fn asked_id(corner: &Corner) -> String {
    let id: ApprovalId = corner.fresh();
    id.to_string()
}

/// The record that a change leaves.
fn left(change: &RecordChange) -> Record {
    change.record().expect("it does not delete")
}

pub(super) async fn write(tenant: &dyn TenantStore, records: Vec<RecordChange>) -> Result<(), CommitError> {
    tenant.commit(Commit { records, ..Commit::default() }).await
}

/// A record that says little.
pub(super) fn small(kind: RecordKind, id: &str) -> RecordChange {
    change(kind, id, 0, Some(body("open", json!({}))))
}

async fn list(corner: &Corner, group: Option<&str>, key: Option<Digest>) -> Vec<String> {
    let filter = RecordFilter { kind: ASKED, group: group.map(str::to_owned), key };
    let found = corner.tenant.records(&filter, None, limit(99)).await.unwrap();
    found.into_iter().map(|record| record.id).collect()
}

pub async fn a_record_is_found_by_its_id_its_group_and_its_key(store: &dyn Store) {
    let corner = Corner::of(store);
    assert_eq!(corner.tenant.record(ASKED, "a").await.unwrap(), None);
    let full = RecordBody {
        group: "pending \u{0} é".to_owned(),
        key: Some(key("one")),
        body: json!({ "text": "\u{0} \u{1f511}", "number": 0.1, "list": [null, { "b": 1, "a": 2 }] }),
        created_at: at(7),
        due_at: Some(at(9)),
    };
    let empty = RecordBody { group: String::new(), body: Value::Null, ..body("", json!({})) };
    let longest = "ä".repeat(160);
    let changes = vec![
        change(ASKED, "a", 0, Some(full.clone())),
        change(RecordKind::Budget, "a", 0, Some(body("on", json!(7)))),
        change(ASKED, &longest, 0, Some(empty)),
        change(ASKED, "b \u{0}", 0, Some(RecordBody { key: Some(key("one")), ..body("done", json!("b")) })),
        change(ASKED, "c", 0, Some(RecordBody { key: Some(key("two")), ..body("done", json!("c")) })),
    ];
    write(&*corner.tenant, changes.clone()).await.unwrap();
    for change in &changes {
        assert_eq!(corner.tenant.record(change.kind, &change.id).await.unwrap(), Some(left(change)));
    }
    assert_eq!(left(&changes[0]).version, 1);
    assert_eq!(corner.tenant.record(ASKED, "b").await.unwrap(), None);

    assert_eq!(list(&corner, None, None).await, [longest.as_str(), "c", "b \u{0}", "a"]);
    assert_eq!(list(&corner, Some("done"), None).await, ["c", "b \u{0}"]);
    assert_eq!(list(&corner, Some(""), None).await, [longest.as_str()]);
    assert_eq!(list(&corner, None, Some(key("one"))).await, ["b \u{0}", "a"]);
    assert_eq!(list(&corner, Some("done"), Some(key("one"))).await, ["b \u{0}"]);
    assert_eq!(list(&corner, Some("pending"), None).await, [""; 0]);
    assert_eq!(list(&corner, Some("done"), Some(key("three"))).await, [""; 0]);
    let budgets = corner.tenant.records(&RecordFilter::of(RecordKind::Budget), None, limit(9)).await.unwrap();
    assert_eq!(budgets, [left(&changes[1])]);
    let counts = corner.tenant.record_counts(ASKED).await.unwrap();
    let counted = [("", 1), ("done", 2), ("pending \u{0} é", 1)];
    assert_eq!(counts, BTreeMap::from(counted.map(|(group, count)| (group.to_owned(), count))));

    // A change takes the place of all that was said; what is deleted is gone, and can be made again.
    let next = change(ASKED, "a", 1, Some(RecordBody { key: Some(key("two")), ..body("done", json!(2)) }));
    write(&*corner.tenant, vec![next.clone(), change(ASKED, "c", 1, None)]).await.unwrap();
    assert_eq!(corner.tenant.record(ASKED, "a").await.unwrap(), Some(Record { version: 2, ..left(&next) }));
    assert_eq!(corner.tenant.record(ASKED, "c").await.unwrap(), None);
    assert_eq!(list(&corner, Some("done"), None).await, ["b \u{0}", "a"]);
    assert_eq!(list(&corner, None, Some(key("two"))).await, ["a"]);
    assert_eq!(corner.tenant.record_counts(ASKED).await.unwrap().len(), 2);
    let again = change(ASKED, "c", 0, Some(body("open", json!(1))));
    write(&*corner.tenant, vec![again.clone()]).await.unwrap();
    assert_eq!(corner.tenant.record(ASKED, "c").await.unwrap(), Some(left(&again)));
}

pub async fn records_are_listed_last_first_page_by_page(store: &dyn Store) {
    let corner = Corner::of(store);
    let ids: Vec<String> = (0..7).map(|_| asked_id(&corner)).collect();
    for step in 0..ids.len() {
        let number = step * 3 % ids.len();
        let group = if number.is_multiple_of(2) { "even" } else { "odd" };
        let to = RecordBody { key: Some(key(group)), ..body(group, json!(number)) };
        write(&*corner.tenant, vec![change(ASKED, &ids[number], 0, Some(to))]).await.unwrap();
    }
    let all: Vec<&String> = ids.iter().rev().collect();
    let even: Vec<&String> = ids.iter().step_by(2).rev().collect();
    let of = RecordFilter::of(ASKED);
    let grouped = RecordFilter { group: Some("even".to_owned()), ..of.clone() };
    let keyed = RecordFilter { key: Some(key("even")), ..of.clone() };
    let both = RecordFilter { key: Some(key("even")), ..grouped.clone() };
    for (filter, expected) in [(of, all), (grouped, even.clone()), (keyed, even.clone()), (both, even)] {
        for size in 1..=3 {
            let (mut found, mut before) = (Vec::new(), None);
            loop {
                let page = corner.tenant.records(&filter, before.as_deref(), limit(size)).await.unwrap();
                assert!(page.len() <= size as usize);
                let Some(last) = page.last() else { break };
                before = Some(last.id.clone());
                found.extend(page.into_iter().map(|record| record.id));
            }
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?} by {size}");
        }
    }
}

pub async fn a_stale_change_of_a_record_changes_nothing(store: &dyn Store) {
    let corner = Corner::of(store);
    let first = vec![small(ASKED, "a"), small(ASKED, "b")];
    let mut record = corner.story();
    let commit = Commit { appends: vec![record.finish()], records: first.clone(), ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(record.run).await.len(), 2);
    let to = |said: &str| Some(body("done", json!(said)));
    let cases = [
        ("it is there", vec![change(ASKED, "a", 0, to("again"))], "a"),
        ("it has not come so far", vec![change(ASKED, "a", 2, to("ahead"))], "a"),
        ("it is not there", vec![change(ASKED, "c", 1, to("nothing"))], "c"),
        ("nothing to delete", vec![change(ASKED, "c", 1, None)], "c"),
        ("it is not there in another kind", vec![change(RecordKind::Sink, "a", 1, to("a"))], "a"),
        (
            "one of three",
            vec![
                change(ASKED, "a", 1, to("fits")),
                change(ASKED, "b", 3, None),
                change(ASKED, "d", 0, to("new")),
            ],
            "b",
        ),
        ("twice at once", vec![change(ASKED, "a", 1, to("first")), change(ASKED, "a", 2, to("second"))], "a"),
        ("no version is so large", vec![change(ASKED, "a", u64::MAX, to("ahead"))], "a"),
    ];
    for (case, records, id) in cases {
        let (mut story, mut job) = (corner.story(), corner.job());
        job.key = Some(case.to_owned());
        let commit =
            Commit { appends: vec![story.finish()], jobs: vec![job.clone()], records, ..Commit::default() };
        let refused = corner.tenant.commit(commit).await;
        assert!(
            matches!(&refused, Err(CommitError::RecordMoved { id: moved, .. }) if moved == id),
            "{case}: {refused:?}"
        );
        assert_eq!(corner.read(story.run).await, [], "{case}");
        assert_eq!(corner.tenant.job(job.id).await.unwrap(), None, "{case}");
    }
    // A record that cannot be written takes the changes with it.
    let stale = Story::new(corner.id, record.run).finish();
    let records = vec![change(ASKED, "a", 1, None), small(ASKED, "e")];
    let refused = corner.tenant.commit(Commit { appends: vec![stale], records, ..Commit::default() }).await;
    assert!(matches!(refused, Err(CommitError::Moved { .. })), "{refused:?}");
    assert_eq!(list(&corner, None, None).await, ["b", "a"]);
    for change in &first {
        assert_eq!(corner.tenant.record(ASKED, &change.id).await.unwrap(), Some(left(change)));
    }
    // What nobody could find again is not kept.
    let unfit = [
        change(ASKED, "", 0, to("without an id")),
        change(ASKED, &"x".repeat(161), 0, to("too long")),
        change(ASKED, "f", 0, Some(body(&"x".repeat(65), json!("a long group")))),
    ];
    for change in unfit {
        let refused = write(&*corner.tenant, vec![small(ASKED, "g"), change]).await;
        assert!(matches!(refused, Err(CommitError::RecordUnfit { .. })), "{refused:?}");
    }
    assert_eq!(corner.tenant.record(ASKED, "g").await.unwrap(), None);
}

pub async fn concurrent_changes_of_a_record_let_one_through(store: &dyn Store) {
    let corner = Corner::of(store);
    corner.race_for_a_record(&[store]).await;
}

impl Corner {
    /// Sixteen at once make a record, change it a few times, and delete it; each time one of them succeeds. They come by all of
    /// these stores, which are of one database.
    pub async fn race_for_a_record(&self, stores: &[&dyn Store]) {
        for round in [0, 1, 2, 3, 0] {
            let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
            for task in 0..MANY {
                let (tenant, start) = (stores[task % stores.len()].tenant(self.id), Arc::clone(&start));
                let mut story = self.story();
                tasks.spawn(async move {
                    let to = (round < 3).then(|| body("by", json!(task)));
                    // Each also has one of its own, on either side of the one that all of them want.
                    let own =
                        small(ASKED, &format!("{} {round} {task}", if task % 2 == 0 { "0" } else { "z" }));
                    let mut records = vec![change(ASKED, "a", round, to), own];
                    if task % 3 == 0 {
                        records.reverse();
                    }
                    let commit = Commit { appends: vec![story.finish()], records, ..Commit::default() };
                    start.wait().await;
                    (tenant.commit(commit).await, story.run, task)
                });
            }
            let mut winner = None;
            for (outcome, run, task) in tasks.join_all().await {
                let events = self.read(run).await.len();
                match outcome {
                    Ok(()) => {
                        assert!(winner.replace(task).is_none(), "two came through in round {round}");
                        assert_eq!(events, 2);
                    }
                    Err(CommitError::RecordMoved { kind, id }) => {
                        assert_eq!((kind, id.as_str(), events), (ASKED, "a", 0));
                    }
                    Err(other) => panic!("expected `RecordMoved`: {other:?}"),
                }
            }
            let by = winner.expect("one comes through");
            let found = self.tenant.record(ASKED, "a").await.unwrap();
            let found = found.map(|record| (record.version, record.body));
            assert_eq!(found, (round < 3).then(|| (round + 1, json!(by))));
            let own = list(self, Some("open"), None).await;
            assert_eq!(own.len(), 1, "of those that lost nothing is there: {own:?}");
            for id in own {
                write(&*self.tenant, vec![change(ASKED, &id, 1, None)]).await.unwrap();
            }
        }
    }
}

pub async fn due_records_of_all_tenants_come_longest_due_first(store: &dyn Store) {
    let (corner, other) = (Corner::of(store), Corner::of(store));
    // A group that nobody else uses, in a store that others may be using too.
    let group = corner.kind.clone();
    let due = |at_millis: Option<u64>| {
        Some(RecordBody { due_at: at_millis.map(at), ..body(&group, json!(at_millis)) })
    };
    let asked = |id: &str, due_at| change(ASKED, id, 0, due(due_at));
    write(&*corner.tenant, vec![asked("late", Some(900)), asked("a", Some(300)), asked("never", None)])
        .await
        .unwrap();
    write(&*other.tenant, vec![asked("b", Some(100)), asked("a", Some(500))]).await.unwrap();
    let elsewhere = RecordBody { group: "another".to_owned(), ..due(Some(1)).unwrap() };
    let unlike =
        vec![change(RecordKind::Exception, "x", 0, due(Some(1))), change(ASKED, "y", 0, Some(elsewhere))];
    write(&*corner.tenant, unlike).await.unwrap();

    let look = async |until, most| {
        let found = store.due_records(ASKED, &group, at(until), limit(most)).await.unwrap();
        found.into_iter().map(|(tenant, record)| (tenant, record.id)).collect::<Vec<_>>()
    };
    let named = |tenant: &Corner, id: &str| (tenant.id, id.to_owned());
    let order = [named(&other, "b"), named(&corner, "a"), named(&other, "a"), named(&corner, "late")];
    assert_eq!(look(1_000, 9).await, order);
    assert_eq!(look(1_000, 2).await, order[..2]);
    assert_eq!(look(500, 9).await, order[..3]);
    assert_eq!(look(499, 9).await, order[..2]);
    assert_eq!(look(99, 9).await, []);
    // Whoever has seen to one says so, and it is due no more.
    let seen = vec![change(ASKED, "b", 1, Some(body("seen", json!({}))))];
    write(&*other.tenant, seen).await.unwrap();
    let put_off = vec![change(ASKED, "a", 1, due(Some(2_000)))];
    write(&*corner.tenant, put_off).await.unwrap();
    assert_eq!(look(1_000, 9).await, [named(&other, "a"), named(&corner, "late")]);
    let found = store.due_records(ASKED, &group, at(600), limit(9)).await.unwrap();
    assert_eq!(found[0].1, other.tenant.record(ASKED, "a").await.unwrap().unwrap());
}

pub async fn a_record_is_its_tenants_own(store: &dyn Store) {
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    let id = asked_id(&owner);
    let to = RecordBody { key: Some(key("shared")), ..body("open", json!("mine")) };
    let mine = change(ASKED, &id, 0, Some(to));
    write(&*owner.tenant, vec![mine.clone()]).await.unwrap();
    assert_eq!(stranger.tenant.record(ASKED, &id).await.unwrap(), None);
    assert_eq!(list(&stranger, None, None).await, [""; 0]);
    assert_eq!(list(&stranger, Some("open"), None).await, [""; 0]);
    assert_eq!(list(&stranger, None, Some(key("shared"))).await, [""; 0]);
    assert_eq!(stranger.tenant.record_counts(ASKED).await.unwrap(), BTreeMap::new());
    for to in [None, Some(body("theirs", json!({})))] {
        let refused = write(&*stranger.tenant, vec![change(ASKED, &id, 1, to)]).await;
        assert!(matches!(refused, Err(CommitError::RecordMoved { .. })), "{refused:?}");
    }
    // One of the same id is the stranger's own.
    write(&*stranger.tenant, vec![small(ASKED, &id)]).await.unwrap();
    assert_eq!(owner.tenant.record(ASKED, &id).await.unwrap(), Some(left(&mine)));
    write(&*stranger.tenant, vec![change(ASKED, &id, 1, None)]).await.unwrap();
    assert_eq!(owner.tenant.record(ASKED, &id).await.unwrap(), Some(left(&mine)));
}
