//! The embedded store keeps every promise, and a few of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use std::path::Path;

use store::sqlite::{Durability, OpenError, SqliteStore, check};
use store::{Append, Commit, RunFilter, Settle, Store, StoreError};

/// A store in a folder that goes away with the process.
fn temporary() -> SqliteStore {
    let folder = tempfile::tempdir().unwrap().keep();
    SqliteStore::open(&folder.join("punk.db"), Durability::Commit).unwrap()
}

store::suite!(temporary());

#[test]
fn a_second_owner_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let _owner = SqliteStore::open(&path, Durability::Commit).unwrap();
    assert!(matches!(SqliteStore::open(&path, Durability::Commit), Err(OpenError::InUse { .. })));
}

#[test]
#[cfg(unix)]
fn the_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let _store = SqliteStore::open(&path, Durability::Fsync).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let text = "this is not a database, and it is longer than the header of one would be. ".repeat(20);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(SqliteStore::open(&path, Durability::Commit), Err(OpenError::NotADatabase { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

/// Commits `runs` runs of three events and closes the store, so that everything is in the main file.
fn written(path: &Path, runs: u8) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(path, Durability::Commit).unwrap();
        for _ in 0..runs {
            store::conformance::all_of_a_commit_is_there_or_none_of_it(&store).await;
        }
        store.ready().await.unwrap();
    });
}

#[test]
fn a_database_with_pages_of_another_size_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    written(&path, 1);
    let before = check(&path).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let larger = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL";
    connection.execute_batch(larger).unwrap();
    drop(connection);
    written(&path, 2);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let size: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    assert_eq!(size, 8_192);
    assert_eq!(check(&path).unwrap().events, before.events * 3);
}

#[test]
fn a_changed_byte_in_a_segment_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    written(&path, 3);
    let checked = check(&path).unwrap();
    assert!(checked.events > 0 && checked.runs > 0);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let select = "SELECT body FROM segments WHERE id = 1";
    let mut body: Vec<u8> = connection.query_row(select, [], |row| row.get(0)).unwrap();
    let place = body.windows(8).position(|window| window == b"\"type\":\"").unwrap();
    body[place + 8] ^= 1;
    connection.execute("UPDATE segments SET body = ? WHERE id = 1", [body]).unwrap();
    drop(connection);
    assert!(matches!(check(&path), Err(StoreError::Damaged(_))));
}

#[test]
fn a_row_that_is_not_what_its_events_say_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    written(&path, 2);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE runs SET row = replace(row, ',0,', ',1,')", []).unwrap();
    drop(connection);
    let outcome = check(&path);
    assert!(matches!(outcome, Err(StoreError::Damaged(_))), "{outcome:?}");
}

#[tokio::test]
async fn the_write_ahead_log_does_not_grow_with_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = SqliteStore::open(&path, Durability::Commit).unwrap();
    let tenant = store.tenant(schema::TenantId::NIL);
    for n in 0..600u64 {
        let run = schema::RunId::new(1_790_000_000_000 + n, [7; 10]);
        let mut recorder = ledger::Recorder::new(schema::TenantId::NIL, run);
        let at = schema::Timestamp::from_millis(1_790_000_000_000).unwrap();
        let fields = [("text".to_owned(), serde_json::Value::from("x".repeat(100_000)))];
        recorder.append(at, "note", fields, || ledger::Salt::from_bytes([7; 16])).unwrap();
        let append = Append { events: recorder.end(), settle: Settle::Leaf, subject: None };
        tenant.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    }
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len() >> 20;
    let (log, database) = (size("punk.db-wal"), size("punk.db"));
    assert!(log < 40 && database > 20, "log {log} MiB, database {database} MiB of 60 MiB written");
}

