//! An explanation for people and for machines.

use super::super::check::{counted, for_whom, plain};
use super::super::{named, told, word};
use super::{Condition, Considered, ConsideredRule, Explained, Outcome};
use crate::answer::columns;
use governance::policy::{Exactness, Holds, Rule};
use governance::{LimitAsked, Meter};
use serde_json::{Value, json};

impl Explained<'_> {
    pub(super) fn text(&self) -> String {
        let tier = format!("{:?}", self.facts.trust_tier).to_lowercase();
        let mut text =
            format!("{}\n{} ({tier}) wants {}\n\n", told(&self.verdict), self.facts.agent, self.action);
        for policy in &self.policies {
            text += &self.policy(policy);
        }
        let rows: Vec<[String; 3]> = self
            .opinions
            .iter()
            .map(|opinion| {
                let voice = json!(opinion.voice).as_str().unwrap_or_default().to_owned();
                [format!("  {voice}"), word(opinion.effect).to_owned(), named(&opinion.policy, opinion.rule)]
            })
            .collect();
        let gap = if self.policies.is_empty() { "" } else { "\n" };
        text + gap + "what everybody says; the strictest decides, of equals the first\n" + &columns(&rows)
    }

    fn policy(&self, considered: &Considered<'_>) -> String {
        let Considered { policy, names, asked, rules } = considered;
        let why = match names {
            None => "not asked: it is for others",
            Some(_) if !asked => "not asked: another names them more exactly",
            Some(Exactness::Agent) => "asked: it names the agent",
            Some(Exactness::Tag) => "asked: it names a tag of the agent",
            Some(Exactness::Tier) => "asked: it names the agent's tier",
            Some(Exactness::Everybody) => "asked: none is for them in particular",
        };
        let mut text =
            format!("{} {}, {}\n  {why}\n", policy.name, policy.version, for_whom(&policy.applies_to));
        if !asked {
            return text;
        }
        for rule in rules {
            text += &format!("  #{:<3} {}: {}\n", rule.index, said(rule.rule), outcome(&rule.outcome));
            let conditions: Vec<_> = rule.conditions.iter().map(condition).collect();
            text += &columns(&conditions);
        }
        let others = policy.rules.len() - rules.len();
        if others > 0 {
            text += &format!("  {} for other actions\n", counted(others, "rule is", "rules are"));
        }
        let decided = rules.iter().any(|rule| matches!(rule.outcome, Outcome::Decides));
        let used = if decided { "not needed" } else { "decides" };
        text + &format!("  else {}: {used}\n", plain(policy.default_effect))
    }

    pub(super) fn json(&self) -> Value {
        let policies: Vec<Value> = self
            .policies
            .iter()
            .map(|Considered { policy, names, asked, rules }| {
                json!({
                    "policy": policy.name, "version": policy.version, "asked": asked,
                    "names": names.map(|names| format!("{names:?}").to_lowercase()),
                    "defaultEffect": policy.default_effect,
                    "rules": rules.iter().map(rule_json).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "action": self.action.as_str(), "verdict": self.verdict, "opinions": self.opinions, "policies": policies,
            "facts": self.facts,
        })
    }
}

fn rule_json(considered: &ConsideredRule<'_>) -> Value {
    let ConsideredRule { index, rule, conditions, outcome } = considered;
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|Condition { name, wanted, known, holds }| {
            json!({ "condition": name, "wanted": wanted, "known": known, "holds": holding(*holds) })
        })
        .collect();
    let outcome = match outcome {
        Outcome::DoesNotApply => "does_not_apply",
        Outcome::Decides => "decides",
        Outcome::Later(_) => "comes_later",
        Outcome::Within(..) => "within_limit",
        Outcome::Over(..) => "over_limit",
        Outcome::Unread(_) => "limit_not_known",
    };
    json!({ "rule": index, "says": rule, "conditions": conditions, "outcome": outcome })
}

fn holding(holds: Holds) -> Value {
    match holds {
        Holds::Yes => json!(true),
        Holds::No => json!(false),
        Holds::Unknown => Value::Null,
    }
}

/// What a rule says.
fn said(rule: &Rule) -> String {
    let actions: Vec<&str> = rule.actions.iter().map(|pattern| pattern.as_str()).collect();
    let what = match (&rule.effect, &rule.approval) {
        (Some(_), Some(terms)) => {
            let by = if terms.roles.is_empty() { "people".to_owned() } else { terms.roles.join(" or ") };
            format!("ask {} of {by} about", terms.needed)
        }
        (Some(_), None) if rule.requires_approval => "ask about".to_owned(),
        (Some(effect), None) => plain(*effect).to_owned(),
        (None, _) => "limit".to_owned(),
    };
    format!("{what} {}", actions.join(", "))
}

fn outcome(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::DoesNotApply => "does not apply".to_owned(),
        Outcome::Decides => "decides".to_owned(),
        Outcome::Later(first) => format!("applies, and #{first} comes first"),
        Outcome::Within(limit, meter) => format!("{}; {}", limited(limit), used(limit, meter)),
        Outcome::Over(limit, meter) if limit.hard => {
            format!("denies: {}; {}", limited(limit), used(limit, meter))
        }
        Outcome::Over(limit, meter) => format!("only warns: {}; {}", limited(limit), used(limit, meter)),
        Outcome::Unread(limit) => format!("denies: {}; nobody knows how much is used", limited(limit)),
    }
}

/// A limit in words.
pub(in super::super) fn limited(limit: &LimitAsked<'_>) -> String {
    let per = json!(limit.per).as_str().unwrap_or_default().to_owned();
    let window = match json!(limit.window).as_str() {
        Some("total") | None => " in all".to_owned(),
        Some(window) => format!(" and {window}"),
    };
    let unit = match (limit.is_money, limit.limit) {
        (true, _) => "",
        (false, 1) => " time",
        (false, _) => " times",
    };
    format!("{}{unit} per {per}{window}", amount(limit, limit.limit))
}

fn used(limit: &LimitAsked<'_>, meter: &Meter) -> String {
    let adds = meter.amount.map_or_else(|| "nobody knows what".to_owned(), |adds| amount(limit, adds));
    format!("{} used, this adds {adds}", amount(limit, meter.used))
}

fn amount(limit: &LimitAsked<'_>, amount: u64) -> String {
    if limit.is_money { format!("${}", amount as f64 / 1e6) } else { amount.to_string() }
}

fn condition(condition: &Condition) -> [String; 3] {
    let Condition { name, wanted, known, holds } = condition;
    let holds = match holds {
        Holds::Yes => format!("holds: {}", value(known)),
        Holds::No => format!("does not hold: {}", value(known)),
        Holds::Unknown => "not known, which is no reason to allow".to_owned(),
    };
    [format!("       when {name}"), value(wanted), holds]
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(self::value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
