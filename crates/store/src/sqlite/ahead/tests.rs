//! What was acknowledged is there, wherever the process ended and whoever asks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ledger::sha256;
use rusqlite::Connection;
use schema::{Digest, RunId, Seq, Subject, TenantId};
use serde_json::json;

use super::super::check::check_database;
use super::super::guard::{CHECK_FIRST, Check};
use super::super::likeness::Likenesses;
use super::super::{Durability, Existing, OpenError, SqliteStore, backup, beside, check, restore};
use super::journal::{self, Journal};
use super::{MOST, plain};
use crate::conformance::{Corner, Story, at, limit};
use crate::group_commit::Options;
use crate::{
    CacheHeld, CacheKind, CacheWrite, Commit, CommitError, Masters, MeterKey, ReservationId, RunFilter, Seal,
    Settle, Settlement, Store as _, StoreError, Want,
};

const LONG: Duration = Duration::from_secs(3_600);
const METER: MeterKey = MeterKey { meter: Digest::ZERO, window: 0 };

fn keyed(store: SqliteStore) -> SqliteStore {
    store.seal_with(Masters::new(vec![crypto::SealKey::from_bytes([7; 32])]));
    store
}

/// A store that brings nothing into the database before somebody asks.
fn patient(path: &Path, durability: Durability) -> Result<SqliteStore, OpenError> {
    let check = Check::UpTo(CHECK_FIRST);
    SqliteStore::open_checking(path, durability, Options::default(), check, LONG).map(keyed)
}

fn opened(path: &Path) -> Result<SqliteStore, OpenError> {
    patient(path, Durability::Commit)
}

/// How many commits are only in the journal.
fn queued(store: &SqliteStore) -> usize {
    store.inner.ahead.as_ref().unwrap().0.len()
}

/// A whole run that spends 5, is found in the cache, and names a policy.
fn request(story: &mut Story) -> Commit {
    let events = vec![
        story.event("run.started", json!({ "kind": "chat", "agent": "helper", "model": "small" })),
        story.event(
            "policy.decided",
            json!({ "policies": [sha256(b"a policy")], "verdict": { "effect": "allow" } }),
        ),
        story.event("run.finished", json!({ "status": "completed", "inputTokens": 3, "answer": "yes" })),
    ];
    let key = key_of(story.run);
    let entry = |kind, key, held| CacheWrite {
        kind,
        key,
        held,
        subject: None,
        model: Some("small".to_owned()),
        created_at: at(1),
        expires_at: at(1_000),
        bytes: 7,
        at_most: None,
    };
    Commit {
        appends: vec![story.append(events, Settle::Leaf)],
        policies: vec!["a policy".to_owned()],
        cache: vec![
            entry(CacheKind::ExactResponse, key, CacheHeld::Run(story.run)),
            entry(CacheKind::ToolResult, key, CacheHeld::Value(b"kept".to_vec())),
        ],
        touched: vec![(CacheKind::ToolResult, key)],
        settled: vec![Settlement { id: story.run.into(), spent: vec![(METER, 5)] }],
        ..Commit::default()
    }
}

fn key_of(run: RunId) -> Digest {
    sha256(run.as_bytes())
}

fn about(subject: &str, mut commit: Commit) -> Commit {
    commit.appends[0].subject = Subject::try_from(subject.to_owned()).ok();
    commit
}

/// Copies a database as a crash would leave it.
fn crash(path: &Path, to: &Path) -> PathBuf {
    std::fs::create_dir_all(to).unwrap();
    let copy = to.join("punk.db");
    for part in ["", "-wal", "-ahead"] {
        if beside(path, part).exists() {
            std::fs::copy(beside(path, part), beside(&copy, part)).unwrap();
        }
    }
    copy
}

