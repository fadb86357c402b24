//! Commits and events.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::{Chain, Event, Leaf, sha256};
use schema::{Digest, RunId, Seq, TenantId};

use super::{RunState, Tenant, TenantState};
use crate::{Append, Commit, CommitError, EventStore, RunRow, Settle, StoreError};

#[async_trait]
impl EventStore for Tenant {
    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let Commit { appends, policies, jobs } = commit;
        let mut state = self.shared.lock();
        let tenant = state.tenants.entry(self.id).or_default();
        tenant.check(self.id, &appends)?;

        // From here on nothing is refused: all of the commit is written.
        for append in appends {
            tenant.write(append);
        }
        tenant.policies.extend(policies.into_iter().map(|text| (sha256(text.as_bytes()), text)));
        let has_work = !jobs.is_empty();
        for job in jobs {
            state.jobs.add(self.id, job);
        }
        drop(state);
        if has_work {
            self.shared.announce_work();
        }
        Ok(())
    }

    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError> {
        let limit = limit.get() as usize;
        Ok(self.read(|tenant| {
            let events = tenant.runs.get(&run).map_or(&[][..], |run| &run.events);
            events.iter().skip_while(|event| event.seq <= after).take(limit).cloned().collect()
        }))
    }
}

impl TenantState {
    /// Whether every append continues its run.
    fn check(&self, id: TenantId, appends: &[Append]) -> Result<(), CommitError> {
        // Where the appends before this one leave a run: should a run occur twice, the second goes after the first.
        let mut ends = BTreeMap::new();
        for Append { run, expected, events, .. } in appends {
            let chain = ends.entry(*run).or_insert_with(|| self.chain(id, *run));
            if chain.seq() != *expected {
                return Err(CommitError::Moved { run: *run, expected: *expected, actual: chain.seq() });
            }
            for event in events {
                chain.verify_next(event).map_err(|cause| CommitError::Refused { run: *run, cause })?;
            }
        }
        Ok(())
    }

    fn chain(&self, id: TenantId, run: RunId) -> Chain {
        let (seq, head) =
            self.runs.get(&run).map_or((Seq::START, Digest::ZERO), |run| (run.row.seq, run.row.head));
        Chain::resume(id, run, seq, head)
    }

    fn write(&mut self, append: Append) {
        let Append { run: id, events, settle, .. } = append;
        let row = self.runs.get(&id).map(|run| run.row.clone());
        // Without events there is nothing to bind, and no run to begin.
        let Some(row) = RunRow::fold_all(row, id, &events).filter(|_| !events.is_empty()) else { return };
        let leaf = Leaf { run: id, seq: row.seq, head: row.head };
        let run = self.runs.entry(id).or_insert_with(|| RunState {
            row: row.clone(),
            events: Vec::new(),
            places: Vec::new(),
        });
        run.row = row;
        run.events.extend(events);
        if settle == Settle::Leaf {
            run.places.push(self.log.push(leaf));
        }
    }
}
