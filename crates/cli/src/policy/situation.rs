//! What can be said of somebody who wants to do something, as names and values: `tier=trusted`, `hour=22`,
//! `used:office#6=3`. What is not said is as harmless as it can be, or not known where it can be that.
//!
//! To add something that can be said: an arm in [`Situation::say`], a row in `docs/reference/policies.md`.

use super::parse_named;
use governance::{Action, Excepted, Facts, Granted, Meter, Pattern, PolicySet, Remote, Shaped, limits};
use schema::{ApprovalId, GatewayMode, SideEffectLevel, TenantId, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::json;

/// A Monday at noon.
const NOON: u64 = 4 * 86_400_000 + 12 * 3_600_000;
/// From which level on an action that untrusted text may have shaped needs a person, if nothing else is said.
const SHAPED_FROM: SideEffectLevel = SideEffectLevel::ReversibleWrite;
/// The value of what nobody knows.
const UNKNOWN: &str = "?";

/// Somebody who wants to do something.
#[derive(Debug, Clone)]
pub(super) struct Situation {
    action: Option<Action>,
    facts: Facts,
    /// How far limits of policies are used up: policy, rule, how much.
    used: Vec<(String, u32, String)>,
    /// Budgets: name, what is spent of how much, in micro-dollars.
    budgets: Vec<(String, u64, u64)>,
}

impl Default for Situation {
    fn default() -> Self {
        let noon = Timestamp::from_millis(NOON).unwrap_or(Timestamp::EPOCH);
        let facts = Facts::of(TenantId::NIL, "default-app", "anonymous", GatewayMode::Enforce, noon);
        Self { action: None, facts, used: Vec::new(), budgets: Vec::new() }
    }
}

impl Situation {
    /// Takes `name=value`.
    pub(super) fn say_pair(&mut self, pair: &str) -> Result<(), String> {
        // The name of a policy may have an equals sign in it, and how much is used of its limit has none.
        let split = if pair.starts_with("used:") || pair.starts_with("budget:") {
            pair.rsplit_once('=')
        } else {
            pair.split_once('=')
        };
        let (name, value) = split.ok_or_else(|| format!("`{pair}` is not NAME=VALUE, such as `hour=22`"))?;
        self.say(name, value)
    }

    /// Takes one thing that is known.
    pub(super) fn say(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wants = |wanted: &str| format!("`{name}` wants {wanted}, not `{value}`");
        let list = || value.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect();
        let known = || (value != UNKNOWN).then(|| value.to_owned());
        let facts = &mut self.facts;
        match name {
            "action" => {
                self.action = Some(value.parse().map_err(|_| wants("an action such as write:email"))?);
            }
            "tenant" => facts.tenant = value.parse().map_err(|_| wants("the id of a tenant"))?,
            "key" => facts.key = Some(value.parse().map_err(|_| wants("the id of an API key"))?),
            "app" => facts.app = value.to_owned(),
            "agent" => facts.agent = value.to_owned(),
            "tier" => {
                let tiers = "unverified, verified, trusted or privileged";
                facts.trust_tier = literal(value).ok_or_else(|| wants(tiers))?;
            }
            "score" => {
                let score = decimal(value, 3).and_then(|score| u16::try_from(score).ok());
                let score = score.filter(|score| *score <= 1000);
                facts.trust_score_milli = score.ok_or_else(|| wants("a number from 0 to 1"))?;
            }
            "tags" => facts.tags = list(),
            "labels" => facts.labels = list(),
            "mode" => facts.gateway_mode = literal(value).ok_or_else(|| wants("observe or enforce"))?,
            "model" => facts.model = known(),
            "tool" => facts.tool = known(),
            "level" => facts.level = level(value).ok_or_else(|| wants("a level from 0 to 4"))?,
            "cost" => {
                let dollars = || decimal(value, 6).and_then(|micros| i64::try_from(micros).ok());
                let cost = if value == UNKNOWN { Some(None) } else { dollars().map(Some) };
                facts.cost_micro_usd = cost.ok_or_else(|| wants("dollars such as 0.60, or ?"))?;
            }
            "hour" => {
                let hour = value.parse().ok().filter(|hour| *hour < 24u8);
                facts.hour = hour.ok_or_else(|| wants("an hour from 0 to 23"))?;
            }
            "weekday" => {
                let days = "mon, tue, wed, thu, fri, sat or sun";
                facts.weekday = literal(value).ok_or_else(|| wants(days))?;
            }
            "shaped" => {
                let threshold = match value {
                    "no" => None,
                    "yes" => Some(SHAPED_FROM),
                    from => Some(level(from).ok_or_else(|| wants("yes, no or a level from 0 to 4"))?),
                };
                facts.shaped = threshold.map(|threshold| Shaped { threshold, by: Vec::new() });
            }
            "remote" => {
                let (effect, policy) = value.split_once(':').unwrap_or((value, "remote"));
                let effect = effect_of(effect).ok_or_else(|| wants("allow, ask or deny"))?;
                facts.remote = Some(Remote { effect, policy: policy.to_owned() });
            }
            "barred" => facts.barred = list(),
            "exception" => {
                let (policy, rule) = parse_named(value);
                let (id, actions) = ("said".to_owned(), vec![Pattern::new("*")]);
                facts.exceptions.push(Excepted { id, policy: policy.to_owned(), rule, actions });
            }
            "approved" => {
                let (policy, rule) = parse_named(value);
                facts.approvals.push(Granted { id: ApprovalId::NIL, policy: policy.to_owned(), rule });
            }
            _ => return self.say_limit(name, value),
        }
        Ok(())
    }

    fn say_limit(&mut self, name: &str, value: &str) -> Result<(), String> {
        if let Some(limit) = name.strip_prefix("used:") {
            let (policy, Some(rule)) = parse_named(limit) else {
                return Err(format!(
                    "`{name}` wants a policy and the place of a rule, such as used:office#6"
                ));
            };
            if value != UNKNOWN && decimal(value, 6).is_none() {
                return Err(format!("`{name}` wants a number, or ? for what nobody knows, not `{value}`"));
            }
            self.used.push((policy.to_owned(), rule, value.to_owned()));
            return Ok(());
        }
        if name.starts_with("budget:") {
            let halves = value.split_once('/');
            let halves = halves.and_then(|(used, limit)| Some((decimal(used, 6)?, decimal(limit, 6)?)));
            let (used, limit) =
                halves.ok_or_else(|| format!("`{name}` wants dollars such as 4.99/5, not `{value}`"))?;
            self.budgets.push((name.to_owned(), used, limit));
            return Ok(());
        }
        Err(format!(
            "`{name}` is nothing that can be said; there are action, agent, tier, score, tags, app, mode, model, tool, level, \
             cost, labels, hour, weekday, shaped, remote, barred, exception, approved, used:POLICY#RULE, budget:NAME, tenant and key"
        ))
    }

    /// What they want to do, if that was said.
    pub(super) fn action(&self) -> Option<&Action> {
        self.action.as_ref()
    }

    /// All that is known when a set is asked about it. A limit of which nothing was said is not used up at all.
    pub(super) fn facts(&self, set: &PolicySet, action: &Action) -> Result<Facts, String> {
        for (policy, rule, _) in &self.used {
            let is_limit = set.rule(policy, *rule).is_some_and(|rule| rule.effect.is_none());
            if !is_limit {
                return Err(format!("`used:{policy}#{rule}` names no limit of these policies"));
            }
        }
        let mut meters = Vec::new();
        for limit in limits(set, &self.facts, action) {
            let said = self
                .used
                .iter()
                .rfind(|(policy, rule, _)| (policy.as_str(), *rule) == (limit.policy, limit.rule));
            let used = match said {
                // Nobody has read it, and so it is not among the facts.
                Some((.., value)) if value == UNKNOWN => continue,
                Some((.., value)) => decimal(value, if limit.is_money { 6 } else { 0 }).ok_or_else(|| {
                    format!("`used:{}#{}` counts whole times, not `{value}`", limit.policy, limit.rule)
                })?,
                None => 0,
            };
            meters.push(Meter {
                policy: limit.policy.to_owned(),
                rule: Some(limit.rule),
                limit: limit.limit,
                used,
                amount: if limit.is_money { self.cost() } else { Some(1) },
                hard: limit.hard,
            });
        }
        meters.extend(self.budgets.iter().map(|(policy, used, limit)| Meter {
            policy: policy.clone(),
            rule: None,
            limit: *limit,
            used: *used,
            amount: self.cost(),
            hard: true,
        }));
        Ok(Facts { meters, ..self.facts.clone() })
    }

    fn cost(&self) -> Option<u64> {
        self.facts.cost_micro_usd.and_then(|cost| u64::try_from(cost).ok())
    }
}

/// The value that serde has this word for.
fn literal<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(json!(word)).ok()
}

