//! A model call: the way of a request, once from end to end.
//!
//! [`answer`] walks it: `asked.rs` reads the request strictly, the governor is asked, the routes are (`router`), and the
//! plan they offer is performed: an answer that was given before is told again (`recall.rs`), or a model is asked
//! (`live.rs`). A streamed answer is a [`relay`], which passes on what comes from its [`source`]. `open_run.rs` sees to it
//! that whatever happens ends in the ledger, in the words of `record.rs`.
//!
//! - A refused input creates nothing: what is malformed is refused before there is a run.
//! - The answer's last byte leaves after the run is recorded.
//! - A caller that hangs up ends the upstream's call at once, and its run says so.

mod asked;
mod continuing;
pub(crate) mod count;
pub(crate) mod embeddings;
mod held;
mod live;
mod open_run;
mod outgoing;
mod recall;
mod record;
mod relay;
mod source;
mod tongue;
pub(crate) mod wanted;

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use cache::exact_key;
use governance::{Action, EffectPermit};
use http::HeaderMap;
use ledger::sha256;
use router::{Plan, Question, Walk};
use schema::{
    ApprovalId, Digest, Effect, GatewayMode, Route, RouteExplanation, RunKind, SideEffectLevel, Timestamp,
};
use serde_json::Value;
use wire::{Request, Wire};

use self::asked::{Asked, read_bytes, refused};
use self::open_run::{OpenRun, Trace};
use self::outgoing::Outgoing;
use self::record::{Keep, Opening};
use crate::app::App;
use crate::clock::now;
use crate::error::ApiError;
use crate::governor::Asking;
use crate::identity::Caller;

pub(crate) async fn chat(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    told(Wire::Chat, &state, caller, &headers, body).await
}

pub(crate) async fn messages(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    told(Wire::Messages, &state, caller, &headers, body).await
}

pub(crate) async fn responses(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    told(Wire::Responses, &state, caller, &headers, body).await
}

async fn told(
    wire: Wire,
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let answered = async {
        let asked = Asked::read(wire, headers, read_bytes(body)?)?;
        let asked = continuing::as_the_vendor_knows_it(app, &caller, asked).await;
        let resolution = app.resolve(&asked.request.model)?;
        let outgoing = Outgoing::prepare(&asked, &resolution, &app.models.upstreams).map_err(refused)?;
        answer(app, caller, headers, &asked, &resolution.canonical, &outgoing).await
    };
    let answered = answered.await;
    answered.unwrap_or_else(|error| error.respond(wire.into()))
}

/// Governs, routes, performs and records one request. What it answers in one piece is on the disk.
async fn answer(
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    asked: &Asked,
    model: &str,
    outgoing: &Outgoing,
) -> Result<Response, ApiError> {
    let beginning = Beginning {
        kind: match asked.wire {
            Wire::Chat => RunKind::Chat,
            Wire::Messages => RunKind::Messages,
            Wire::Responses => RunKind::Responses,
        },
        wire: asked.wire.as_str(),
        action: Action::model_chat(),
        model,
        body: &asked.body,
        request: asked.request.clone(),
        headers,
    };
    let (mut open, permit) = begin(app, caller, beginning).await?;
    let Some(permit) = permit else { return Err(open.block().await) };
    let (run, tongue) = (open.opening.run, open.tongue());
    if let Some(id) = named_approval(headers)? {
        match held::find(app, &open.opening.caller, id, asked).await {
            Ok(Some(held)) => return held::answer(open, tongue, held, asked.request.stream).await,
            Ok(None) => {}
            Err(error) => return Err(open.fail(error).await),
        }
    }
    match choose(app, &mut open, asked, model).await {
        Some(Plan::Recall(recalled)) => recall::answer(open, tongue, *recalled, asked.request.stream).await,
        Some(Plan::Call) if asked.wish.only_kept => Err(open.fail(ApiError::NotKept { run }).await),
        Some(Plan::Call) => live::answer(open, tongue, &permit, headers, asked, outgoing).await,
        None => Err(open.fail(ApiError::Unserved { run }).await),
    }
}

/// How a run begins.
struct Beginning<'b> {
    kind: RunKind,
    wire: &'static str,
    action: Action,
    /// The model's canonical name.
    model: &'b str,
    body: &'b Value,
    request: Arc<Request>,
    headers: &'b HeaderMap,
}