/// Whether exactly these runs are there, with all that came with them.
async fn holds(store: &SqliteStore, tenant: TenantId, runs: &[RunId]) {
    let tenant = store.tenant(tenant);
    let rows = tenant.runs(&RunFilter::ALL, None, limit(10_000)).await.unwrap();
    let mut found: Vec<RunId> = rows.iter().map(|row| row.id).collect();
    found.reverse();
    assert_eq!(found, runs);
    for run in runs {
        let proof = tenant.prove(*run).await.unwrap().unwrap();
        assert_eq!((proof.record.events.len(), proof.record.leaves.len()), (3, 1));
        let entry = tenant.cached(CacheKind::ExactResponse, key_of(*run), at(1)).await.unwrap().unwrap();
        assert_eq!(entry.held, CacheHeld::Run(*run));
        let value = tenant.cached(CacheKind::ToolResult, key_of(*run), at(1)).await.unwrap().unwrap();
        assert_eq!((value.held, value.hits), (CacheHeld::Value(b"kept".to_vec()), 1));
    }
    let spent = 5 * runs.len() as u64;
    assert_eq!(tenant.levels(&[METER], at(1)).await.unwrap(), [(spent, 0)]);
    assert_eq!(tenant.log_size().await.unwrap(), runs.len() as u64);
    let usage = tenant.usage(schema::Day::FIRST, schema::Day::LAST).await.unwrap();
    assert_eq!(usage.iter().map(|row| row.sums.runs).sum::<i64>(), runs.len() as i64);
    let policies = tenant.policies(None, limit(9)).await.unwrap();
    assert_eq!(policies.len(), usize::from(!runs.is_empty()));
}

fn damage(opened: Result<SqliteStore, OpenError>) -> String {
    match opened {
        Err(OpenError::Refused { cause: StoreError::Damaged(what), .. }) => what,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[tokio::test]
async fn a_reader_sees_what_was_acknowledged_before_it_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let mut runs = Vec::new();
    for round in 0..4 {
        for _ in 0..3 {
            let mut story = corner.story();
            let commit = request(&mut story);
            corner.tenant.commit(if round == 2 { about("ada", commit) } else { commit }).await.unwrap();
            runs.push(story.run);
        }
        assert!(queued(&store) > 0, "they are not in the database yet");
        holds(&store, corner.id, &runs).await;
        assert_eq!(queued(&store), 0);
    }
    // And a run that goes on while its beginning is queued.
    let mut story = corner.story();
    corner.append([story.go_on(2)]).await.unwrap();
    assert_eq!(queued(&store), 1);
    corner.append([story.finish()]).await.unwrap();
    assert_eq!(corner.read(story.run).await.len(), 3);
    assert_eq!(check_database(&path).unwrap().runs, 13);
}

#[tokio::test]
async fn what_was_acknowledged_survives_the_end_of_the_process_at_every_step() {
    for durability in [Durability::Commit, Durability::Fsync] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        let store = patient(&path, durability).unwrap();
        let corner = Corner::of(&store);
        let (mut runs, mut crashes) = (Vec::new(), Vec::new());
        for step in 0..8u8 {
            let before = crash(&path, &folder.path().join(format!("{step} before")));
            let mut story = corner.story();
            let commit = request(&mut story);
            corner.tenant.commit(if step % 3 == 1 { about("ada", commit) } else { commit }).await.unwrap();
            runs.push(story.run);
            // Between the journal and the database; the database as it was before, too, with what the journal has by now.
            let after = crash(&path, &folder.path().join(format!("{step} after")));
            std::fs::copy(beside(&path, "-ahead"), beside(&before, "-ahead")).unwrap();
            crashes.push((after, runs.clone()));
            if step % 3 != 1 {
                crashes.push((before, runs.clone()));
            }
            if step % 4 == 3 {
                store.ready().await.unwrap();
                assert_eq!(queued(&store), 0);
                crashes.push((crash(&path, &folder.path().join(format!("{step} settled"))), runs.clone()));
            }
        }
        let tenant = corner.id;
        drop((corner, store));
        assert!(!Journal::beside(&path).exists(), "a store that is closed leaves no journal");
        holds(&opened(&path).unwrap(), tenant, &runs).await;
        for (copy, runs) in crashes {
            // It ends again, in the middle of going on: once after the journal was brought into the database, once before.
            let again = copy.with_file_name("again").join("punk.db");
            std::fs::create_dir_all(again.parent().unwrap()).unwrap();
            let store = opened(&copy).unwrap();
            crash(&copy, again.parent().unwrap());
            holds(&store, tenant, &runs).await;
            drop(store);
            assert_eq!(check(&copy).unwrap().runs, runs.len() as u64);
            holds(&opened(&again).unwrap(), tenant, &runs).await;
            assert_eq!(check(&again).unwrap().runs, runs.len() as u64);
        }
    }
}

