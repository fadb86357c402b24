//! Putting a backup in the place of a database.
//!
//! The backup is copied beside the database and the copy is verified; then it takes the database's name in one step.
//!
//! - At every moment the old or the new database is in place. One that is replaced stays, under a name that says so.
//! - A write-ahead log never meets a database that it does not belong to: the old one is closed into its own file first,
//!   or, when it is too damaged for that, leaves together with its log.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::NamedTempFile;

use super::backup::{Backup, BackupError, Progress, copy, folder, sync_folder};
use super::check::check;
use super::migrate::{self, MigrateError, Standing};
use super::row::unavailable;
use super::{OpenError, ahead, beside, own, wal};
use crate::error::StoreError;

/// Files that hold a part of the database while they are there: SQLite's, and our journal.
const PARTS: [&str; 3] = ["-wal", "-journal", "-ahead"];

/// What to do with a database that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it, and refuse.
    Refuse,
    /// Keep it under another name.
    Keep,
}

/// What is in place now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The database.
    pub backup: Backup,
    /// Where the one before it is.
    pub kept: Option<PathBuf>,
}

/// Why nothing was restored. The database is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is no such backup.
    #[error("there is no backup at {0}")]
    NoBackup(PathBuf),
    /// A database is in place.
    #[error(
        "{0} exists already; say --replace to put the backup in its place and keep it under another name"
    )]
    Exists(PathBuf),
    /// A process has the database open to write.
    #[error("{0} is in use by another process; stop that first")]
    InUse(PathBuf),
    /// A process has the database open to read.
    #[error("{0} is being read by another process, such as a backup or an export; wait for its end")]
    BeingRead(PathBuf),
    /// The backup is no good.
    #[error("the backup {path} is damaged: {what}; take another one")]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The backup's schema is not one that this program knows.
    #[error("the backup {path} is not for this program")]
    Schema {
        /// The backup.
        path: PathBuf,
        /// Why.
        #[source]
        cause: MigrateError,
    },
    /// A file or its folder is out of reach.
    #[error("{path} cannot be written")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The store would not do it.
    #[error(transparent)]
    Store(StoreError),
}

/// Puts the database in `backup` at `database`. A backup of an older schema is brought up to date on the way.
///
/// # Errors
/// See [`RestoreError`].
pub fn restore(
    backup: &Path,
    database: &Path,
    existing: Existing,
    tell: &mut dyn FnMut(Progress),
) -> Result<Restored, RestoreError> {
    let io = |cause| RestoreError::Io { path: database.to_owned(), cause };
    let is_there = std::iter::once("").chain(PARTS).any(|part| beside(database, part).exists());
    if is_there && existing == Existing::Refuse {
        return Err(RestoreError::Exists(database.to_owned()));
    }
    // A lock that is there is asked before the long work, one that is not is made after everything else was found good.
    let owner = if beside(database, "-owner").exists() { Some(lock(database)?) } else { None };
    let (copy, restored) = verified(backup, database, tell)?;
    let _owner = owner.map_or_else(|| lock(database), Ok)?;
    if !is_there {
        copy.persist_noclobber(database).map_err(|error| io(error.error))?;
        sync_folder(folder(database)).map_err(io)?;
        return Ok(Restored { backup: restored, kept: None });
    }
    close(database)?;
    let kept = replace(database, copy).map_err(io)?;
    Ok(Restored { backup: restored, kept: Some(kept) })
}

fn lock(database: &Path) -> Result<File, RestoreError> {
    own(database).map_err(|error| match error {
        OpenError::InUse { path } => RestoreError::InUse(path),
        OpenError::Io { path, cause } => RestoreError::Io { path, cause },
        other => RestoreError::Store(StoreError::unavailable(other)),
    })
}