fn level(text: &str) -> Option<SideEffectLevel> {
    text.parse::<u8>().ok()?.try_into().ok()
}

/// The effect that a word of grids means.
pub(super) fn effect_of(word: &str) -> Option<schema::Effect> {
    [schema::Effect::Allow, schema::Effect::Ask, schema::Effect::Deny]
        .into_iter()
        .find(|effect| super::word(*effect) == word)
}

/// A plain decimal number in units of its `digits`-th digit after the point.
pub(crate) fn decimal(text: &str, digits: u32) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let plain =
        |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(part) {
        return None;
    }
    let part = part.trim_end_matches('0');
    let missing = digits.checked_sub(u32::try_from(part.len()).ok()?)?;
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    Some(whole.parse::<u64>().ok()? * 10u64.pow(digits) + part * 10u64.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_number_is_read_to_its_last_digit() {
        for (text, digits, units) in [
            ("0.60", 6, Some(600_000)),
            ("5", 6, Some(5_000_000)),
            ("0.0000001", 6, None),
            ("3", 0, Some(3)),
            ("3.0", 0, Some(3)),
            ("3.5", 0, None),
            (".5", 6, None),
            ("-1", 6, None),
            ("", 6, None),
        ] {
            assert_eq!(decimal(text, digits), units, "{text}");
        }
    }

    #[test]
    fn what_nobody_has_said_is_harmless_or_not_known() {
        let facts = Situation::default().facts;
        assert_eq!((facts.hour, facts.weekday), (12, governance::policy::Weekday::Mon));
        assert_eq!((facts.cost_micro_usd, facts.model, facts.tool), (None, None, None));
    }

    #[test]
    fn what_cannot_be_said_is_told_with_what_can() {
        let refused: String = [
            "hour=24",
            "tier=great",
            "level=5",
            "cost=-1",
            "score=1.5",
            "shaped=maybe",
            "remote=perhaps",
            "used:office=3",
            "used:office#1=many",
            "budget:team=5",
            "weekday=someday",
            "action=chat",
            "hour",
            "colour=red",
        ]
        .map(|pair| format!("{}\n", Situation::default().say_pair(pair).unwrap_err()))
        .concat();
        expect![[r#"
            `hour` wants an hour from 0 to 23, not `24`
            `tier` wants unverified, verified, trusted or privileged, not `great`
            `level` wants a level from 0 to 4, not `5`
            `cost` wants dollars such as 0.60, or ?, not `-1`
            `score` wants a number from 0 to 1, not `1.5`
            `shaped` wants yes, no or a level from 0 to 4, not `maybe`
            `remote` wants allow, ask or deny, not `perhaps`
            `used:office` wants a policy and the place of a rule, such as used:office#6
            `used:office#1` wants a number, or ? for what nobody knows, not `many`
            `budget:team` wants dollars such as 4.99/5, not `5`
            `weekday` wants mon, tue, wed, thu, fri, sat or sun, not `someday`
            `action` wants an action such as write:email, not `chat`
            `hour` is not NAME=VALUE, such as `hour=22`
            `colour` is nothing that can be said; there are action, agent, tier, score, tags, app, mode, model, tool, level, cost, labels, hour, weekday, shaped, remote, barred, exception, approved, used:POLICY#RULE, budget:NAME, tenant and key
        "#]].assert_eq(&refused);
    }
}