#[tokio::test]
async fn a_journal_that_was_cut_off_holds_what_was_acknowledged_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = patient(&path, Durability::Fsync).unwrap();
    let corner = Corner::of(&store);
    let (mut runs, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let mut story = corner.story();
        corner.tenant.commit(request(&mut story)).await.unwrap();
        runs.push(story.run);
        let bytes = std::fs::read(Journal::beside(&path)).unwrap();
        ends.push(journal::read(&bytes).unwrap().unwrap().end);
    }
    let bytes = std::fs::read(Journal::beside(&path)).unwrap();
    let cuts = (ends[0]..=ends[2]).step_by(61).chain([ends[1] - 1, ends[1], ends[1] + 1, ends[2]]);
    for cut in cuts {
        let copy = crash(&path, &folder.path().join(format!("cut at {cut}")));
        std::fs::write(Journal::beside(&copy), &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count();
        holds(&opened(&copy).unwrap(), corner.id, &runs[..whole]).await;
    }
}

#[tokio::test]
async fn damage_in_a_journal_is_found_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    for _ in 0..3 {
        corner.tenant.commit(request(&mut corner.story())).await.unwrap();
    }
    let bytes = std::fs::read(Journal::beside(&path)).unwrap();
    let end = journal::read(&bytes).unwrap().unwrap().end;
    for place in [3, 20, 30, 60, 100, end / 2] {
        let copy = crash(&path, &folder.path().join(format!("changed at {place}")));
        let mut changed = bytes.clone();
        changed[place] ^= 4;
        std::fs::write(Journal::beside(&copy), &changed).unwrap();
        let what = damage(opened(&copy));
        assert!(what.contains("journal"), "{what}");
        assert!(matches!(check(&copy), Err(StoreError::Damaged(_))));
        assert!(matches!(SqliteStore::open_to_read(&copy), Err(OpenError::Refused { .. })));
        assert!(std::fs::read(Journal::beside(&copy)).unwrap() == changed);
    }
    // Of commits that are in the database nothing is missed.
    store.ready().await.unwrap();
    let copy = crash(&path, &folder.path().join("changed later"));
    let mut changed = bytes;
    changed[100] ^= 4;
    std::fs::write(Journal::beside(&copy), &changed).unwrap();
    assert_eq!(check(&copy).unwrap().runs, 3);
    drop(opened(&copy).unwrap());
}

#[tokio::test]
async fn a_journal_that_does_not_go_on_where_the_database_ends_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let commits = async |name: &str, count: usize| {
        let path = folder.path().join(name).join("punk.db");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let store = patient(&path, Durability::Fsync).unwrap();
        let empty = crash(&path, &folder.path().join(format!("empty {name}")));
        let corner = Corner::of(&store);
        for _ in 0..count {
            corner.tenant.commit(request(&mut corner.story())).await.unwrap();
        }
        (path, store, corner, empty)
    };
    let (path, store, corner, empty) = commits("one", 3).await;
    let (other, _other_store, ..) = commits("other", 2).await;
    let stranger = crash(&path, &folder.path().join("stranger"));
    std::fs::copy(Journal::beside(&other), Journal::beside(&stranger)).unwrap();
    assert_eq!(damage(opened(&stranger)), "the journal beside it is another database's, and holds commits");
    // What came between is gone: the journal began anew, and the database is older than that.
    let first = || journal::read(&std::fs::read(Journal::beside(&path)).unwrap()).unwrap().unwrap().first;
    assert_eq!(first(), 1);
    while first() == 1 {
        let mut story = corner.story();
        let long = story.event("note", json!({ "text": "x".repeat(200_000) }));
        corner.append([story.append(vec![long], Settle::Leaf)]).await.unwrap();
        store.ready().await.unwrap();
    }
    corner.tenant.commit(request(&mut corner.story())).await.unwrap();
    std::fs::copy(Journal::beside(&path), Journal::beside(&empty)).unwrap();
    assert!(damage(opened(&empty)).contains("its journal begins with commit"));
}

#[tokio::test]
async fn a_run_that_has_begun_begins_no_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let mut story = corner.story();
    let commit = request(&mut story);
    corner.tenant.commit(commit.clone()).await.unwrap();
    assert_eq!(queued(&store), 1);
    let is_moved = |refused: Result<(), CommitError>| match refused.unwrap_err() {
        CommitError::Moved { run, expected, actual } => {
            (run, expected, actual) == (story.run, Seq::START, Seq(3))
        }
        other => panic!("{other:?}"),
    };
    assert!(is_moved(corner.tenant.commit(commit.clone()).await), "while it is queued");
    assert!(is_moved(corner.tenant.commit(commit.clone()).await), "while it is in the database");
    let tenant = corner.id;
    drop((corner, store));
    let store = opened(&path).unwrap();
    assert!(is_moved(store.tenant(tenant).commit(commit.clone()).await), "after a restart");
    let seal = vec![Seal { run: story.run, expected: Seq(3) }];
    store.tenant(tenant).commit(Commit { seal, ..Commit::default() }).await.unwrap();
    assert!(is_moved(store.tenant(tenant).commit(commit).await), "when its events are given up");
}

