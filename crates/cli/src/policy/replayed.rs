//! Recorded decisions, put to other policies. Pure: what was recorded comes in, what would change comes out.
//!
//! Facts and action are taken as they were recorded. What was recorded of a rule by its place (how far its limit is used up,
//! that a person approved it, that an exception lifts it) goes with the rule when the other set has it elsewhere in a policy of
//! the same name. A limit of which nothing was recorded is taken as unused, and counted.

use super::{named, word};
use governance::policy::Rule;
use governance::{Action, ENGINE, Facts, LimitAsked, Meter, PolicySet, decide, limits};
use schema::{Digest, Effect, RunId, Verdict};
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// How many runs are named as examples of a change.
const EXAMPLES: usize = 3;

/// A decision as it was recorded; what is withheld is absent.
#[derive(Debug, Default)]
pub(super) struct Recorded<'e> {
    pub(super) engine: Option<&'e Value>,
    pub(super) policies: Option<&'e Value>,
    pub(super) facts: Option<&'e Value>,
    pub(super) action: Option<&'e Value>,
    pub(super) verdict: Option<&'e Value>,
}

/// What came of putting decisions again.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// How many were put again.
    pub(super) decided: u64,
    /// Verdicts with another effect, by what changes.
    pub(super) changes: BTreeMap<Change, Changed>,
    /// How many have the same effect by another rule or policy.
    pub(super) by_another: u64,
    /// How many were decided by another engine, and were not put again.
    pub(super) of_other_engines: u64,
    /// How many do not show what they went by.
    pub(super) unreadable: u64,
    /// How many do not say what the action would cost, where the other policies ask for it.
    pub(super) without_cost: u64,
    /// Limits of which nothing was recorded, by the decisions they concern.
    pub(super) unrecorded: BTreeMap<String, Unrecorded>,
}

/// A limit of which nothing was recorded.
#[derive(Debug)]
pub(super) struct Unrecorded {
    pub(super) limit: String,
    pub(super) decisions: u64,
}

/// What changes: the action, and the verdicts as they are told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) action: String,
    pub(super) from: String,
    pub(super) to: String,
}

/// How often it does, and where.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) count: u64,
    /// The newest runs in which it does.
    pub(super) examples: Vec<RunId>,
}

impl Replayed {
    /// How many verdicts would have another effect.
    pub(super) fn changed(&self) -> u64 {
        self.changes.values().map(|changed| changed.count).sum()
    }

    /// How many decisions were looked at.
    pub(super) fn seen(&self) -> u64 {
        self.decided + self.of_other_engines + self.unreadable
    }

    /// Puts one decision to `set`. `before` has the sets that decided.
    pub(super) fn put(
        &mut self,
        set: &PolicySet,
        before: &HashMap<Digest, PolicySet>,
        run: RunId,
        recorded: &Recorded<'_>,
    ) {
        if recorded.engine.and_then(Value::as_str).is_some_and(|engine| engine != ENGINE) {
            self.of_other_engines += 1;
            return;
        }
        let Some((facts, action, was)) = readable(recorded) else {
            self.unreadable += 1;
            return;
        };
        let old = recorded.policies.and_then(|digests| Vec::<Digest>::deserialize(digests).ok());
        let old = old.and_then(|digests| before.get(digests.first()?));
        let facts = self.carried(set, old, facts, &action);
        self.without_cost += u64::from(facts.cost_micro_usd.is_none() && asks_for_cost(set, &action));
        let is = decide(set, &facts, &action);
        self.decided += 1;
        if is.effect == was.effect {
            self.by_another += u64::from(told(&is) != told(&was));
            return;
        }
        let change = Change { action: action.to_string(), from: told(&was), to: told(&is) };
        let changed = self.changes.entry(change).or_default();
        changed.count += 1;
        if changed.examples.len() < EXAMPLES && !changed.examples.contains(&run) {
            changed.examples.push(run);
        }
    }

