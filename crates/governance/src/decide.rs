//! The one function that every surface asks.

use std::borrow::Cow;

use schema::{Effect, Verdict};
use serde::Serialize;

use crate::action::Action;
use crate::facts::{Facts, Meter};
use crate::policy::{Per, Rule};
use crate::policy::{RuleEffect, Window};
use crate::set::PolicySet;

/// Everybody who has a say in a verdict, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// What must not pass: a tripwire, or what a tenant lets nobody send.
    Bar,
    /// The rules of the policies.
    Policy,
    /// The policies in the Cedar language.
    Cedar,
    /// A limit: a budget, or a rule that sets a bound.
    Limit,
    /// Another decision maker.
    Remote,
    /// Memory quarantine.
    Quarantine,
}

/// What one of them says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opinion<'s> {
    /// Who.
    pub voice: Voice,
    /// What may happen.
    pub effect: Effect,
    /// In whose name.
    pub policy: Cow<'s, str>,
    /// By which rule.
    pub rule: Option<u32>,
}

/// What may happen to `action`. The strictest voice decides and is named; of equals, the one that was asked first.
#[must_use]
pub fn decide(set: &PolicySet, facts: &Facts, action: &Action) -> Verdict {
    judge(set, facts, action.as_str())
}

/// The same over any text, as a recorded action may be any text.
pub(crate) fn judge(set: &PolicySet, facts: &Facts, action: &str) -> Verdict {
    let mut strictest: Option<Opinion<'_>> = None;
    ask_all(set, facts, action, |opinion| {
        if strictest.as_ref().is_none_or(|so_far| opinion.effect.strictness() > so_far.effect.strictness()) {
            strictest = Some(opinion);
        }
    });
    // Somebody always answers: the policies have a default, and where there are none the built-in answer stands.
    match strictest {
        Some(Opinion { effect, policy, rule, .. }) => Verdict { effect, policy: policy.into_owned(), rule },
        None => Verdict { effect: Effect::Deny, policy: PolicySet::built_in_name().to_owned(), rule: None },
    }
}

/// What everybody says of an action, for whoever asks why.
#[must_use]
pub fn explain<'s>(set: &'s PolicySet, facts: &'s Facts, action: &Action) -> Vec<Opinion<'s>> {
    let mut opinions = Vec::new();
    ask_all(set, facts, action.as_str(), |opinion| opinions.push(opinion));
    opinions
}

/// A limit that concerns an action, and whose level must be among the facts when it is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitAsked<'s> {
    /// The policy that sets it.
    pub policy: &'s str,
    /// The rule that does.
    pub rule: u32,
    /// Whose share is counted.
    pub per: Per,
    /// Over which time.
    pub window: Window,
    /// How much there may be, in micro-dollars or times.
    pub limit: u64,
    /// Whether it is about money.
    pub is_money: bool,
    /// Whether going over it is refused.
    pub hard: bool,
}

/// The limits of the policies that concern an action. Asked before [`decide`], so that their levels can be gathered.
pub fn limits<'s>(
    set: &'s PolicySet,
    facts: &'s Facts,
    action: &'s Action,
) -> impl Iterator<Item = LimitAsked<'s>> {
    set.for_whom(facts).flat_map(|indexed| {
        let name = indexed.policy.name.as_str();
        indexed.bounding(facts, action.as_str()).filter_map(move |(index, rule)| limit(name, index, rule))
    })
}

fn limit<'s>(policy: &'s str, index: u32, rule: &Rule) -> Option<LimitAsked<'s>> {
    let (per, window, limit, is_money, hard) = match (&rule.budget, &rule.rate) {
        (Some(budget), _) => {
            let limit = u64::try_from(budget.limit_usd.0).unwrap_or(0);
            (budget.per, budget.window, limit, true, !budget.soft)
        }
        (None, Some(rate)) => (rate.per, rate.window, u64::from(rate.limit), false, true),
        (None, None) => return None,
    };
    Some(LimitAsked { policy, rule: index, per, window, limit, is_money, hard })
}

impl Facts {
    /// The same, with every limit that concerns an action unused: for whoever asks what would be.
    #[must_use]
    pub fn with_unused_limits(mut self, set: &PolicySet, action: &Action) -> Self {
        let money = self.cost_micro_usd.map(|micros| u64::try_from(micros).unwrap_or(0));
        let meters = limits(set, &self, action).map(|limit| Meter {
            policy: limit.policy.to_owned(),
            rule: Some(limit.rule),
            limit: limit.limit,
            used: 0,
            amount: if limit.is_money { money } else { Some(1) },
            hard: limit.hard,
        });
        self.meters = meters.collect();
        self
    }
}

