//! A policy: what a file in `policies/` says. The file is YAML; what it means is this.
//!
//! Start at [`Policy`]; `when.rs` has the conditions of a rule, `limit.rs` what a rule may allow only so much of, `glob.rs`
//! names with a star.
//!
//! To add something that a rule can say: a field here with a default, an arm where it is asked for in `decide`, its words in
//! the engine's section of `docs/reference/evidence-packet.md`, and the same in `tests/verifier/policy.mjs`.

mod glob;
mod limit;
mod when;

use schema::TrustTier;
use serde::{Deserialize, Serialize};

use crate::action::Pattern;

pub use self::glob::Glob;
pub use self::limit::{BudgetLimit, Per, RateLimit, Window};
pub use self::when::{Comparison, Holds, Hours, Weekday, When};

/// Rules under one name, for whom they are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Policy {
    /// What verdicts name it by; no two policies of a set share one.
    pub name: String,
    /// Which edition this is, in its author's count.
    pub version: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// For whom it is written; for everybody, if it does not say.
    #[serde(default, skip_serializing_if = "AppliesTo::is_everybody")]
    pub applies_to: AppliesTo,
    /// Asked in order; the first that covers an action decides.
    pub rules: Vec<Rule>,
    /// What holds where no rule decides.
    pub default_effect: RuleEffect,
}

/// For whom a policy is written. Who is named by id is named most exactly, then by tag, then by tier.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct AppliesTo {
    /// Agents by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agent_ids: Vec<String>,
    /// Agents that carry one of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Agents of these tiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust_tiers: Vec<TrustTier>,
}

/// How exactly a policy names whom it is for. The most exact one that applies is asked, and no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// It is for everybody.
    Everybody,
    /// By a tier.
    Tier,
    /// By a tag.
    Tag,
    /// By an agent's name.
    Agent,
}

impl AppliesTo {
    fn is_everybody(&self) -> bool {
        *self == Self::default()
    }

    /// How exactly it names such an agent; nothing, if it does not.
    #[must_use]
    pub fn names(&self, agent: &str, tags: &[String], tier: TrustTier) -> Option<Exactness> {
        if self.agent_ids.iter().any(|id| id == agent) {
            return Some(Exactness::Agent);
        }
        if self.tags.iter().any(|tag| tags.contains(tag)) {
            return Some(Exactness::Tag);
        }
        if self.trust_tiers.contains(&tier) {
            return Some(Exactness::Tier);
        }
        self.is_everybody().then_some(Exactness::Everybody)
    }
}

/// One rule. It has an `effect`, and decides; or a `budget` or a `rate`, and sets a bound to what others allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Rule {
    /// Whether what it covers may be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<RuleEffect>,
    /// What it covers.
    pub actions: Vec<Pattern>,
    /// Whether a person must agree first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_approval: bool,
    /// How many people, and of which roles, if one is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalTerms>,
    /// When it covers it; always, if it does not say.
    #[serde(default, skip_serializing_if = "When::is_always")]
    pub when: When,
    /// How much money may be spent on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetLimit>,
    /// How often it may be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateLimit>,
}

/// Whether something may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

/// Who must agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ApprovalTerms {
    /// How many people.
    #[serde(default = "one")]
    pub needed: u32,
    /// Of which roles; of any that may approve, if it does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// For how long the question stands, in minutes; then it is rejected.
    #[serde(default = "one_day")]
    pub expires_minutes: u32,
}

fn one() -> u32 {
    1
}
fn one_day() -> u32 {
    24 * 60
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { needed: one(), roles: Vec::new(), expires_minutes: one_day() }
    }
}

/// What is wrong with a policy that reads well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A text that must say something is empty or too long.
    #[error("`{0}` wants 1 to 120 characters")]
    Text(&'static str),
    /// A rule says nothing, or several things.
    #[error("rule {0}: say exactly one of `effect`, `budget` and `rate`")]
    Kind(usize),
    /// A rule covers nothing.
    #[error("rule {0}: `actions` names nothing")]
    NoActions(usize),
    /// A pattern that is none.
    #[error("rule {rule}: `{pattern}` names no action; write `verb:resource`, with `*` for either half")]
    Pattern {
        /// Which rule.
        rule: usize,
        /// What it says.
        pattern: String,
    },
    /// An approval where nothing is asked.
    #[error("rule {0}: `requiresApproval` and `approval` go with `effect: allow`")]
    Approval(usize),
    /// An approval by nobody, or one that never ends.
    #[error("rule {0}: `approval` wants 1 to 20 people and 1 to 43200 minutes")]
    Terms(usize),
    /// A bound of nothing.
    #[error("rule {0}: a limit wants a number above zero")]
    Limit(usize),
}

impl Policy {
    /// What is wrong with it, if anything is.
    ///
    /// # Errors
    /// The first thing that is.
    pub fn check(&self) -> Result<(), Flaw> {
        for (name, text) in [("name", &self.name), ("version", &self.version)] {
            if !is_name(text) {
                return Err(Flaw::Text(name));
            }
        }
        self.rules.iter().enumerate().try_for_each(|(index, rule)| rule.check(index))
    }
}

impl Rule {
    fn check(&self, index: usize) -> Result<(), Flaw> {
        let said = [self.effect.is_some(), self.budget.is_some(), self.rate.is_some()];
        if said.into_iter().filter(|said| *said).count() != 1 {
            return Err(Flaw::Kind(index));
        }
        if self.actions.is_empty() {
            return Err(Flaw::NoActions(index));
        }
        if let Some(pattern) = self.actions.iter().find(|pattern| !is_pattern(pattern.as_str())) {
            return Err(Flaw::Pattern { rule: index, pattern: pattern.as_str().to_owned() });
        }
        let asks = self.requires_approval || self.approval.is_some();
        if asks && self.effect != Some(RuleEffect::Allow) {
            return Err(Flaw::Approval(index));
        }
        if let Some(terms) = &self.approval
            && !((1..=20).contains(&terms.needed) && (1..=43_200).contains(&terms.expires_minutes))
        {
            return Err(Flaw::Terms(index));
        }
        let limit = self.budget.as_ref().map(|budget| budget.limit_usd.0);
        let limit = limit.or(self.rate.as_ref().map(|rate| i64::from(rate.limit)));
        if limit.is_some_and(|limit| limit <= 0) { Err(Flaw::Limit(index)) } else { Ok(()) }
    }

    /// Whether it wants somebody to agree first.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.requires_approval || self.approval.is_some()
    }

    /// Whether it holds something back: then what is not known counts for it, and otherwise against it.
    pub(crate) fn is_strict(&self) -> bool {
        self.asks() || self.effect != Some(RuleEffect::Allow)
    }

    /// Whether its conditions hold.
    pub(crate) fn holds(&self, facts: &crate::Facts) -> bool {
        match self.when.holds(facts) {
            Holds::Yes => true,
            Holds::No => false,
            Holds::Unknown => self.is_strict(),
        }
    }
}

/// Whether a text can name something in a verdict.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= 120 && !text.chars().any(char::is_control)
}

fn is_pattern(text: &str) -> bool {
    let half = |half: &str| half == "*" || (!half.is_empty() && !half.contains('*'));
    text == "*" || crate::action::halves(text).is_some_and(|(verb, resource)| half(verb) && half(resource))
}