/// A copy of the backup beside the database, with the newest schema, of which everything was found good.
fn verified(
    backup: &Path,
    database: &Path,
    tell: &mut dyn FnMut(Progress),
) -> Result<(NamedTempFile, Backup), RestoreError> {
    let failed = |error| match error {
        StoreError::Damaged(what) => RestoreError::Damaged { path: backup.to_owned(), what },
        other => RestoreError::Store(other),
    };
    let schema = |cause| match cause {
        MigrateError::Sqlite(cause) => failed(unavailable(cause)),
        cause => RestoreError::Schema { path: backup.to_owned(), cause },
    };
    if !backup.is_file() {
        return Err(RestoreError::NoBackup(backup.to_owned()));
    }
    let source = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|error| failed(unavailable(error)))?;
    let standing = migrate::standing(&source).map_err(schema)?;
    drop(source);
    let before = match standing {
        Standing::Current => {
            tell(Progress::Verifying);
            Some(check(backup).map_err(failed)?)
        }
        // Only the newest schema can be checked.
        Standing::Older => None,
    };
    let copy = copy(backup, database, tell).map_err(|error| match error {
        BackupError::NoDatabase(path) | BackupError::Exists(path) => RestoreError::NoBackup(path),
        BackupError::Io { path, cause } => RestoreError::Io { path, cause },
        BackupError::Store(error) => failed(error),
    })?;
    if before.is_none() {
        let mut connection = Connection::open(copy.path()).map_err(|error| failed(unavailable(error)))?;
        migrate::run_on_copy(&mut connection).map_err(schema)?;
    }
    tell(Progress::Verifying);
    let checked = check(copy.path()).map_err(failed)?;
    if before.is_some_and(|before| before != checked) {
        let what = "it changed while it was being copied".to_owned();
        return Err(RestoreError::Damaged { path: backup.to_owned(), what });
    }
    let bytes = copy.as_file().metadata().and_then(|metadata| copy.as_file().sync_all().map(|()| metadata));
    let bytes = bytes.map_err(|cause| RestoreError::Io { path: database.to_owned(), cause })?.len();
    Ok((copy, Backup { checked, bytes }))
}

/// Brings everything of the old database into its one file. A damaged one is left as it is: SQLite would drop what it
/// cannot read of the log.
fn close(database: &Path) -> Result<(), RestoreError> {
    if !matches!(wal::damage(database), Ok(None)) {
        return Ok(());
    }
    if beside(database, "-ahead").exists() {
        // What cannot be brought into the database leaves together with it.
        let _ = ahead::apply_left(database);
    }
    let close = || {
        let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_secs(1))?;
        // Leaving WAL mode takes everybody else's absence, and takes the log away.
        connection.pragma_update(None, "journal_mode", "DELETE")
    };
    match close() {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            Err(RestoreError::BeingRead(database.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Gives the old database a second name, then its name to the copy.
fn replace(database: &Path, copy: NamedTempFile) -> std::io::Result<PathBuf> {
    let kept = free_name(database)?;
    for part in std::iter::once("").chain(PARTS) {
        match keep(&beside(database, part), &beside(&kept, part)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            kept => kept?,
        }
    }
    sync_folder(folder(database))?;
    // Only of a database too damaged to be closed is anything left here. Its log goes first: a crash in between leaves a
    // damaged database without its log, which is also under the other name, and never a log beside a strange database.
    for part in PARTS.into_iter().chain(["-shm"]) {
        match std::fs::remove_file(beside(database, part)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    copy.persist(database).map_err(|error| error.error)?;
    sync_folder(folder(database))?;
    Ok(kept)
}

/// The first of `….replaced-1`, `….replaced-2` and so on that nobody has.
fn free_name(database: &Path) -> std::io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let name = beside(database, &format!(".replaced-{number}"));
        if !name.try_exists()? {
            return Ok(name);
        }
        number += 1;
    }
}

/// The same file under a second name, or a copy where the file system has no second names.
fn keep(file: &Path, name: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(file, name) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            std::fs::copy(file, name)?;
            File::open(name)?.sync_all()
        }
        linked => linked,
    }
}
