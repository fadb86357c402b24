//! The promises of a vault over SQLite, and what its files hold.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod promises;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use promises::{MARK, Shared, add, at, secret, vault};
use schema::TenantId;
use store::Commit;
use store::sqlite::{Durability, SqliteStore};

fn open(folder: &Path) -> Shared {
    Arc::new(SqliteStore::open(&folder.join("punk.db"), Durability::Commit).unwrap())
}

fn temporary() -> Shared {
    // It lies beside the other temporary files, and goes when the system clears those.
    open(&tempfile::tempdir().unwrap().keep())
}

promises::promises!(temporary());

/// How often `needle` is in any file of the folder.
fn occurrences(folder: &Path, needle: &str) -> usize {
    let mut found = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        // The log beside the database goes when the last connection does, which may be now.
        let Ok(bytes) = std::fs::read(entry.unwrap().path()) else { continue };
        found += bytes.windows(needle.len()).filter(|window| *window == needle.as_bytes()).count();
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_holds_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let ours = TenantId::NIL;
    let first = vault(&store, &[1]).await;
    let made = add(&first, ours, "openai", MARK).await;
    let later = format!("{MARK}-later");
    let made = first.replace(ours, &made, secret(&later), at(2_000), Commit::default()).await.unwrap();
    add(&first, ours, "gone", MARK).await;
    let gone = first.find(ours, &promises::reference("gone")).await.unwrap().unwrap();
    first.remove(ours, &gone, Commit::default()).await.unwrap();
    vault(&store, &[2, 1]).await.rotate(|_| ControlFlow::Continue(())).await.unwrap();
    // With the log beside the database as it is while it is open, and after everything went into the file.
    assert!(occurrences(folder.path(), "openai") > 0, "the name is what is looked for in vain otherwise");
    assert_eq!(occurrences(folder.path(), MARK), 0);
    drop((first, store));
    assert_eq!(occurrences(folder.path(), MARK), 0);
    assert!(!format!("{made:?} {gone:?}").contains(MARK));
    assert!(!serde_json::to_string(&made).unwrap().contains(MARK));
}