    /// The facts as they are about the rules of `set`.
    fn carried(
        &mut self,
        set: &PolicySet,
        old: Option<&PolicySet>,
        mut facts: Facts,
        action: &Action,
    ) -> Facts {
        if let Some(old) = old {
            let place = |policy: &str, rule: Option<u32>| match rule {
                Some(rule) => moved(old, set, policy, rule).or(Some(rule)),
                None => None,
            };
            for granted in &mut facts.approvals {
                granted.rule = place(&granted.policy, granted.rule);
            }
            for exception in &mut facts.exceptions {
                exception.rule = place(&exception.policy, exception.rule);
            }
        }
        let mut meters: Vec<Meter> =
            facts.meters.iter().filter(|meter| meter.rule.is_none()).cloned().collect();
        for limit in limits(set, &facts, action) {
            let recorded = facts.meters.iter().find(|meter| is_of(meter, &limit, set, old));
            let (used, amount) = match recorded {
                Some(meter) => (meter.used, meter.amount),
                None => {
                    let name = named(limit.policy, Some(limit.rule));
                    let words = super::explain::limit_in_words(&limit);
                    let unrecorded =
                        self.unrecorded.entry(name).or_insert(Unrecorded { limit: words, decisions: 0 });
                    unrecorded.decisions += 1;
                    (
                        0,
                        if limit.is_money {
                            facts.cost_micro_usd.and_then(|cost| u64::try_from(cost).ok())
                        } else {
                            Some(1)
                        },
                    )
                }
            };
            let (policy, rule) = (limit.policy.to_owned(), Some(limit.rule));
            meters.push(Meter { policy, rule, limit: limit.limit, used, amount, hard: limit.hard });
        }
        Facts { meters, ..facts }
    }
}

/// What it takes to decide again, if it is there.
fn readable(recorded: &Recorded<'_>) -> Option<(Facts, Action, Verdict)> {
    recorded.engine?;
    let facts = Facts::deserialize(recorded.facts?).ok()?;
    let action = recorded.action?.as_str()?.parse().ok()?;
    let verdict = Verdict::deserialize(recorded.verdict?).ok()?;
    Some((facts, action, verdict))
}

/// Where a rule of `old` is in `set`, in the policy of the same name.
fn moved(old: &PolicySet, set: &PolicySet, policy: &str, rule: u32) -> Option<u32> {
    let rule = old.rule(policy, rule)?;
    let policy = set.policies().find(|known| known.name == policy)?;
    (0u32..).zip(&policy.rules).find(|(_, known)| *known == rule).map(|(index, _)| index)
}

/// Whether a recorded level is that of a limit. How much there may be can have changed; what is counted cannot.
fn is_of(meter: &Meter, limit: &LimitAsked<'_>, set: &PolicySet, old: Option<&PolicySet>) -> bool {
    let Some(index) = meter.rule.filter(|_| meter.policy == limit.policy) else { return false };
    match old {
        Some(old) => {
            let rules = old.rule(&meter.policy, index).zip(set.rule(limit.policy, limit.rule));
            rules.is_some_and(|(was, is)| counts(was) == counts(is))
        }
        // The policies that decided are not there any more: the place is all there is to go by.
        None => index == limit.rule && meter.limit == limit.limit,
    }
}

/// Whether a verdict on an action may depend on what it costs.
fn asks_for_cost(set: &PolicySet, action: &Action) -> bool {
    let rules = set.policies().flat_map(|policy| &policy.rules);
    rules
        .filter(|rule| rule.budget.is_some() || rule.when.cost_usd.is_some())
        .any(|rule| rule.actions.iter().any(|pattern| pattern.matches(action.as_str())))
}

/// A rule with its number taken out: what it counts.
fn counts(rule: &Rule) -> Rule {
    let mut rule = rule.clone();
    if let Some(budget) = &mut rule.budget {
        (budget.limit_usd, budget.soft) = (schema::MicroUsd(1), false);
    }
    if let Some(rate) = &mut rule.rate {
        rate.limit = 1;
    }
    rule
}

