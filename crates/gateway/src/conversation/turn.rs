//! `POST /api/v1/conversations/{id}/turns`: something is said, and a model answers.
//!
//! The call goes the way of every other (`call/`), so it is judged, routed and recorded there. What this adds is what is
//! sent, and that the conversation knows of the run afterwards.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use identity::Permission;
use schema::{ConversationId, MicroUsd, Route, RunId, RunStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::RunRow;

use super::kept::{self, Conversation, Turn};
use super::{ShownTurn, told, words};
use crate::app::App;
use crate::call;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::strict::Body;
use crate::text::{Name, Speech};

/// The application that turns are asked by, unless the caller's key is for another alone.
const APP: &str = "chat";
/// How many turns a conversation has at most: each sends all that was said before it.
const MOST_TURNS: usize = 200;

/// Something to be said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTurn {
    /// What is said.
    content: Speech,
    /// Who answers, if not who answers in this conversation.
    #[serde(default)]
    model: Option<Name>,
    /// Whether the answer comes as it is made, as server-sent events.
    #[serde(default)]
    stream: bool,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewTurn>,
) -> Result<Response, ApiError> {
    // It asks a model, whatever it is called.
    caller.must(Permission::GatewayCall)?;
    let found = kept::find(&app, &caller, &id).await?;
    let stream = new.stream;
    let body = asked(&app, &caller, &found, new).await?;
    let by = as_chat(&caller);
    let response = call::chat(State(app.clone()), by, headers, Ok(Bytes::from(body.to_string()))).await;
    let run = run_of(response.headers()).filter(|_| response.status() == StatusCode::OK);
    // What failed or was blocked is the gateway's to word, and leaves nothing here.
    let Some(run) = run else { return Ok(response) };
    if stream {
        return Ok(told::until_kept(response, app, caller, found.id, run));
    }
    answered(&app, &caller, found.id, run, response).await
}

/// The caller, as the application that conversations are.
fn as_chat(caller: &Caller) -> Caller {
    let app = if caller.is_pinned { caller.app.clone() } else { APP.to_owned() };
    Caller { app, subject: kept::subject(caller), ..caller.clone() }
}

/// The request: the instructions, all that was said and is still known, and what is said now.
async fn asked(
    app: &App,
    caller: &Caller,
    found: &Conversation,
    NewTurn { content, model, stream }: NewTurn,
) -> Result<Value, ApiError> {
    if found.turns.len() >= MOST_TURNS {
        let message = format!("this conversation has {MOST_TURNS} turns, and takes no more");
        return Err(ApiError::Invalid { param: "id", message, hint: "begin another conversation" });
    }
    let model = model.map(String::from).or_else(|| found.model.clone());
    let Some(model) = model else {
        return Err(ApiError::Invalid {
            param: "model",
            message: "neither the conversation nor this turn says who answers".to_owned(),
            hint: "name a model of `GET /v1/models`",
        });
    };
    let mut messages = Vec::new();
    if let Some(system) = words::of(app, caller.tenant, found).await?.system {
        messages.push(json!({ "role": "system", "content": system }));
    }
    for turn in &found.turns {
        let ShownTurn { content, reply, .. } = words::turn(app, caller.tenant, turn).await?;
        // Half of a turn that was forgotten would be an answer to nothing.
        if let (Some(content), Some(reply)) = (content, reply) {
            messages.push(json!({ "role": "user", "content": content }));
            messages.push(json!({ "role": "assistant", "content": reply }));
        }
    }
    messages.push(json!({ "role": "user", "content": String::from(content) }));
    Ok(json!({ "model": model, "temperature": 0, "stream": stream, "messages": messages }))
}

/// The answer in one piece: the turn as it is kept, and the answer as the caller may have it.
async fn answered(
    app: &App,
    caller: &Caller,
    id: ConversationId,
    run: RunId,
    response: Response,
) -> Result<Response, ApiError> {
    let (mut parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(unread)?;
    let answer: Value = serde_json::from_slice(&bytes).map_err(unread)?;
    let turn = keep(app, caller, id, run).await?;
    let reply = &answer["choices"][0]["message"]["content"];
    let body = Json(json!({ "turn": turn, "reply": reply })).into_response();
    let (own, body) = body.into_parts();
    parts.headers.remove(http::header::CONTENT_LENGTH);
    let json = HeaderValue::from_static("application/json");
    parts.headers.insert(CONTENT_TYPE, own.headers.get(CONTENT_TYPE).cloned().unwrap_or(json));
    Ok(Response::from_parts(parts, body))
}

/// Has the conversation know of a run that is over. One that did not end well is no turn.
pub(super) async fn keep(
    app: &App,
    caller: &Caller,
    id: ConversationId,
    run: RunId,
) -> Result<Option<ShownTurn>, ApiError> {
    let row = app.of(caller.tenant).run(run).await.map_err(unread)?;
    let Some(turn) = row.as_ref().and_then(turn_of) else { return Ok(None) };
    kept::add(app, caller, id, &turn).await?;
    words::turn(app, caller.tenant, &turn).await.map(Some)
}

/// The turn that a run was.
fn turn_of(row: &RunRow) -> Option<Turn> {
    let is_whole = field::<RunStatus>(row, "status") == Some(RunStatus::Completed);
    is_whole.then_some(())?;
    Some(Turn {
        run: row.id,
        at: row.started_at,
        model: field(row, "model").unwrap_or_default(),
        route: field::<Route>(row, "route")?,
        cost: field(row, "costMicroUsd").map(MicroUsd),
        saved: MicroUsd(field(row, "savedMicroUsd").unwrap_or_default()),
        latency_ms: field(row, "latencyMs").unwrap_or_default(),
    })
}

fn field<T: DeserializeOwned>(row: &RunRow, name: &str) -> Option<T> {
    row.fields.get(name).and_then(|value| T::deserialize(value).ok())
}

/// The run that an answer says it is.
fn run_of(headers: &HeaderMap) -> Option<RunId> {
    headers.get("x-punk-run-id")?.to_str().ok()?.parse().ok()
}
