//! Runs over REST: begin one, list them, look at one.

pub(crate) mod shown;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use ledger::Recorder;
use schema::{ApiKeyId, Route, RunId, RunKind, RunStatus, SideEffect, Subject, Timestamp, TraceEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Append, Commit, RunFilter, Settle, TenantStore};

use crate::app::App;
use crate::append::{check_names, events, fields_of, members, salts};
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::ingest::Begun;
use crate::page::Limit;
use crate::side_effect;
use crate::strict::{Body, Params};
use crate::text::Name;
pub(crate) use shown::ShownRun;

/// A run begun from outside: its model calls happen elsewhere and are traced here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRun {
    /// Free to choose; shown in lists.
    #[serde(default)]
    model: Option<Name>,
    /// Whatever else belongs to the beginning.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// Which runs: those that fit everything that is said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// What kind of work.
    #[serde(default)]
    kind: Option<RunKind>,
    /// The route that answered.
    #[serde(default)]
    route: Option<Route>,
    /// Where they stand.
    #[serde(default)]
    status: Option<RunStatus>,
    /// The model that was asked for.
    #[serde(default)]
    model: Option<Name>,
    /// The application that asked.
    #[serde(default)]
    app: Option<Name>,
    /// The agent identity that asked.
    #[serde(default)]
    agent: Option<Name>,
    /// Whom they are about.
    #[serde(default)]
    subject: Option<Subject>,
    /// The API key that was used.
    #[serde(default)]
    key: Option<ApiKeyId>,
    /// Begun then or later.
    #[serde(default)]
    since: Option<Timestamp>,
    /// Begun before then.
    #[serde(default)]
    until: Option<Timestamp>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<RunId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

impl RunQuery {
    fn filter(self) -> RunFilter {
        let Self { kind, route, status, model, app, agent, subject, key, since, until, .. } = self;
        let [model, app, agent] = [model, app, agent].map(|name| name.map(String::from));
        RunFilter { kind, app, agent, subject, model, route, status, key, since, until }
    }
}

/// Runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunPage {
    runs: Vec<ShownRun>,
    /// Where the next page begins; null on the last.
    next: Option<RunId>,
}

/// All there is of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunDetail {
    run: ShownRun,
    /// What happened, in order.
    events: Vec<TraceEvent<Value>>,
    /// What it did to the world, as far as it was told.
    side_effects: Vec<SideEffect<Value>>,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewRun { model, metadata }): Body<NewRun>,
) -> Result<(StatusCode, Json<Begun>), ApiError> {
    check_names(&metadata, "metadata")?;
    let at = now();
    let run_id = app.new_run(at);
    let fields = json!({
        "kind": RunKind::Ingest, "app": caller.app, "agent": caller.agent, "subject": caller.subject,
        "gatewayMode": caller.gateway_mode, "keyId": caller.key, "model": model, "metadata": metadata,
    });
    let mut recorder = Recorder::new(caller.tenant, run_id);
    let fields = fields_of(members(fields), &app, caller.tenant);
    recorder.append(at, "run.started", fields, salts(&app)).map_err(unrecorded)?;
    let append = Append { events: recorder.end(), settle: Settle::Open, subject: caller.subject };
    let commit = Commit { appends: vec![append], ..Commit::default() };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    Ok((StatusCode::CREATED, Json(Begun { run_id })))
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<RunQuery>,
) -> Result<Json<RunPage>, ApiError> {
    let (before, limit) = (query.before, query.limit);
    let rows = app.of(caller.tenant).runs(&query.filter(), before, limit.and_one()).await.map_err(unread)?;
    let (rows, next) = limit.cut(rows, |row| row.id);
    let runs = rows.iter().map(|row| ShownRun::of(caller.tenant, row, &[])).collect();
    Ok(Json(RunPage { runs, next }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RunDetail>, ApiError> {
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    let Some(row) = store.run(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
    let events = events(&app, caller.tenant, run).await?;
    let side_effects = side_effect::of(run, &events);
    let run = ShownRun::of(caller.tenant, &row, &events);
    let events = events.into_iter().map(|event| shown::event(caller.tenant, run.id(), event)).collect();
    Ok(Json(RunDetail { run, events, side_effects }))
}

/// Why a run is not there: it never was, or its events were given up.
pub(crate) async fn absent(store: &dyn TenantStore, run: RunId) -> ApiError {
    match store.sealed(run).await {
        Ok(Some(left)) => ApiError::Sealed { run, left },
        Ok(None) => ApiError::NoSuchRun,
        Err(error) => unread(error),
    }
}
