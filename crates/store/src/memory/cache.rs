//! Entries of the cache.

use std::collections::BTreeMap;

use async_trait::async_trait;
use schema::{Digest, RunId, TenantId, Timestamp};

use super::{MemoryStore, Tenant, TenantState};
use crate::sums::Sums;
use crate::view::{Derive, Rebuilt, RunEvents};
use crate::{CacheFilter, CacheHeld, CacheKind, CacheRow, CacheStats, CacheStore, CacheWrite, StoreError};

#[async_trait]
impl CacheStore for Tenant {
    async fn cached(
        &self,
        kind: CacheKind,
        key: Digest,
        now: Timestamp,
    ) -> Result<Option<CacheRow>, StoreError> {
        Ok(self.read(|tenant| {
            let row = tenant.cache.get(&(kind, key))?;
            tenant.serves(row, now).then(|| row.clone())
        }))
    }

    async fn touch(&self, kind: CacheKind, key: Digest) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        state.tenants.entry(self.id).or_default().touch(kind, key);
        Ok(())
    }

    async fn cache_stats(&self, now: Timestamp) -> Result<Vec<CacheStats>, StoreError> {
        Ok(self.read(|tenant| {
            let mut stats = BTreeMap::new();
            for row in tenant.cache.values().filter(|row| row.expires_at > now) {
                let kind = row.kind;
                let sum = stats.entry(kind).or_insert(CacheStats { kind, entries: 0, hits: 0, bytes: 0 });
                (sum.entries, sum.hits, sum.bytes) =
                    (sum.entries + 1, sum.hits + row.hits, sum.bytes + row.bytes);
            }
            stats.into_values().collect()
        }))
    }

    async fn invalidate(&self, filter: &CacheFilter) -> Result<u64, StoreError> {
        let mut state = self.shared.lock();
        let tenant = state.tenants.entry(self.id).or_default();
        Ok(tenant.take_out(|_, row| filter.fits(row)))
    }

    async fn sweep_cache(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut state = self.shared.lock();
        let tenant = state.tenants.entry(self.id).or_default();
        Ok(tenant.take_out(|tenant, row| !tenant.serves(row, now)))
    }
}

impl TenantState {
    fn serves(&self, row: &CacheRow, now: Timestamp) -> bool {
        let is_there = if let CacheHeld::Run(run) = row.held { self.runs.contains_key(&run) } else { true };
        row.expires_at > now && is_there && row.subject.is_none_or(|subject| self.knows(subject))
    }

    pub(super) fn touch(&mut self, kind: CacheKind, key: Digest) {
        self.cache.entry((kind, key)).and_modify(|row| row.hits += 1);
    }

    fn take_out(&mut self, is_meant: impl Fn(&Self, &CacheRow) -> bool) -> u64 {
        let kept = std::mem::take(&mut self.cache);
        let (out, kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            kept.into_iter().partition(|(_, row)| is_meant(self, row));
        self.cache = kept;
        out.len() as u64
    }

    pub(super) fn put(&mut self, write: CacheWrite) {
        let subject = match write.held {
            CacheHeld::Run(run) => match self.runs.get(&run) {
                Some(run) => run.subject(),
                None => return,
            },
            CacheHeld::Value(_) => {
                write.subject.as_ref().and_then(|name| self.subjects.get(name.as_str()).copied())
            }
        };
        let (kind, age, bound) = (write.kind, write.age(), write.sees_to());
        let row = CacheRow::new(write, subject);
        let held = |row: &CacheRow| if let CacheHeld::Run(run) = row.held { Some(run) } else { None };
        let older =
            self.cache.get(&(kind, row.key)).is_none_or(|other| (other.created_at, held(other)) <= age);
        if older {
            self.cache.insert((kind, row.key), row);
        }
        if let Some(bound) = bound {
            let of_kind = self.cache.values().filter(|row| row.kind == kind);
            let mut ages: Vec<(Timestamp, Digest)> = of_kind.map(|row| (row.created_at, row.key)).collect();
            ages.sort_unstable();
            let beyond = ages.len().saturating_sub(bound.get() as usize);
            for (_, key) in ages.drain(..beyond) {
                self.cache.remove(&(kind, key));
            }
        }
    }
}

#[async_trait]
impl Derive for MemoryStore {
    async fn run_events(&self, tenant: TenantId, after: Option<RunId>) -> Result<Vec<RunEvents>, StoreError> {
        let state = self.shared.lock();
        let Some(tenant) = state.tenants.get(&tenant).filter(|_| after.is_none()) else {
            return Ok(Vec::new());
        };
        let all = tenant.runs.iter().map(|(id, run)| RunEvents {
            run: *id,
            subject: run.subject(),
            is_erased: run.subject().is_some_and(|subject| !tenant.knows(subject)),
            events: run.events.clone(),
        });
        Ok(all.collect())
    }

    async fn mend_cache(
        &self,
        tenant: TenantId,
        mut wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    ) -> Result<Rebuilt, StoreError> {
        let mut state = self.shared.lock();
        let tenant = state.tenants.entry(tenant).or_default();
        let mut rebuilt = Rebuilt { entries: wanted.len() as u64, repaired: 0 };
        tenant.cache.retain(|(kind, key), row| {
            if *kind != CacheKind::ExactResponse || row.expires_at <= now {
                return true;
            }
            let is_right = wanted.get(key).is_some_and(|wanted| row.says_the_same(wanted));
            if is_right {
                wanted.remove(key);
            }
            rebuilt.repaired += u64::from(!is_right && !wanted.contains_key(key));
            is_right
        });
        rebuilt.repaired += wanted.len() as u64;
        tenant.cache.extend(wanted.into_iter().map(|(key, row)| ((CacheKind::ExactResponse, key), row)));
        Ok(rebuilt)
    }

    async fn mend_usage(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        Ok(self.mend_sums(tenant, &wanted.usage, |sums| &mut sums.usage))
    }

    async fn mend_agents(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        Ok(self.mend_sums(tenant, &wanted.agents, |sums| &mut sums.agents))
    }

    async fn mend_conduct(&self, tenant: TenantId, wanted: Sums) -> Result<Rebuilt, StoreError> {
        Ok(self.mend_sums(tenant, &wanted.conduct, |sums| &mut sums.conduct))
    }
}
