//! Learning over REST: a tick at once, the attempts that were made; and what the gateway does for it in the background.

use apprentice::{AttemptMade, Report, attempt_id, read};
use axum::Json;
use axum::extract::State;
use schema::{ArtifactId, PatternId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Commit, RecordFilter, RecordKind};

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::pattern;
use crate::strict::Params;

/// Which attempts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AttemptQuery {
    /// Those of this pattern.
    #[serde(default)]
    pattern_id: Option<PatternId>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<String>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Attempts, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttemptPage {
    attempts: Vec<Attempt>,
    /// Where the next page begins; null on the last.
    next: Option<String>,
}

/// An attempt to make an artifact, whoever wanted it and whatever came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SynthesisAttempt")]
pub(crate) struct Attempt {
    id: String,
    pattern_id: PatternId,
    at: Timestamp,
    outcome: AttemptOutcome,
    /// Why, in a line.
    reason: String,
    /// What the compiler said, line by line.
    report: Vec<String>,
    /// How many samples there were.
    sample_count: u64,
    /// Of the newer samples that were answered, the share that came out as live's; null if none was.
    holdout_accuracy: Option<f64>,
    /// What was made; null if nothing was.
    artifact_id: Option<ArtifactId>,
    /// Who wanted it: `punk`, or whoever asked.
    by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum AttemptOutcome {
    Synthesized,
    Aborted,
    ReplayFailed,
}

impl From<AttemptMade> for Attempt {
    fn from(made: AttemptMade) -> Self {
        Self {
            id: attempt_id(&made),
            pattern_id: made.pattern,
            at: made.at,
            outcome: match made.outcome.as_str() {
                "synthesized" => AttemptOutcome::Synthesized,
                "replay_failed" => AttemptOutcome::ReplayFailed,
                _ => AttemptOutcome::Aborted,
            },
            reason: made.reason,
            report: made.report,
            sample_count: made.sample_count,
            holdout_accuracy: made.holdout_accuracy,
            artifact_id: made.artifact,
            by: made.by,
        }
    }
}

/// What a tick came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LearningReport {
    /// Leaves of the log that were read.
    leaves: u64,
    /// Live answers that taught something.
    lessons: u64,
    /// Patterns that were seen for the first time.
    patterns_discovered: u64,
    /// Attempts to make an artifact.
    attempts: u64,
    /// Artifacts that were made.
    artifacts_synthesized: u64,
    /// Artifacts that have just passed every gate.
    promotions_eligible: Vec<ArtifactId>,
    /// Artifacts that were promoted without being asked for.
    auto_promoted: Vec<ArtifactId>,
    /// Artifacts that serve no more, because they differed from live.
    demoted: Vec<ArtifactId>,
    /// Artifacts that serve no more, because they were corrected or somebody said so.
    quarantined: Vec<ArtifactId>,
    /// How many artifacts serve, of all tenants.
    serving: usize,
}

pub(crate) async fn tick(State(app): State<App>, caller: Caller) -> Result<Json<LearningReport>, ApiError> {
    let (report, serving) = learn(&app, caller.tenant).await?;
    let Report { leaves, lessons, patterns_discovered, attempts, artifacts_synthesized, .. } = report;
    Ok(Json(LearningReport {
        leaves,
        lessons,
        patterns_discovered,
        attempts,
        artifacts_synthesized,
        promotions_eligible: report.promotions_eligible,
        auto_promoted: report.auto_promoted,
        demoted: report.demoted,
        quarantined: report.quarantined,
        serving,
    }))
}

pub(crate) async fn attempts(
    State(app): State<App>,
    caller: Caller,
    Params(AttemptQuery { pattern_id, before, limit }): Params<AttemptQuery>,
) -> Result<Json<AttemptPage>, ApiError> {
    if let Some(id) = pattern_id {
        pattern::find(&app, &caller, &id.to_string()).await?;
    }
    let (attempts, next) = list(&app, caller.tenant, pattern_id, before.as_deref(), limit).await?;
    Ok(Json(AttemptPage { attempts, next }))
}

/// Attempts of a pattern, or of all.
pub(crate) async fn list(
    app: &App,
    tenant: TenantId,
    pattern: Option<PatternId>,
    before: Option<&str>,
    limit: Limit,
) -> Result<(Vec<Attempt>, Option<String>), ApiError> {
    let group = pattern.map(|id| id.to_string());
    let filter = RecordFilter { group, ..RecordFilter::of(RecordKind::Attempt) };
    let records = app.of(tenant).records(&filter, before, limit.and_one()).await.map_err(unread)?;
    let (records, next) = limit.cut(records, |record| record.id.clone());
    let attempts = records.iter().map(|record| read::<AttemptMade>(record).map(Attempt::from));
    Ok((attempts.collect::<Result<_, _>>().map_err(unread)?, next))
}

/// Puts on record what somebody decided about `target`, and has the learner read it.
pub(crate) async fn order(
    app: &App,
    caller: &Caller,
    action: &'static str,
    target: &str,
    details: serde_json::Value,
) -> Result<(), ApiError> {
    let change = Change { tenant: caller.tenant, at: now(), action, target, details };
    let commit = Commit { appends: vec![change.record(app, caller)?], ..Commit::default() };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    learn(app, caller.tenant).await.map(drop)
}

/// Reads what is new in the tenant's log, and brings what serves up to date.
pub(crate) async fn learn(app: &App, tenant: TenantId) -> Result<(Report, usize), ApiError> {
    let report = app.apprentice.tick(tenant, &|| true).await.map_err(unread)?;
    let serving = app.shelf.refresh(&*app.store, now()).await.map_err(unread)?;
    Ok((report, serving))
}

/// The same, though nobody waits for it.
pub(crate) fn soon(app: &App, tenant: TenantId) {
    let learning = app.clone();
    app.tasks.spawn(async move {
        // Why it did not work is told where it failed; the next tick does it.
        let _ = learn(&learning, tenant).await;
    });
}

/// Looks for what serves, for as long as the gateway runs: others may have learned it.
pub(crate) async fn watch(app: App) {
    let mut ticks = tokio::time::interval(app.learn_every);
    loop {
        ticks.tick().await;
        if let Err(error) = app.shelf.refresh(&*app.store, now()).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what is promoted cannot be read; what was goes on serving");
        }
    }
}
