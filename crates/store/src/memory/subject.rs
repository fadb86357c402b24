//! Subjects: here a key is the name itself, and erasing takes the values out of the events.

use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use schema::{RunId, Subject, SubjectId, TenantId};

use super::{MemoryStore, Tenant, TenantState};
use crate::sealing::take_values;
use crate::view::RebuildRuns;
use crate::{Rebuilt, RunRow, StoreError, SubjectStore};

#[async_trait]
impl SubjectStore for Tenant {
    async fn subject(&self, subject: &Subject) -> Result<Option<SubjectId>, StoreError> {
        Ok(self.read(|tenant| tenant.subjects.get(subject.as_str()).copied()))
    }

    async fn runs_of(
        &self,
        subject: SubjectId,
        after: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunId>, StoreError> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.read(|tenant| {
            let runs = tenant.runs.range((after, Bound::Unbounded));
            let about = runs.filter(|(_, run)| run.subject() == Some(subject));
            about.take(limit.get() as usize).map(|(id, _)| *id).collect()
        }))
    }
}

impl TenantState {
    /// Whether anything is known under this id.
    pub(super) fn knows(&self, subject: SubjectId) -> bool {
        self.subjects.values().any(|id| *id == subject)
    }

    /// Takes the subject's values out of every event, and its name out of every row.
    pub(super) fn erase(&mut self, subject: SubjectId) -> Result<(), StoreError> {
        self.subjects.retain(|_, id| *id != subject);
        for (id, run) in &mut self.runs {
            for (event, about) in run.events.iter_mut().zip(&run.about) {
                if *about == Some(subject) {
                    take_values(event)?;
                }
            }
            if let Some(row) = RunRow::fold_all(None, *id, &run.events) {
                run.row = row;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl RebuildRuns for MemoryStore {
    async fn rebuild_runs(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let mut rebuilt = Rebuilt::default();
        let mut state = self.shared.lock();
        let Some(tenant) = state.tenants.get_mut(&tenant) else { return Ok(rebuilt) };
        for (id, run) in &mut tenant.runs {
            rebuilt.entries += 1;
            if let Some(row) = RunRow::fold_all(None, *id, &run.events).filter(|row| *row != run.row) {
                run.row = row;
                rebuilt.repaired += 1;
            }
        }
        Ok(rebuilt)
    }
}
