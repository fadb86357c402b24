//! Records.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::{TenantId, Timestamp};

use super::{State, Tenant, TenantState};
use crate::{CommitError, Record, RecordChange, RecordFilter, RecordKind, RecordStore, StoreError};

#[async_trait]
impl RecordStore for Tenant {
    async fn record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError> {
        Ok(self.read(|tenant| tenant.records.get(&(kind, id.to_owned())).cloned()))
    }

    async fn records(
        &self,
        filter: &RecordFilter,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, StoreError> {
        let fits = |record: &&Record| {
            record.kind == filter.kind
                && before.is_none_or(|before| record.id.as_str() < before)
                && filter.group.as_ref().is_none_or(|group| record.group == *group)
                && filter.key.is_none_or(|key| record.key == Some(key))
        };
        Ok(self.read(|tenant| {
            let newest_first = tenant.records.values().rev();
            newest_first.filter(fits).take(limit.get() as usize).cloned().collect()
        }))
    }

    async fn record_counts(&self, kind: RecordKind) -> Result<BTreeMap<String, u64>, StoreError> {
        Ok(self.read(|tenant| {
            let mut counts = BTreeMap::new();
            for record in tenant.records.values().filter(|record| record.kind == kind) {
                *counts.entry(record.group.clone()).or_default() += 1;
            }
            counts
        }))
    }
}

impl State {
    /// Those of all tenants that were due then.
    pub(super) fn due_records(
        &self,
        kind: RecordKind,
        group: &str,
        until: Timestamp,
        limit: usize,
    ) -> Vec<(TenantId, Record)> {
        let all =
            self.tenants.iter().flat_map(|(id, tenant)| tenant.records.values().map(|record| (*id, record)));
        let is_due = |record: &Record| record.due_at.is_some_and(|due| due <= until);
        let fits = |record: &Record| record.kind == kind && record.group == group && is_due(record);
        let mut due: Vec<(TenantId, &Record)> = all.filter(|(_, record)| fits(record)).collect();
        due.sort_by_key(|(tenant, record)| (record.due_at, *tenant, record.id.as_str()));
        due.into_iter().take(limit).map(|(tenant, record)| (tenant, record.clone())).collect()
    }
}

impl TenantState {
    /// Whether every change finds the version that it expects.
    pub(super) fn check_records(&self, changes: &[RecordChange]) -> Result<(), CommitError> {
        RecordChange::check(changes)?;
        let version = |change: &RecordChange| {
            self.records.get(&(change.kind, change.id.clone())).map_or(0, |record| record.version)
        };
        let moved = changes.iter().find(|change| version(change) != change.expected);
        moved.map_or(Ok(()), |change| Err(change.moved()))
    }

    pub(super) fn change_records(&mut self, changes: Vec<RecordChange>) {
        for change in changes {
            let record = change.record();
            let place = (change.kind, change.id);
            match record {
                Some(record) => drop(self.records.insert(place, record)),
                None => drop(self.records.remove(&place)),
            }
        }
    }
}
