//! The one function that every surface asks.

use schema::{Effect, GatewayMode, TenantId, TrustTier, Verdict};
use serde::{Deserialize, Serialize};

use crate::rule::{Action, RuleEffect, RuleSet};

/// What is known when the question is put. Recorded with the verdict, so that it can be put again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Whose request it is.
    pub tenant: TenantId,
    /// The application that asks.
    pub app: String,
    /// The agent identity that asks.
    pub agent: String,
    /// How far that agent is trusted.
    pub trust_tier: TrustTier,
    /// Whether the key that was used observes or enforces.
    pub gateway_mode: GatewayMode,
}

/// What `rules` say of `action`. The first rule that covers it decides; if none does, the rules' own default.
#[must_use]
pub fn decide(rules: &RuleSet, _facts: &Facts, action: &Action) -> Verdict {
    judge(rules, action.as_str())
}

/// The same over any text, as a recorded action may be any text.
pub(crate) fn judge(rules: &RuleSet, action: &str) -> Verdict {
    let policy = rules.name().to_owned();
    let found = (0u32..).zip(rules.rules()).find(|(_, rule)| rule.covers(action));
    let Some((index, rule)) = found else {
        return Verdict { effect: effect(rules.default_effect(), false), policy, rule: None };
    };
    Verdict { effect: effect(rule.effect, rule.requires_approval), policy, rule: Some(index) }
}

fn effect(effect: RuleEffect, requires_approval: bool) -> Effect {
    match effect {
        RuleEffect::Deny => Effect::Deny,
        RuleEffect::Allow if requires_approval => Effect::Ask,
        RuleEffect::Allow => Effect::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use proptest::prelude::*;

    const POLICY: &str = r#"{"name":"office","version":"1","defaultEffect":"deny","rules":[
        {"effect":"deny","actions":["delete:*"]},
        {"effect":"allow","actions":["write:email"],"requiresApproval":true},
        {"effect":"allow","actions":["model:chat","read:*","*:calendar"]}]}"#;

    #[test]
    fn the_golden_grid_of_policies_and_actions() {
        let built_in = RuleSet::built_in().unwrap();
        let actions = [
            "model:chat",
            "read:crm",
            "write:email",
            "delete:file",
            "delete:calendar",
            "write:calendar",
            "a:b:c",
            "",
        ];
        let mut grid = String::new();
        for (name, text) in [("built-in", built_in.text()), ("office", POLICY)] {
            let rules = RuleSet::parse(text).unwrap();
            for action in actions {
                let verdict = judge(&rules, action);
                let rule = verdict.rule.map_or("default".to_owned(), |rule| format!("rule {rule}"));
                grid += &format!("{name:10} {action:16} {:?} by {rule}\n", verdict.effect);
            }
        }
        expect_file!["../tests/matrix.txt"].assert_eq(&grid);
    }

    proptest! {
        #[test]
        fn more_denials_never_allow_more(action in "[a-c]:[a-c]", pattern in "(\\*|[a-c]):(\\*|[a-c])") {
            let with = format!(r#"{{"name":"p","version":"1","defaultEffect":"deny","rules":[
                {{"effect":"deny","actions":["{pattern}"]}},{{"effect":"allow","actions":["a:*","*:b"]}}]}}"#);
            let without = r#"{"name":"p","version":"1","defaultEffect":"deny","rules":[{"effect":"allow","actions":["a:*","*:b"]}]}"#;
            let before = judge(&RuleSet::parse(without).unwrap(), &action).effect;
            let after = judge(&RuleSet::parse(&with).unwrap(), &action).effect;
            prop_assert!(before == Effect::Allow || after != Effect::Allow);
        }
    }
}
