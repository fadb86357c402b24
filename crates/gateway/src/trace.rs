//! `POST /api/v1/trace`: one more event of a run, from whoever watched it happen.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use ledger::Recorder;
use schema::{RunId, Seq, Subject};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{Append, Commit, CommitError, Settle};

use crate::app::App;
use crate::chat::unrecorded;
use crate::clock::now;
use crate::error::{ApiError, Wire, unread};
use crate::run::{absent, fields_of, read_body, salts};

/// How often an append is tried when others write to the same run.
const TRIES: u32 = 64;
/// Types that only the runtime itself may record: what verification reads must not come from outside.
const RESERVED: &[&str] = &["run.", "policy.", "route.", "model.", "artifact.", "audit.", "side_effect."];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewEvent {
    run_id: String,
    r#type: String,
    #[serde(default)]
    payload: Map<String, Value>,
}

pub(crate) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match append(&app, &headers, body).await {
        Ok((run, seq)) => (StatusCode::CREATED, Json(json!({ "runId": run, "seq": seq }))).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn append(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<(RunId, Seq), ApiError> {
    let caller = app.identify(headers)?;
    let NewEvent { run_id, r#type, payload } = read_body(body)?;
    check_type(&r#type)?;
    if payload.contains_key("") {
        return Err(ApiError::Invalid {
            param: "payload",
            message: "a field has no name".into(),
            hint: "name every field",
        });
    }
    let run: RunId = run_id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    let fields = fields_of(Value::Object(payload), app);
    for _ in 0..TRIES {
        let Some(row) = store.run(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
        let mut recorder = Recorder::resume(caller.tenant, run, row.seq, row.head);
        let seq = recorder.append(now(), &r#type, fields.clone(), salts(app)).map_err(unrecorded)?.seq;
        // What comes after the end is bound by a leaf of its own.
        let settle = if row.finished { Settle::Leaf } else { Settle::Open };
        // What is said about a run is about whom the run is about.
        let subject = row.fields.get("subject").and_then(Value::as_str).map(str::to_owned);
        let subject = subject.and_then(|name| Subject::try_from(name).ok());
        let append = Append { events: recorder.end(), settle, subject };
        match store.commit(Commit { appends: vec![append], ..Commit::default() }).await {
            Ok(()) => return Ok((run, seq)),
            Err(CommitError::Moved { .. }) => {}
            Err(error) => return Err(unrecorded(error)),
        }
    }
    Err(ApiError::Busy { run })
}

fn check_type(r#type: &str) -> Result<(), ApiError> {
    let invalid = |message: String, hint| Err(ApiError::Invalid { param: "type", message, hint });
    if r#type.is_empty() || r#type.len() > 120 || r#type.chars().any(char::is_control) {
        return invalid(
            "the type of an event is 1 to 120 visible characters".into(),
            "send a type such as `tool.called`",
        );
    }
    match RESERVED.iter().find(|prefix| r#type.starts_with(**prefix)) {
        Some(prefix) => invalid(
            format!("types that start with `{prefix}` are recorded by the runtime alone"),
            "send a type such as `tool.called`",
        ),
        None => Ok(()),
    }
}
