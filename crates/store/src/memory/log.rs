//! Proofs against the tenant's log.

use async_trait::async_trait;
use ledger::packet::RunRecord;
use ledger::{Log, LoggedLeaf};
use schema::{Digest, RunId, TenantId};

use super::{Tenant, TenantState};
use crate::log::policies_named_by;
use crate::{LogStore, RunProof, StoreError};

#[async_trait]
impl LogStore for Tenant {
    async fn prove(&self, run: RunId) -> Result<Option<RunProof>, StoreError> {
        Ok(self.read(|tenant| tenant.prove(self.id, run)))
    }

    async fn log_head(&self) -> Result<(u64, Digest), StoreError> {
        let head = |log: &Log| (log.size(), log.root());
        Ok(self.read(|tenant| Some(head(&tenant.log))).unwrap_or_else(|| head(&Log::default())))
    }
}

impl TenantState {
    fn prove(&self, tenant: TenantId, id: RunId) -> Option<RunProof> {
        let run = self.runs.get(&id)?;
        let leaves = run.places.iter().map(|&index| self.logged(index)).collect::<Option<_>>()?;
        let named = policies_named_by(&run.events);
        let policies = named.iter().filter_map(|digest| self.policies.get(digest).cloned()).collect();
        let events = run.events.clone();
        let record = RunRecord { tenant, run: id, events, leaves, policies, artifacts: Vec::new() };
        Some(RunProof { record, size: self.log.size(), root: self.log.root() })
    }

    fn logged(&self, index: u64) -> Option<LoggedLeaf> {
        let leaf = *self.log.leaves().get(usize::try_from(index).ok()?)?;
        Some(LoggedLeaf { leaf, index, path: self.log.prove_inclusion(index)? })
    }
}
