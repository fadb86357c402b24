//! `punk policy explain`: why an action would be allowed, asked about or denied.
//!
//! `governance::explain` says what everybody thinks; what is added here is why: which policies are asked, which rules name the
//! action, and which of their conditions hold.

mod shown;

use super::files::{self, Read};
use super::situation::Situation;
use crate::answer::Answer;
use crate::args::{Common, ExplainArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use governance::policy::{Exactness, Holds, Policy, Rule, RuleEffect, When};
use governance::{Action, Facts, LimitAsked, Meter, Opinion, PolicySet, decide, limits};
use schema::Verdict;
use serde_json::{Map, Value};

pub(super) use shown::limited as limit_in_words;

pub(super) fn run(common: &Common, args: &ExplainArgs) -> Result<Answer, Failure> {
    let Read { set, .. } = files::read(common, &args.paths)?;
    let mut situation = Situation::default();
    let said = args.said().into_iter().try_for_each(|(name, value)| situation.say(name, &value));
    said.and_then(|()| args.with.iter().try_for_each(|pair| situation.say_pair(pair)))
        .map_err(|error| unclear(&error))?;
    let action = situation.action().ok_or_else(|| unclear("no action is said"))?;
    let facts = situation.facts(&set, action).map_err(|error| unclear(&error))?;
    let explained = Explained::of(&set, &facts, action);
    Ok(Answer::success(explained.text(), explained.json()))
}

fn unclear(message: &str) -> Failure {
    Failure::new(Exit::Usage, "punk_usage", message)
        .hint("docs/reference/policies.md has everything that can be said of an action")
}

/// A verdict, and everything that led to it.
struct Explained<'s> {
    action: &'s Action,
    facts: &'s Facts,
    verdict: Verdict,
    policies: Vec<Considered<'s>>,
    opinions: Vec<Opinion<'s>>,
}

/// A policy, and what it had to do with it.
struct Considered<'s> {
    policy: &'s Policy,
    /// How exactly it names whoever asks, if it does.
    names: Option<Exactness>,
    /// Whether it was asked: whether none names them more exactly.
    asked: bool,
    /// The rules that name the action; none of a policy that was not asked.
    rules: Vec<ConsideredRule<'s>>,
}

/// A rule that names the action, and what came of it.
struct ConsideredRule<'s> {
    index: u32,
    rule: &'s Rule,
    conditions: Vec<Condition>,
    outcome: Outcome<'s>,
}

/// One condition of a rule.
struct Condition {
    name: String,
    wanted: Value,
    /// What is known of it; null, if nothing is.
    known: Value,
    holds: Holds,
}

/// What came of a rule that names the action.
enum Outcome<'s> {
    /// Its conditions do not hold.
    DoesNotApply,
    /// It is the first that applies.
    Decides,
    /// It applies, and another comes first.
    Later(u32),
    /// A limit that is kept, or only told.
    Within(LimitAsked<'s>, &'s Meter),
    /// A limit that would be gone over.
    Over(LimitAsked<'s>, &'s Meter),
    /// A limit that nobody has read.
    Unread(LimitAsked<'s>),
}

impl<'s> Explained<'s> {
    fn of(set: &'s PolicySet, facts: &'s Facts, action: &'s Action) -> Self {
        let names = |policy: &Policy| policy.applies_to.names(&facts.agent, &facts.tags, facts.trust_tier);
        let most_exact = set.policies().filter_map(names).max();
        let policies = set.policies().map(|policy| {
            let names = names(policy);
            let asked = names.is_some() && names == most_exact;
            let rules = if asked { rules(set, policy, facts, action) } else { Vec::new() };
            Considered { policy, names, asked, rules }
        });
        Self {
            action,
            facts,
            verdict: decide(set, facts, action),
            policies: policies.collect(),
            opinions: governance::explain(set, facts, action),
        }
    }
}

fn rules<'s>(
    set: &'s PolicySet,
    policy: &'s Policy,
    facts: &'s Facts,
    action: &'s Action,
) -> Vec<ConsideredRule<'s>> {
    let mut first = None;
    let mut considered = Vec::new();
    for (index, rule) in (0u32..).zip(&policy.rules) {
        if !rule.actions.iter().any(|pattern| pattern.matches(action.as_str())) {
            continue;
        }
        let outcome = match (applies(rule, facts), rule.effect, first) {
            (false, ..) => Outcome::DoesNotApply,
            (true, None, _) => limited(set, policy, index, facts, action),
            (true, Some(_), Some(first)) => Outcome::Later(first),
            (true, Some(_), None) => {
                first = Some(index);
                Outcome::Decides
            }
        };
        let conditions = conditions(&rule.when, facts);
        considered.push(ConsideredRule { index, rule, conditions, outcome });
    }
    considered
}

/// Whether a rule's conditions hold. What is not known holds for rules that hold something back, and for no other.
fn applies(rule: &Rule, facts: &Facts) -> bool {
    match rule.when.holds(facts) {
        Holds::Yes => true,
        Holds::No => false,
        Holds::Unknown => rule.asks() || rule.effect != Some(RuleEffect::Allow),
    }
}

fn limited<'s>(
    set: &'s PolicySet,
    policy: &'s Policy,
    index: u32,
    facts: &'s Facts,
    action: &'s Action,
) -> Outcome<'s> {
    let limit =
        limits(set, facts, action).find(|limit| (limit.policy, limit.rule) == (policy.name.as_str(), index));
    let Some(limit) = limit else { return Outcome::DoesNotApply };
    let meter = facts.meters.iter().find(|meter| meter.policy == policy.name && meter.rule == Some(index));
    match meter {
        None => Outcome::Unread(limit),
        Some(meter) if meter.is_short() => Outcome::Over(limit, meter),
        Some(meter) => Outcome::Within(limit, meter),
    }
}

/// The conditions of a rule, each asked for itself.
fn conditions(when: &When, facts: &Facts) -> Vec<Condition> {
    let Ok(Value::Object(said)) = serde_json::to_value(when) else { return Vec::new() };
    let one = |(name, wanted): (String, Value)| {
        let alone: Map<String, Value> = [(name.clone(), wanted.clone())].into_iter().collect();
        let alone: When = serde_json::from_value(Value::Object(alone)).ok()?;
        Some(Condition { known: known(&name, facts), holds: alone.holds(facts), name, wanted })
    };
    said.into_iter().filter_map(one).collect()
}

/// What is known of what a condition asks for.
fn known(name: &str, facts: &Facts) -> Value {
    match name {
        "costUsd" => facts.cost_micro_usd.map(|micros| micros as f64 / 1e6).into(),
        "sideEffectLevel" => u8::from(facts.level).into(),
        "trustScore" => (f64::from(facts.trust_score_milli) / 1e3).into(),
        "model" => facts.model.clone().into(),
        "tool" => facts.tool.clone().into(),
        "app" => facts.app.clone().into(),
        "hour" => facts.hour.into(),
        "weekday" => serde_json::to_value(facts.weekday).unwrap_or_default(),
        "tags" => facts.tags.clone().into(),
        "labels" => facts.labels.clone().into(),
        _ => Value::Null,
    }
}
