//! Connections that read. WAL lets them read while the writer writes.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::row::unavailable;
use crate::error::StoreError;

/// As many readers as may be busy at once; more callers wait.
const READERS: usize = 4;

/// How much of the database each keeps in memory, in KiB as SQLite has it. The operating system keeps the rest.
const CACHE: i32 = -1_024;

/// A few read-only connections, opened when they are first needed.
pub(super) struct Pool {
    path: PathBuf,
    idle: Mutex<Idle>,
    returned: Condvar,
}

struct Idle {
    connections: Vec<Connection>,
    open: usize,
}

impl Pool {
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let first = read_only(path)?;
        let idle = Mutex::new(Idle { connections: vec![first], open: 1 });
        Ok(Self { path: path.to_owned(), idle, returned: Condvar::new() })
    }

    /// The file that is read.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads on a connection, all of it from one moment, and gives the connection back whatever happens.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = self.take().map_err(unavailable)?;
        let found =
            connection.unchecked_transaction().map_err(unavailable).and_then(|snapshot| read(&snapshot));
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).connections.push(connection);
        self.returned.notify_one();
        found
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(connection) = idle.connections.pop() {
                return Ok(connection);
            }
            if idle.open < READERS {
                let connection = read_only(&self.path)?;
                idle.open += 1;
                return Ok(connection);
            }
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

pub(super) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    // A plan that depended on the values would be made again with every one of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}
