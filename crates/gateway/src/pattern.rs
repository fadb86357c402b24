//! Patterns over REST: work that comes again and again, and where its learning stands.

use std::collections::BTreeMap;

use apprentice::{Comparator, StoredPattern, order, read};
use axum::Json;
use axum::extract::{Path, State};
use schema::{ArtifactId, Digest, MicroUsd, PatternId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Record, RecordFilter, RecordKind};

use crate::app::App;
use crate::artifact::{self, Artifact};
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::learning::{self, Attempt};
use crate::page::Limit;
use crate::strict::{Body, Params};

/// Which patterns.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatternQuery {
    /// Those that stand like this.
    #[serde(default)]
    state: Option<PatternState>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<PatternId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Where the learning of a pattern stands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum PatternState {
    Observed,
    Candidate,
    Synthesizing,
    Replaying,
    Shadow,
    Eligible,
    Promoted,
    Negative,
    Retired,
    Quarantined,
}

/// Patterns, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PatternPage {
    patterns: Vec<Pattern>,
    /// Where the next page begins; null on the last.
    next: Option<PatternId>,
}

/// A pattern.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pattern {
    id: PatternId,
    /// The first words of what its requests have in common.
    name: String,
    state: PatternState,
    /// The model's one name.
    model: String,
    /// What kind of work it is: `classification`, `schema_deterministic`, `free_text`.
    task_class: String,
    /// How many runs live answered.
    run_count: u64,
    /// What one costs, on average.
    average_cost_usd: MicroUsd,
    /// How long one takes, on average.
    average_latency_ms: u64,
    /// How much of the answers has one shape, less what was corrected; 0 to 1.
    stability_score: f64,
    /// What could be saved by learning it; 0 to 1.
    optimizable_score: f64,
    fingerprints: Fingerprints,
    /// When an answer is the same as live's.
    equivalence: Equivalence,
    /// Why it stands where it stands.
    reasons: Vec<String>,
    /// What was made of it; null if nothing was.
    artifact_id: Option<ArtifactId>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// What its requests have in common.
#[derive(Debug, Serialize, JsonSchema)]
struct Fingerprints {
    /// Model, instructions, tools, form of the answer and sampling; or the template, where there are no instructions.
    #[schemars(with = "String")]
    task: Digest,
    /// What was mined of requests without instructions, with slots for what differs: `translate {text} to french`; null where
    /// instructions say what is wanted.
    template: Option<String>,
}

/// When two answers are the same.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Equivalence {
    /// To the letter; blanks at the ends and between words, and the order of fields, do not count.
    Exact {},
    /// JSON, field by field. Fields are named by JSON pointers, such as `/total`.
    Json {
        /// By how much the number of a field may be off.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        tolerances: BTreeMap<String, f64>,
        /// Fields that do not count.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Texts that have so much of their words in common.
    Words {
        /// The share, above 0 and up to 1.
        least: f64,
    },
}

impl Equivalence {
    /// What is declared, or what is wrong with it.
    fn comparator(&self) -> Result<Comparator, ApiError> {
        let malformed = |param: &str, why: &str| ApiError::Malformed {
            param: param.to_owned(),
            message: format!("{param}: {why}"),
        };
        if let Self::Json { tolerances, ignored } = self {
            if let Some(name) = tolerances.keys().chain(ignored).find(|name| !name.starts_with('/')) {
                return Err(malformed(
                    "tolerances",
                    &format!("`{name}` is no JSON pointer; write `/{name}`"),
                ));
            }
            if tolerances.values().any(|tolerance| !tolerance.is_finite() || *tolerance < 0.0) {
                return Err(malformed("tolerances", "a tolerance is a number from 0 up"));
            }
        }
        if matches!(self, Self::Words { least } if !(*least > 0.0 && *least <= 1.0)) {
            return Err(malformed("least", "expected a number above 0 and up to 1"));
        }
        serde_json::from_value(json!(self)).map_err(unread)
    }
}

/// A pattern with what was made of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PatternDetail {
    pattern: Pattern,
    /// Null if nothing was made yet.
    artifact: Option<Artifact>,
    /// The last attempts, newest first.
    attempts: Vec<Attempt>,
}

/// A pattern after something was decided about it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownPattern {
    pattern: Pattern,
}

