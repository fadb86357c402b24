//! The embedded store: one SQLite file, one writer with group commit, a few readers.
//!
//! `ahead/` is the journal that most commits go to first; `writer.rs` owns the one connection that writes; `pool.rs` hands out
//! those that read; `migrate.rs` brings the schema up to date before any of them exists. The files by noun hold the SQL. `backup.rs` and `restore.rs` are for whoever runs it.

mod ahead;
mod api_key;
mod backup;
mod beyond;
mod cache;
mod check;
mod checkpoint;
mod conduct;
mod due;
mod eras;
mod event;
mod guard;
mod hot;
mod job;
mod likeness;
mod line;
mod log;
mod memory;
mod meter;
mod migrate;
mod often;
mod pack;
mod pool;
mod presence;
mod record;
mod request;
mod restore;
mod retention;
mod room;
mod row;
mod run;
mod slot;
mod subject;
mod sum;
mod sums;
mod tenant;
mod view;
mod wal;
mod writer;

use std::fs::{File, OpenOptions, TryLockError};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use schema::{ApiKey, Digest, Tenant, TenantId, Timestamp};
use tokio::sync::{Notify, watch};

use crate::cache::{CacheKind, CacheRow};
use crate::error::StoreError;
use crate::feed::Changes;
use crate::group_commit::{GroupCommit, Options};
use crate::sealing::{Keys, Masters};
use crate::{JobQueue, Record, RecordKind, Store, TenantStore, View};
use ahead::{Ahead, AheadWriter};
pub use ahead::{read_journal, read_journal_record};
pub use backup::{Backup, BackupError, Progress, backup};
pub use check::{Checked, check};
use checkpoint::Checkpointer;
use guard::{Check, Found, Looked};
use hot::Hot;
use likeness::Likenesses;
use log::LogCache;
use meter::AllMeters;
pub use migrate::MigrateError;
use pool::Pool;
use presence::Presence;
pub use restore::{Existing, RestoreError, Restored, restore};
use writer::SqliteWriter;

/// How long a write waits while another process holds the database.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however it comes (`kill -9`).
    #[default]
    Commit,
    /// The end of the machine's power too. Every commit waits for the disk.
    Fsync,
}

/// Why the database cannot be opened. Nothing was changed, except that a finished migration stays.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its folder is out of reach.
    #[error("{path} cannot be opened")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// Another process has it open.
    #[error("{path} is in use by another process")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is not a database, or a damaged one.
    #[error("{path} is not a database that can be read")]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
    /// Looking at it found damage, or could not be done.
    #[error("{path} is not used")]
    Refused {
        /// The file.
        path: PathBuf,
        /// What was found.
        #[source]
        cause: StoreError,
    },
    /// Its schema cannot be brought up to date.
    #[error("the schema of {path} cannot be brought up to date")]
    Migrate {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: MigrateError,
    },
}

/// A database in one file. Cloning it is cheap.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    /// Absent in a store that was opened to read.
    writer: Option<GroupCommit<SqliteWriter>>,
    /// What is acknowledged and not in the database yet, and who writes that.
    ahead: Option<(Arc<Ahead>, GroupCommit<AheadWriter>)>,
    readers: Pool,
    logs: LogCache,
    keys: Keys,
    new_work: Notify,
    changes: Changes,
    meters: Arc<AllMeters>,
    presence: Arc<Presence>,
    known: Arc<KnownRows>,
    likenesses: Likenesses,
    found: Found,
    /// Held as long as the store is: one owner per database.
    _owner: Option<File>,
}

/// Rows that are kept in memory.
#[derive(Default)]
struct KnownRows {
    /// API keys by the hashes of their tokens.
    keys: Hot<Digest, ApiKey>,
    /// Entries of the cache that are about nobody.
    entries: Hot<(TenantId, CacheKind, Digest), CacheRow>,
}