/// A verdict as changes are grouped by it: that somebody approved is one group, whoever it was.
fn told(verdict: &Verdict) -> String {
    let Verdict { effect, policy, rule } = verdict;
    let by = match policy.split_once(':') {
        Some((kind @ ("approval" | "exception"), _)) if *effect == Effect::Allow => format!("an {kind}"),
        _ => named(policy, *rule),
    };
    format!("{} {by}", word(*effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use governance::{PolicyFile, load};
    use ledger::sha256;
    use schema::{GatewayMode, TenantId, Timestamp};
    use serde_json::json;

    fn set(rules: &str) -> PolicySet {
        let text = format!("name: desk\nversion: '1'\ndefaultEffect: allow\nrules: [{rules}]\n");
        load(&[PolicyFile { name: "desk.yaml".to_owned(), text }]).unwrap()
    }

    /// What is told of the decisions that the policies with `rules` gave, put to those with `other`.
    fn check(rules: &str, other: &str, change: impl Fn(&mut Facts), expected: &Expect) {
        let (old, new) = (set(rules), set(other));
        let digest = sha256(old.text().as_bytes());
        let mut replayed = Replayed::default();
        let action: Action = "write:email".parse().unwrap();
        let mut facts = Facts::of(TenantId::NIL, "app", "ada", GatewayMode::Enforce, Timestamp::EPOCH);
        change(&mut facts);
        let (engine, policies) = (json!(ENGINE), json!([digest]));
        let (verdict, facts) = (json!(decide(&old, &facts, &action)), json!(facts));
        let action = json!(action.as_str());
        let recorded = Recorded {
            engine: Some(&engine),
            policies: Some(&policies),
            facts: Some(&facts),
            action: Some(&action),
            verdict: Some(&verdict),
        };
        replayed.put(&new, &HashMap::from([(digest, old)]), RunId::NIL, &recorded);
        let mut told = String::new();
        for Change { from, to, .. } in replayed.changes.keys() {
            told += &format!("{from} → {to}\n");
        }
        for (name, unrecorded) in &replayed.unrecorded {
            told += &format!("nothing recorded for {name}, {}\n", unrecorded.limit);
        }
        told += &format!("{} by another, {} without a cost\n", replayed.by_another, replayed.without_cost);
        expected.assert_eq(&told);
    }

    fn used(rule: u32, used: u64) -> impl Fn(&mut Facts) {
        move |facts| {
            let policy = "desk".to_owned();
            facts.meters =
                vec![Meter { policy, rule: Some(rule), limit: 3, used, amount: Some(1), hard: true }];
        }
    }

    const RATE: &str = "{actions: ['write:*'], rate: {limit: 3}}";

    #[test]
    fn a_rule_that_moved_takes_along_what_was_recorded_of_it() {
        let below = format!("{{effect: deny, actions: ['read:*']}}, {RATE}");
        check(
            RATE,
            &below,
            used(0, 3),
            &expect![[r#"
                1 by another, 0 without a cost
            "#]],
        );
        let ask = "{effect: allow, actions: ['write:*'], requiresApproval: true}";
        let below = format!("{{effect: deny, actions: ['read:*']}}, {ask}");
        let approve = |facts: &mut Facts| {
            let id = schema::ApprovalId::NIL;
            facts.approvals = vec![governance::Granted { id, policy: "desk".to_owned(), rule: Some(0) }];
        };
        check(
            ask,
            &below,
            approve,
            &expect![[r#"
                0 by another, 0 without a cost
            "#]],
        );
    }

    #[test]
    fn a_smaller_limit_is_held_against_what_was_used() {
        check(
            RATE,
            "{actions: ['write:*'], rate: {limit: 2}}",
            used(0, 2),
            &expect![[r#"
                allow desk → deny desk#0
                0 by another, 0 without a cost
            "#]],
        );
        check(
            RATE,
            "{actions: ['write:*'], rate: {limit: 2}}",
            used(0, 1),
            &expect![[r#"
                0 by another, 0 without a cost
            "#]],
        );
    }

    #[test]
    fn a_limit_that_counts_something_else_was_not_recorded_and_is_taken_as_unused() {
        check(
            RATE,
            "{actions: ['write:*'], rate: {limit: 3, window: hour}}",
            used(0, 2),
            &expect![[r#"
                nothing recorded for desk#0, 3 times per agent and hour
                0 by another, 0 without a cost
            "#]],
        );
        check(
            "",
            "{effect: deny, actions: ['*'], when: {costUsd: '> 1'}}",
            |_| {},
            &expect![[r#"
            allow desk → deny desk#0
            0 by another, 1 without a cost
        "#]],
        );
        check(
            "",
            RATE,
            |_| {},
            &expect![[r#"
                nothing recorded for desk#0, 3 times per agent and day
                0 by another, 0 without a cost
            "#]],
        );
    }

    #[test]
    fn what_another_engine_decided_and_what_is_withheld_are_counted_apart() {
        let mut replayed = Replayed::default();
        let engine = json!("punk.rules/1");
        let other = Recorded { engine: Some(&engine), ..Recorded::default() };
        replayed.put(&set(""), &HashMap::new(), RunId::NIL, &other);
        replayed.put(&set(""), &HashMap::new(), RunId::NIL, &Recorded::default());
        assert_eq!((replayed.of_other_engines, replayed.unreadable, replayed.decided), (1, 1, 0));
        assert_eq!(replayed.seen(), 2);
    }
}
