//! What a commit costs by itself, beside the gateway's own database: the part of its time that no gateway with a ledger can save.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;
use serde::Serialize;

use crate::load::{median, micros};

/// About what a run leaves in the ledger.
const RECORD: [u8; 4096] = [b'x'; 4096];
const COMMITS: usize = 300;

/// Medians, in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Commit {
    /// One row into SQLite and its commit, as durable as the gateway's are (`store.durability = commit`).
    pub(crate) sqlite: f64,
    /// As many bytes to the end of a file, and `fdatasync`.
    pub(crate) fdatasync: f64,
}

/// Measures both in `folder`, where the gateway's database should be too.
pub(crate) fn measure(folder: &Path) -> Result<Commit, String> {
    let folder = tempfile::tempdir_in(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let sqlite = sqlite(&folder.path().join("bare.db")).map_err(|error| format!("bare commit: {error}"))?;
    let fdatasync = fdatasync(&folder.path().join("bare")).map_err(|error| format!("fdatasync: {error}"))?;
    Ok(Commit { sqlite, fdatasync })
}

fn sqlite(path: &Path) -> rusqlite::Result<f64> {
    let connection = Connection::open(path)?;
    // Every setting that costs a commit something, as the store has it.
    connection.pragma_update(None, "page_size", 8_192)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch("CREATE TABLE records (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")?;
    let mut insert = connection.prepare("INSERT INTO records (body) VALUES (?1)")?;
    let mut times = Vec::with_capacity(COMMITS);
    for _ in 0..COMMITS {
        let begun = Instant::now();
        insert.execute([&RECORD[..]])?;
        times.push(micros(begun.elapsed()));
    }
    Ok(median(times).unwrap_or_default())
}

fn fdatasync(path: &Path) -> std::io::Result<f64> {
    let mut file = File::create(path)?;
    let mut times = Vec::with_capacity(COMMITS);
    for _ in 0..COMMITS {
        let begun = Instant::now();
        file.write_all(&RECORD)?;
        file.sync_data()?;
        times.push(micros(begun.elapsed()));
    }
    Ok(median(times).unwrap_or_default())
}
