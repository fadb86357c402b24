//! The store in memory: for tests and throw-away demos.
//!
//! [`MemoryStore`] keeps every promise of the traits but one: what it holds ends with the process. Everything is behind
//! one mutex and found by looking through it, so that what it does can be read at a glance; speed is for the others.
//!
//! Start at `event.rs`, where a commit is checked before anything changes; the other files are named as the traits are.

mod api_key;
mod cache;
mod event;
mod job;
mod log;
mod meter;
mod record;
mod run;
mod subject;
mod sums;
mod tenant;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ledger::{Event, Log};
use schema::{ApiKey, ApiKeyId, Digest, RunId, SubjectId, TenantId, Timestamp};
use serde_json::{Map, Value};
use tokio::sync::{Notify, watch};

use crate::feed::Changes;
use crate::meter::Meters;
use crate::sums::Sums;
use crate::view;
use crate::{
    CacheKind, CacheRow, JobQueue, Masters, Record, RecordKind, RunRow, Sealed, Store, StoreError,
    TenantStore, View,
};

/// A store in memory. A clone is the same store.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn tenant(&self, tenant: TenantId) -> Box<dyn TenantStore> {
        Box::new(Tenant { shared: Arc::clone(&self.shared), id: tenant })
    }

    fn jobs(&self) -> Box<dyn JobQueue> {
        Box::new(Queue { shared: Arc::clone(&self.shared) })
    }

    async fn key(&self, hash: Digest) -> Result<Option<ApiKey>, StoreError> {
        let state = self.shared.lock();
        let owner = state.keys.get(&hash);
        Ok(owner.and_then(|(tenant, id)| state.tenants.get(tenant)?.keys.get(id).cloned()))
    }

    async fn ready(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Nothing is at rest here, so nothing is sealed.
    fn seal_with(&self, _: Masters) {}

    async fn tenants(&self, after: Option<TenantId>, limit: NonZeroU32) -> Result<Vec<TenantId>, StoreError> {
        let state = self.shared.lock();
        let with_runs = state.tenants.iter().filter(|(_, tenant)| !tenant.runs.is_empty());
        let mut found: Vec<TenantId> =
            with_runs.map(|(id, _)| *id).filter(|id| after.is_none_or(|after| *id > after)).collect();
        found.sort_unstable();
        found.truncate(limit.get() as usize);
        Ok(found)
    }

    async fn tenant_rows(
        &self,
        after: Option<TenantId>,
        limit: NonZeroU32,
    ) -> Result<Vec<schema::Tenant>, StoreError> {
        Ok(tenant::rows(&self.shared.lock().tenant_rows, after, limit.get() as usize))
    }

    async fn due_records(
        &self,
        kind: RecordKind,
        group: &str,
        until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<(TenantId, Record)>, StoreError> {
        Ok(self.shared.lock().due_records(kind, group, until, limit.get() as usize))
    }

    async fn forget_meters(&self, before: i64) -> Result<u64, StoreError> {
        let mut state = self.shared.lock();
        Ok(state.tenants.values_mut().map(|tenant| tenant.meters.forget(before)).sum())
    }

    async fn forget_jobs(&self, before: Timestamp, limit: NonZeroU32) -> Result<u64, StoreError> {
        Ok(self.shared.lock().jobs.forget(before, limit.get() as usize))
    }

    fn changed(&self, tenant: TenantId) -> watch::Receiver<u64> {
        self.shared.changes.of(tenant)
    }

    fn views(&self) -> Vec<Box<dyn View>> {
        view::all(self)
    }
}

/// The handle of one tenant.
#[derive(Debug)]
struct Tenant {
    shared: Arc<Shared>,
    id: TenantId,
}

impl Tenant {
    /// Answers from what this tenant has; a tenant that never wrote anything has nothing.
    fn read<T: Default>(&self, answer: impl FnOnce(&TenantState) -> T) -> T {
        self.shared.lock().tenants.get(&self.id).map(answer).unwrap_or_default()
    }
}

/// The handle of workers.
#[derive(Debug)]
struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Told whenever a job falls due that did not before.
    work: Notify,
    changes: Changes,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Whatever is refused is refused before the first change, so a holder that panicked left nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits for work, and whoever is about to: between a look at the queue and the wait nothing is missed.
    fn announce_work(&self) {
        self.work.notify_waiters();
        self.work.notify_one();
    }
}

#[derive(Debug, Default)]
struct State {
    tenants: HashMap<TenantId, TenantState>,
    jobs: job::Jobs,
    /// Whose key a token is, by its hash.
    keys: HashMap<Digest, (TenantId, ApiKeyId)>,
    tenant_rows: BTreeMap<TenantId, schema::Tenant>,
}

/// Everything that one tenant has, but for its jobs: workers look through those of all tenants.
#[derive(Debug, Default)]
struct TenantState {
    runs: BTreeMap<RunId, RunState>,
    log: Log,
    policies: BTreeMap<Digest, String>,
    /// By their names.
    subjects: BTreeMap<String, SubjectId>,
    sealed: BTreeMap<RunId, Sealed>,
    keys: BTreeMap<ApiKeyId, ApiKey>,
    settings: Map<String, Value>,
    cache: BTreeMap<(CacheKind, Digest), CacheRow>,
    records: BTreeMap<(RecordKind, String), Record>,
    meters: Meters,
    sums: Sums,
}

/// A run; it has at least one event.
#[derive(Debug)]
struct RunState {
    row: RunRow,
    events: Vec<Event>,
    /// Whom each of the events is about.
    about: Vec<Option<SubjectId>>,
    /// Where its leaves are in the log, oldest first.
    places: Vec<u64>,
}

impl RunState {
    /// Whom the run is about: whom its first event is.
    fn subject(&self) -> Option<SubjectId> {
        self.about.first().copied().flatten()
    }
}