fn ask_all<'s>(set: &'s PolicySet, facts: &'s Facts, action: &str, mut say: impl FnMut(Opinion<'s>)) {
    if let Some(barred) = facts.barred.first() {
        let policy = Cow::Borrowed(barred.as_str());
        say(Opinion { voice: Voice::Bar, effect: Effect::Deny, policy, rule: None });
    }
    // Where there are Cedar policies, they are asked about everybody.
    let mut asked = !set.cedar().is_empty();
    for indexed in set.for_whom(facts) {
        asked = true;
        let policy = Cow::Borrowed(indexed.policy.name.as_str());
        let (effect, rule) = match indexed.deciding(facts, action) {
            Some((index, rule)) => (effect_of(rule), Some(index)),
            None => (plain(indexed.default_effect()), None),
        };
        say(lifted(Opinion { voice: Voice::Policy, effect, policy, rule }, facts, action));
        for (index, rule) in indexed.bounding(facts, action) {
            let Some(limit) = limit(&indexed.policy.name, index, rule) else { continue };
            let level =
                facts.meters.iter().find(|meter| meter.policy == limit.policy && meter.rule == Some(index));
            // A level that nobody gathered is one that nobody knows.
            if limit.hard && level.is_none_or(|meter| meter.limit != limit.limit || meter.is_short()) {
                let policy = Cow::Borrowed(indexed.policy.name.as_str());
                say(Opinion { voice: Voice::Limit, effect: Effect::Deny, policy, rule: Some(index) });
            }
        }
    }
    if !asked {
        let policy = Cow::Borrowed(PolicySet::built_in_name());
        say(Opinion { voice: Voice::Policy, effect: Effect::Allow, policy, rule: None });
    }
    for opinion in set.cedar().opinions(facts, action) {
        say(lifted(opinion, facts, action));
    }
    for budget in facts.meters.iter().filter(|meter| meter.rule.is_none() && meter.hard && meter.is_short()) {
        let policy = Cow::Borrowed(budget.policy.as_str());
        say(Opinion { voice: Voice::Limit, effect: Effect::Deny, policy, rule: None });
    }
    if let Some(remote) = &facts.remote {
        let policy = Cow::Owned(format!("remote:{}", remote.policy));
        say(Opinion { voice: Voice::Remote, effect: remote.effect, policy, rule: None });
    }
    if let Some(shaped) = &facts.shaped
        && facts.level >= shaped.threshold
    {
        let policy = Cow::Borrowed("quarantine:memory");
        let asks = Opinion { voice: Voice::Quarantine, effect: Effect::Ask, policy, rule: None };
        say(lifted(asks, facts, action));
    }
}

/// An opinion after what people have said: an exception lifts what a policy says, an approval what asked for it. Neither
/// lifts a limit, and an approval lifts no denial.
fn lifted<'s>(opinion: Opinion<'s>, facts: &'s Facts, action: &str) -> Opinion<'s> {
    if opinion.effect == Effect::Allow {
        return opinion;
    }
    let excepted = facts.exceptions.iter().find(|exception| {
        matches!(opinion.voice, Voice::Policy | Voice::Cedar)
            && exception.policy == opinion.policy
            && (exception.rule.is_none() || exception.rule == opinion.rule)
            && exception.actions.iter().any(|pattern| pattern.matches(action))
    });
    if let Some(exception) = excepted {
        let policy = Cow::Owned(format!("exception:{}", exception.id));
        return Opinion { effect: Effect::Allow, policy, rule: None, ..opinion };
    }
    let granted = facts.approvals.iter().find(|granted| {
        opinion.effect == Effect::Ask && granted.policy == opinion.policy && granted.rule == opinion.rule
    });
    match granted {
        Some(granted) => {
            let policy = Cow::Owned(format!("approval:{}", granted.id));
            Opinion { effect: Effect::Allow, policy, rule: None, ..opinion }
        }
        None => opinion,
    }
}

fn effect_of(rule: &Rule) -> Effect {
    match rule.effect {
        Some(RuleEffect::Allow) if rule.asks() => Effect::Ask,
        Some(effect) => plain(effect),
        // A rule without an effect decides nothing and is never asked to.
        None => Effect::Deny,
    }
}

fn plain(effect: RuleEffect) -> Effect {
    match effect {
        RuleEffect::Allow => Effect::Allow,
        RuleEffect::Deny => Effect::Deny,
    }
}
