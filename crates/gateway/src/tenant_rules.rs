//! What a tenant has set about the cache, over what the installation says.

use cache::Rules;
use schema::TenantId;

use crate::app::Shared;

impl Shared {
    /// How answers are kept for a tenant. When that cannot be read, nothing is kept or used: an optimisation that is not
    /// known to be wanted is left out.
    pub(crate) async fn cache_rules(&self, tenant: TenantId) -> Rules {
        if let Some(rules) = self.tenant_rules.get(&tenant) {
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
