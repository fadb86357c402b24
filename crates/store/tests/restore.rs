//! What `restore` does that needs SQLite to show.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use store::conformance::Corner;
use store::sqlite::{
    Backup, BackupError, Durability, Existing, MigrateError, RestoreError, SqliteStore, backup, check,
    restore,
};

async fn database(folder: &Path) -> PathBuf {
    let path = folder.join("punk.db");
    let store = SqliteStore::open(&path, Durability::Commit).unwrap();
    let corner = Corner::of(&store);
    corner.append([corner.story().finish()]).await.unwrap();
    path
}

fn back_up(database: &Path, target: &Path) -> Result<Backup, BackupError> {
    backup(database, target, &mut |_| {})
}

#[tokio::test]
async fn a_database_that_somebody_reads_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path()).await;
    let copy = folder.path().join("copy.db");
    back_up(&path, &copy).unwrap();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("PRAGMA journal_mode = WAL; BEGIN; SELECT * FROM runs").unwrap();
    let refused = restore(&copy, &path, Existing::Keep, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RestoreError::BeingRead(_)), "{refused}");
    drop(reader);
    restore(&copy, &path, Existing::Keep, &mut |_| {}).unwrap();
}

#[tokio::test]
async fn a_log_without_its_database_is_not_given_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path()).await;
    let copy = folder.path().join("copy.db");
    back_up(&path, &copy).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("punk.db-wal"), "of another database").unwrap();
    let refused = restore(&copy, &path, Existing::Refuse, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RestoreError::Exists(_)), "{refused}");
    restore(&copy, &path, Existing::Keep, &mut |_| {}).unwrap();
    assert!(!folder.path().join("punk.db-wal").exists());
    assert!(folder.path().join("punk.db.replaced-1-wal").exists());
}

#[tokio::test]
async fn a_backup_of_a_newer_program_or_of_another_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path()).await;
    let target = folder.path().join("other.db");
    let newer = folder.path().join("newer.db");
    back_up(&path, &newer).unwrap();
    let insert = "INSERT INTO schema_migrations VALUES (99, 'later', '')";
    Connection::open(&newer).unwrap().execute(insert, []).unwrap();
    let refused = restore(&newer, &target, Existing::Refuse, &mut |_| {}).unwrap_err();
    let RestoreError::Schema { cause: MigrateError::Newer { found: 99, .. }, .. } = refused else {
        panic!("{refused}")
    };
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).unwrap().execute("CREATE TABLE songs (title TEXT)", []).unwrap();
    let refused = restore(&foreign, &target, Existing::Refuse, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RestoreError::Schema { cause: MigrateError::Foreign, .. }), "{refused}");
    assert!(!target.exists());
}

#[test]
fn a_backup_of_an_older_schema_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let older = folder.path().join("older.db");
    let before_the_first_step = "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT";
    Connection::open(&older).unwrap().execute(before_the_first_step, []).unwrap();
    let target = folder.path().join("punk.db");
    restore(&older, &target, Existing::Refuse, &mut |_| {}).unwrap();
    assert_eq!(check(&target).unwrap().events, 0);
    let mut left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["older.db", "punk.db", "punk.db-owner"]);
}
