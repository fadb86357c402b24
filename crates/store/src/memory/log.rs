//! Proofs against the tenant's log.

use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use ledger::packet::RunRecord;
use ledger::{Leaf, Log, LoggedLeaf};
use schema::{Digest, RunId, Seq, TenantId};

use super::{Tenant, TenantState};
use crate::log::policies_named_by;
use crate::{FeedRow, LogStore, RunProof, StoreError};

#[async_trait]
impl LogStore for Tenant {
    async fn prove(&self, run: RunId) -> Result<Option<RunProof>, StoreError> {
        Ok(self.read(|tenant| tenant.prove(self.id, run)))
    }

    async fn log_head(&self) -> Result<(u64, Digest), StoreError> {
        let head = |log: &Log| (log.size(), log.root());
        Ok(self.read(|tenant| Some(head(&tenant.log))).unwrap_or_else(|| head(&Log::default())))
    }

    async fn log_size(&self) -> Result<u64, StoreError> {
        Ok(self.read(|tenant| tenant.log.size()))
    }

    async fn feed(&self, from: u64, limit: NonZeroU32) -> Result<Vec<FeedRow>, StoreError> {
        let row =
            |(leaf, index, after): (Leaf, u64, Seq)| FeedRow { index, run: leaf.run, seq: leaf.seq, after };
        Ok(self.read(|tenant| {
            let leaves = tenant.log.leaves();
            let told = leaves.iter().copied().zip(0u64..).map(|(leaf, index)| {
                let before = leaves.iter().zip(0..index).filter(|(other, _)| other.run == leaf.run);
                (leaf, index, before.last().map_or(Seq::START, |(other, _)| other.seq))
            });
            let news = told.skip(usize::try_from(from).unwrap_or(usize::MAX));
            news.take(limit.get() as usize).map(row).collect()
        }))
    }

    async fn leaves(&self, from: u64, limit: NonZeroU32) -> Result<Vec<Leaf>, StoreError> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let limit = limit.get() as usize;
        Ok(self.read(|tenant| tenant.log.leaves().iter().skip(from).take(limit).copied().collect()))
    }

    async fn policies(&self, after: Option<Digest>, limit: NonZeroU32) -> Result<Vec<String>, StoreError> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let limit = limit.get() as usize;
        let texts = |tenant: &TenantState| {
            let past = tenant.policies.range((after, Bound::Unbounded));
            past.take(limit).map(|(_, text)| text.clone()).collect()
        };
        Ok(self.read(texts))
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
