//! Approvals: a person's answer to a verdict that asks.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, Digest, RunId, TenantId, Timestamp};

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Nobody has answered yet.
    Pending,
    /// Somebody said yes.
    Approved,
    /// Somebody said no.
    Rejected,
    /// Nobody answered in time.
    Expired,
}

/// A question to a person about one governed action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The run that waits.
    pub run_id: RunId,
    /// The action in question, such as `write:email`.
    pub action: String,
    /// The content hash of what would be done: any change voids the approval.
    pub plan: Digest,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// Who answered.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
}
