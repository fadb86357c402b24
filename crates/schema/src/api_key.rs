//! API keys as records: never the key itself, only what it may do.

use serde::{Deserialize, Serialize};

use crate::{ApiKeyId, TenantId, Timestamp, UserId};

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

/// What a key opens. A key has any number of scopes; what it has none for is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Asking models: `/v1/*`.
    Gateway,
    /// Reading what is recorded: `GET /api/v1/*`.
    Read,
    /// Recording what was observed elsewhere: telemetry that is posted.
    Write,
    /// Answering questions of the governor. A person holds such a key; no other key approves anything, admin or not.
    Approve,
}

impl Scope {
    /// What a key has that does not say: all that a machine may have.
    pub const OF_MACHINES: [Self; 3] = [Self::Gateway, Self::Read, Self::Write];

    /// The literal on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Read => "read",
            Self::Write => "write",
            Self::Approve => "approve",
        }
    }
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
    /// What people call it.
    pub name: String,
    /// What it opens.
    pub scopes: Vec<Scope>,
    /// The application it is pinned to, whatever the header says.
    pub app: Option<String>,
    /// Whether it may operate, not only ask.
    pub admin: bool,
    /// Whether it observes or enforces.
    pub gateway_mode: GatewayMode,
    /// How many requests it may make in a minute; 0 is without end, absent is what the installation says.
    pub requests_per_minute: Option<u32>,
    /// The key that made it; absent when the installation or a person did.
    pub created_by: Option<ApiKeyId>,
    /// The person who made it, if one did: what it asks for, they ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_user: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether it opens what `scope` is about.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Whether it is neither taken back nor at its end.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
