//! Artifacts over REST: learned programs, the evidence for each, and what operators decide about them.

mod shown;

use std::num::NonZeroU32;

use apprentice::{
    Executable, Made, Portable, RETIRED, ReplayEvaluation, imported_program, order, program_text, read,
};
use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use ledger::sha256;
use schema::{ArtifactId, Digest, JobId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Commit, Job, JobState, Record, RecordFilter, RecordKind, TenantStore};

pub(crate) use self::shown::{Artifact, shown};

use self::shown::{ArtifactState, Evaluation, evaluations, name};
use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::learning;
use crate::page::Limit;
use crate::pattern::{self, Pattern};
use crate::strict::{Body, Params};
use crate::text::Name;

/// Artifacts that may have had one program, one after the other.
const MOST_OF_A_PROGRAM: NonZeroU32 = NonZeroU32::new(64).unwrap();

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

/// Artifacts, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactPage {
    artifacts: Vec<Artifact>,
    /// Where the next page begins; null on the last.
    next: Option<ArtifactId>,
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
    Ok(Json(ArtifactDetail { artifact: shown(&record)?, evaluations: evaluations(&made), pattern }))
}

/// Among so many jobs one is looked for that waits or runs.
const MOST_JOBS: NonZeroU32 = NonZeroU32::new(1000).unwrap();

/// Work that was begun.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayWanted {
    artifact_id: ArtifactId,
    /// The job that does it; `GET /api/v1/jobs` shows where it stands, and `lastReplay` of the artifact what came of it.
    job_id: JobId,
}

pub(crate) async fn replay(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<ReplayWanted>), ApiError> {
    let made: Made = read(&find(&app, &caller, &id).await?).map_err(unread)?;
    made.program.ok_or_else(no_program)?;
    let job = ReplayEvaluation::job(made.id, &caller.actor(), now(), app.random_bytes());
    let (mut job_id, key) = (job.id, job.key.clone());
    let commit = Commit { jobs: vec![job], ..Commit::default() };
    let store = app.of(caller.tenant);
    store.commit(commit).await.map_err(unrecorded)?;
    if store.job(job_id).await.map_err(unread)?.is_none() {
        // One waits or runs already: it is the one.
        for state in [JobState::Waiting, JobState::Leased] {
            let jobs = store.jobs(Some(state), None, MOST_JOBS).await.map_err(unread)?;
            let same = |job: &&Job| job.kind == ReplayEvaluation::KIND && job.key == key;
            job_id = jobs.iter().find(same).map_or(job_id, |job| job.id);
        }
    }
    Ok((StatusCode::ACCEPTED, Json(ReplayWanted { artifact_id: made.id, job_id })))
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

/// The newest artifact that has this program.
async fn of_program(store: &dyn TenantStore, digest: Digest) -> Result<Option<Record>, ApiError> {
    let filter = RecordFilter { key: Some(digest), ..RecordFilter::of(RecordKind::Program) };
    let programs = store.records(&filter, None, MOST_OF_A_PROGRAM).await.map_err(unread)?;
    // The group of a program is its artifact; what was only brought here has none.
    let newest = programs.iter().filter_map(|program| program.group.parse::<ArtifactId>().ok()).max();
    let Some(id) = newest else { return Ok(None) };
    store.record(RecordKind::Artifact, &id.to_string()).await.map_err(unread)
}

pub(crate) async fn import(
    State(app): State<App>,
    caller: Caller,
    Body(NewImport { program, origin }): Body<NewImport>,
) -> Result<(StatusCode, Json<ShownArtifact>), ApiError> {
    let malformed =
        |why: String| ApiError::Malformed { param: "program".to_owned(), message: format!("program: {why}") };
    let executable = Executable::read(&program).map_err(|error| malformed(error.to_string()))?;
    let house = app.house.of(caller.tenant);
    if executable.words().iter().any(|text| house.has_secret(text)) {
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
    let record = of_program(&*store, digest).await?.ok_or(ApiError::Unread)?;
    Ok((StatusCode::CREATED, Json(ShownArtifact { artifact: shown(&record)? })))
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
