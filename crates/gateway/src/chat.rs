//! `POST /v1/chat/completions`: the way of a request, once from end to end.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::{AppendHeaders, IntoResponse, Response};
use governance::{Action, EffectPermit, Facts, decide};
use http::HeaderMap;
use providers::{Answer, Chat, mock};
use schema::{Effect, Route, RouteExplanation, RunId, RunStatus, Timestamp, TrustTier, Verdict};
use serde_json::json;

use crate::app::App;
use crate::clock::{Stopwatch, now};
use crate::error::{ApiError, Wire, told_by_store};
use crate::identity::Caller;
use crate::record::Story;
use crate::wire::openai::{self, Request};

pub(crate) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match answer(&app, &headers, body).await {
        Ok(response) => response,
        Err(error) => error.respond(Wire::OpenAi),
    }
}

async fn answer(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let caller = app.identify(headers)?;
    let body = body.map_err(|error| ApiError::Body { status: error.status(), message: error.body_text() })?;
    let request = openai::parse(&body)?;
    let (run, at, answer) = run(app, &caller, request).await?;
    let headers = AppendHeaders([
        ("x-punk-run-id", run.to_string()),
        ("x-punk-route", Route::Live.as_str().to_owned()),
    ]);
    Ok((headers, Json(openai::render(run, at, &answer))).into_response())
}

/// Governs, performs and records one chat. What it returns is on the disk.
async fn run(app: &App, caller: &Caller, request: Request) -> Result<(RunId, Timestamp, Answer), ApiError> {
    let (started_at, watch) = (now(), Stopwatch::start());
    let run = app.new_run(started_at);
    let facts = Facts {
        tenant: caller.tenant,
        app: caller.app.clone(),
        agent: caller.agent.clone(),
        trust_tier: TrustTier::Unverified,
        gateway_mode: caller.gateway_mode,
    };
    let action = Action::model_chat();
    let verdict = decide(&app.rules, &facts, &action);
    let answer =
        EffectPermit::new(&verdict, &action, &app.authority).map(|permit| call_model(&permit, &request.chat));
    let explanation = explain(verdict, answer.is_some());
    app.count(explanation.route);
    let story = Story {
        run,
        caller,
        model: &request.chat.model,
        request: request.body,
        facts: json!(facts),
        action: action.as_str(),
        policy: app.rules.text(),
        explanation: &explanation,
        answer: answer.as_ref(),
        status: if answer.is_some() { RunStatus::Completed } else { RunStatus::Blocked },
        started_at,
        finished_at: now(),
        latency_ms: watch.millis(),
    };
    commit(app, story).await?;
    answer
        .map(|answer| (run, started_at, answer))
        .ok_or(ApiError::Blocked { run, verdict: explanation.verdict })
}

/// Calling a model is an effect, so it takes leave to be done.
fn call_model(_permit: &EffectPermit, chat: &Chat) -> Answer {
    mock::answer(chat)
}

fn explain(verdict: Verdict, answered: bool) -> RouteExplanation {
    let (route, reason) = match (answered, verdict.effect) {
        (true, _) => (Route::Live, "no cheaper route is proven for this request"),
        (false, Effect::Ask) => (Route::ApprovalRequired, "policy wants an approval first"),
        (false, _) => (Route::Blocked, "policy does not allow it"),
    };
    RouteExplanation { route, reason: reason.to_owned(), rejected: Vec::new(), verdict }
}

/// Waits until the run is where it cannot be lost.
async fn commit(app: &App, story: Story<'_>) -> Result<(), ApiError> {
    let tenant = story.caller.tenant;
    let commit = story.into_commit(&app.mask, |count| app.salts(count)).map_err(unrecorded)?;
    app.of(tenant).commit(commit).await.map_err(unrecorded)
}

/// Told once, with its causes, to whoever runs the server; the caller only learns that nothing was recorded.
pub(crate) fn unrecorded(error: impl std::error::Error + 'static) -> ApiError {
    tracing::error!(error = &error as &dyn std::error::Error, "a run could not be recorded");
    told_by_store(&error).unwrap_or(ApiError::Ledger)
}