impl SqliteStore {
    /// Opens the database at `path`, or begins one, and brings its schema up to date.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, durability: Durability) -> Result<Self, OpenError> {
        Self::open_with(path, durability, Options::default())
    }

    /// The same with other bounds for group commit.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_with(path: &Path, durability: Durability, options: Options) -> Result<Self, OpenError> {
        Self::open_checking(path, durability, options, Check::UpTo(guard::CHECK_FIRST), ahead::LINGER)
    }

    /// Opens a database whose derived rows may be wrong, to make them again. Its pages must be good, and its log.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_to_repair(path: &Path) -> Result<Self, OpenError> {
        Self::open_checking(path, Durability::Fsync, Options::default(), Check::PagesOnly, ahead::LINGER)
    }

    fn open_checking(
        path: &Path,
        durability: Durability,
        options: Options,
        check: Check,
        linger: Duration,
    ) -> Result<Self, OpenError> {
        let io = |cause| OpenError::Io { path: path.to_owned(), cause };
        let damaged = |cause| OpenError::NotADatabase { path: path.to_owned(), cause };
        let owner = own(path)?;
        let refused = |cause| OpenError::Refused { path: path.to_owned(), cause };
        room::is_left(path).map_err(|cause| refused(room::told(cause)))?;
        private_file(path).map_err(io)?;
        let looked = guard::before_use(path, check)?;
        let mut connection = connect(path, durability).map_err(damaged)?;
        migrate::run(&mut connection, path)
            .map_err(|cause| OpenError::Migrate { path: path.to_owned(), cause })?;
        let ahead = Arc::new(Ahead::begin(&connection, path, durability, linger).map_err(refused)?);
        let highest = ahead::highest(&connection).map_err(damaged)?;
        let readers = Pool::open(path).map_err(damaged)?;
        let checkpointer = Checkpointer::start(&mut connection, path).map_err(damaged)?;
        // A disk may take its time; a caller's thread has other callers to serve.
        let options = Options { alone: options.alone && durability == Durability::Commit, ..options };
        let (meters, known) = (Arc::new(AllMeters::default()), Arc::new(KnownRows::default()));
        let writer =
            SqliteWriter::new(connection, checkpointer, meters.clone(), known.clone(), ahead.clone());
        let writer = GroupCommit::start("punk-writer", writer, options).map_err(io)?;
        let journal = AheadWriter::new(ahead.clone(), meters.clone(), known.clone(), highest);
        let journal = GroupCommit::start("punk-journal", journal, options).map_err(io)?;
        ahead.keep_up(writer.clone()).map_err(io)?;
        let store = Self::of(Some(writer), Some((ahead, journal)), readers, meters, known, Some(owner));
        Presence::learn(&store.inner.presence, path);
        if looked == Looked::NotYet {
            guard::in_background(path, store.inner.found.clone()).map_err(io)?;
        }
        Ok(store)
    }

    /// Opens an existing database to read, also while another process owns it. Whatever writes is refused.
    ///
    /// # Errors
    /// See [`OpenError`]; a schema that is not the newest is refused too, for it cannot be changed.
    pub fn open_to_read(path: &Path) -> Result<Self, OpenError> {
        let damaged = |cause| OpenError::NotADatabase { path: path.to_owned(), cause };
        let schema = |cause| OpenError::Migrate { path: path.to_owned(), cause };
        std::fs::metadata(path).map_err(|cause| OpenError::Io { path: path.to_owned(), cause })?;
        ahead::catch_up(path).map_err(|cause| OpenError::Refused { path: path.to_owned(), cause })?;
        match migrate::standing(&pool::read_only(path).map_err(damaged)?).map_err(schema)? {
            migrate::Standing::Current => {
                let readers = Pool::open(path).map_err(damaged)?;
                Ok(Self::of(None, None, readers, Arc::default(), Arc::default(), None))
            }
            migrate::Standing::Older => Err(schema(MigrateError::Older)),
        }
    }

    fn of(
        writer: Option<GroupCommit<SqliteWriter>>,
        ahead: Option<(Arc<Ahead>, GroupCommit<AheadWriter>)>,
        readers: Pool,
        meters: Arc<AllMeters>,
        known: Arc<KnownRows>,
        owner: Option<File>,
    ) -> Self {
        let (logs, keys) = (LogCache::default(), Keys::default());
        let (new_work, changes, found) = (Notify::new(), Changes::default(), Found::default());
        let presence = Arc::new(Presence::default());
        Self {
            inner: Arc::new(Inner {
                writer,
                ahead,
                readers,
                logs,
                keys,
                new_work,
                changes,
                meters,
                presence,
                known,
                likenesses: Likenesses::default(),
                found,
                _owner: owner,
            }),
        }
    }

    /// The tables there are, by name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn tables(&self) -> Result<Vec<String>, StoreError> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
            connection.prepare(text)?.query_map([], |row| row.get(0))?.collect()
        };
        self.inner.readers.with(|connection| read(connection).map_err(row::unavailable))
    }
}

/// Takes the lock that says whose database it is. A file of its own: SQLite's locks come and go with transactions.
fn own(path: &Path) -> Result<File, OpenError> {
    let io = |cause| OpenError::Io { path: path.to_owned(), cause };
    let lock = beside(path, "-owner");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(cause)) => Err(io(cause)),
    }
}

/// The file of the same name with something added.
fn beside(path: &Path, added: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(added);
    name.into()
}

/// Makes the file for its owner only, before SQLite would make it for everybody.
fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// How much of the database the writer keeps in memory, in KiB as SQLite has it. It appends: what it comes back to are the
/// last page of each table and those above it. More than a large batch changes, so that none is written twice.
const WRITER_CACHE: i32 = -2_048;

