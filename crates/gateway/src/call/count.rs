//! `POST /v1/messages/count_tokens`: how long a request is. Nothing is answered by it, so it is no run.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::{IntoResponse as _, Response};
use governance::{Action, EffectPermit};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use ledger::sha256;
use providers::upstream::{Next, Prepared, Target};
use schema::{MicroUsd, SideEffectLevel};
use serde_json::json;
use wire::{Wire, count, splice};

use super::asked::{read_bytes, read_json, refused};
use super::look;
use crate::app::App;
use crate::clock::now;
use crate::error::ApiError;
use crate::governor::Asking;
use crate::identity::Caller;

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let counted = counted(&app, &caller, &headers, body).await;
    counted.unwrap_or_else(|error| error.respond(Wire::Messages.into()))
}

/// Anthropic's own count where it is who would be asked, ours elsewhere.
async fn counted(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let bytes = read_bytes(body)?;
    let mut body = Arc::new(read_json(&bytes)?);
    let request = count::read(&body).map_err(refused)?;
    let bytes = look(app, caller, &mut body).await?.told.map_or(bytes, |told| Bytes::from(told.to_string()));
    let resolution = app.resolve(&request.model)?;
    let choice = resolution.groups.first().and_then(|group| group.first());
    let upstream = choice.and_then(|choice| Some((choice, app.models.upstreams.get(&choice.upstream)?)));
    if let Some((choice, upstream)) = upstream
        && upstream.speaks().contains(&Wire::Messages)
        && let Some(permit) = leave(app, caller, &request.model).await?
    {
        let body = splice::with_fields(&bytes, &[("model", Some(json!(choice.model)))]);
        let body = body.map_or(bytes, Bytes::from);
        let target = Target::new(upstream, &choice.model);
        if let Some(told) = forwarded(app, &permit, headers, target, body).await {
            return Ok(told);
        }
    }
    Ok(Json(count::write(providers::tokens::count_request(&request).tokens)).into_response())
}

/// Leave to ask the model's vendor.
async fn leave(app: &App, caller: &Caller, model: &str) -> Result<Option<EffectPermit>, ApiError> {
    let at = now();
    let asking = Asking {
        action: Action::model_chat(),
        run: app.new_run(at),
        model: Some(model),
        tool: None,
        level: SideEffectLevel::Pure,
        // To count costs nothing, and there is nothing in it that anybody would have to approve.
        cost: &|| Some(MicroUsd(0)),
        payload: &|| sha256(b"count_tokens"),
        labels: Vec::new(),
        barred: Vec::new(),
        shaped: None,
        approval: None,
        now: at,
    };
    let mut judged = app.judge(caller, asking).await?;
    app.give_back(caller, judged.held.take()).await;
    Ok(app.permit(caller, &judged))
}

/// The upstream's own answer, whatever it is; nothing when there is none.
async fn forwarded(
    app: &App,
    _permit: &EffectPermit,
    headers: &HeaderMap,
    target: Target,
    body: Bytes,
) -> Option<Response> {
    let mut trying = app.dispatcher.begin(vec![vec![target]], None);
    let next = trying.next(|_| Ok(Prepared::post("/messages/count_tokens", body.clone(), headers))).await;
    let (Next::Answer(reply) | Next::Last(reply)) = next else { return None };
    let (status, headers) = (reply.status, reply.headers.clone());
    let bytes = reply.body.collect(1024 * 1024).await.ok()?;
    Some((status, headers, [(CONTENT_TYPE, "application/json")], bytes).into_response())
}
