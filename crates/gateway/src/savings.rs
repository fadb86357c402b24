//! `GET /api/v1/savings`: what runs cost, and what the cheaper routes saved.
//!
//! Runs that asked for a model are served, blocked or failed, and each is counted in one place. What was only observed
//! elsewhere is counted apart: nothing was spent or saved on it here.

use axum::Json;
use axum::extract::State;
use schema::{Day, MicroUsd, Route, RunKind, RunStatus};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::UsageRow;

use crate::app::App;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::strict::Params;

/// Which days, both included.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavingsQuery {
    /// The first day, in UTC, such as `2026-11-15`.
    #[serde(default)]
    #[schemars(with = "Option<String>", regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    from: Option<Day>,
    /// The last day, in UTC.
    #[serde(default)]
    #[schemars(with = "Option<String>", regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    to: Option<Day>,
}

/// What runs cost, and what was saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavingsSummary {
    /// All runs that asked for a model: live, optimised, blocked and failed ones.
    total_runs: u64,
    /// Answered by the model itself.
    live_runs: u64,
    /// Answered by a cheaper route.
    optimized_runs: u64,
    /// Refused by policy, quota or a guard.
    blocked_runs: u64,
    /// Ended by an error, or by a caller who hung up.
    failed_runs: u64,
    /// Observed elsewhere and handed in; in none of the other numbers.
    observed_runs: u64,
    /// What they cost, as far as that is known.
    total_cost_usd: MicroUsd,
    /// How many of them have no known price.
    unpriced_runs: u64,
    /// What the live route would have cost on top.
    total_saved_usd: MicroUsd,
    /// What would have been saved, had keys that only observe not answered live.
    ghost_saved_usd: MicroUsd,
    /// How much sooner answers came, in milliseconds.
    total_saved_ms: u64,
    /// Of the runs that were answered, how many were by a kept answer; 0 to 1.
    cache_hit_rate: f64,
    /// Of the runs that were answered, how many were by a learned program; 0 to 1.
    artifact_hit_rate: f64,
    /// Tokens that compact pages saved against whole ones.
    web_context_tokens_saved: u64,
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Params(SavingsQuery { from, to }): Params<SavingsQuery>,
) -> Result<Json<SavingsSummary>, ApiError> {
    let (from, to) = (from.unwrap_or(Day::FIRST), to.unwrap_or(Day::LAST));
    let rows = app.of(caller.tenant).usage(from, to).await.map_err(unread)?;
    Ok(Json(summarise(&rows)))
}

fn summarise(rows: &[UsageRow]) -> SavingsSummary {
    let mut sum = SavingsSummary::default();
    let (mut from_cache, mut from_artifact) = (0, 0);
    for row in rows {
        let runs = count(row.sums.runs);
        match named::<RunKind>(&row.kind) {
            Some(RunKind::Audit) | None => continue,
            Some(RunKind::Ingest) => {
                sum.observed_runs += runs;
                continue;
            }
            Some(_) => {}
        }
        sum.total_runs += runs;
        match (named::<RunStatus>(&row.status), named::<Route>(&row.route)) {
            (Some(RunStatus::Completed), Some(Route::Live)) => sum.live_runs += runs,
            (Some(RunStatus::Completed), Some(route)) => {
                sum.optimized_runs += runs;
                match route {
                    Route::ExactCache | Route::SemanticCache | Route::PlanCache => from_cache += runs,
                    Route::Artifact | Route::Hybrid => from_artifact += runs,
                    _ => {}
                }
            }
            (Some(RunStatus::Blocked | RunStatus::Waiting), _) => sum.blocked_runs += runs,
            _ => sum.failed_runs += runs,
        }
        sum.unpriced_runs += count(row.sums.unpriced_runs);
        sum.total_cost_usd.0 += row.sums.cost_micro_usd;
        sum.total_saved_usd.0 += row.sums.saved_micro_usd;
        sum.ghost_saved_usd.0 += row.sums.ghost_saved_micro_usd;
        sum.total_saved_ms += count(row.sums.saved_ms);
    }
    let served = sum.live_runs + sum.optimized_runs;
    sum.cache_hit_rate = share(from_cache, served);
    sum.artifact_hit_rate = share(from_artifact, served);
    sum
}

fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::from(name)).ok()
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use store::UsageSums;

    fn row(kind: &str, route: &str, status: &str, sums: UsageSums) -> UsageRow {
        UsageRow {
            day: Day::FIRST,
            kind: kind.into(),
            app: String::new(),
            model: String::new(),
            route: route.into(),
            status: status.into(),
            sums,
        }
    }

    #[test]
    fn served_blocked_failed_and_observed_runs_are_counted_apart() {
        let runs = |runs| UsageSums { runs, ..UsageSums::default() };
        let sum = summarise(&[
            row("chat", "live", "completed", UsageSums { cost_micro_usd: 500, unpriced_runs: 1, ..runs(3) }),
            row(
                "messages",
                "exact_cache",
                "completed",
                UsageSums { saved_micro_usd: 250, saved_ms: 90, ..runs(1) },
            ),
            row("chat", "blocked", "blocked", runs(5)),
            row("chat", "live", "failed", UsageSums { cost_micro_usd: 7, ..runs(2) }),
            row("chat", "live", "cancelled", runs(1)),
            row("ingest", "", "completed", runs(40)),
            row("audit", "", "completed", runs(9)),
        ]);
        assert_eq!((sum.total_runs, sum.live_runs, sum.optimized_runs), (12, 3, 1));
        assert_eq!((sum.blocked_runs, sum.failed_runs, sum.observed_runs), (5, 3, 40));
        assert_eq!((sum.total_cost_usd, sum.total_saved_usd), (MicroUsd(507), MicroUsd(250)));
        assert_eq!((sum.cache_hit_rate, sum.artifact_hit_rate, sum.unpriced_runs), (0.25, 0.0, 1));
    }

    proptest! {
        #[test]
        fn every_run_that_asked_for_a_model_is_in_one_place(
            rows in proptest::collection::vec((0usize..4, 0usize..5, 0usize..7, 0i64..1_000), 0..20),
        ) {
            let kinds = ["chat", "messages", "ingest", "audit"];
            let routes = ["live", "exact_cache", "artifact", "blocked", ""];
            let statuses = ["running", "waiting", "completed", "blocked", "failed", "cancelled", "?"];
            let rows: Vec<UsageRow> = rows.into_iter().map(|(kind, route, status, runs)| {
                row(kinds[kind], routes[route], statuses[status], UsageSums { runs, ..UsageSums::default() })
            }).collect();
            let sum = summarise(&rows);
            let placed = sum.live_runs + sum.optimized_runs + sum.blocked_runs + sum.failed_runs;
            prop_assert_eq!(sum.total_runs, placed);
            let asked: i64 = rows.iter().filter(|row| !matches!(row.kind.as_str(), "ingest" | "audit")).map(|row| row.sums.runs).sum();
            prop_assert_eq!(sum.total_runs, asked as u64);
            prop_assert!((0.0..=1.0).contains(&(sum.cache_hit_rate + sum.artifact_hit_rate)));
        }
    }
}
