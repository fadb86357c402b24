//! A credential of the installation that a setting refers to.

use std::sync::Arc;

use crypto::kept::Fetching;
use crypto::{NotKept, SecretKeeper, SecretSource};
use schema::TenantId;

use crate::reference::Reference;
use crate::vault::Vault;

/// A credential, and the setting that refers to it.
#[derive(Debug)]
pub struct Kept {
    vault: Arc<Vault>,
    reference: Reference,
    setting: String,
}

impl Kept {
    /// The credential of the installation that `setting` refers to. It need not be there yet.
    #[must_use]
    pub fn new(vault: Arc<Vault>, reference: Reference, setting: impl Into<String>) -> Self {
        Self { vault, reference, setting: setting.into() }
    }
}

impl SecretKeeper for Kept {
    fn fetch(&self) -> Fetching<'_> {
        Box::pin(async move {
            let opened = self.vault.open(TenantId::NIL, &self.reference).await;
            opened.map_err(|error| NotKept(format!("{}: {error}", self.setting)))
        })
    }
}

impl From<Kept> for SecretSource {
    fn from(kept: Kept) -> Self {
        Self::Kept(Arc::new(kept))
    }
}
