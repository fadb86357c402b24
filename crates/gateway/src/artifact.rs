//! Artifacts over REST: learned programs, the evidence for each, and what operators decide about them.

use std::num::NonZeroU32;

use apprentice::{
    Executable, Made, Occasion, Portable, RETIRED, ReplayReport, imported_program, order, program_text, read,
};
use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use ledger::sha256;
use schema::{ArtifactId, Digest, MicroUsd, PatternId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Commit, Record, RecordFilter, RecordKind};

use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::learning;
use crate::page::Limit;
use crate::pattern::{self, Pattern};
use crate::strict::{Body, Params};
use crate::text::Name;

/// Which artifacts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArtifactQuery {
    /// Those that stand like this.
    #[serde(default)]
    state: Option<ArtifactState>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ArtifactId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Where an artifact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum ArtifactState {
    Shadow,
    Eligible,
    Promoted,
    Quarantined,
    Retired,
}

/// Artifacts, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactPage {
    artifacts: Vec<Artifact>,
    /// Where the next page begins; null on the last.
    next: Option<ArtifactId>,
}

/// A learned program.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Artifact {
    id: ArtifactId,
    pattern_id: PatternId,
    state: ArtifactState,
    /// What it is: `classifier`, `program`, or `imported`.
    r#type: String,
    /// Its version, from 1; a new one is made when enough is new.
    version: u32,
    /// The share of its answers that surely agree with live's, by what was compared; 0 to 1.
    confidence: f64,
    /// What has to hold before it is promoted, one by one.
    gates: Vec<Gate>,
    /// Comparisons beside live, before anything is served.
    shadow: Comparisons,
    /// Comparisons in the place of serving, since it was promoted.
    audit: Comparisons,
    /// Recorded runs it was tried on when it was made.
    replay: Comparisons,
    /// The share of what it could answer that it serves; the rest is audited.
    served_share: f64,
    /// How many requests it answered.
    served_runs: u64,
    /// What that saved.
    saved_usd: MicroUsd,
    /// The program that serves, or would; null while it is only compared.
    program: Option<Program>,
    /// Answers that somebody corrected.
    corrections: Vec<Correction>,
    /// What became of it, oldest first.
    changes: Vec<Change>,
    created_at: Timestamp,
}

/// One condition of promotion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PromotionGateStatus")]
struct Gate {
    name: String,
    passed: bool,
    /// What was found.
    reason: String,
}

/// How often something was compared.
#[derive(Debug, Serialize, JsonSchema)]
struct Comparisons {
    compared: u64,
    disagreed: u64,
}

/// A program, by its text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactProgram")]
struct Program {
    version: u32,
    /// SHA-256 of the text, as events name it.
    #[schemars(with = "String")]
    digest: Digest,
    bytes: u64,
}

/// An answer that somebody corrected.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactCorrection")]
struct Correction {
    run_id: RunId,
    at: Timestamp,
    /// The version that had answered.
    version: u32,
}

/// A change of where it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactChange")]
struct Change {
    at: Timestamp,
    state: ArtifactState,
    /// Why.
    reason: String,
    /// The run that was the reason.
    run_id: RunId,
}

/// One comparison with live.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactEvaluation")]
struct Evaluation {
    /// The run that live answered.
    run_id: RunId,
    at: Timestamp,
    /// On which occasion: `shadow` or `audit`.
    kind: &'static str,
    version: u32,
    /// Whether both said the same.
    agreed: bool,
}

/// An artifact with its evidence.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactDetail {
    artifact: Artifact,
    /// The last comparisons, newest first.
    evaluations: Vec<Evaluation>,
    /// What it was made of; null when that is no longer there.
    pattern: Option<Pattern>,
}

