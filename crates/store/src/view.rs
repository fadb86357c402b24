//! What is derived from events and kept beside them: lists now; caches, indexes and summaries later.
//!
//! Two things must be possible with anything that is kept twice: making it again, and forgetting a person in it. Whoever
//! adds a table, a file or a shared cache that holds what events say implements [`View`] for it, and joins the list that
//! erasure and `punk rebuild` go through; a test compares that list with the tables there are.

use async_trait::async_trait;
use schema::{SubjectId, TenantId};

use crate::error::StoreError;

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
        &["runs"]
    }

    /// A row has no value of a subject in it: its name is read from where its key is, and goes with it.
    async fn forget(&self, _: TenantId, _: SubjectId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        self.0.rebuild_runs(tenant).await
    }
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
