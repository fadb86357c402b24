//! What is left in a journal whose process is gone, and what others see of one whose process is not.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, params};
use schema::{RunId, TenantId};

use super::super::event::{self, Prepared};
use super::super::likeness::Likenesses;
use super::super::memory::Memory;
use super::super::often::Statements;
use super::super::request::WriteError;
use super::super::row::{Sql, unavailable};
use super::super::{Durability, OpenError, connect, own, pool, room, run, wal};
use super::journal::{self, Journal, Name};
use super::{mark, plain};
use crate::error::StoreError;

/// How long another process may take to bring into the database what it has acknowledged.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

/// Brings what the journal holds into the database. The name that both share, and the number that comes next.
pub(super) fn recover(connection: &Connection, path: &Path) -> Result<(Name, u64), StoreError> {
    let (name, applied) = mark::find_or_begin(connection).map_err(unavailable)?;
    let bytes = bytes(path)?;
    let Some(read) = read(&bytes)? else { return Ok((name, applied + 1)) };
    let next = read.next().max(applied + 1);
    let damaged = |what: String| Err(StoreError::Damaged(what));
    if let Some(beyond) = read.beyond.filter(|beyond| *beyond > applied) {
        return damaged(format!(
            "commit {} in its journal is damaged, and commit {beyond} follows it",
            read.next()
        ));
    }
    if read.records.is_empty() || read.next() <= applied + 1 {
        // All of it is there, whoever's it is.
        return Ok((name, next));
    }
    if read.name != name {
        return damaged("the journal beside it is another database's, and holds commits".to_owned());
    }
    if read.first > applied + 1 {
        let what = format!("its journal begins with commit {}, and it ends with {applied}", read.first);
        if read.durable {
            return damaged(what);
        }
        // Neither was on the disk when it was acknowledged, and the disk took them in another order.
        tracing::warn!(what, "commits were lost, as they are when a machine loses its power");
    }
    let left = (read.first..).zip(&read.records).filter(|(number, _)| *number > applied);
    let (mut commits, likenesses) = (Vec::new(), Likenesses::default());
    for (number, body) in left {
        let decoded = plain::decode(body, &likenesses);
        commits.push(decoded.map_err(|what| {
            StoreError::Damaged(format!("commit {number} in its journal cannot be read: {what}"))
        })?);
    }
    // What is in the journal may be on the disk already, whatever durability it is gone on with.
    let through = connect(path, Durability::Fsync).map_err(unavailable)?;
    apply(&through, &commits, read.next() - 1)?;
    tracing::info!(commits = commits.len(), "what the journal held is in the database");
    Ok((name, next))
}

fn apply(connection: &Connection, commits: &[Prepared], newest: u64) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction().map_err(unavailable)?;
    let (mut memory, mut statements) = (Memory::default(), Statements::new(&transaction));
    for commit in commits {
        if !is_there(&transaction, commit).map_err(unavailable)? {
            event::write(&mut statements, &mut memory, commit).map_err(not_refused)?;
        }
    }
    // They borrow the transaction.
    drop(statements);
    let end = || {
        memory.write(&transaction)?;
        mark::put(&transaction, newest)?;
        transaction.commit()
    };
    end().map_err(unavailable)
}

/// Whether all of it is in the database already: it was written there after the journal had failed in the middle of it.
fn is_there(connection: &Connection, commit: &Prepared) -> rusqlite::Result<bool> {
    for append in &commit.appends {
        let found = run::read(connection, commit.tenant, append.run)?;
        if found.map(|row| (row.seq, row.head)) != append.end() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What SQLite says of a commit that was acknowledged: it can be damaged or out of reach, but not refuse.
pub(in super::super) fn not_refused(error: WriteError) -> StoreError {
    match error {
        WriteError::Store(_) | WriteError::Gone => error.into(),
        WriteError::Moved { run, .. } => {
            StoreError::Damaged(format!("run {run} begins in the journal, and has begun in the database"))
        }
        other => StoreError::Damaged(format!("the database refuses what the journal holds: {other:?}")),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    match File::open(Journal::beside(path)).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::unavailable(error)),
        _ => Ok(bytes),
    }
}

fn read(bytes: &[u8]) -> Result<Option<journal::Read<'_>>, StoreError> {
    let header =
        |journal::BadHeader| StoreError::Damaged("the beginning of its journal is damaged".to_owned());
    journal::read(bytes).map_err(header)
}