#[tokio::test]
async fn of_many_who_begin_the_same_run_one_does_whichever_way_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(&folder.path().join("punk.db")).unwrap();
    let corner = Corner::of(&store);
    for _ in 0..20 {
        let mut story = corner.story();
        let plain = request(&mut story);
        let with_a_job = Commit { jobs: vec![corner.job()], ..plain.clone() };
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let tenant = store.tenant(corner.id);
                let mut commit = if number % 2 == 0 { plain.clone() } else { with_a_job.clone() };
                commit.jobs.iter_mut().for_each(|job| job.id = corner.fresh());
                tokio::spawn(async move { tenant.commit(commit).await })
            })
            .collect();
        let mut written = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(()) => written += 1,
                Err(CommitError::Moved { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(written, 1);
        assert_eq!(corner.read(story.run).await.len(), 3);
    }
}

#[tokio::test]
async fn what_is_written_after_an_erasure_is_sealed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(&folder.path().join("punk.db")).unwrap();
    let corner = Corner::of(&store);
    let commit = async |story: &mut Story| corner.tenant.commit(about("ada", request(story))).await.unwrap();
    let (mut before, mut after) = (corner.story(), corner.story());
    commit(&mut corner.story()).await;
    commit(&mut before).await;
    let ada = Subject::try_from("ada".to_owned()).unwrap();
    let id = corner.tenant.subject(&ada).await.unwrap().unwrap();
    corner.tenant.commit(Commit { erase: vec![id], ..Commit::default() }).await.unwrap();
    commit(&mut after).await;
    let has_answer = async |run| corner.read(run).await[2].payload.get("answer").unwrap().value().is_some();
    assert!(!has_answer(before.run).await && has_answer(after.run).await);
    assert_ne!(corner.tenant.subject(&ada).await.unwrap(), Some(id));
}

#[tokio::test]
async fn what_is_never_queued_is_read_without_waiting_for_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(&folder.path().join("punk.db")).unwrap();
    let corner = Corner::of(&store);
    let (mut first, mut second) = (corner.story(), corner.story());
    corner.tenant.commit(request(&mut first)).await.unwrap();
    store.ready().await.unwrap();
    corner.tenant.commit(request(&mut second)).await.unwrap();
    assert!(store.key(Digest::ZERO).await.unwrap().is_none());
    assert!(corner.tenant.settings().await.unwrap().is_empty());
    let cached = async |key| corner.tenant.cached(CacheKind::ExactResponse, key, at(1)).await.unwrap();
    assert!(cached(Digest::ZERO).await.is_none());
    assert!(cached(key_of(first.run)).await.is_some());
    assert_eq!(queued(&store), 1, "nobody asked for it");
    assert!(cached(key_of(second.run)).await.is_some());
    assert_eq!(queued(&store), 0);
}

#[tokio::test]
async fn a_settlement_counts_when_it_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(&folder.path().join("punk.db")).unwrap();
    let corner = Corner::of(&store);
    let want = [Want { key: METER, limit: 12, amount: 5, hard: true }];
    for spent in [5, 10] {
        let mut story = corner.story();
        corner.tenant.reserve(story.run.into(), &want, at(1), at(9)).await.unwrap();
        corner.tenant.commit(request(&mut story)).await.unwrap();
        assert_eq!(queued(&store), 1);
        assert_eq!(corner.tenant.levels(&[METER], at(1)).await.unwrap(), [(spent, 0)]);
        assert_eq!(queued(&store), 1, "memory knows");
        store.ready().await.unwrap();
        assert_eq!(corner.tenant.levels(&[METER], at(1)).await.unwrap(), [(spent, 0)]);
    }
    let short = corner.tenant.reserve(ReservationId([1; 16]), &want, at(1), at(9)).await.unwrap();
    assert!(matches!(short, crate::Reserved::Short(_)));
}