fn connect(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    // Of a database that is new. A lone commit writes a page of each of ten tables and indexes, for a few bytes in most; and of
    // larger pages the events of a request, some 5 KB, would leave a third empty.
    connection.pragma_update(None, "page_size", 4_096)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        // In WAL mode a commit is with the operating system when it returns; only a power cut can take it back.
        Durability::Commit => "NORMAL",
        Durability::Fsync => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // What is deleted is overwritten: a key that was erased must not be found in a free page.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
    // A plan that depended on the values would be made again with every one of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// One tenant's side of the store.
pub(crate) struct SqliteTenant {
    store: SqliteStore,
    tenant: TenantId,
}

/// The workers' side of the store.
pub(crate) struct SqliteJobs {
    store: SqliteStore,
}

#[async_trait]
impl Store for SqliteStore {
    fn tenant(&self, tenant: TenantId) -> Box<dyn TenantStore> {
        Box::new(SqliteTenant { store: self.clone(), tenant })
    }

    fn jobs(&self) -> Box<dyn JobQueue> {
        Box::new(SqliteJobs { store: self.clone() })
    }

    async fn key(&self, hash: Digest) -> Result<Option<ApiKey>, StoreError> {
        // A store that only reads hears of no change.
        let asked_in = match self.inner.known.keys.get(&hash) {
            Ok(key) if self.inner.writer.is_some() => return Ok(Some(key)),
            Ok(_) => None,
            Err(generation) => Some(generation),
        };
        let key = self.inner.read_aside(move |connection| api_key::by_hash(connection, hash)).await?;
        if let (Some(key), Some(asked_in)) = (&key, asked_in) {
            self.inner.known.keys.learn(hash, key, asked_in);
        }
        Ok(key)
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.inner.write(request::Request::Nothing).await?;
        let inner = self.inner.clone();
        self.inner.on_a_thread(move || room::is_left(inner.readers.path()).map_err(room::told)).await
    }

    fn seal_with(&self, masters: Masters) {
        self.inner.keys.seal_with(masters);
    }

    async fn tenants(&self, after: Option<TenantId>, limit: NonZeroU32) -> Result<Vec<TenantId>, StoreError> {
        self.inner.read(move |connection| view::tenants(connection, after, limit.get())).await
    }

    async fn tenant_rows(
        &self,
        after: Option<TenantId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Tenant>, StoreError> {
        self.inner
            .read_aside(move |connection| tenant::rows(connection, after, limit).map_err(row::unavailable))
            .await
    }

    async fn due_records(
        &self,
        kind: RecordKind,
        group: &str,
        until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<(TenantId, Record)>, StoreError> {
        let group = group.to_owned();
        let read = move |connection: &Connection| record::due(connection, kind, &group, until, limit);
        self.inner.read_aside(move |connection| read(connection).map_err(row::unavailable)).await
    }

    async fn forget_meters(&self, before: i64) -> Result<u64, StoreError> {
        self.forget_windows(before).await
    }

    async fn forget_jobs(&self, before: Timestamp, limit: NonZeroU32) -> Result<u64, StoreError> {
        let reply = self.inner.write(request::Request::ForgetJobs { before, limit }).await?;
        if let request::Reply::Count(count) = reply { Ok(count) } else { Ok(0) }
    }

    fn changed(&self, tenant: TenantId) -> watch::Receiver<u64> {
        self.inner.changes.of(tenant)
    }

    fn views(&self) -> Vec<Box<dyn View>> {
        crate::view::all(self)
    }
}

impl Inner {
    /// Reads on a thread where waiting for the disk holds nobody up. Whatever was acknowledged before is there.
    async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = self.clone();
        self.on_a_thread(move || {
            inner.settle()?;
            inner.readers.with(read)
        })
        .await
    }

    /// The same for what is never queued: what is acknowledged of it is in the database.
    async fn read_aside<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = self.clone();
        self.on_a_thread(move || inner.readers.with(read)).await
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        tokio::task::spawn_blocking(act).await.map_err(StoreError::unavailable)?
    }

    /// Returns when the database has whatever was acknowledged before.
    fn settle(&self) -> Result<(), StoreError> {
        let (Some((ahead, _)), Some(writer)) = (&self.ahead, &self.writer) else { return Ok(()) };
        let Some(newest) = ahead.waiting() else { return Ok(()) };
        let settle = |writer: &mut SqliteWriter| {
            // Whoever had the writer before may have done it.
            if ahead.has_applied(newest) { Ok(()) } else { writer.settle() }
        };
        Ok(writer.act(settle).unwrap_or(Err(request::WriteError::Gone))?)
    }

    /// Who writes, if anybody may.
    fn writable(&self) -> Result<&GroupCommit<SqliteWriter>, StoreError> {
        self.found.nothing()?;
        self.writer.as_ref().ok_or_else(|| StoreError::unavailable("the database is open to read only"))
    }

    async fn write(&self, request: request::Request) -> Result<request::Reply, request::WriteError> {
        use crate::group_commit::SubmitError;
        self.writable()?.submit(request).await.map_err(|error| match error {
            SubmitError::Refused(error) => error,
            SubmitError::Gone => request::WriteError::Gone,
        })
    }
}

impl Drop for Inner {
    /// Whoever opens the database next, with whatever program, finds all of it there.
    fn drop(&mut self) {
        if let Some((ahead, _)) = &self.ahead {
            ahead.end();
            match self.settle() {
                Ok(()) => ahead.remove(),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "some commits are in the journal only, until the store is next opened"
                    );
                }
            }
        }
    }
}
