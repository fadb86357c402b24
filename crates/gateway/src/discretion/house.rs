//! The discretion of every tenant, made when what a tenant says is read, and anew only when it has changed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crypto::SecretString;
use schema::TenantId;
use vault::Known;

use super::setting::RedactionSettings;
use super::{Discretion, NotUnderstood};

/// How many tenants are remembered.
const MOST: usize = 10_000;

/// What holds, by tenant.
pub(crate) struct House {
    /// The installation's own secrets, which nobody may record.
    secrets: Vec<SecretString>,
    /// What the vault knows by value.
    known: Known,
    /// Whether anything is looked for that is not known by value.
    looks: bool,
    /// What holds for whoever says nothing.
    usual: Arc<Discretion>,
    by_tenant: RwLock<HashMap<TenantId, Made>>,
}

/// A discretion, and what it was made of.
struct Made {
    settings: RedactionSettings,
    /// The generation of what the vault knows.
    generation: u64,
    discretion: Arc<Discretion>,
}

impl House {
    pub(crate) fn new(secrets: Vec<SecretString>, known: Known, looks: bool) -> Result<Self, NotUnderstood> {
        let usual = Arc::new(Discretion::new(&RedactionSettings::default(), secrets.iter(), &[], looks)?);
        Ok(Self { secrets, known, looks, usual, by_tenant: RwLock::default() })
    }

    /// What holds for a tenant, as far as it was read.
    pub(crate) fn of(&self, tenant: TenantId) -> Arc<Discretion> {
        let generation = self.known.generation_of(tenant);
        let (settings, before) = {
            let made = self.by_tenant.read().unwrap_or_else(PoisonError::into_inner);
            match made.get(&tenant) {
                Some(made) if made.generation == generation => return Arc::clone(&made.discretion),
                Some(made) => (made.settings.clone(), Arc::clone(&made.discretion)),
                None if generation == 0 => return Arc::clone(&self.usual),
                None => (RedactionSettings::default(), Arc::clone(&self.usual)),
            }
        };
        self.make(tenant, settings, generation).unwrap_or(before)
    }

    /// Learns what a tenant says.
    pub(crate) fn learn(&self, tenant: TenantId, settings: &RedactionSettings) {
        let known = {
            let known = self.by_tenant.read().unwrap_or_else(PoisonError::into_inner);
            known
                .get(&tenant)
                .map_or_else(|| *settings == RedactionSettings::default(), |made| made.settings == *settings)
        };
        if !known {
            self.make(tenant, settings.clone(), self.known.generation_of(tenant));
        }
    }

    /// Made outside of the lock: a large dictionary takes a moment.
    fn make(
        &self,
        tenant: TenantId,
        settings: RedactionSettings,
        generation: u64,
    ) -> Option<Arc<Discretion>> {
        let (vault, canaries) = (self.known.values(tenant), self.known.canaries(tenant));
        let secrets = self.secrets.iter().chain(vault.iter().map(|value| &**value));
        let discretion = match Discretion::new(&settings, secrets, &canaries, self.looks) {
            Ok(discretion) => Arc::new(discretion),
            Err(error) => {
                // It was refused when it was set; set by another version, what held before goes on to hold.
                tracing::warn!(%tenant, error = &error as &dyn std::error::Error, "what a tenant looks for is not understood");
                return None;
            }
        };
        let mut known = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(tenant, Made { settings, generation, discretion: Arc::clone(&discretion) });
        Some(discretion)
    }
}
