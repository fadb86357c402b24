//! Store: what must not be lost, and the only SQL in the tree.
//!
//! [`Store`] is a database; [`Store::tenant`] gives a handle that carries the tenant, and every method of the handle's
//! traits is about that tenant alone. There are three adapters: `sqlite` (embedded, the default), `postgres` (any number
//! of processes), `memory` (tests and throw-away demos).
//!
//! Start at [`EventStore::commit`]; the traits are by noun (`event.rs`, `run.rs`, `log.rs`, `job.rs`,
//! `subject.rs`, `api_key.rs`, `tenant.rs`, `record.rs`, `meter.rs`,
//! `cache.rs`, `usage.rs`, `agent.rs`, `conduct.rs`), an adapter has the same file names. `group_commit.rs` is how many callers share one commit, `sealing.rs`
//! how payloads are kept under the key of the person they are about, `view.rs` what everything derived must be able to do.
//!
//! - Acknowledged means committed: a commit returns when it would survive `kill -9`, or a power cut at level `fsync`.
//! - All of a commit is there, or none of it.
//! - Append-only: events are never changed; erasure destroys a key, and retention gives up whole runs whose heads stay. What
//!   is derived from them ([`RunRow`]) can be rebuilt.
//! - No method can be called without a tenant, and another tenant's ids are simply not there.
//!
//! To add a method: the trait, the three adapters, and a promise in `conformance/`, which every adapter must keep.

mod agent;
mod api_key;
mod audit;
mod cache;
mod commit;
mod conduct;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod event;
mod feed;
mod filter;
pub mod group_commit;
mod job;
mod log;
pub mod memory;
mod meter;
#[cfg(feature = "postgres")]
pub mod postgres;
mod record;
mod run;
mod sealing;
pub mod sqlite;
mod subject;
mod sums;
mod tenant;
mod usage;
mod view;

use std::num::NonZeroU32;

use schema::{ApiKey, Digest, Tenant, TenantId, Timestamp};
use tokio::sync::watch;

pub use agent::{AgentRow, AgentStore};
pub use api_key::{ApiKeyStore, KeyChange};
pub use audit::{Audited, audit};
pub use cache::{
    CACHE_INVALIDATED, CacheFilter, CacheHeld, CacheKind, CacheRow, CacheStats, CacheStore, CacheWrite,
};
pub use commit::{Append, Commit, CommitError, Seal, Settle};
pub use conduct::{ConductRow, ConductStore, conduct_of};
pub use error::{BoxError, StoreError};
pub use event::EventStore;
pub use filter::RunFilter;
pub use job::{Claimed, Held, Job, JobQueue, JobState, JobStore, LeaseToken, NewJob, Retry};
pub use log::{FeedRow, LogStore, RunProof};
pub use meter::{Level, MeterKey, MeterStore, ReservationId, Reserved, Settlement, Want};
pub use record::{Record, RecordBody, RecordChange, RecordFilter, RecordKind, RecordStore};
pub use run::{RANGE_SEALED, RunFields, RunRow, RunStore, Sealed};
pub use sealing::Masters;
pub use subject::SubjectStore;
pub use sums::sums_of;
pub use tenant::SettingsStore;
pub use usage::{UsageRow, UsageStore, UsageSums};
pub use view::{Rebuilt, View};

/// Everything that one tenant has.
pub trait TenantStore:
    EventStore
    + RunStore
    + LogStore
    + JobStore
    + SubjectStore
    + ApiKeyStore
    + SettingsStore
    + CacheStore
    + UsageStore
    + AgentStore
    + RecordStore
    + MeterStore
    + ConductStore
{
}
impl<T> TenantStore for T where
    T: EventStore
        + RunStore
        + LogStore
        + JobStore
        + SubjectStore
        + ApiKeyStore
        + SettingsStore
        + CacheStore
        + UsageStore
        + AgentStore
        + RecordStore
        + MeterStore
        + ConductStore
{
}

/// A database.
#[async_trait::async_trait]
pub trait Store: Send + Sync {
    /// The handle of one tenant. Cheap; a tenant that never wrote anything is empty.
    fn tenant(&self, tenant: TenantId) -> Box<dyn TenantStore>;

    /// The work of all tenants.
    fn jobs(&self) -> Box<dyn JobQueue>;

    /// The API key whose token has this SHA-256, whoever's it is and whether or not it was taken back. Every request asks, so
    /// it is one look into an index, and nothing is remembered: a key that was taken back is so at once, everywhere.
    async fn key(&self, hash: Digest) -> Result<Option<ApiKey>, StoreError>;

    /// Whether it would take a write now.
    async fn ready(&self) -> Result<(), StoreError>;

    /// Takes the keys that the keys of subjects are wrapped with. Only the first time counts; without them nothing that
    /// has a subject can be written, and nothing sealed can be read.
    fn seal_with(&self, masters: Masters);

    /// The tenants that have runs, in the order of their ids, past `after`, at most `limit`.
    async fn tenants(&self, after: Option<TenantId>, limit: NonZeroU32) -> Result<Vec<TenantId>, StoreError>;

    /// The tenants as records, in the order of their ids, past `after`, at most `limit`. The default one is there without
    /// having been made.
    async fn tenant_rows(
        &self,
        after: Option<TenantId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Tenant>, StoreError>;

    /// The records of a kind and a group, whoever's they are, that were due at `until` or before: the longest due first, at
    /// most `limit`.
    async fn due_records(
        &self,
        kind: RecordKind,
        group: &str,
        until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<(TenantId, Record)>, StoreError>;

    /// Deletes what meters counted in windows that began before `before`, in milliseconds since 1970, but for windows without
    /// an end. How many that were.
    async fn forget_meters(&self, before: i64) -> Result<u64, StoreError>;

    /// Deletes jobs that are done and were made before `before`, at most `limit`, whoever's they are; but for the newest of each
    /// tenant and kind, which says that it was done. How many that were.
    async fn forget_jobs(&self, before: Timestamp, limit: NonZeroU32) -> Result<u64, StoreError>;

    /// Changes whenever this process has committed something of the tenant's.
    fn changed(&self, tenant: TenantId) -> watch::Receiver<u64>;

    /// What it derives from events and keeps.
    fn views(&self) -> Vec<Box<dyn View>>;
}
