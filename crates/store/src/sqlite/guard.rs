//! Whether a database may be used: looked at before it is opened to write, or, when that would take long, right after.
//!
//! - Nothing is written before what can be checked fast was found good.
//! - Once damage is found nothing is written any more. What can still be read is verified as it is read.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::migrate::{self, MigrateError, Standing};
use super::{OpenError, beside, check, pool, wal};
use crate::error::StoreError;

/// Databases up to this size are checked whole before they are used: about two thirds of a second, at 48 MiB a second on
/// two busy cores.
pub(super) const CHECK_FIRST: u64 = 32 << 20;
/// Of those up to this size the pages are, which goes at some 900 MiB a second.
const PAGES_FIRST: u64 = 256 << 20;

/// What is wrong with the database, once it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Found(Arc<OnceLock<String>>);

impl Found {
    /// Refuses when damage was found.
    pub(super) fn nothing(&self) -> Result<(), StoreError> {
        self.0.get().map_or(Ok(()), |what| Err(StoreError::Damaged(what.clone())))
    }
}

/// How much is known of a database before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// All of it is good.
    Whole,
    /// It is too large for that, or its schema is too old.
    NotYet,
}

/// How much to look at before use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// All of it, if it is no larger than so many bytes.
    UpTo(u64),
    /// The pages: what is in them is about to be repaired.
    PagesOnly,
}

/// Looks at the database, which nobody else may be writing to.
pub(super) fn before_use(path: &Path, check: Check) -> Result<Looked, OpenError> {
    let io = |cause| OpenError::Io { path: path.to_owned(), cause };
    let refused = |cause| OpenError::Refused { path: path.to_owned(), cause };
    let broken = |cause| OpenError::NotADatabase { path: path.to_owned(), cause };
    if let Some(damage) = wal::damage(path).map_err(io)? {
        return Err(refused(StoreError::Damaged(damage.to_string())));
    }
    if std::fs::metadata(path).map_err(io)?.len() == 0 {
        return Ok(Looked::Whole);
    }
    let log = match std::fs::metadata(beside(path, "-wal")) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(io(error)),
    };
    let size = std::fs::metadata(path).map_err(io)?.len() + log;
    let connection = pool::read_only(path).map_err(broken)?;
    match migrate::standing(&connection) {
        Ok(_) if check == Check::PagesOnly => {
            check::pages(&connection, "quick_check").map_err(refused)?;
            Ok(Looked::Whole)
        }
        Ok(Standing::Current) if matches!(check, Check::UpTo(bytes) if size <= bytes) => {
            check::check_database(path).map_err(refused)?;
            Ok(Looked::Whole)
        }
        Ok(_) if size <= PAGES_FIRST => {
            check::pages(&connection, "quick_check").map_err(refused)?;
            Ok(Looked::NotYet)
        }
        Ok(_) => Ok(Looked::NotYet),
        // Somebody else's tables, or none yet.
        Err(MigrateError::Foreign) => Ok(Looked::Whole),
        Err(MigrateError::Sqlite(cause)) => Err(broken(cause)),
        Err(cause) => Err(OpenError::Migrate { path: path.to_owned(), cause }),
    }
}

/// Checks the whole database on a thread of its own, and says so when it is not good.
pub(super) fn in_background(path: &Path, found: Found) -> std::io::Result<()> {
    let path = path.to_owned();
    let check = move || match check::check_database(&path) {
        Ok(checked) => tracing::info!(events = checked.events, runs = checked.runs, "the database is good"),
        Err(StoreError::Damaged(what)) => {
            tracing::error!(database = %path.display(), damage = what, "the database is damaged and takes no more writes");
            let _ = found.0.set(what);
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database could not be checked");
        }
    };
    std::thread::Builder::new().name("punk-check".into()).spawn(check).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::{Durability, SqliteStore};
    use super::*;
    use crate::conformance::Corner;
    use crate::group_commit::Options;
    use crate::{CommitError, RunFilter, Store as _};

    #[tokio::test]
    async fn what_is_too_large_to_be_checked_first_is_checked_while_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        let run = {
            let store = SqliteStore::open(&path, Durability::Commit).unwrap();
            let corner = Corner::of(&store);
            let mut story = corner.story();
            corner.append([story.finish()]).await.unwrap();
            story.run
        };
        let connection = rusqlite::Connection::open(&path).unwrap();
        let body: Vec<u8> = connection.query_row("SELECT body FROM segments", [], |row| row.get(0)).unwrap();
        let place = body.windows(9).position(|window| window == b"completed").unwrap();
        let changed = [&body[..place], b"forgotten", &body[place + 9..]].concat();
        connection.execute("UPDATE segments SET body = ?", [changed]).unwrap();
        drop(connection);

        let store = SqliteStore::open_checking(
            &path,
            Durability::Commit,
            Options::default(),
            Check::UpTo(0),
            super::super::ahead::LINGER,
        )
        .unwrap();
        while store.inner.found.nothing().is_ok() {
            tokio::task::yield_now().await;
        }
        let Err(StoreError::Damaged(what)) = store.ready().await else { panic!("it is not ready") };
        assert!(what.contains(&run.to_string()) && what.contains("event 2"), "{what}");
        let corner = Corner::of(&store);
        let refused = corner.append([corner.story().finish()]).await.unwrap_err();
        assert!(matches!(refused, CommitError::Store(StoreError::Damaged(_))), "{refused:?}");
        assert_eq!(
            corner.tenant.runs(&RunFilter::ALL, None, crate::conformance::limit(9)).await.unwrap(),
            [],
            "reads go on"
        );
    }
}
