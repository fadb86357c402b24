//! The Postgres adapter: any number of processes share one database.
//!
//! [`PostgresStore::connect`] brings the schema up to date (`migrate.rs`) and opens a pool. The other files are by noun,
//! as the traits are; `commit.rs` is the one transaction that writes events.
//!
//! - One transaction is one commit. It locks in one order: subjects, existing runs, API keys, existing records, new runs,
//!   new records, tenants, settings, policies, live jobs, entries of the cache, agents, usage, conduct, meters, each sorted, and the tenant's log last, so that two commits never wait for each other in a circle.
//! - A leaf's index is given out under the lock of the tenant's row in `logs`: indexes have no gaps, whoever writes.
//! - Nothing is needed that a Postgres-compatible distributed engine lacks: no triggers, extensions, sequences or advisory
//!   locks, and `wake.rs` does without notifications. Everything works at `READ COMMITTED`, and a transaction that gave way
//!   is tried again.
//! - A commit is as durable as the server's `synchronous_commit` says. After a lost connection it is unknown whether it
//!   is in: the error is [`StoreError::Unavailable`], and a retry with the same `expected` finds out, as
//!   [`Moved`](crate::CommitError::Moved) if it is.
//!
//! To change the schema: a new file in `migrations/`, a line in `migrate.rs`; an applied migration is never edited.

mod api_key;
mod cache;
mod commit;
mod conduct;
mod connect;
mod error;
mod event;
mod job;
mod log;
mod meter;
mod migrate;
mod pipeline;
mod record;
mod row;
mod run;
mod subject;
mod sums;
mod tenant;
mod tls;
mod view;
mod wake;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Hook, HookError, Object, Pool, Runtime};
use schema::{ApiKey, Digest, TenantId, Timestamp};
use tokio::sync::watch;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub use error::OpenError;

use crate::error::StoreError;
use crate::feed::Changes;
use crate::job::JobQueue;
use crate::record::{Record, RecordKind};
use crate::sealing::{Keys, Masters};
use crate::{Store, TenantStore, View};
use connect::Target;
use error::FromDriver;
use log::Logs;
use wake::Wake;

/// How many connections one process opens at most.
const CONNECTIONS: usize = 16;
/// How long a caller waits for one of them, or for a new one to be made.
const PATIENCE: Duration = Duration::from_secs(10);
/// A node that freezes inside a transaction must not keep a tenant's log locked; a query that hangs is given up.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '10s'; SET statement_timeout = '30s'";

/// A Postgres database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    target: Target,
    pool: Pool,
    logs: Logs,
    keys: Keys,
    wake: Wake,
    changes: Changes,
}

/// What one tenant has.
struct Tenant {
    store: PostgresStore,
    tenant: TenantId,
}

impl PostgresStore {
    /// Opens the database that `url` names (`postgres://user:password@host:5432/database`), after bringing its schema up
    /// to date. Any number of processes may do so at once. With `?sslmode=require` the connections are encrypted and the
    /// server must show a certificate; see `tls.rs`.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        Self::open(url, None).await
    }

    /// As [`connect`](Self::connect), but waiting for work ends after `poll` when nothing is heard of any.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn connect_polling(url: &str, poll: Duration) -> Result<Self, OpenError> {
        Self::open(url, Some(poll)).await
    }

    async fn open(url: &str, poll: Option<Duration>) -> Result<Self, OpenError> {
        let target = Target::from_url(url)?;
        migrate::migrate(&target).await?;
        let session = Hook::async_fn(|client, _| {
            Box::pin(async { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(target.manager())
            .max_size(CONNECTIONS)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .runtime(Runtime::Tokio1)
            .post_create(session)
            .build()
            .map_err(OpenError::Pool)?;
        let (logs, keys) = (Logs::default(), Keys::default());
        let (wake, changes) = (Wake::new(poll), Changes::default());
        Ok(Self { inner: Arc::new(Inner { target, pool, logs, keys, wake, changes }) })
    }

    async fn connection(&self) -> Result<Object, StoreError> {
        Ok(self.inner.pool.get().await?)
    }

    /// The rows that one statement gives.
    async fn query(&self, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        let connection = self.connection().await?;
        let rows = async {
            let statement = connection.prepare_cached(text).await?;
            connection.query(&statement, parameters).await
        };
        let rows = rows.await;
        Ok(give_back(connection, rows)?)
    }

    /// How many rows one statement changes.
    async fn execute(&self, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, StoreError> {
        let connection = self.connection().await?;
        let changed = async {
            let statement = connection.prepare_cached(text).await?;
            connection.execute(&statement, parameters).await
        };
        let changed = changed.await;
        Ok(give_back(connection, changed)?)
    }
}

impl Tenant {
    /// The tenant's id as every query's first parameter.
    fn key(&self) -> &[u8] {
        self.tenant.as_bytes()
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn tenant(&self, tenant: TenantId) -> Box<dyn TenantStore> {
        Box::new(Tenant { store: self.clone(), tenant })
    }

    fn jobs(&self) -> Box<dyn JobQueue> {
        Box::new(self.clone())
    }

    async fn key(&self, hash: Digest) -> Result<Option<ApiKey>, StoreError> {
        api_key::by_hash(self, hash).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        let rows = self.query("SHOW transaction_read_only", &[]).await?;
        match rows.first().map(|row| row.try_get(0)).transpose()? {
            Some("off") => Ok(()),
            _ => Err(StoreError::unavailable(format!(
                "Postgres at {} is read-only, as a standby is; point the database URL at the primary",
                self.inner.target.at
            ))),
        }
    }

    fn seal_with(&self, masters: Masters) {
        self.inner.keys.seal_with(masters);
    }

    async fn tenants(&self, after: Option<TenantId>, limit: NonZeroU32) -> Result<Vec<TenantId>, StoreError> {
        view::tenants(self, after, limit).await
    }

    async fn tenant_rows(
        &self,
        after: Option<TenantId>,
        limit: NonZeroU32,
    ) -> Result<Vec<schema::Tenant>, StoreError> {
        tenant::rows(self, after, limit).await
    }

    async fn due_records(
        &self,
        kind: RecordKind,
        group: &str,
        until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<(TenantId, Record)>, StoreError> {
        record::due(self, kind, group, until, limit).await
    }

    async fn forget_meters(&self, before: i64) -> Result<u64, StoreError> {
        meter::forget(self, before).await
    }

    async fn forget_jobs(&self, before: Timestamp, limit: NonZeroU32) -> Result<u64, StoreError> {
        job::forget(self, before, limit).await
    }

    fn changed(&self, tenant: TenantId) -> watch::Receiver<u64> {
        self.inner.changes.of(tenant)
    }

    fn views(&self) -> Vec<Box<dyn View>> {
        crate::view::all(self)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.inner.target.at).finish()
    }
}

/// Gives a connection back to the pool, unless an error ended it: the pool would hear of that too late, and hand it out.
fn give_back<T, E: FromDriver>(connection: Object, result: Result<T, E>) -> Result<T, E> {
    if result.as_ref().is_err_and(E::ended_connection) {
        drop(Object::take(connection));
    }
    result
}
