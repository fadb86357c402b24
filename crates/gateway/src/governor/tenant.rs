//! What a tenant has decided for itself: its budgets, its exceptions, and whether memory is held in quarantine.

use std::num::NonZeroU32;
use std::sync::Arc;

use governance::{Budget, Exception};
use outbox::Webhook;
use schema::TenantId;
use serde::de::DeserializeOwned;
use store::{RecordFilter, RecordKind};

use crate::app::Shared;
use crate::error::{ApiError, unread};
use crate::setting::Settings;

/// How many are read at a time.
const PAGE: NonZeroU32 = NonZeroU32::new(500).unwrap();
/// The word that what holds is grouped under.
pub(crate) const ACTIVE: &str = "active";
/// The word that what was taken back is grouped under.
pub(crate) const ENDED: &str = "ended";

/// What a tenant has decided.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) budgets: Vec<Budget>,
    pub(crate) exceptions: Vec<Exception>,
    /// Who is told of what happens.
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) settings: Settings,
}

impl Shared {
    /// What holds for a tenant. It is asked before every verdict, and a verdict without it would be a guess: when it cannot
    /// be read, nothing is decided.
    pub(crate) async fn decided(&self, tenant: TenantId) -> Result<Arc<Decided>, ApiError> {
        if let Some(decided) = self.decided_by.get(&tenant) {
            return Ok(decided);
        }
        let decided = Arc::new(Decided {
            budgets: self.active(tenant, RecordKind::Budget).await?,
            exceptions: self.active(tenant, RecordKind::Exception).await?,
            webhooks: outbox::webhooks(&*self.of(tenant)).await.map_err(unread)?,
            settings: self.settings(tenant).await?,
        });
        self.house.learn(tenant, &decided.settings.redaction);
        self.decided_by.learn(tenant, Arc::clone(&decided));
        Ok(decided)
    }

    /// All records of a kind that hold.
    async fn active<T: DeserializeOwned>(
        &self,
        tenant: TenantId,
        kind: RecordKind,
    ) -> Result<Vec<T>, ApiError> {
        let filter = RecordFilter { group: Some(ACTIVE.to_owned()), ..RecordFilter::of(kind) };
        let (store, mut all, mut before) = (self.of(tenant), Vec::new(), None::<String>);
        loop {
            let page = store.records(&filter, before.as_deref(), PAGE).await.map_err(unread)?;
            let Some(last) = page.last() else { return Ok(all) };
            before = Some(last.id.clone());
            for record in page {
                // What is kept was written by us; what cannot be read is no reason to go on without it.
                all.push(serde_json::from_value(record.body).map_err(unread)?);
            }
        }
    }
}