#[tokio::test]
async fn another_program_never_holds_the_database_while_something_is_queued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let mut story = corner.story();
    corner.tenant.commit(request(&mut story)).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    assert!(other.execute_batch("BEGIN IMMEDIATE").is_err(), "what is queued goes first");
    store.ready().await.unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Nothing is acknowledged that could not be read, and what was is read at once.
    let refused = corner.tenant.commit(request(&mut corner.story())).await;
    assert!(matches!(refused, Err(CommitError::Store(StoreError::Unavailable(_)))), "{refused:?}");
    holds(&store, corner.id, &[story.run]).await;
    other.execute_batch("ROLLBACK").unwrap();
    let mut later = corner.story();
    corner.tenant.commit(request(&mut later)).await.unwrap();
    holds(&store, corner.id, &[story.run, later.run]).await;
}

#[tokio::test]
async fn no_more_is_queued_than_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let ahead = &store.inner.ahead.as_ref().unwrap().0;
    for length in std::iter::repeat_n(100_000, 60).chain([5 << 20, 10]) {
        let mut story = corner.story();
        let long = story.event("note", json!({ "text": "x".repeat(length) }));
        corner.append([story.append(vec![long], Settle::Leaf)]).await.unwrap();
        assert!(ahead.lock().bytes <= MOST);
        if length == 5 << 20 {
            assert_eq!(queued(&store), 0, "a large one goes to SQLite, after what is queued");
        }
    }
    assert!(std::fs::metadata(Journal::beside(&path)).unwrap().len() < 20 << 20);
    let rows = corner.tenant.runs(&RunFilter::ALL, None, limit(100)).await.unwrap();
    assert_eq!(rows.len(), 62);
}

#[tokio::test]
async fn a_backup_an_export_and_a_check_have_what_was_acknowledged_before_they_began() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = keyed(SqliteStore::open(&path, Durability::Commit).unwrap());
    let corner = Corner::of(&store);
    let mut runs = Vec::new();
    for round in 0..5 {
        let mut story = corner.story();
        corner.tenant.commit(request(&mut story)).await.unwrap();
        runs.push(story.run);
        let copy = folder.path().join(format!("{round}.db"));
        assert_eq!(backup(&path, &copy, &mut |_| {}).unwrap().checked.runs, runs.len() as u64);
        let mut story = corner.story();
        corner.tenant.commit(request(&mut story)).await.unwrap();
        runs.push(story.run);
        assert_eq!(check(&path).unwrap().runs, runs.len() as u64);
        let mut story = corner.story();
        corner.tenant.commit(request(&mut story)).await.unwrap();
        runs.push(story.run);
        holds(&keyed(SqliteStore::open_to_read(&path).unwrap()), corner.id, &runs).await;
    }
}

#[tokio::test]
async fn what_a_killed_process_left_in_its_journal_is_in_a_backup_a_check_and_what_a_restore_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let mut story = corner.story();
    corner.tenant.commit(request(&mut story)).await.unwrap();
    let copies = ["check", "read", "backup", "restore"].map(|name| crash(&path, &folder.path().join(name)));
    let [checked, read, backed_up, replaced] = &copies;
    assert_eq!(check(checked).unwrap().runs, 1);
    holds(&keyed(SqliteStore::open_to_read(read).unwrap()), corner.id, &[story.run]).await;
    let target = folder.path().join("backup.db");
    assert_eq!(backup(backed_up, &target, &mut |_| {}).unwrap().checked.runs, 1);
    let restored = restore(&target, replaced, Existing::Keep, &mut |_| {}).unwrap();
    let kept = restored.kept.unwrap();
    holds(&opened(&kept).unwrap(), corner.id, &[story.run]).await;
    holds(&opened(replaced).unwrap(), corner.id, &[story.run]).await;
    assert!(copies.iter().all(|copy| !Journal::beside(copy).exists()));
}

#[tokio::test]
async fn a_record_reads_back_as_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    for subject in [None, Some("ada")] {
        let commit = request(&mut corner.story());
        corner
            .tenant
            .commit(subject.map_or(commit.clone(), |name| about(name, commit.clone())))
            .await
            .unwrap();
    }
    let bytes = std::fs::read(Journal::beside(&path)).unwrap();
    let read = journal::read(&bytes).unwrap().unwrap();
    assert!(!read.records.is_empty() && super::read_journal(&bytes).unwrap() == read.records.len());
    for body in read.records {
        let mut again = Vec::new();
        plain::encode(&plain::decode(body, &Likenesses::default()).unwrap(), &mut again);
        assert!(again == body);
        for cut in 0..body.len() {
            assert!(plain::decode(&body[..cut], &Likenesses::default()).is_err(), "cut at {cut}");
        }
    }
}
