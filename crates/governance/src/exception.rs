//! Exceptions: a policy does not hold, for somebody, for a while, for a reason.

use schema::{ExceptionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::action::Pattern;
use crate::facts::Excepted;

/// An exception from one policy. It ends by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// Its id.
    pub id: ExceptionId,
    /// The policy that does not hold.
    pub policy: String,
    /// The rule of it, counted from 0; all of it, when absent.
    pub rule: Option<u32>,
    /// For which actions, as patterns.
    #[cfg_attr(feature = "json-schema", schemars(with = "Vec<String>"))]
    pub actions: Vec<Pattern>,
    /// For this agent alone; for all, when absent.
    pub agent: Option<String>,
    /// For this application alone; for all, when absent.
    pub app: Option<String>,
    /// Why.
    pub reason: String,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

impl Exception {
    /// The exception as a fact about somebody who asks now; nothing, if it is not for them.
    #[must_use]
    pub fn for_whom(&self, app: &str, agent: &str, now: Timestamp) -> Option<Excepted> {
        let fits =
            |wanted: &Option<String>, given: &str| wanted.as_deref().is_none_or(|wanted| wanted == given);
        let holds = self.revoked_at.is_none() && self.created_at <= now && now < self.expires_at;
        (holds && fits(&self.agent, agent) && fits(&self.app, app)).then(|| Excepted {
            id: self.id.to_string(),
            policy: self.policy.clone(),
            rule: self.rule,
            actions: self.actions.clone(),
        })
    }
}
