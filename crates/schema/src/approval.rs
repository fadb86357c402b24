//! Approvals: people's answer to a verdict that asks.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, Digest, RunId, TenantId, Timestamp};

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Not enough people have answered yet.
    Pending,
    /// Enough said yes; it can be used once.
    Approved,
    /// Somebody said no.
    Rejected,
    /// Nobody answered in time, or nobody used it in time.
    Expired,
    /// What was approved has been done.
    Used,
}

impl ApprovalStatus {
    /// The literal on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }
}

/// What somebody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Yes.
    Approve,
    /// No.
    Reject,
}

/// One person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Vote {
    /// Who: a key id, or `installation`.
    pub by: String,
    /// As what.
    pub role: String,
    /// What.
    pub decision: Decision,
    /// Why, in their words.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A question to people about one governed action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The run that waits; its events say what exactly is asked for.
    pub run_id: RunId,
    /// The action in question, such as `write:email`.
    pub action: String,
    /// The tool that would act, if it is a tool's action.
    pub tool: Option<String>,
    /// The content hash of what would be done: any change voids the approval.
    pub payload_hash: Digest,
    /// The policy that asks.
    pub policy: String,
    /// The rule that asks.
    pub rule: Option<u32>,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// How many people must say yes.
    pub needed: u32,
    /// Of which roles; of any that may approve, when empty.
    pub roles: Vec<String>,
    /// What they have said so far.
    pub votes: Vec<Vote>,
    /// Who asked: a key id, or `installation`. Whoever asks cannot answer.
    pub requested_by: String,
    /// The application that asked.
    pub app: String,
    /// The agent that asked.
    pub agent: String,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it ends by itself: rejected if nobody answered, void if nobody used it.
    pub expires_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// The run that used it.
    pub used_by: Option<RunId>,
}
