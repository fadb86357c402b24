//! What is known when the governor is asked. Gathered before, recorded with the verdict, so that it can be asked again.

use schema::{ApiKeyId, ApprovalId, Effect, GatewayMode, SideEffectLevel, TenantId, Timestamp, TrustTier};
use serde::{Deserialize, Serialize};

use crate::action::Pattern;
use crate::policy::Weekday;

/// What is known. Nothing here is looked up while deciding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Facts {
    /// Whose request it is.
    pub tenant: TenantId,
    /// The application that asks.
    pub app: String,
    /// The agent identity that asks.
    pub agent: String,
    /// The key that was shown; none for the operator of the installation.
    pub key: Option<ApiKeyId>,
    /// How far that agent is trusted.
    pub trust_tier: TrustTier,
    /// How it has behaved, in thousandths from 0 to 1000.
    pub trust_score_milli: u16,
    /// What it is tagged with.
    pub tags: Vec<String>,
    /// Whether the key that was used observes or enforces.
    pub gateway_mode: GatewayMode,
    /// The model that is asked, or was asked for the action.
    pub model: Option<String>,
    /// The tool that would act.
    pub tool: Option<String>,
    /// How much the action changes.
    pub level: SideEffectLevel,
    /// What it is expected to cost; absent when nobody knows, which is not the same as nothing.
    pub cost_micro_usd: Option<i64>,
    /// The hour of the day in UTC.
    pub hour: u8,
    /// The day of the week in UTC.
    pub weekday: Weekday,
    /// What the data is known to be.
    pub labels: Vec<String>,
    /// What has been counted against limits that concern this action.
    pub meters: Vec<Meter>,
    /// What must not pass and would, such as `redaction:card` or `tripwire:canary`. Whatever is here is denied in its own
    /// name, and nobody's word lifts it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barred: Vec<String>,
    /// What untrusted text may have had to do with it.
    pub shaped: Option<Shaped>,
    /// What another decision maker said.
    pub remote: Option<Remote>,
    /// The exceptions that are in force for this caller.
    pub exceptions: Vec<Excepted>,
    /// The approvals that were given for exactly this: one for each rule that asks.
    pub approvals: Vec<Granted>,
}

/// How far a limit is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Meter {
    /// The policy whose limit it is, or `budget:` and the id of a budget.
    pub policy: String,
    /// The rule of the policy; none for a budget.
    pub rule: Option<u32>,
    /// How much there may be, in micro-dollars or times.
    pub limit: u64,
    /// How much is spent or set aside by others.
    pub used: u64,
    /// How much this would add; absent when nobody knows.
    pub amount: Option<u64>,
    /// Whether going over it is refused, or only told.
    pub hard: bool,
}

impl Meter {
    /// Whether the action would go over the limit, as far as is known. What is not known would.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.amount.is_none_or(|amount| self.used.saturating_add(amount) > self.limit)
    }
}

/// An action that untrusted text could have shaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Shaped {
    /// From which level on such actions need a person.
    pub threshold: SideEffectLevel,
    /// What text, and what of the action: for the person who is asked.
    pub by: Vec<String>,
}

/// What another decision maker said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Remote {
    /// What may happen.
    pub effect: Effect,
    /// The policy that it names.
    pub policy: String,
}

/// An exception that somebody made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Excepted {
    /// Its id.
    pub id: String,
    /// The policy that does not hold.
    pub policy: String,
    /// The rule of it; all of it, if none is named.
    pub rule: Option<u32>,
    /// For which actions.
    pub actions: Vec<Pattern>,
}

/// An approval that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Granted {
    /// Its id.
    pub id: ApprovalId,
    /// The policy that asked.
    pub policy: String,
    /// The rule that asked.
    pub rule: Option<u32>,
}

impl Facts {
    /// What is known of somebody who asks for something that costs and changes nothing: the rest is added to it.
    #[must_use]
    pub fn of(tenant: TenantId, app: &str, agent: &str, gateway_mode: GatewayMode, now: Timestamp) -> Self {
        let hours = now.as_millis() / 3_600_000;
        // The first day of 1970 was a Thursday.
        let weekdays = [
            Weekday::Thu,
            Weekday::Fri,
            Weekday::Sat,
            Weekday::Sun,
            Weekday::Mon,
            Weekday::Tue,
            Weekday::Wed,
        ];
        Self {
            tenant,
            app: app.to_owned(),
            agent: agent.to_owned(),
            key: None,
            trust_tier: TrustTier::Unverified,
            trust_score_milli: 0,
            tags: Vec::new(),
            gateway_mode,
            model: None,
            tool: None,
            level: SideEffectLevel::Pure,
            cost_micro_usd: None,
            hour: u8::try_from(hours % 24).unwrap_or(0),
            weekday: weekdays[usize::try_from(hours / 24 % 7).unwrap_or(0)],
            labels: Vec::new(),
            meters: Vec::new(),
            barred: Vec::new(),
            shaped: None,
            remote: None,
            exceptions: Vec::new(),
            approvals: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hour_and_the_day_are_those_of_utc() {
        let now = "2026-11-16T14:53:27.123Z".parse().unwrap();
        let facts = Facts::of(TenantId::NIL, "app", "agent", GatewayMode::Enforce, now);
        assert_eq!((facts.hour, facts.weekday), (14, Weekday::Mon));
    }
}
