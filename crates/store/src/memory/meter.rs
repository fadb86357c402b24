//! Meters.

use async_trait::async_trait;
use schema::Timestamp;

use super::Tenant;
use crate::{MeterKey, MeterStore, ReservationId, Reserved, StoreError, Want};

#[async_trait]
impl MeterStore for Tenant {
    async fn reserve(
        &self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, StoreError> {
        let mut state = self.shared.lock();
        Ok(state.tenants.entry(self.id).or_default().meters.reserve(id, wants, now, until))
    }

    async fn release(&self, id: ReservationId) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        state.tenants.entry(self.id).or_default().meters.release(id);
        Ok(())
    }

    async fn levels(&self, keys: &[MeterKey], now: Timestamp) -> Result<Vec<(u64, u64)>, StoreError> {
        let mut state = self.shared.lock();
        Ok(state.tenants.entry(self.id).or_default().meters.levels(keys, now))
    }
}
