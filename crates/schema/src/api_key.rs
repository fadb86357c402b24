//! API keys as records: never the key itself, only what it may do.

use serde::{Deserialize, Serialize};

use crate::{ApiKeyId, TenantId, Timestamp};

/// Whether what the governor says is carried out, or only recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GatewayMode {
    /// Record what would have been done and answer live.
    Observe,
    /// Do it.
    Enforce,
}

/// What is known of an API key. The key is shown once, when it is made; only its hash is kept, and not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Its id, recorded with every request made with it.
    pub id: ApiKeyId,
    /// The tenant it speaks for.
    pub tenant: TenantId,
    /// The application it is pinned to, whatever the header says.
    pub app: Option<String>,
    /// Whether it may operate, not only ask.
    pub admin: bool,
    /// Whether it observes or enforces.
    pub gateway_mode: GatewayMode,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}
