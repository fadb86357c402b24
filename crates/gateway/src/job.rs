//! Jobs over REST: what waits, what died, and putting the dead back.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use schema::JobId;
use serde_json::{Value, json};
use store::{Job, JobState};

use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, Wire, unread};
use crate::page::PageQuery;

pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Response {
    match page(&app, &headers, query).await {
        Ok(jobs) => Json(json!({ "next": jobs.last().map(|job| job.id), "jobs": jobs })).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn page(
    app: &App,
    headers: &HeaderMap,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Vec<Job>, ApiError> {
    let caller = app.identify(headers)?;
    let query = PageQuery::read(query)?;
    let state = |text: &String| {
        serde_json::from_value::<JobState>(Value::from(text.as_str())).map_err(|_| ApiError::Invalid {
            param: "state",
            message: format!("`{text}` is not a state of jobs"),
            hint: "send waiting, leased, done or dead",
        })
    };
    let (state, before, limit) =
        (query.state.as_ref().map(state).transpose()?, query.before()?, query.limit()?);
    app.of(caller.tenant).jobs(state, before, limit).await.map_err(unread)
}

pub(crate) async fn requeue(State(app): State<App>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    match put_back(&app, &headers, &id).await {
        Ok(id) => Json(json!({ "jobId": id })).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn put_back(app: &App, headers: &HeaderMap, id: &str) -> Result<JobId, ApiError> {
    let caller = app.identify(headers)?;
    let job: JobId = id.parse().map_err(|_| ApiError::NoSuchJob)?;
    let done = app.of(caller.tenant).requeue(job, now()).await.map_err(unread)?;
    if done { Ok(job) } else { Err(ApiError::NoSuchJob) }
}
