//! `POST /api/v1/ingest/prompt`: a prompt that somebody else answered, as a completed run that was only observed.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use ledger::Recorder;
use schema::{RunId, RunKind, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Append, Commit, Settle};

use crate::app::App;
use crate::append::{check_names, fields_of, members, salts};
use crate::clock::now;
use crate::error::{ApiError, unrecorded};
use crate::identity::Caller;
use crate::strict::Body;
use crate::text::Name;

/// A prompt that was answered elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewPrompt {
    /// Where it was typed, such as `claude-code`.
    source: Name,
    /// What was typed.
    #[schemars(length(min = 1))]
    prompt: String,
    /// The conversation that it belongs to.
    #[serde(default)]
    session_id: Option<Name>,
    /// Whatever else belongs to it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// The run that records something.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Begun {
    pub(crate) run_id: RunId,
}

pub(crate) async fn prompt(
    State(app): State<App>,
    caller: Caller,
    Body(NewPrompt { source, prompt, session_id, metadata }): Body<NewPrompt>,
) -> Result<(StatusCode, Json<Begun>), ApiError> {
    if prompt.is_empty() {
        let message = "prompt: expected at least one character".to_owned();
        return Err(ApiError::Malformed { param: "prompt".to_owned(), message });
    }
    check_names(&metadata, "metadata")?;
    let at = now();
    let run_id = app.new_run(at);
    let started = json!({
        "kind": RunKind::Ingest, "app": caller.app, "agent": caller.agent, "subject": caller.subject,
        "gatewayMode": caller.gateway_mode, "keyId": caller.key, "model": null,
        "source": source, "sessionId": session_id, "prompt": prompt, "metadata": metadata,
    });
    // Nobody was asked here, so nothing was spent here.
    let finished = json!({
        "status": RunStatus::Completed, "costMicroUsd": 0, "savedMicroUsd": 0,
        "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
    });
    let mut recorder = Recorder::new(caller.tenant, run_id);
    for (r#type, fields) in [("run.started", started), ("run.finished", finished)] {
        let fields = fields_of(members(fields), &app, caller.tenant);
        recorder.append(at, r#type, fields, salts(&app)).map_err(unrecorded)?;
    }
    let append = Append { events: recorder.end(), settle: Settle::Leaf, subject: caller.subject };
    let commit = Commit { appends: vec![append], ..Commit::default() };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    Ok((StatusCode::CREATED, Json(Begun { run_id })))
}
