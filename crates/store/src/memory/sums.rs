//! Usage, agents, and what agents did.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Bound;

use async_trait::async_trait;
use schema::{Day, TenantId};

use super::{MemoryStore, Tenant};
use crate::sums::Sums;
use crate::view::{Rebuilt, compare};
use crate::{AgentRow, AgentStore, ConductRow, ConductStore, StoreError, UsageRow, UsageStore};

#[async_trait]
impl UsageStore for Tenant {
    async fn usage(&self, from: Day, to: Day) -> Result<Vec<UsageRow>, StoreError> {
        let mut rows: Vec<UsageRow> = self.read(|tenant| {
            let days = tenant.sums.usage.iter().filter(|(place, _)| (from..=to).contains(&place.0));
            days.map(|(_, row)| row.clone()).collect()
        });
        UsageRow::sort(&mut rows);
        Ok(rows)
    }
}

#[async_trait]
impl AgentStore for Tenant {
    async fn agents(&self, after: Option<&str>, limit: NonZeroU32) -> Result<Vec<AgentRow>, StoreError> {
        let past = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        Ok(self.read(|tenant| {
            let agents = tenant.sums.agents.range::<str, _>(past);
            agents.take(limit.get() as usize).map(|(_, agent)| agent.clone()).collect()
        }))
    }

    async fn agent(&self, name: &str) -> Result<Option<AgentRow>, StoreError> {
        Ok(self.read(|tenant| tenant.sums.agents.get(name).cloned()))
    }
}

#[async_trait]
impl ConductStore for Tenant {
    async fn conduct(&self, agent: &str, from: Day) -> Result<Vec<ConductRow>, StoreError> {
        let days = (agent.to_owned(), from)..=(agent.to_owned(), Day::LAST);
        Ok(self.read(|tenant| tenant.sums.conduct.range(days).map(|(_, row)| row.clone()).collect()))
    }
}

impl MemoryStore {
    pub(super) fn mend_sums<K: Ord + Clone, V: PartialEq + Clone>(
        &self,
        tenant: TenantId,
        wanted: &BTreeMap<K, V>,
        of: impl Fn(&mut Sums) -> &mut BTreeMap<K, V>,
    ) -> Rebuilt {
        let mut state = self.shared.lock();
        let there = of(&mut state.tenants.entry(tenant).or_default().sums);
        let found = there.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
        let (rebuilt, _) = compare(found, &mut wanted.clone());
        *there = wanted.clone();
        rebuilt
    }
}