#[tokio::test]
async fn rows_that_were_lost_or_changed_are_made_again_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let corner_rows = |tenant: Box<dyn store::TenantStore>| async move {
        tenant.runs(&RunFilter::ALL, None, store::conformance::limit(100)).await.unwrap()
    };
    let (id, before) = {
        let store = SqliteStore::open(&path, Durability::Commit).unwrap();
        store.seal_with(store::Masters::new(vec![crypto::SealKey::from_bytes([7; 32])]));
        let corner = store::conformance::Corner::of(&store);
        let subject = schema::Subject::try_from("ada".to_owned()).ok();
        for _ in 0..20 {
            let mut story = corner.story();
            corner.append([Append { subject: subject.clone(), ..story.go_on(2) }]).await.unwrap();
            corner.append([story.finish()]).await.unwrap();
        }
        (corner.id, corner_rows(store.tenant(corner.id)).await)
    };
    let damage = rusqlite::Connection::open(&path).unwrap();
    damage.execute_batch("DELETE FROM runs WHERE unicode(substr(hex(run), 32, 1)) % 3 = 0").unwrap();
    let lost = damage.changes();
    damage.execute_batch("UPDATE runs SET row = replace(row, 'small', 'large'), subject = NULL").unwrap();
    let changed = damage.changes();
    drop(damage);
    assert!(lost > 0 && changed > 0);
    // A database in this state is not served; whoever rebuilds opens it for that alone.
    assert!(matches!(SqliteStore::open(&path, Durability::Commit), Err(OpenError::Refused { .. })));
    let store = SqliteStore::open_to_repair(&path).unwrap();
    store.seal_with(store::Masters::new(vec![crypto::SealKey::from_bytes([7; 32])]));
    let mut rebuilt = store::Rebuilt::default();
    for view in store.views() {
        let part = view.rebuild(id).await.unwrap();
        if view.name() == "runs" {
            rebuilt += part;
        } else {
            assert_eq!(part.repaired, 0, "{}", view.name());
        }
    }
    assert_eq!(rebuilt, store::Rebuilt { entries: 20, repaired: lost + changed });
    assert_eq!(corner_rows(store.tenant(id)).await, before);
    drop(store);
    assert!(check(&path).is_ok());
}

#[tokio::test]
async fn what_was_spent_survives_a_restart_and_what_was_reserved_ends_with_its_process() {
    use store::conformance::{Corner, at};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let key = store::MeterKey { meter: ledger::sha256(b"money"), window: 86_400_000 };
    let want = |amount| [store::Want { key, limit: 100, amount, hard: true }];
    let id = {
        let store = SqliteStore::open(&path, Durability::Commit).unwrap();
        let corner = Corner::of(&store);
        for amount in [30, 31] {
            let mut story = corner.story();
            let id = story.run.into();
            corner.tenant.reserve(id, &want(amount), at(1), at(9)).await.unwrap();
            let settled = vec![store::Settlement { id, spent: vec![(key, amount)] }];
            let commit = Commit { appends: vec![story.finish()], settled, ..Commit::default() };
            corner.tenant.commit(commit).await.unwrap();
        }
        corner.tenant.reserve(corner.story().run.into(), &want(39), at(1), at(9)).await.unwrap();
        assert_eq!(corner.tenant.levels(&[key], at(1)).await.unwrap(), [(61, 39)]);
        corner.id
    };
    let store = SqliteStore::open(&path, Durability::Commit).unwrap();
    let tenant = store.tenant(id);
    let (one, other) = (store::ReservationId([1; 16]), store::ReservationId([2; 16]));
    let held = tenant.reserve(one, &want(39), at(1), at(9)).await.unwrap();
    assert!(
        matches!(held, store::Reserved::Held(levels) if (levels[0].spent, levels[0].reserved) == (61, 0))
    );
    let short = tenant.reserve(other, &want(1), at(1), at(9)).await.unwrap();
    assert!(matches!(short, store::Reserved::Short(_)));
    drop((tenant, store));
    // Whoever only reads does not reserve, for the owner would not know.
    let reader = SqliteStore::open_to_read(&path).unwrap().tenant(id);
    assert_eq!(reader.levels(&[key], at(1)).await.unwrap(), [(61, 0)]);
    assert!(matches!(reader.reserve(one, &want(1), at(1), at(9)).await, Err(StoreError::Unavailable(_))));
    let damage = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(damage.execute("UPDATE meters SET spent = 1", []).unwrap(), 1);
    drop(damage);
    assert!(matches!(reader.levels(&[key], at(1)).await, Ok(levels) if levels == [(61, 0)]));
    assert!(matches!(check(&path), Err(StoreError::Damaged(_))));
}

