//! The engine `punk.rules/1`: what verdicts were recorded under before there were policies for somebody in particular. It
//! decides nothing any more, and re-derives what it once decided for as long as there are packets.

use schema::{Effect, Verdict};
use serde::Deserialize;

use crate::action::Pattern;
use crate::policy::RuleEffect;

/// The name of the engine.
pub(crate) const ENGINE: &str = "punk.rules/1";

/// A policy of that time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RuleSet {
    name: String,
    #[serde(rename = "version")]
    _version: String,
    #[serde(rename = "description", default)]
    _description: String,
    rules: Vec<Rule>,
    default_effect: RuleEffect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Rule {
    effect: RuleEffect,
    actions: Vec<Pattern>,
    #[serde(default)]
    requires_approval: bool,
}

impl RuleSet {
    /// The first rule that covers the action decides; if none does, the default.
    pub(crate) fn judge(&self, action: &str) -> Verdict {
        let covers = |rule: &Rule| rule.actions.iter().any(|pattern| pattern.matches(action));
        let found = (0u32..).zip(&self.rules).find(|(_, rule)| covers(rule));
        let (effect, asks) =
            found.map_or((self.default_effect, false), |(_, rule)| (rule.effect, rule.requires_approval));
        let effect = match effect {
            RuleEffect::Deny => Effect::Deny,
            RuleEffect::Allow if asks => Effect::Ask,
            RuleEffect::Allow => Effect::Allow,
        };
        Verdict { effect, policy: self.name.clone(), rule: found.map(|(index, _)| index) }
    }
}
