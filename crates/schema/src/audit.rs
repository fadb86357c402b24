//! Audit rows: what operators and the governor decided.

use serde::{Deserialize, Serialize};

use crate::{AuditId, TenantId, Timestamp};

/// One decision of an operator or of the governor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// Its id.
    pub id: AuditId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Who decided: a user, a key id, or `governor`.
    pub actor: String,
    /// What was done, such as `artifact.promoted`.
    pub action: String,
    /// The id of what it was done to.
    pub target: String,
    /// Why, in the actor's words.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}