/// A database as the first schema had it, with a finished run, one that goes on, and a second leaf.
fn of_the_first_schema(path: &Path) -> (schema::TenantId, Vec<store::conformance::Story>) {
    const FIRST: &str = include_str!("../src/sqlite/migrations/0001_first.sql");
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE schema_migrations (
                 version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT",
        )
        .unwrap();
    connection.execute_batch(FIRST).unwrap();
    let applied = "INSERT INTO schema_migrations (version, name, sha256) VALUES (1, 'first', ?)";
    connection.execute(applied, [ledger::sha256(FIRST.as_bytes()).to_string()]).unwrap();
    let tenant = schema::TenantId::from_bytes([7; 16]);
    let mut stories: Vec<_> = (0..2u8)
        .map(|n| store::conformance::Story::new(tenant, schema::RunId::from_bytes([n + 1; 16])))
        .collect();
    let mut later = {
        let (first, second) = stories.split_at_mut(1);
        vec![first[0].finish(), second[0].go_on(2)]
    };
    let feedback = stories[0].event("feedback.given", serde_json::json!({ "score": 1 }));
    later.push(stories[0].append(vec![feedback], Settle::Leaf));
    let (mut rows, mut leaf) = (std::collections::BTreeMap::new(), 0);
    for append in later {
        let run = append.events.run();
        let (last, head) = append.events.end();
        let insert = "INSERT INTO segments (tenant, run, first_seq, last_seq, body) VALUES (?, ?, ?, ?, ?)";
        let body = serde_json::to_vec(&append.events[..]).unwrap();
        let (first, last) = (append.events.after().0 as i64 + 1, last.0 as i64);
        connection
            .execute(insert, rusqlite::params![tenant.as_bytes(), run.as_bytes(), first, last, body])
            .unwrap();
        if append.settle == Settle::Leaf {
            let insert = "INSERT INTO leaves (tenant, idx, run, seq, head) VALUES (?, ?, ?, ?, ?)";
            let values = rusqlite::params![tenant.as_bytes(), leaf, run.as_bytes(), last, head.as_bytes()];
            connection.execute(insert, values).unwrap();
            leaf += 1;
        }
        let row = store::RunRow::fold_all(rows.remove(&run), run, &append.events).unwrap();
        let insert = "INSERT OR REPLACE INTO runs (tenant, run, seq, head, row) VALUES (?, ?, ?, ?, ?)";
        let text = serde_json::to_string(&row).unwrap();
        let values = rusqlite::params![tenant.as_bytes(), run.as_bytes(), last, head.as_bytes(), text];
        connection.execute(insert, values).unwrap();
        rows.insert(run, row);
    }
    (tenant, stories)
}

#[tokio::test]
async fn a_database_of_the_first_schema_is_backed_up_brought_up_to_date_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let (tenant, mut stories) = of_the_first_schema(&path);
    let store = SqliteStore::open(&path, Durability::Commit).unwrap();
    assert!(folder.path().join("punk.db.before-2").exists(), "a backup is beside it");
    store.seal_with(store::Masters::throw_away().unwrap());
    let handle = store.tenant(tenant);
    let proof = handle.prove(stories[0].run).await.unwrap().unwrap();
    assert_eq!((proof.record.events.len(), proof.record.leaves.len()), (3, 2));
    // The old run goes on, about somebody now, and can be given up like any other.
    let ended = stories[1].finish();
    let subject = schema::Subject::try_from("ada".to_owned()).ok();
    handle.commit(Commit { appends: vec![Append { subject, ..ended }], ..Commit::default() }).await.unwrap();
    assert_eq!(handle.prove(stories[1].run).await.unwrap().unwrap().record.leaves.len(), 1);
    store::audit(&*handle, tenant).await.unwrap();
    // What came later is made from the old events, once.
    for again in [false, true] {
        for view in store.views() {
            let rebuilt = view.rebuild(tenant).await.unwrap();
            assert!(!again || rebuilt.repaired == 0, "{}: {rebuilt:?}", view.name());
        }
    }
    let seal = vec![store::Seal { run: stories[0].run, expected: stories[0].seq() }];
    handle.commit(Commit { seal, ..Commit::default() }).await.unwrap();
    assert_eq!(handle.sealed(stories[0].run).await.unwrap().unwrap().leaf, 1, "its last leaf");
}
