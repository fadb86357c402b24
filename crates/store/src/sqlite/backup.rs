//! A copy of a database that can be trusted, made while others write to it.
//!
//! `VACUUM INTO` on a read connection, and not SQLite's backup API: it is one read transaction, so the copy is one moment
//! and writers never make it start again; and it copies what is there and not the pages, so that nothing that was
//! deleted survives in a free page of the copy. The copy is one file without a write-ahead log.
//!
//! - A file under the asked-for name is whole and verified. Until then it has a name that nobody takes for a backup.
//! - An existing file is never overwritten.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use super::check::{Checked, check};
use super::row::unavailable;
use super::{ahead, beside};
use crate::error::StoreError;

/// How often the progress is told.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// What was found good in it.
    pub checked: Checked,
    /// How long the file is.
    pub bytes: u64,
}

/// How far a copy has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Bytes written, and about how many there will be at most.
    Copying {
        /// So far.
        bytes: u64,
        /// At most.
        of: u64,
    },
    /// Every chain, leaf and row is being checked.
    Verifying,
}

/// Why there is no backup. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is nothing to back up.
    #[error("there is no database at {0}")]
    NoDatabase(PathBuf),
    /// A file of that name is there.
    #[error("{0} exists already, and a backup overwrites nothing; name another file")]
    Exists(PathBuf),
    /// The file or its folder is out of reach.
    #[error("{path} cannot be written")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The database or the copy of it would not do.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies `database` to `target` as it is at one moment, and verifies the copy.
///
/// # Errors
/// See [`BackupError`].
pub fn backup(database: &Path, target: &Path, tell: &mut dyn FnMut(Progress)) -> Result<Backup, BackupError> {
    let io = |cause| BackupError::Io { path: target.to_owned(), cause };
    if target.try_exists().map_err(io)? {
        return Err(BackupError::Exists(target.to_owned()));
    }
    let copy = copy(database, target, tell)?;
    tell(Progress::Verifying);
    let checked = check(copy.path())?;
    let bytes = copy.as_file().metadata().map_err(io)?.len();
    copy.persist_noclobber(target).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => BackupError::Exists(target.to_owned()),
        _ => io(error.error),
    })?;
    sync_folder(folder(target)).map_err(io)?;
    Ok(Backup { checked, bytes })
}

/// A copy of `source` in the folder of `target`, for its owner only and on the disk. It goes away when it is dropped.
pub(super) fn copy(
    source: &Path,
    target: &Path,
    tell: &mut dyn FnMut(Progress),
) -> Result<NamedTempFile, BackupError> {
    let io = |cause| BackupError::Io { path: target.to_owned(), cause };
    if !source.try_exists().map_err(|cause| BackupError::Io { path: source.to_owned(), cause })? {
        return Err(BackupError::NoDatabase(source.to_owned()));
    }
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".");
    let file =
        tempfile::Builder::new().prefix(&name).suffix(".partial").tempfile_in(folder(target)).map_err(io)?;
    match ahead::catch_up(source) {
        // Of what is damaged, what can be read is saved; the copy is looked at by itself.
        Err(StoreError::Damaged(what)) => tracing::warn!(what, "the copy has what is in the database alone"),
        caught_up => caught_up?,
    }
    let connection =
        Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unavailable)?;
    let of = size(&connection).map_err(unavailable)?;
    let path = file.path().to_str().ok_or_else(|| {
        io(std::io::Error::new(std::io::ErrorKind::InvalidFilename, "SQLite wants a name in UTF-8"))
    })?;
    std::thread::scope(|scope| {
        let (done, copied) = channel();
        scope.spawn(move || {
            // An empty file counts as none, and keeps the mode it was made with.
            let _ = done.send(connection.execute("VACUUM INTO ?", [path]).map_err(unavailable));
        });
        loop {
            match copied.recv_timeout(TELL_EVERY) {
                Ok(copied) => {
                    return copied.inspect_err(|_| {
                        // A copy that failed leaves its journal, which would make sense to nobody.
                        let _ = std::fs::remove_file(beside(file.path(), "-journal"));
                    });
                }
                Err(RecvTimeoutError::Timeout) => {
                    let bytes = file.as_file().metadata().map_or(0, |metadata| metadata.len());
                    tell(Progress::Copying { bytes, of });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(StoreError::unavailable("the copying thread is gone"));
                }
            }
        }
    })?;
    file.as_file().sync_all().map_err(io)?;
    Ok(file)
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    Ok(u64::from(pragma("page_count")?) * u64::from(pragma("page_size")?))
}

/// The folder that `path` is in.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Waits until the names in a folder are on the disk.
pub(super) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
