//! Looking at all of a tenant's credentials, so that its values are known before anything of it is written.

use crypto::SecretString;
use schema::{CredentialId, TenantId};
use std::sync::Arc;
use std::time::Duration;
use store::{Record, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::credential::Credential;
use crate::error::OpenError;
use crate::stored::Stored;
use crate::vault::{PAGE, Vault};

/// How long a store that did not answer is not asked again: whoever waits in line need not wait for it too.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whose turn it is to look, and when that last failed.
#[derive(Debug, Default)]
pub(crate) struct Look(Mutex<Option<Instant>>);

impl Vault {
    /// Sees to it that the values of a tenant and of the installation are known, as they were half a minute ago at most.
    /// One that does not open is told in the log. Two loads, nearly always.
    ///
    /// # Errors
    /// The store does not answer; what is known stays so.
    pub async fn refresh(&self, tenant: TenantId) -> Result<(), StoreError> {
        for whose in [TenantId::NIL, tenant] {
            if self.known.is_fresh(whose, Instant::now()) {
                continue;
            }
            let mut failed = self.look.0.lock().await;
            let now = Instant::now();
            if self.known.is_fresh(whose, now) {
                continue;
            }
            if failed.is_some_and(|failed| now.saturating_duration_since(failed) < PATIENCE) {
                return Err(StoreError::unavailable("the vault could not be read a moment ago"));
            }
            let looked = self.look_at_all(whose).await;
            *failed = looked.is_err().then(Instant::now);
            looked?;
        }
        Ok(())
    }

    async fn look_at_all(&self, tenant: TenantId) -> Result<(), StoreError> {
        let (now, mut there, mut before) = (Instant::now(), Vec::new(), None::<String>);
        loop {
            let page = self.page(tenant, before.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.id.clone());
            for record in &page {
                there.extend(record.id.parse::<CredentialId>());
                // One that is damaged keeps nobody from the others.
                if let Err(error) = self.look_at(tenant, record) {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(%tenant, error, "a secret does not open, so it is hidden nowhere");
                }
            }
        }
        self.known.keep(tenant, &there, now);
        Ok(())
    }

    fn look_at(&self, tenant: TenantId, record: &Record) -> Result<Option<Arc<SecretString>>, OpenError> {
        let stored = Stored::read(tenant, record)?;
        let Credential { id, version, .. } = stored.credential;
        if self.known.has(tenant, id, version) {
            return Ok(None);
        }
        self.opened(tenant, &stored).map(Some)
    }
}
