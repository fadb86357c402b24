//! A model call: the way of a request, once from end to end.
//!
//! [`answer`] walks it: `asked.rs` reads the request strictly, the governor is asked, the routes are (`router`), and the
//! plan they offer is performed: an answer that was given before is told again (`recall.rs`), a learned program answers
//! (`learned.rs`), with what a small model tells where it leaves fields open (`hybrid.rs`), or a model is asked (`live.rs`). A
//! streamed answer is a [`relay`], which passes on what comes from its [`source`]. `open_run.rs` sees to it that whatever happens
//! ends in the ledger (`recording.rs`), in the words of `record.rs`, now or when the store is back (`late.rs`).
//!
//! - A refused input creates nothing: what is malformed is refused before there is a run.
//! - The answer's last byte leaves after the run is recorded.
//! - A caller that hangs up ends the upstream's call at once, and its run says so.

mod asked;
mod continuing;
pub(crate) mod count;
pub(crate) mod embeddings;
mod held;
mod hybrid;
mod late;
mod learned;
mod live;
mod open_run;
mod outgoing;
mod recall;
mod record;
mod recording;
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
use redaction::Lexicon;
use router::{Plan, Question, Walk};
use schema::{
    ApprovalId, Digest, Effect, GatewayMode, Route, RouteExplanation, RunKind, SideEffectLevel, Timestamp,
};
use serde_json::{Value, json};
use wire::{Request, Wire};

use self::asked::{Asked, read_bytes, refused};
use self::learned::Learned;
use self::open_run::{OpenRun, Trace};
use self::outgoing::Outgoing;
use self::record::{Keep, Opening};
use crate::app::App;
use crate::clock::now;
use crate::discretion::Seen;
use crate::error::ApiError;
use crate::governor::Asking;
use crate::identity::Caller;

pub(crate) async fn chat(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    Box::pin(told(Wire::Chat, &state, caller, &headers, body)).await
}

pub(crate) async fn messages(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    Box::pin(told(Wire::Messages, &state, caller, &headers, body)).await
}

pub(crate) async fn responses(
    state: State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    Box::pin(told(Wire::Responses, &state, caller, &headers, body)).await
}

/// Called in a box: axum moves the future of a handler through several hands, and this one is large.
async fn told(
    wire: Wire,
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    // Waited for where it is made: a future that has a name first is there twice.
    match understood(wire, app, caller, headers, body).await {
        Ok(response) => response,
        Err(error) => error.respond(wire.into()),
    }
}

/// Reads a request, looks at it, finds out whom it is for, and has it answered.
async fn understood(
    wire: Wire,
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let asked = Asked::read(wire, headers, read_bytes(body)?)?;
    let mut asked = continuing::as_the_vendor_knows_it(app, &caller, asked).await;
    let mut seen = look(app, &caller, &mut asked.body).await?;
    let asked = match seen.told.take() {
        Some(told) => asked.with_body(told)?,
        None => asked,
    };
    let wires = app.decided(caller.tenant).await?.settings.tripwires;
    seen.heed(wires.signals(&asked.request));
    let resolution = app.resolve(&asked.request.model)?;
    let outgoing = Outgoing::prepare(&asked, &resolution, &app.models.upstreams).map_err(refused)?;
    answer(app, caller, headers, (&asked, seen), &resolution.canonical, &outgoing).await
}

/// Governs, routes, performs and records one request. What it answers in one piece is on the disk.
async fn answer(
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    (asked, seen): (&Asked, Seen),
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
        seen,
        request: asked.request.clone(),
        headers,
    };
    let (mut open, permit) = begin(app, caller, beginning).await?;
    // What seldom happens is in boxes of its own, or every call would take room for all of it.
    let Some(permit) = permit else { return Err(Box::pin(open.block()).await) };
    let (run, tongue) = (open.opening.run, open.tongue());
    if let Some(id) = named_approval(headers)? {
        match held::find(app, &open.opening.caller, &open.request_recorded, id).await {
            Ok(Some(held)) => return Box::pin(held::answer(open, tongue, held, asked.request.stream)).await,
            Ok(None) => {}
            Err(error) => return Err(Box::pin(open.fail(error)).await),
        }
    }
    match choose(app, &mut open, headers, asked, model).await {
        Some(Plan::Recall(recalled)) => {
            Box::pin(recall::answer(open, tongue, *recalled, asked.request.stream)).await
        }
        Some(Plan::Execute(offered)) => {
            Box::pin(learned::answer(open, tongue, offered, asked.request.stream)).await
        }
        Some(Plan::Call) if asked.wish.only_kept => Err(Box::pin(open.fail(ApiError::NotKept { run })).await),
        Some(Plan::Call) => live::answer(open, tongue, &permit, headers, asked, outgoing).await,
        // A draft was completed or passed over when it was chosen.
        Some(Plan::Complete(_)) | None => Err(Box::pin(open.fail(ApiError::Unserved { run })).await),
    }
}