/// What came of an attempt that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Synthesized {
    pattern: Pattern,
    /// The attempt; absent while somebody else reads the log, who will come to it.
    attempt: Option<Attempt>,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(PatternQuery { state, before, limit }): Params<PatternQuery>,
) -> Result<Json<PatternPage>, ApiError> {
    let group = state.and_then(|state| json!(state).as_str().map(str::to_owned));
    let filter = RecordFilter { group, ..RecordFilter::of(RecordKind::Pattern) };
    let before = before.map(|id| id.to_string());
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let patterns = records.iter().map(shown).collect::<Result<_, _>>()?;
    Ok(Json(PatternPage { patterns, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<PatternDetail>, ApiError> {
    let pattern = shown(&find(&app, &caller, &id).await?)?;
    let artifact = match pattern.artifact_id {
        Some(id) => Some(artifact::shown(&artifact::find(&app, &caller, &id.to_string()).await?)?),
        None => None,
    };
    let (attempts, _) = learning::list(&app, caller.tenant, Some(pattern.id), None, Limit::default()).await?;
    Ok(Json(PatternDetail { pattern, artifact, attempts }))
}

pub(crate) async fn retire(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownPattern>, ApiError> {
    let record = find(&app, &caller, &id).await?;
    // Once is enough.
    if !matches!(shown(&record)?.state, PatternState::Retired) {
        learning::order(&app, &caller, order::RETIRED, &record.id, json!({})).await?;
    }
    Ok(Json(ShownPattern { pattern: shown(&find(&app, &caller, &id).await?)? }))
}

pub(crate) async fn declare(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(equivalence): Body<Equivalence>,
) -> Result<Json<ShownPattern>, ApiError> {
    let record = find(&app, &caller, &id).await?;
    let comparator = equivalence.comparator()?;
    let details = json!({ "comparator": comparator });
    learning::order(&app, &caller, order::COMPARATOR, &record.id, details).await?;
    Ok(Json(ShownPattern { pattern: shown(&find(&app, &caller, &id).await?)? }))
}

pub(crate) async fn synthesize(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Synthesized>, ApiError> {
    let before = shown(&find(&app, &caller, &id).await?)?;
    learning::order(&app, &caller, order::SYNTHESIS, &before.id.to_string(), json!({})).await?;
    let pattern = shown(&find(&app, &caller, &id).await?)?;
    let (attempts, _) = learning::list(&app, caller.tenant, Some(pattern.id), None, Limit::default()).await?;
    Ok(Json(Synthesized { pattern, attempt: attempts.into_iter().next() }))
}

/// The record of a pattern of the caller's tenant.
pub(crate) async fn find(app: &App, caller: &Caller, id: &str) -> Result<Record, ApiError> {
    let missing =
        ApiError::NoSuch { what: "pattern", hint: "`GET /api/v1/patterns` lists the patterns of the tenant" };
    let Ok(id) = id.parse::<PatternId>() else { return Err(missing) };
    let record = app.of(caller.tenant).record(RecordKind::Pattern, &id.to_string()).await.map_err(unread)?;
    record.ok_or(missing)
}

/// A pattern as it is shown.
pub(crate) fn shown(record: &Record) -> Result<Pattern, ApiError> {
    let StoredPattern { study, artifact_id, .. } = read(record).map_err(unread)?;
    let (cost, latency) = study.pattern.averages();
    let text = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    Ok(Pattern {
        id: study.id,
        name: study.name,
        state: serde_json::from_value(json!(study.pattern.state)).map_err(unread)?,
        model: study.model,
        task_class: text(json!(study.pattern.task_class())),
        run_count: study.pattern.run_count,
        average_cost_usd: MicroUsd(i64::try_from(cost).unwrap_or(i64::MAX)),
        average_latency_ms: latency,
        stability_score: study.pattern.stability(),
        optimizable_score: study.pattern.optimizable(),
        fingerprints: Fingerprints {
            task: study.key,
            template: study.template.map(|template| template.shown()),
        },
        equivalence: serde_json::from_value(json!(study.comparator)).map_err(unread)?,
        reasons: study.pattern.reasons(),
        artifact_id,
        created_at: study.created_at,
        updated_at: study.updated_at,
    })
}
