//! What the governor says of an action.

use serde::{Deserialize, Serialize};

/// What may happen. There is no `allowed: bool` to forget to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub enum Effect {
    /// Go ahead.
    #[serde(rename = "allow")]
    Allow,
    /// A person must say yes first.
    #[serde(rename = "approval_required")]
    Ask,
    /// No.
    #[serde(rename = "deny")]
    Deny,
}

impl Effect {
    /// How much it holds back: of two, the one that holds back more decides.
    #[must_use]
    pub fn strictness(self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask => 1,
            Self::Deny => 2,
        }
    }
}

/// The governor's answer, with the rule that gave it: the ledger, the dashboard and a replay read the same value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// What may happen.
    pub effect: Effect,
    /// The name of the policy that decided.
    pub policy: String,
    /// The rule in it, counted from 0; absent when no rule matched and the policy's default decided.
    pub rule: Option<u32>,
}
