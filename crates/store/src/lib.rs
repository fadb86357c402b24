//! Store: what must not be lost, and the only SQL in the tree.
//!
//! [`Store`] is a database; [`Store::tenant`] gives a handle that carries the tenant, and every method of the handle's
//! traits is about that tenant alone. There are three adapters: `sqlite` (embedded, the default), `postgres` (any number
//! of processes), `memory` (tests and throw-away demos).
//!
//! Start at [`EventStore::commit`]; the traits are by noun (`event.rs`, `run.rs`, `log.rs`, `job.rs`), an adapter has the
//! same file names. `group_commit.rs` is how many callers share one commit.
//!
//! - Acknowledged means committed: a commit returns when it would survive `kill -9`, or a power cut at level `fsync`.
//! - All of a commit is there, or none of it.
//! - Append-only: events are never changed. What is derived from them ([`RunRow`]) can be rebuilt.
//! - No method can be called without a tenant, and another tenant's ids are simply not there.
//!
//! To add a method: the trait, the three adapters, and a promise in `conformance/`, which every adapter must keep.

mod audit;
mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod event;
pub mod group_commit;
mod job;
mod log;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
mod run;
pub mod sqlite;

use schema::TenantId;

pub use audit::{Audited, audit};
pub use commit::{Append, Commit, CommitError, Settle};
pub use error::{BoxError, StoreError};
pub use event::EventStore;
pub use job::{Claimed, Held, Job, JobQueue, JobState, JobStore, LeaseToken, NewJob, Retry};
pub use log::{LogStore, RunProof};
pub use run::{RunRow, RunStore};

/// Everything that one tenant has.
pub trait TenantStore: EventStore + RunStore + LogStore + JobStore {}
impl<T: EventStore + RunStore + LogStore + JobStore> TenantStore for T {}

/// A database.
#[async_trait::async_trait]
pub trait Store: Send + Sync {
    /// The handle of one tenant. Cheap; a tenant that never wrote anything is empty.
    fn tenant(&self, tenant: TenantId) -> Box<dyn TenantStore>;

    /// The work of all tenants.
    fn jobs(&self) -> Box<dyn JobQueue>;

    /// Whether it would take a write now.
    async fn ready(&self) -> Result<(), StoreError>;
}
