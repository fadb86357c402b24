//! Limits: what an action would use of them is set aside before it is decided, and settled when it is done.

use governance::{Facts, LimitAsked, Meter, Spender, limits};
use ledger::sha256;
use schema::{MicroUsd, Timestamp};
use serde::Serialize;
use store::{Level, MeterKey, ReservationId, Reserved, Settlement, Want};

use super::Asking;
use super::policies::InForce;
use super::tenant::Decided;
use crate::app::Shared;
use crate::error::ApiError;
use crate::identity::Caller;

/// Longer than any call lasts: what is set aside for a process that died is free again after it.
const HOLD_MS: u64 = 30 * 60 * 1000;

/// What was set aside for an action.
#[derive(Debug)]
pub(crate) struct Held {
    id: ReservationId,
    shares: Vec<Share>,
}

#[derive(Debug)]
struct Share {
    key: MeterKey,
    amount: u64,
    is_money: bool,
}

impl Held {
    /// What came of it: so much was spent, or nobody knows, and then as much as was expected.
    pub(crate) fn settle(self, cost: Option<MicroUsd>) -> Settlement {
        let cost = cost.map(|MicroUsd(micros)| u64::try_from(micros).unwrap_or(0));
        let spent = self.shares.into_iter().map(|share| {
            (share.key, if share.is_money { cost.unwrap_or(share.amount) } else { share.amount })
        });
        Settlement { id: self.id, spent: spent.collect() }
    }

    pub(crate) fn id(&self) -> ReservationId {
        self.id
    }
}

/// One limit that concerns an action.
struct Need {
    policy: String,
    rule: Option<u32>,
    key: MeterKey,
    limit: u64,
    amount: Option<u64>,
    hard: bool,
    is_money: bool,
}

impl Shared {
    /// Sets aside what an action would use of every limit that concerns it, if there is room in all of them. Says how far
    /// each is used up, for the governor to decide by.
    pub(super) async fn meter(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        facts: &Facts,
        policies: &InForce,
        decided: &Decided,
    ) -> Result<(Vec<Meter>, Option<Held>), ApiError> {
        let needs = needs(caller, asking, facts, policies, decided);
        if needs.is_empty() {
            return Ok((Vec::new(), None));
        }
        let unknown = needs.iter().any(|need| need.hard && need.amount.is_none());
        let wants: Vec<Want> = needs
            .iter()
            .map(|need| {
                let Need { key, limit, amount, hard, .. } = *need;
                Want { key, limit, amount: amount.unwrap_or(0), hard }
            })
            .collect();
        let id = ReservationId(self.random_sixteen());
        let until = later(asking.now, HOLD_MS);
        let reserved = self.book.reserve(caller.tenant, id, &wants, asking.now, until).await?;
        let (levels, held) = match reserved {
            Reserved::Held(levels) => (levels, true),
            Reserved::Short(levels) => (levels, false),
        };
        let meters = needs.iter().zip(&levels).map(|(need, level)| metered(need, level)).collect();
        if held && unknown {
            self.book.release(caller.tenant, id).await?;
            return Ok((meters, None));
        }
        let shares = needs.into_iter().map(|need| {
            let Need { key, amount, is_money, .. } = need;
            Share { key, amount: amount.unwrap_or(0), is_money }
        });
        Ok((meters, held.then(|| Held { id, shares: shares.collect() })))
    }

    /// Gives back what was set aside for something that is not done.
    pub(crate) async fn give_back(&self, caller: &Caller, held: Option<Held>) {
        let Some(held) = held else { return };
        if self.book.release(caller.tenant, held.id()).await.is_err() {
            // Why was told already.
            tracing::warn!("what was set aside cannot be given back now; it is free again by itself, later");
        }
    }
}

fn metered(need: &Need, level: &Level) -> Meter {
    Meter {
        policy: need.policy.clone(),
        rule: need.rule,
        limit: need.limit,
        used: level.spent.saturating_add(level.reserved),
        amount: need.amount,
        hard: need.hard,
    }
}

/// The limits that concern an action: those of the policies that are asked, and the tenant's budgets.
fn needs(
    caller: &Caller,
    asking: &Asking<'_>,
    facts: &Facts,
    policies: &InForce,
    decided: &Decided,
) -> Vec<Need> {
    let (key, run) = (caller.actor(), asking.run.to_string());
    let spender = Spender {
        app: &caller.app,
        agent: &caller.agent,
        key: &key,
        subject: caller.subject.as_ref().map_or("", |subject| subject.as_str()),
        run: &run,
    };
    let money = facts.cost_micro_usd.map(|micros| u64::try_from(micros).unwrap_or(0));
    let of_policies = limits(&policies.set, facts, &asking.action).map(|limit| {
        let LimitAsked { policy, rule, per, window, limit, is_money, hard } = limit;
        let meter = meter_of(&("rule", policy, rule, per.whose(spender)));
        Need {
            policy: policy.to_owned(),
            rule: Some(rule),
            key: MeterKey { meter, window: window.start(asking.now) },
            limit,
            amount: if is_money { money } else { Some(1) },
            hard,
            is_money,
        }
    });
    // Budgets are about what models cost; a tool spends none of it.
    let asks_model = asking.action.as_str().starts_with("model:");
    let of_budgets = decided.budgets.iter().filter(|_| asks_model).filter_map(|budget| {
        let whose = budget.share(spender)?;
        let meter = budget_meter(budget, whose);
        Some(Need {
            policy: budget.policy(),
            rule: None,
            key: MeterKey { meter, window: budget.window.start(asking.now) },
            limit: u64::try_from(budget.limit_usd.0).unwrap_or(0),
            amount: money,
            hard: budget.hard,
            is_money: true,
        })
    });
    of_policies.chain(of_budgets).collect()
}

/// What is counted of a budget for one of those whose shares are counted apart.
pub(crate) fn budget_meter(budget: &governance::Budget, whose: &str) -> schema::Digest {
    meter_of(&("budget", budget.id, whose))
}

/// The meter of what these words tell apart.
fn meter_of(words: &impl Serialize) -> schema::Digest {
    // Texts and numbers are JSON already; writing them out cannot fail.
    sha256(&serde_json::to_vec(words).unwrap_or_default())
}

/// So many milliseconds later, or the last moment there is.
pub(crate) fn later(moment: Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_millis(moment.as_millis().saturating_add(millis)).unwrap_or(Timestamp::LAST)
}
