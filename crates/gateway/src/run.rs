//! Runs over REST: begin one, list them, look at one.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use ledger::Recorder;
use schema::{RunId, Seq, TraceEvent};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::num::NonZeroU32;
use store::{Append, Commit, RunRow, Settle, TenantStore};

use crate::app::App;
use crate::chat::unrecorded;
use crate::clock::now;
use crate::error::{ApiError, Wire, unread};
use crate::page::PageQuery;
use crate::record::{VALUE_DEPTH, recordable};

/// A run begun from outside: its model calls happen elsewhere and are traced here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRun {
    /// Free to choose; shown in lists.
    #[serde(default)]
    model: Option<String>,
    /// Whatever else belongs to the beginning.
    #[serde(default)]
    metadata: Map<String, Value>,
}

pub(crate) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match begin(&app, &headers, body).await {
        Ok(run) => (StatusCode::CREATED, Json(json!({ "runId": run }))).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn begin(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<RunId, ApiError> {
    let caller = app.identify(headers)?;
    let NewRun { model, metadata } = read_body(body)?;
    let at = now();
    let run = app.new_run(at);
    let fields = json!({
        "kind": "ingest", "app": caller.app, "agent": caller.agent, "subject": caller.subject,
        "gatewayMode": caller.gateway_mode, "model": model, "metadata": metadata,
    });
    let mut recorder = Recorder::new(caller.tenant, run);
    recorder.append(at, "run.started", fields_of(fields, app), salts(app)).map_err(unrecorded)?;
    let append = Append { events: recorder.end(), settle: Settle::Open, subject: caller.subject };
    app.of(caller.tenant)
        .commit(Commit { appends: vec![append], ..Commit::default() })
        .await
        .map_err(unrecorded)?;
    Ok(run)
}

/// The body as a type of ours; what it does not know is refused by name.
pub(crate) fn read_body<T: serde::de::DeserializeOwned>(
    body: Result<Bytes, BytesRejection>,
) -> Result<T, ApiError> {
    let body = body.map_err(|error| ApiError::Body { status: error.status(), message: error.body_text() })?;
    serde_json::from_slice(&body)
        .map_err(|error| ApiError::Body { status: StatusCode::BAD_REQUEST, message: error.to_string() })
}

/// The members of an object, as they may be recorded.
pub(crate) fn fields_of(value: Value, app: &App) -> Vec<(String, Value)> {
    let Value::Object(members) = value else { return Vec::new() };
    members.into_iter().map(|(name, value)| (name, recordable(value, &app.mask, VALUE_DEPTH))).collect()
}

/// Salts, one at a time.
pub(crate) fn salts(app: &App) -> impl FnMut() -> ledger::Salt {
    || app.salts(1).pop().unwrap_or(ledger::Salt::from_bytes([0; 16]))
}

pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Response {
    match page(&app, &headers, query).await {
        Ok(runs) => {
            let next = runs.last().map(|run| run.id);
            let runs: Vec<Value> = runs.iter().map(shown).collect();
            Json(json!({ "runs": runs, "next": next })).into_response()
        }
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn page(
    app: &App,
    headers: &HeaderMap,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Vec<RunRow>, ApiError> {
    let caller = app.identify(headers)?;
    let query = PageQuery::read(query)?;
    let (before, limit) = (query.before()?, query.limit()?);
    app.of(caller.tenant).runs(before, limit).await.map_err(unread)
}

pub(crate) async fn show(State(app): State<App>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    match detail(&app, &headers, &id).await {
        Ok(detail) => Json(detail).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn detail(app: &App, headers: &HeaderMap, id: &str) -> Result<Value, ApiError> {
    let caller = app.identify(headers)?;
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    let Some(row) = store.run(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
    let events = store.events(run, Seq::START, NonZeroU32::MAX).await.map_err(unread)?;
    let events: Vec<TraceEvent<Value>> = events
        .into_iter()
        .map(|event| TraceEvent {
            tenant: caller.tenant,
            run_id: run,
            seq: event.seq,
            at: event.at,
            payload: event
                .payload
                .iter()
                .map(|(name, field)| (name.clone(), field.shown()))
                .collect::<Map<_, _>>()
                .into(),
            r#type: event.r#type,
            hash: event.hash,
        })
        .collect();
    Ok(json!({ "run": shown(&row), "events": events }))
}

/// Why a run is not there: it never was, or its events were given up.
pub(crate) async fn absent(store: &dyn TenantStore, run: RunId) -> ApiError {
    match store.sealed(run).await {
        Ok(Some(left)) => ApiError::Sealed { run, left },
        Ok(None) => ApiError::NoSuchRun,
        Err(error) => unread(error),
    }
}

/// A run as lists show it: its own fields beside where it stands.
fn shown(row: &RunRow) -> Value {
    let mut shown = row.fields.clone();
    shown.insert("id".into(), json!(row.id));
    shown.insert("events".into(), json!(row.seq));
    shown.insert("startedAt".into(), json!(row.started_at));
    shown.insert("updatedAt".into(), json!(row.updated_at));
    shown.insert("finished".into(), json!(row.finished));
    Value::Object(shown)
}