/// An artifact after something was decided about it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownArtifact {
    artifact: Artifact,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(ArtifactQuery { state, before, limit }): Params<ArtifactQuery>,
) -> Result<Json<ArtifactPage>, ApiError> {
    let group = state.and_then(|state| json!(state).as_str().map(str::to_owned));
    let filter = RecordFilter { group, ..RecordFilter::of(RecordKind::Artifact) };
    let before = before.map(|id| id.to_string());
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let artifacts = records.iter().map(shown).collect::<Result<_, _>>()?;
    Ok(Json(ArtifactPage { artifacts, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ArtifactDetail>, ApiError> {
    let record = find(&app, &caller, &id).await?;
    let made: Made = read(&record).map_err(unread)?;
    let pattern = match pattern::find(&app, &caller, &made.pattern.to_string()).await {
        Ok(record) => Some(pattern::shown(&record)?),
        Err(ApiError::NoSuch { .. }) => None,
        Err(error) => return Err(error),
    };
    let evaluations = made.evaluations.iter().rev().map(|one| Evaluation {
        run_id: one.run,
        at: one.at,
        kind: match one.kind {
            Occasion::Shadow => "shadow",
            Occasion::Audit => "audit",
        },
        version: one.version,
        agreed: one.agreed,
    });
    Ok(Json(ArtifactDetail { artifact: shown(&record)?, evaluations: evaluations.collect(), pattern }))
}

/// What came of trying an artifact on recorded runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replayed {
    artifact_id: ArtifactId,
    /// Recorded runs of the pattern.
    runs: u64,
    /// Those that the artifact answers.
    answered: u64,
    /// Those that it answers otherwise than live did.
    disagreed: u64,
    /// Comparisons that were known from before.
    known: u64,
}

pub(crate) async fn replay(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Replayed>, ApiError> {
    let made: Made = read(&find(&app, &caller, &id).await?).map_err(unread)?;
    let report = app.apprentice.replay(caller.tenant, made.id).await.map_err(unread)?;
    let ReplayReport { runs, answered, disagreed, known } = report.ok_or_else(no_program)?;
    Ok(Json(Replayed { artifact_id: made.id, runs, answered, disagreed, known }))
}

/// `GET /api/v1/artifacts/{id}/export`: the artifact as one signed file.
pub(crate) async fn export(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<serde_json::Value>, ApiError> {
    let made: Made = read(&find(&app, &caller, &id).await?).map_err(unread)?;
    let program = made.program.ok_or_else(no_program)?;
    let text = program_text(&*app.of(caller.tenant), program.digest).await.map_err(unread)?;
    let key = app.logs.key(caller.tenant).map_err(unread)?;
    let file = Portable::new(key.origin(), text.ok_or_else(no_program)?, &made, |text| key.sign(text));
    Ok(Json(json!(file.ok_or(ApiError::Unread)?)))
}

fn no_program() -> ApiError {
    ApiError::GateNotSatisfied {
        message: "the artifact has no program that could serve yet".to_owned(),
        hint: "it has one as soon as every gate is passed; `GET /api/v1/artifacts/{id}` shows them",
    }
}

/// An artifact from elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewImport {
    /// The member `program` of an exported file.
    program: String,
    /// The log that vouches for it, for the record; whoever imports has checked its signature.
    #[serde(default)]
    origin: Option<Name>,
}

pub(crate) async fn import(
    State(app): State<App>,
    caller: Caller,
    Body(NewImport { program, origin }): Body<NewImport>,
) -> Result<(StatusCode, Json<ShownArtifact>), ApiError> {
    let malformed =
        |why: String| ApiError::Malformed { param: "program".to_owned(), message: format!("program: {why}") };
    let executable = Executable::read(&program).map_err(|error| malformed(error.to_string()))?;
    if app.house.of(caller.tenant).has_secret(&program) {
        return Err(malformed("it has a secret in it".to_owned()));
    }
    let digest = sha256(program.as_bytes());
    let store = app.of(caller.tenant);
    let at = now();
    let known = program_text(&*store, digest).await.map_err(unread)?;
    let records = if known.is_some() { Vec::new() } else { vec![imported_program(digest, &program, at)] };
    let (target, details) = (digest.to_string(), json!({ "origin": origin, "task": executable.task }));
    let change =
        crate::audit::Change { tenant: caller.tenant, at, action: order::IMPORTED, target: &target, details };
    let commit = Commit { appends: vec![change.record(&app, &caller)?], records, ..Commit::default() };
    store.commit(commit).await.map_err(unrecorded)?;
    learning::learn(&app, caller.tenant).await?;
    let filter = RecordFilter { key: Some(executable.task), ..RecordFilter::of(RecordKind::Artifact) };
    let found = store.records(&filter, None, NonZeroU32::MIN).await.map_err(unread)?;
    let record = found.first().ok_or(ApiError::Unread)?;
    Ok((StatusCode::CREATED, Json(ShownArtifact { artifact: shown(record)? })))
}

pub(crate) async fn promote(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownArtifact>, ApiError> {
    let record = find(&app, &caller, &id).await?;
    let (before, made) = (shown(&record)?, read::<Made>(&record).map_err(unread)?);
    if before.state == ArtifactState::Promoted {
        return Ok(Json(ShownArtifact { artifact: before }));
    }
    let refused = |made: &Made, state| ApiError::GateNotSatisfied {
        message: format!("the artifact is {}: {}", name(state), made.gates()),
        hint: "`GET /api/v1/artifacts/{id}` shows every gate; what is compared with live adds to the proof",
    };
    if before.state != ArtifactState::Eligible {
        return Err(refused(&made, before.state));
    }
    let details = json!({ "version": made.version, "gates": made.gates() });
    decide(&app, &caller, &record, order::PROMOTED, details).await?;
    let record = find(&app, &caller, &id).await?;
    let after = shown(&record)?;
    // What came in between may have differed.
    if after.state != ArtifactState::Promoted {
        return Err(refused(&read(&record).map_err(unread)?, after.state));
    }
    Ok(Json(ShownArtifact { artifact: after }))
}

pub(crate) async fn roll_back(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownArtifact>, ApiError> {
    take_out(&app, &caller, &id, order::ROLLED_BACK).await
}

pub(crate) async fn quarantine(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownArtifact>, ApiError> {
    take_out(&app, &caller, &id, order::QUARANTINED).await
}

pub(crate) async fn release(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownArtifact>, ApiError> {
    take_out(&app, &caller, &id, order::RELEASED).await
}

async fn take_out(
    app: &App,
    caller: &Caller,
    id: &str,
    action: &'static str,
) -> Result<Json<ShownArtifact>, ApiError> {
    let record = find(app, caller, id).await?;
    let version = shown(&record)?.version;
    decide(app, caller, &record, action, json!({ "version": version })).await?;
    Ok(Json(ShownArtifact { artifact: shown(&find(app, caller, id).await?)? }))
}

async fn decide(
    app: &App,
    caller: &Caller,
    record: &Record,
    action: &'static str,
    details: serde_json::Value,
) -> Result<(), ApiError> {
    if record.group == RETIRED {
        return Err(ApiError::GateNotSatisfied {
            message: "the artifact is retired".to_owned(),
            hint: "`GET /api/v1/patterns/{id}` names the artifact that took its place",
        });
    }
    learning::order(app, caller, action, &record.id, details).await
}

/// The record of an artifact of the caller's tenant.
pub(crate) async fn find(app: &App, caller: &Caller, id: &str) -> Result<Record, ApiError> {
    let missing = ApiError::NoSuch {
        what: "artifact",
        hint: "`GET /api/v1/artifacts` lists the artifacts of the tenant",
    };
    let Ok(id) = id.parse::<ArtifactId>() else { return Err(missing) };
    let record = app.of(caller.tenant).record(RecordKind::Artifact, &id.to_string()).await.map_err(unread)?;
    record.ok_or(missing)
}

/// An artifact as it is shown.
pub(crate) fn shown(record: &Record) -> Result<Artifact, ApiError> {
    let made: Made = read(record).map_err(unread)?;
    let gates = made.gates().0.into_iter();
    let (proof, audited) = (made.course.proof().tally, made.course.audited());
    let (answered, right) = made.replayed;
    Ok(Artifact {
        id: made.id,
        pattern_id: made.pattern,
        state: state(&record.group)?,
        confidence: made.confidence(),
        gates: gates.map(|gate| Gate { name: gate.name, passed: gate.passed, reason: gate.reason }).collect(),
        shadow: Comparisons { compared: proof.compared, disagreed: proof.disagreed },
        audit: Comparisons { compared: audited.compared, disagreed: audited.disagreed },
        replay: Comparisons { compared: answered, disagreed: answered.saturating_sub(right) },
        served_share: made.course.served_share(),
        served_runs: made.served,
        saved_usd: MicroUsd(i64::try_from(made.saved_micro_usd).unwrap_or(i64::MAX)),
        program: made.program.map(|program| Program {
            version: program.version,
            digest: program.digest,
            bytes: program.bytes,
        }),
        corrections: made
            .corrections
            .iter()
            .map(|one| Correction { run_id: one.run, at: one.at, version: one.version })
            .collect(),
        changes: made
            .changes
            .iter()
            .map(|one| {
                let stage = json!(one.stage);
                let state = state(stage.as_str().unwrap_or_default())?;
                Ok(Change { at: one.at, state, reason: one.reason.clone(), run_id: one.run })
            })
            .collect::<Result<_, ApiError>>()?,
        created_at: made.created_at,
        r#type: made.kind,
        version: made.version,
    })
}

fn state(name: &str) -> Result<ArtifactState, ApiError> {
    serde_json::from_value(json!(name)).map_err(unread)
}

fn name(state: ArtifactState) -> String {
    json!(state).as_str().unwrap_or_default().to_owned()
}