/// Looks at what a caller sends, before anybody else is told of it. What cannot be looked at as the tenant wants is not sent.
async fn look(app: &App, caller: &Caller, body: &mut Arc<Value>) -> Result<Seen, ApiError> {
    app.decided(caller.tenant).await?;
    let observes = caller.gateway_mode == GatewayMode::Observe;
    Ok(app.house.of(caller.tenant).look(body, observes))
}

/// How a run begins.
struct Beginning<'b> {
    kind: RunKind,
    wire: &'static str,
    action: Action,
    /// The model's canonical name.
    model: &'b str,
    /// As the model is told it.
    body: &'b Value,
    /// What was found in what was sent.
    seen: Seen,
    request: Arc<Request>,
    headers: &'b HeaderMap,
}

/// Asks the governor. From here on there is a run.
async fn begin(
    app: &App,
    caller: Caller,
    beginning: Beginning<'_>,
) -> Result<(Box<OpenRun>, Option<EffectPermit>), ApiError> {
    let Beginning { kind, wire, action, model, body, seen, request, headers } = beginning;
    let Seen { recorded, lexicon, labels, barred, signals, .. } = seen;
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
        labels: labels.into_iter().collect(),
        barred,
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
        signals,
        judged,
        started_at,
    };
    let mut open = OpenRun::new(app, opening, (request, recorded), &trace, explanation);
    open.held = held;
    open.lexicon = lexicon;
    Ok((open, permit))
}

/// Asks the routes, and keeps what they said.
async fn choose(
    app: &App,
    open: &mut OpenRun,
    headers: &HeaderMap,
    asked: &Asked,
    model: &str,
) -> Option<Plan> {
    let opening = open.opening.clone();
    let caller = &opening.caller;
    let rules = asked.wish.over(&app.cache_rules(caller.tenant).await);
    let key = rules.enabled.then(|| {
        let key = exact_key(&asked.request, &asked.body, model, caller.subject.as_ref(), &rules)?;
        Ok(with_told(key, &open.lexicon))
    });
    let store = app.of(caller.tenant);
    let body = Arc::clone(&open.request_recorded);
    let recorded = || learned::request_recorded(asked, &body);
    let question = Question {
        tenant: caller.tenant,
        cache: &*store,
        events: &*store,
        request: &asked.request,
        recorded: &recorded,
        model,
        run: opening.run,
        key: key.clone(),
        wish: asked.wish,
        observed: caller.gateway_mode == GatewayMode::Observe,
        now: opening.started_at,
        lead: OnceLock::new(),
        audited: OnceLock::new(),
        opinion: OnceLock::new(),
    };
    let mut walk = Walk::new(&app.routes);
    let mut plan = walk.next(&question).await;
    if let Some(Plan::Execute(offered)) = &plan
        && !learned::is_recordable(open, offered)
    {
        walk.failed("its answer has something in it that is not recorded as it is");
        plan = walk.next(&question).await;
    }
    if let Some(Plan::Complete(draft)) = plan {
        plan = match Box::pin(hybrid::complete(open, headers, asked, draft)).await {
            Ok(offered) => Some(Plan::Execute(offered)),
            Err(reason) => {
                walk.failed(reason);
                walk.next(&question).await
            }
        };
    }
    let (lead, mut audited) = (question.lead.into_inner(), question.audited.into_inner());
    if let (Some(Plan::Call), Some(draft)) = (&plan, question.opinion.into_inner()) {
        // What nobody completes is no opinion.
        match Box::pin(hybrid::complete(open, headers, asked, draft)).await {
            Ok(offered) => audited = Some(offered),
            Err(why) => walk.passed_otherwise(Route::Hybrid, format!("nothing is compared: {why}")),
        }
    }
    open.estimate = walk.estimate();
    open.explanation = walk.explain(opening.judged.verdict.clone());
    open.lead = lead.map(|lead| Box::new(lead) as Box<_>);
    open.learned = audited.map(|offered| Box::new(Learned::Audited(offered)));
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

/// The key of a request in which the model was told values that stand in what is kept as placeholders: the same request is
/// one with the same values in the same places.
fn with_told(key: Digest, lexicon: &Lexicon) -> Digest {
    let mut told = lexicon.told().peekable();
    if told.peek().is_none() {
        return key;
    }
    let told: Vec<(String, &str)> = told.collect();
    sha256(json!([key, told]).to_string().as_bytes())
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
