//! Jobs over REST: what waits, what died, and putting the dead back.

use axum::Json;
use axum::extract::{Path, State};
use schema::{JobId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Commit, Job, JobState};

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::Params;

/// Which jobs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobQuery {
    /// Only jobs in this state.
    #[serde(default)]
    #[schemars(with = "Option<StateName>")]
    state: Option<JobState>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<JobId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Where a job stands.
#[derive(JsonSchema)]
#[schemars(rename = "JobState", rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "the schema of `store::JobState`, which describes no REST")]
enum StateName {
    Waiting,
    Leased,
    Done,
    Dead,
}

/// Jobs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobPage {
    jobs: Vec<ShownJob>,
    /// Where the next page begins; null on the last.
    next: Option<JobId>,
}

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Job")]
struct ShownJob {
    id: JobId,
    tenant: TenantId,
    /// What kind of work.
    kind: String,
    /// While a job of this kind and key waits or runs, a second one is not made.
    key: Option<String>,
    /// What it is about.
    payload: Value,
    /// Higher goes first.
    priority: i32,
    /// Not before this.
    run_at: Timestamp,
    /// How often it has been tried.
    attempts: u32,
    /// How often it may be.
    max_attempts: u32,
    #[schemars(with = "StateName")]
    state: JobState,
    /// Until when the worker that has it may keep it.
    lease_until: Option<Timestamp>,
    /// Why the last attempt failed.
    last_error: Option<String>,
}

impl From<Job> for ShownJob {
    fn from(job: Job) -> Self {
        let Job { id, tenant, kind, key, payload, priority, run_at, attempts, max_attempts, state, .. } = job;
        let (lease_until, last_error) = (job.lease_until, job.last_error);
        Self {
            id,
            tenant,
            kind,
            key,
            payload,
            priority,
            run_at,
            attempts,
            max_attempts,
            state,
            lease_until,
            last_error,
        }
    }
}

/// The job that was put back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requeued {
    job_id: JobId,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(JobQuery { state, before, limit }): Params<JobQuery>,
) -> Result<Json<JobPage>, ApiError> {
    let jobs = app.of(caller.tenant).jobs(state, before, limit.and_one()).await.map_err(unread)?;
    let (jobs, next) = limit.cut(jobs, |job| job.id);
    Ok(Json(JobPage { jobs: jobs.into_iter().map(ShownJob::from).collect(), next }))
}

pub(crate) async fn requeue(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Requeued>, ApiError> {
    let job_id: JobId = id.parse().map_err(|_| ApiError::NoSuchJob)?;
    let (store, at) = (app.of(caller.tenant), now());
    if !store.requeue(job_id, at).await.map_err(unread)? {
        return Err(ApiError::NoSuchJob);
    }
    let (action, target, details) = ("audit.job_requeued", job_id.to_string(), json!({}));
    let change = Change { tenant: caller.tenant, at, action, target: &target, details };
    let commit = Commit { appends: vec![change.record(&app, &caller)?], ..Commit::default() };
    store.commit(commit).await.map_err(unrecorded)?;
    Ok(Json(Requeued { job_id }))
}
