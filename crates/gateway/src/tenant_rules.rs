//! What a tenant has set about the cache, over what the installation says.
//!
//! Every model call asks, so what was read is good for a moment: a change through this process is seen at once, one
//! through another within seconds.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use cache::Rules;
use schema::TenantId;

use crate::app::Shared;
use crate::clock::Stopwatch;

/// How long what was read is good for.
const GOOD_FOR_MS: u64 = 2_000;
/// How many tenants are remembered.
const MOST: usize = 10_000;

/// What tenants have set, as it was last read.
#[derive(Default)]
pub(crate) struct TenantRules(RwLock<HashMap<TenantId, (Stopwatch, Rules)>>);

impl TenantRules {
    /// Forgets what was read of a tenant, because it has changed.
    pub(crate) fn changed(&self, tenant: TenantId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&tenant);
    }

    fn known(&self, tenant: TenantId) -> Option<Rules> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&tenant).filter(|(read, _)| read.millis() < GOOD_FOR_MS).map(|(_, rules)| rules.clone())
    }

    fn learn(&self, tenant: TenantId, rules: Rules) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(tenant, (Stopwatch::start(), rules));
    }
}

impl Shared {
    /// How answers are kept for a tenant. When that cannot be read, nothing is kept or used: an optimisation that is not
    /// known to be wanted is left out.
    pub(crate) async fn cache_rules(&self, tenant: TenantId) -> Rules {
        if let Some(rules) = self.tenant_rules.known(tenant) {
            return rules;
        }
        match self.settings(tenant).await {
            Ok(settings) => {
                let rules = settings.cache.over(&self.cache);
                self.tenant_rules.learn(tenant, rules.clone());
                rules
            }
            // Why was told where it was read.
            Err(_) => Rules { enabled: false, ..self.cache.clone() },
        }
    }
}
