//! What is derived from events and kept beside them: lists now; caches, indexes and summaries later.
//!
//! Two things must be possible with anything that is kept twice: making it again, and forgetting a person in it. Whoever
//! adds a table, a file or a shared cache that holds what events say implements [`View`] for it, and joins the list that
//! erasure and `punk rebuild` go through; a test compares that list with the tables there are.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ledger::Event;
use schema::{Digest, RunId, SubjectId, TenantId, Timestamp};

use crate::Store;
use crate::cache::{Asked, CacheFilter, CacheRow};
use crate::error::StoreError;
use crate::sums::Sums;

/// Something derived from events and kept.
#[async_trait]
pub trait View: Send + Sync {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// The tables it has to itself.
    fn tables(&self) -> &'static [&'static str];

    /// Forgets what it holds about an erased subject. The subject's key is gone by then, so whatever is derived anew has
    /// nothing of it. Bears repeating: it is asked again when it is not known whether it was done.
    async fn forget(&self, tenant: TenantId, subject: SubjectId) -> Result<(), StoreError>;

    /// Makes all of it again from the events, and says what was different. While nobody writes.
    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError>;
}

/// The rows of runs, as every store keeps them.
pub(crate) struct RunRows<S>(pub(crate) S);

/// What a store does for its rows of runs.
#[async_trait]
pub(crate) trait RebuildRuns: Send + Sync {
    /// See [`View::rebuild`].
    async fn rebuild_runs(&self, tenant: TenantId) -> Result<Rebuilt, StoreError>;
}

#[async_trait]
impl<S: RebuildRuns> View for RunRows<S> {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["runs", "run_slots"]
    }

    /// A row has no value of a subject in it: its name is read from where its key is, and goes with it.
    async fn forget(&self, _: TenantId, _: SubjectId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        self.0.rebuild_runs(tenant).await
    }
}

/// A run as its segments have it; what is sealed in it stays so.
pub(crate) struct RunEvents {
    pub(crate) run: RunId,
    /// Whom it is about.
    pub(crate) subject: Option<SubjectId>,
    /// Whether the key of the subject is gone.
    pub(crate) is_erased: bool,
    pub(crate) events: Vec<Event>,
}

/// What a store does for what it derives from events.
#[async_trait]
pub(crate) trait Derive: Store {
    /// The next runs past `after` in the order of their ids, with all their events; none after the last.
    async fn run_events(&self, tenant: TenantId, after: Option<RunId>) -> Result<Vec<RunEvents>, StoreError>;

    /// Brings the entries of the kind `exact_response` that have not expired by `now` to what is wanted.
    async fn mend_cache(
        &self,
        tenant: TenantId,
        wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    ) -> Result<Rebuilt, StoreError>;

    /// Brings the usage to what is wanted.
    async fn mend_usage(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError>;

    /// Brings the agents to what is wanted.
    async fn mend_agents(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError>;

    /// Brings what agents did to what is wanted.
    async fn mend_conduct(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError>;
}

/// Reads every run of the tenant.
async fn read_all(
    store: &impl Derive,
    tenant: TenantId,
    mut read: impl FnMut(&RunEvents) + Send,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = store.run_events(tenant, after).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.run);
        page.iter().for_each(&mut read);
    }
}

/// The entries of the cache.
pub(crate) struct CacheEntries<S>(pub(crate) S);

#[async_trait]
impl<S: Derive> View for CacheEntries<S> {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cache_entries"]
    }

    async fn forget(&self, tenant: TenantId, subject: SubjectId) -> Result<(), StoreError> {
        let filter = CacheFilter { subject: Some(subject), ..CacheFilter::default() };
        self.0.tenant(tenant).invalidate(&filter).await.map(drop)
    }

    /// Entries that hold a value are in no event, and stay as they are.
    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let mut asked = Asked::default();
        read_all(&self.0, tenant, |run| asked.read(run)).await?;
        let (wanted, now) = asked.wanted();
        self.0.mend_cache(tenant, wanted, now).await
    }
}

/// The sums that the tenant's events come to.
async fn sums(store: &impl Derive, tenant: TenantId) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    read_all(store, tenant, |run| {
        sums.follow(None, run.run, &run.events);
        run.events.iter().for_each(|event| sums.add_sealed(event));
    })
    .await?;
    Ok(sums)
}

/// The usage, day by day.
pub(crate) struct Usage<S>(pub(crate) S);

#[async_trait]
impl<S: Derive> View for Usage<S> {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["usage_daily"]
    }

    /// Sums have nobody in them.
    async fn forget(&self, _: TenantId, _: SubjectId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let wanted = sums(&self.0, tenant).await?;
        self.0.mend_usage(tenant, wanted).await
    }
}

/// The agents that were seen.
pub(crate) struct Agents<S>(pub(crate) S);

#[async_trait]
impl<S: Derive> View for Agents<S> {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["agents"]
    }

    /// An agent is a program, not a person.
    async fn forget(&self, _: TenantId, _: SubjectId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let wanted = sums(&self.0, tenant).await?;
        self.0.mend_agents(tenant, wanted).await
    }
}

/// What agents did, day by day.
pub(crate) struct Conduct<S>(pub(crate) S);

#[async_trait]
impl<S: Derive> View for Conduct<S> {
    fn name(&self) -> &'static str {
        "conduct"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["conduct_daily"]
    }

    /// An agent is a program, and the rest are numbers.
    async fn forget(&self, _: TenantId, _: SubjectId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let wanted = sums(&self.0, tenant).await?;
        self.0.mend_conduct(tenant, wanted).await
    }
}

/// All that a store derives from events.
pub(crate) fn all<S: Derive + RebuildRuns + Clone + 'static>(store: &S) -> Vec<Box<dyn View>> {
    vec![
        Box::new(RunRows(store.clone())),
        Box::new(CacheEntries(store.clone())),
        Box::new(Usage(store.clone())),
        Box::new(Agents(store.clone())),
        Box::new(Conduct(store.clone())),
    ]
}

/// Holds what is there against what is wanted: how many entries there should be, and how many were missing or wrong. What is
/// right is taken out of `wanted`; what is wrong is named.
pub(crate) fn compare<K: Ord, V: PartialEq>(
    found: impl IntoIterator<Item = (K, Option<V>)>,
    wanted: &mut BTreeMap<K, V>,
) -> (Rebuilt, Vec<K>) {
    let mut rebuilt = Rebuilt { entries: wanted.len() as u64, repaired: 0 };
    let mut wrong = Vec::new();
    for (key, value) in found {
        if value.is_some() && wanted.get(&key) == value.as_ref() {
            wanted.remove(&key);
        } else {
            rebuilt.repaired += u64::from(!wanted.contains_key(&key));
            wrong.push(key);
        }
    }
    rebuilt.repaired += wanted.len() as u64;
    (rebuilt, wrong)
}

/// What a rebuild came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// How many entries there are.
    pub entries: u64,
    /// How many of them were missing, or not what the events say, or had no events.
    pub repaired: u64,
}

impl std::ops::AddAssign for Rebuilt {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.repaired += other.repaired;
    }
}
