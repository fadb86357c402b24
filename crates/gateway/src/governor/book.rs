//! Where limits are counted: in the store, or in what the nodes share beside it.
//!
//! What was spent is in the commit of the run either way. A book that is not the store's own hears of it after the commit.

use std::sync::Arc;

use async_trait::async_trait;
use nodes::{MeterError, RedisMeters};
use schema::{TenantId, Timestamp};
use store::{MeterKey, ReservationId, Reserved, Settlement, Store, Want};

use crate::error::{ApiError, unread};

/// Reserves before and settles after, as [`store::MeterStore`] promises it.
#[async_trait]
pub(crate) trait Book: Send + Sync {
    async fn reserve(
        &self,
        tenant: TenantId,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, ApiError>;

    /// Gives back what is reserved. If that fails it ends by itself, later.
    async fn release(&self, tenant: TenantId, id: ReservationId) -> Result<(), ApiError>;

    /// Hears of what was committed. If that fails, what is reserved counts in its place.
    async fn settled(&self, tenant: TenantId, settlement: &Settlement);

    async fn levels(
        &self,
        tenant: TenantId,
        keys: &[MeterKey],
        now: Timestamp,
    ) -> Result<Vec<(u64, u64)>, ApiError>;
}

#[async_trait]
impl Book for Arc<dyn Store> {
    async fn reserve(
        &self,
        tenant: TenantId,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, ApiError> {
        self.tenant(tenant).reserve(id, wants, now, until).await.map_err(unread)
    }

    async fn release(&self, tenant: TenantId, id: ReservationId) -> Result<(), ApiError> {
        self.tenant(tenant).release(id).await.map_err(unread)
    }

    /// The commit has done it.
    async fn settled(&self, _: TenantId, _: &Settlement) {}

    async fn levels(
        &self,
        tenant: TenantId,
        keys: &[MeterKey],
        now: Timestamp,
    ) -> Result<Vec<(u64, u64)>, ApiError> {
        self.tenant(tenant).levels(keys, now).await.map_err(unread)
    }
}

#[async_trait]
impl Book for RedisMeters {
    async fn reserve(
        &self,
        tenant: TenantId,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, ApiError> {
        self.tenant(tenant).reserve(id, wants, now, until).await.map_err(uncounted)
    }

    async fn release(&self, tenant: TenantId, id: ReservationId) -> Result<(), ApiError> {
        self.tenant(tenant).release(id).await.map_err(uncounted)
    }

    async fn settled(&self, tenant: TenantId, settlement: &Settlement) {
        if let Err(error) = self.tenant(tenant).settled(settlement).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what was spent is recorded; Redis hears of it later"
            );
        }
    }

    async fn levels(
        &self,
        tenant: TenantId,
        keys: &[MeterKey],
        now: Timestamp,
    ) -> Result<Vec<(u64, u64)>, ApiError> {
        self.tenant(tenant).levels(keys, now).await.map_err(uncounted)
    }
}

/// Told once, with its causes, to whoever runs the server; the caller only learns that nobody can count now.
fn uncounted(error: MeterError) -> ApiError {
    match error {
        MeterError::Store(error) => unread(error),
        MeterError::Unavailable(_) | MeterError::Forgetful => {
            tracing::error!(error = &error as &dyn std::error::Error, "limits cannot be counted");
            ApiError::Uncounted
        }
    }
}