/// Asks the governor. From here on there is a run.
async fn begin(
    app: &App,
    caller: Caller,
    beginning: Beginning<'_>,
) -> Result<(OpenRun, Option<EffectPermit>), ApiError> {
    let Beginning { kind, wire, action, model, body, request, headers } = beginning;
    let trace = Trace::of(headers);
    let started_at = now();
    let run = app.new_run(started_at);
    let asking = Asking {
        action,
        run,
        model: Some(model),
        tool: None,
        level: SideEffectLevel::Pure,
        cost: &|| app.models.expected_cost(model, &request),
        payload: &|| hash_of(body),
        shaped: None,
        approval: named_approval(headers)?,
        now: started_at,
    };
    let mut judged = app.judge(&caller, asking).await?;
    let permit = app.permit(&caller, &judged);
    let (route, reason) = match (&permit, judged.verdict.effect) {
        (Some(_), _) => (Route::Live, "the caller hung up before a route was chosen"),
        (None, Effect::Ask) => (Route::ApprovalRequired, "policy wants an approval first"),
        (None, _) => (Route::Blocked, "policy does not allow it"),
    };
    let explanation = RouteExplanation::new(route, reason, judged.verdict.clone());
    let held = judged.held.take();
    let opening = Opening {
        run,
        caller,
        kind,
        wire,
        model: model.to_owned(),
        stream: request.stream,
        trace: trace.id().map(str::to_owned),
        request: body.clone(),
        judged,
        started_at,
    };
    let mut open = OpenRun::new(app, opening, request, &trace, explanation);
    open.held = held;
    Ok((open, permit))
}

/// Asks the routes, and keeps what they said.
async fn choose(app: &App, open: &mut OpenRun, asked: &Asked, model: &str) -> Option<Plan> {
    let opening = open.opening.clone();
    let caller = &opening.caller;
    let rules = asked.wish.over(&app.cache_rules(caller.tenant).await);
    let key =
        rules.enabled.then(|| exact_key(&asked.request, &asked.body, model, caller.subject.as_ref(), &rules));
    let store = app.of(caller.tenant);
    let question = Question {
        tenant: caller.tenant,
        cache: &*store,
        events: &*store,
        request: &asked.request,
        key: key.clone(),
        wish: asked.wish,
        observed: caller.gateway_mode == GatewayMode::Observe,
        now: opening.started_at,
        lead: OnceLock::new(),
    };
    let mut walk = Walk::new(&app.routes);
    let plan = walk.next(&question).await;
    open.estimate = walk.estimate();
    open.explanation = walk.explain(opening.judged.verdict.clone());
    open.lead = question.lead.into_inner().map(|lead| Box::new(lead) as Box<_>);
    match (&plan, key) {
        (Some(Plan::Recall(_)), Some(Ok(key))) => open.recalled = Some(key),
        (Some(Plan::Call), Some(Ok(key))) if !asked.wish.forget => {
            let until = after(opening.started_at, rules.ttl_seconds);
            open.keep = Some(Keep { key, until, at_most: rules.at_most });
        }
        _ => {}
    }
    plan
}

/// So many seconds later, or the last moment there is.
fn after(moment: Timestamp, seconds: u64) -> Timestamp {
    let millis = moment.as_millis().saturating_add(seconds.saturating_mul(1000));
    Timestamp::from_millis(millis).unwrap_or(Timestamp::LAST)
}

/// What a body is, whatever the order of its members; an approval is for exactly that.
pub(crate) fn hash_of(body: &Value) -> Digest {
    // What has no canonical form, such as a number without end, is told apart by its own spelling.
    let canonical = ledger::canonical::to_vec(body).unwrap_or_else(|_| body.to_string().into_bytes());
    sha256(&canonical)
}

/// The approval that a caller names.
fn named_approval(headers: &HeaderMap) -> Result<Option<ApprovalId>, ApiError> {
    let Some(value) = headers.get("x-punk-approval") else { return Ok(None) };
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    let wanted = "expected the id of an approval, such as `apr_…`";
    id.map(Some).ok_or(ApiError::Header { name: "x-punk-approval", wanted })
}