/// The highest id of a run that has begun, whoever's it is.
pub(in super::super) fn highest(connection: &Connection) -> rusqlite::Result<Option<RunId>> {
    let mut highest = None;
    for table in ["runs", "segments", "sealed"] {
        let mut tenant: Vec<u8> = Vec::new();
        let mut next = connection.prepare(&format!("SELECT min(tenant) FROM {table} WHERE tenant > ?"))?;
        let mut last = connection.prepare(&format!("SELECT max(run) FROM {table} WHERE tenant = ?"))?;
        while let Some(Sql(found)) =
            next.query_row([&tenant], |row| row.get::<_, Option<Sql<TenantId>>>(0))?
        {
            let run: Option<Sql<RunId>> = last.query_row(params![Sql(found)], |row| row.get(0))?;
            highest = highest.max(run.map(|Sql(run)| run));
            tenant = found.as_bytes().to_vec();
        }
    }
    Ok(highest)
}

/// Waits until the database has what was acknowledged by now. If its process is gone, brings it there.
pub(in super::super) fn catch_up(path: &Path) -> Result<(), StoreError> {
    let wanted = {
        let bytes = bytes(path)?;
        let Some(read) = read(&bytes)? else { return Ok(()) };
        // What was cut off or is damaged is for whoever brings it into the database to tell.
        read.beyond.unwrap_or(read.next().saturating_sub(1))
    };
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        let connection = pool::read_only(path).map_err(unavailable)?;
        if !connection.table_exists(None, "ahead").map_err(unavailable)? {
            return Ok(());
        }
        let found = mark::find(&connection).map_err(unavailable)?;
        drop(connection);
        if found.is_none_or(|(_, applied)| applied >= wanted) {
            return Ok(());
        }
        match own(path) {
            Ok(_owner) => return apply_left(path),
            Err(OpenError::InUse { .. }) => thread::sleep(PAUSE),
            Err(error) => return Err(StoreError::unavailable(error)),
        }
    }
    Err(StoreError::unavailable("its process does not bring into the database what it has acknowledged"))
}

/// Brings what the journal holds into the database, and takes the journal away. Nobody else may own them.
pub(in super::super) fn apply_left(path: &Path) -> Result<(), StoreError> {
    if let Some(damage) = wal::damage(path).map_err(StoreError::unavailable)? {
        return Err(StoreError::Damaged(damage.to_string()));
    }
    let bring = || recover(&connect(path, Durability::Fsync).map_err(unavailable)?, path);
    match bring() {
        Err(StoreError::Full(_)) => {
            // The journal holds room for it.
            let end = read(&bytes(path)?)?.map_or(0, |read| read.end as u64);
            let file = File::options().write(true).open(Journal::beside(path)).map_err(room::told)?;
            file.set_len(end).map_err(room::told)?;
            bring()?;
        }
        brought => drop(brought?),
    }
    journal::remove(&Journal::beside(path)).map_err(StoreError::unavailable)
}

/// Whether these bytes are a commit as a journal holds it.
///
/// # Errors
/// [`StoreError::Damaged`], if they are not.
pub fn read_journal_record(bytes: &[u8]) -> Result<(), StoreError> {
    plain::decode(bytes, &Likenesses::default()).map(drop).map_err(StoreError::Damaged)
}

/// How many commits a journal holds whose bytes are these.
///
/// # Errors
/// [`StoreError::Damaged`], if it is not what was written.
pub fn read_journal(bytes: &[u8]) -> Result<usize, StoreError> {
    let Some(read) = read(bytes)? else { return Ok(0) };
    if let Some(beyond) = read.beyond {
        return Err(StoreError::Damaged(format!("commit {beyond} follows one that is damaged")));
    }
    read.records.iter().try_for_each(|body| read_journal_record(body))?;
    Ok(read.records.len())
}
