//! What runs used and what they cost, day by day: a view, added to once for each run, when it ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::AddAssign;

use async_trait::async_trait;
use ledger::sha256;
use schema::{Day, Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::run::RunRow;

/// No run counts for more than this, whatever an upstream claims: a sum must not overflow for it.
const MOST: i64 = 1_000_000_000_000;

/// What the runs of one day, which are alike in all that is named here, come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The day on which they began, in UTC.
    pub day: Day,
    /// What kind of work.
    pub kind: String,
    /// The application that asked; empty, like the others, where a run does not say.
    pub app: String,
    /// The model that was asked for.
    pub model: String,
    /// The route that answered.
    pub route: String,
    /// How they ended.
    pub status: String,
    /// What they come to.
    #[serde(flatten)]
    pub sums: UsageSums,
}

/// Sums over runs. Savings may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageSums {
    /// How many runs.
    pub runs: i64,
    /// How many of them have no known cost, which is not the same as none.
    pub unpriced_runs: i64,
    /// Tokens of the requests, cached ones included.
    pub input_tokens: i64,
    /// Tokens of the answers, thoughts included.
    pub output_tokens: i64,
    /// Of the requests' tokens, those that the vendor had in its cache.
    pub cache_read_tokens: i64,
    /// Of the answers' tokens, those that were thoughts.
    pub reasoning_tokens: i64,
    /// What they cost, as far as that is known.
    pub cost_micro_usd: i64,
    /// What the live route would have cost on top.
    pub saved_micro_usd: i64,
    /// What another route would have saved.
    pub ghost_saved_micro_usd: i64,
    /// How much sooner the answers came.
    pub saved_ms: i64,
    /// How long they took.
    pub latency_ms: i64,
}

impl UsageSums {
    /// What a run comes to that has ended, by its fields.
    pub(crate) fn of<'f>(field: impl Fn(&str) -> Option<&'f Value>) -> Self {
        let number = |name: &str| field(name).and_then(number).unwrap_or(0);
        let cost = field("costMicroUsd").and_then(self::number);
        Self {
            runs: 1,
            unpriced_runs: i64::from(cost.is_none()),
            input_tokens: number("inputTokens"),
            output_tokens: number("outputTokens"),
            cache_read_tokens: number("cacheReadTokens"),
            reasoning_tokens: number("reasoningTokens"),
            cost_micro_usd: cost.unwrap_or(0),
            saved_micro_usd: number("savedMicroUsd"),
            ghost_saved_micro_usd: number("ghostSavedMicroUsd"),
            saved_ms: number("savedMs"),
            latency_ms: number("latencyMs"),
        }
    }

    /// The sums in the order of their columns.
    pub(crate) fn numbers(&self) -> [i64; 11] {
        [
            self.runs,
            self.unpriced_runs,
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.reasoning_tokens,
            self.cost_micro_usd,
            self.saved_micro_usd,
            self.ghost_saved_micro_usd,
            self.saved_ms,
            self.latency_ms,
        ]
    }

    pub(crate) fn from_numbers(numbers: [i64; 11]) -> Self {
        let [
            runs,
            unpriced_runs,
            input_tokens,
            output_tokens,
            cache_read_tokens,
            reasoning_tokens,
            cost_micro_usd,
            saved_micro_usd,
            ghost_saved_micro_usd,
            saved_ms,
            latency_ms,
        ] = numbers;
        Self {
            runs,
            unpriced_runs,
            input_tokens,
            output_tokens,
            cache_read_tokens,
            reasoning_tokens,
            cost_micro_usd,
            saved_micro_usd,
            ghost_saved_micro_usd,
            saved_ms,
            latency_ms,
        }
    }
}

impl AddAssign for UsageSums {
    fn add_assign(&mut self, other: Self) {
        let mut sums = self.numbers();
        for (sum, more) in sums.iter_mut().zip(other.numbers()) {
            *sum = sum.saturating_add(more);
        }
        *self = Self::from_numbers(sums);
    }
}

impl UsageRow {
    /// What one run comes to; nothing, until it has ended.
    pub(crate) fn of(run: &RunRow) -> Option<Self> {
        if !run.finished {
            return None;
        }
        let text = |name: &str| run.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self {
            day: Day::of(run.started_at),
            kind: text("kind"),
            app: text("app"),
            model: text("model"),
            route: text("route"),
            status: text("status"),
            sums: UsageSums::of(|name| run.fields.get(name)),
        })
    }

    /// Which row it adds to. A digest, for an index entry has a size limit and the name of a model has none.
    pub(crate) fn place(&self) -> (Day, Digest) {
        let names = [&self.kind, &self.app, &self.model, &self.route, &self.status];
        // Texts are JSON already; writing them out cannot fail.
        (self.day, sha256(&serde_json::to_vec(&names).unwrap_or_default()))
    }

    /// In the order in which they are listed.
    pub(crate) fn sort(rows: &mut [Self]) {
        let order = |row: &Self| {
            let UsageRow { day, kind, app, model, route, status, .. } = row.clone();
            (day, kind, app, model, route, status)
        };
        rows.sort_by_key(order);
    }
}

fn number(value: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is clamped first")]
    let rounded = |number: f64| number.round().clamp(-(MOST as f64), MOST as f64) as i64;
    let whole = value.as_i64().map(|number| number.clamp(-MOST, MOST));
    whole.or_else(|| value.as_f64().map(rounded))
}

/// Adds rows up by what they have in common.
pub(crate) fn add_usage(sums: &mut BTreeMap<(Day, Digest), UsageRow>, row: UsageRow) {
    match sums.entry(row.place()) {
        Entry::Occupied(mut sum) => sum.get_mut().sums += row.sums,
        Entry::Vacant(free) => drop(free.insert(row)),
    }
}

/// Says what runs used. The handle carries the tenant.
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// The usage of the days from `from` to `to`, both included, in the order of days.
    async fn usage(&self, from: Day, to: Day) -> Result<Vec<UsageRow>, StoreError>;
}
