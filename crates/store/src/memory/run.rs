//! Runs as lists show them.

use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use schema::RunId;

use super::{RunState, Tenant};
use crate::filter::Traits;
use crate::{RunFilter, RunRow, RunStore, Sealed, StoreError};

#[async_trait]
impl RunStore for Tenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.read(|tenant| tenant.runs.get(&run).map(|run| run.row.clone())))
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        before: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunRow>, StoreError> {
        let (from, to) = filter.bounds(before);
        let (subject, wanted) = (&filter.subject, filter.traits());
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.read(|tenant| {
            let about = subject.as_ref().map(|name| tenant.subjects.get(name.as_str()).copied());
            let newest_first = tenant.runs.range((Bound::Unbounded, end)).rev();
            let fits = |(id, run): &(&RunId, &RunState)| {
                let place = &id.as_bytes()[..];
                place >= from.as_slice()
                    && place < to.as_slice()
                    && about.is_none_or(|about| about.is_some() && run.subject() == about)
                    && wanted.as_ref().is_none_or(|wanted| Traits::of(&run.row).fit(wanted))
            };
            newest_first.filter(fits).take(limit.get() as usize).map(|(_, run)| run.row.clone()).collect()
        }))
    }

    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        Ok(self.read(|tenant| tenant.sealed.get(&run).copied()))
    }
}
