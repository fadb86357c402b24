//! What the logs of the tenants are signed with: a key for each, derived from the installation's by the log's origin. The
//! same that evidence packets are signed with, so one trust file is enough for both.

use std::sync::Arc;

use crypto::{KeyRing, SigningKey};
use ledger::LogKey;
use ledger::note::NoteError;
use schema::TenantId;

/// The logs of one installation.
#[derive(Debug, Clone)]
pub struct Logs {
    name: String,
    keys: Arc<KeyRing>,
}

/// Why nothing can be signed.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// There is no key to sign with.
    #[error("the key ring has no key that signs the ledger")]
    NoKey,
    /// The installation has a name that no key can have.
    #[error(transparent)]
    Name(#[from] NoteError),
}

impl Logs {
    /// The logs of the installation called `name`.
    #[must_use]
    pub fn new(name: String, keys: Arc<KeyRing>) -> Self {
        Self { name, keys }
    }

    /// The keys of the installation.
    #[must_use]
    pub fn ring(&self) -> &KeyRing {
        &self.keys
    }

    /// The key of a tenant's log.
    ///
    /// # Errors
    /// See [`LogsError`].
    pub fn key(&self, tenant: TenantId) -> Result<LogKey<SigningKey>, LogsError> {
        let parent = self.keys.signing_key().ok_or(LogsError::NoKey)?;
        Ok(LogKey::new(&self.name, tenant, |origin| {
            let signer = parent.derive(origin);
            let public = signer.public();
            (signer, public)
        })?)
    }
}
