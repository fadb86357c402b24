//! A model is asked: one of the upstreams that can be, or the built-in one.

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use governance::EffectPermit;
use http::header::{CONTENT_TYPE, HeaderMap};
use providers::mock;
use providers::upstream::{Fault, Next, Prepared, Reply, UpstreamError};
use wire::{Answer, Delta, Failure, FailureKind, Wire};

use super::asked::Asked;
use super::open_run::OpenRun;
use super::outgoing::{Outgoing, Ready, path};
use super::recall;
use super::record::{ModelCall, Saved};
use super::relay::{Relay, Voice, says_something};
use super::source::{Ear, Heard as Overheard, Source};
use super::tongue::{Tongue, own, signed, streamed};
use super::wanted::holds_back;
use crate::error::{ApiError, FromUpstream};

/// More than any answer in one piece has.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// How far into a stream we look for a reason to ask somebody else.
const MAX_LOOK: usize = 64 * 1024;

/// What came of asking.
pub(super) enum Heard<'r> {
    /// An answer in one piece, in the upstream's bytes and in no vendor's shape.
    Whole { ready: &'r Ready, headers: HeaderMap, bytes: Bytes, answer: Answer },
    /// A stream that has begun to say something, and who has heard it.
    Stream { ready: &'r Ready, reply: Reply, ear: Box<Ear> },
}

/// Asks, answers, records. Asking a model is an effect, so it takes leave to be done.
pub(crate) async fn answer(
    mut open: Box<OpenRun>,
    tongue: Tongue,
    permit: &EffectPermit,
    headers: &HeaderMap,
    asked: &Asked,
    outgoing: &Outgoing,
) -> Result<Response, ApiError> {
    let groups = match outgoing {
        Outgoing::Mock(model) => return Box::pin(pretend(open, tongue, permit, asked, model)).await,
        Outgoing::Upstreams(groups) => groups,
    };
    match ask(&mut open, permit, headers, asked, groups).await {
        // An upstream that does not stream; the caller's client would read nothing in one piece.
        Ok(Heard::Whole { answer, .. }) if asked.request.stream => {
            Box::pin(recall::tell(open, tongue, answer, Saved::default(), true)).await
        }
        Ok(Heard::Whole { ready, headers, bytes, answer }) => {
            open.used(&answer);
            let (run, route) = (open.opening.run, open.explanation.route);
            let response = match open.revealed(&answer) {
                Err(barred) => return Err(Box::pin(open.bar(barred, &answer)).await),
                Ok(told) if ready.wire != tongue.wire => tongue.tell(told.as_ref().unwrap_or(&answer)),
                Ok(None) => own(bytes),
                Ok(Some(_)) => own(retold(&open, &bytes)),
            };
            open.answered(&answer, Saved::default()).await?;
            Ok(signed((headers, response).into_response(), run, route))
        }
        Ok(Heard::Stream { ready, reply, ear }) => {
            let (run, route) = (open.opening.run, open.explanation.route);
            let voice = if ready.wire == tongue.wire {
                Voice::Own { usage: tongue.include_usage || tongue.wire != Wire::Chat }
            } else {
                Voice::Told(Box::new(tongue.writer("")))
            };
            let headers = reply.headers;
            let source = Source::upstream(ear, reply.body);
            let held = holds_back(&open.app, &open.opening.caller, &asked.request).await?;
            let response = streamed(Relay::new(source, voice, tongue, open, Saved::default()).holding(held));
            Ok(signed((headers, response).into_response(), run, route))
        }
        Err(error) => Err(Box::pin(open.fail(error)).await),
    }
}

/// Asks the upstreams, one after the other, until one has something to say.
pub(super) async fn ask<'r>(
    open: &mut OpenRun,
    _permit: &EffectPermit,
    headers: &HeaderMap,
    asked: &Asked,
    groups: &'r [Vec<Ready>],
) -> Result<Heard<'r>, ApiError> {
    let (run, wire) = (open.opening.run, asked.wire);
    let targets =
        groups.iter().map(|group| group.iter().map(|ready| ready.target.clone()).collect()).collect();
    let mut trying = open.app.dispatcher.begin(targets, None);
    // Whoever hangs up from here on has asked the first of them, unless we learn better.
    if let Some(first) = groups.iter().flatten().next() {
        open.call = Some(ModelCall::begun(first.target.upstream.name(), &first.target.model));
    }
    let heard = loop {
        let prepare = |target: &_| {
            let ready = ready_for(groups, target).ok_or("nobody prepared for it")?;
            Ok(Prepared::post(path(ready.wire), ready.body.clone(), headers))
        };
        let next = trying.next(prepare).await;
        open.tried(trying.records());
        let (mut reply, last) = match next {
            Next::Answer(reply) => (reply, false),
            Next::Last(reply) => (reply, true),
            Next::Failed(error) => break Err(unanswered(run, &error)),
            Next::Unavailable { retry_after } => break Err(ApiError::Resting { run, retry_after }),
            Next::Keyless { upstream } => break Err(ApiError::keyless(run, &upstream, trying.records())),
            Next::Unfit => break Err(ApiError::Unserved { run }),
        };
        let Some(ready) = ready_for(groups, &reply.target) else { break Err(ApiError::Unserved { run }) };
        if !reply.status.is_success() {
            break Err(told(run, wire, ready.wire, reply).await);
        }
        open.answered_by(ready);
        if !(asked.request.stream && is_stream(&reply)) {
            let headers = reply.headers.clone();
            match reply.body.collect(MAX_ANSWER).await {
                Ok(bytes) => break whole(run, wire, ready, headers, bytes),
                Err(error) if last => break Err(unanswered(run, &error)),
                // Nobody has heard a word of it, so somebody else may say it.
                Err(error) => trying.lost(error),
            }
            continue;
        }
        match look(&mut reply, ready.wire).await {
            Look::Speaks(ear) => break Ok(Heard::Stream { ready, reply, ear }),
            Look::Gives(failure) if last => {
                break Err(FromUpstream::failure(run, wire, &failure, HeaderMap::new()));
            }
            Look::Gives(failure) => trying.failed(reply, Fault::Status(failure.kind.status(Wire::Messages))),
            Look::Breaks(error) if last => break Err(unanswered(run, &error)),
            // Nothing can be read from it any more, so it must not come back as the last answer there was.
            Look::Breaks(error) => trying.lost(error),
        }
    };
    open.tried(trying.records());
    heard
}

fn ready_for<'r>(groups: &'r [Vec<Ready>], target: &providers::upstream::Target) -> Option<&'r Ready> {
    let same = |ready: &&Ready| {
        std::sync::Arc::ptr_eq(&ready.target.upstream, &target.upstream) && ready.target.model == target.model
    };
    groups.iter().flatten().find(same)
}

fn is_stream(reply: &Reply) -> bool {
    let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// How a stream begins.
enum Look {
    /// With something to say: from here on there is no way back. What was heard of it is taken from its body.
    Speaks(Box<Ear>),
    /// With an error, though its status was a success.
    Gives(Failure),
    /// Not at all.
    Breaks(UpstreamError),
}

/// Looks at the beginning of a stream: one that fails before it says anything can still be replaced by another.
async fn look(reply: &mut Reply, wire: Wire) -> Look {
    let mut ear = Ear::of(wire);
    let mut first = Overheard::Nothing;
    let peeked = reply.body.peek(MAX_LOOK, |bytes| {
        first = ear.hear(bytes, telling);
        !matches!(first, Overheard::Nothing)
    });
    let peeked = match peeked.await {
        Ok(bytes) => bytes,
        Err(error) => return Look::Breaks(error),
    };
    if matches!(first, Overheard::Nothing) {
        first = ear.hear(peeked, telling);
    }
    match first {
        Overheard::Said(Err((kind, message))) => {
            let kind = FailureKind::of_word(&kind).unwrap_or(FailureKind::Internal);
            Look::Gives(Failure::new(wire, kind, message))
        }
        // What ends without a word, or makes no sense, is for the relay to tell: it may have said that it is done.
        Overheard::Said(Ok(())) | Overheard::Nothing | Overheard::Nonsense => {
            reply.body.take_peeked();
            Look::Speaks(Box::new(ear))
        }
    }
}

/// Whether this decides what a stream is: it says something, or that it failed.
fn telling(delta: &Delta) -> Option<Result<(), (String, String)>> {
    match delta {
        Delta::Error { kind, message } => Some(Err((kind.clone(), message.clone()))),
        said => says_something(said).then_some(Ok(())),
    }
}

/// An answer in one piece.
fn whole<'r>(
    run: schema::RunId,
    wire: Wire,
    ready: &'r Ready,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Heard<'r>, ApiError> {
    let body = serde_json::from_slice(&bytes).map_err(|_| ApiError::UpstreamNonsense {
        run,
        message: format!("the answer of upstream {} is not JSON", ready.target.upstream.name()),
    })?;
    match ready.wire.read_answer(&body) {
        Ok(answer) => Ok(Heard::Whole { ready, headers, bytes, answer }),
        // Some say with a success that they have failed.
        Err(_) if body.get("error").is_some_and(|error| !error.is_null()) => {
            let failure = ready.wire.read_error(500, &body);
            Err(FromUpstream::failure(run, wire, &failure, headers))
        }
        Err(broken) => Err(ApiError::UpstreamNonsense { run, message: broken.to_string() }),
    }
}

/// An upstream's error, for the caller: in its own bytes where the wire is the same, in the caller's shape elsewhere.
pub(super) async fn told(run: schema::RunId, wire: Wire, upstream: Wire, reply: Reply) -> ApiError {
    let (status, headers) = (reply.status, reply.headers.clone());
    if !status.is_client_error() && !status.is_server_error() {
        let message = format!(
            "upstream {} answered with status {status}, which is neither an answer nor an error",
            reply.target.upstream.name()
        );
        return ApiError::UpstreamNonsense { run, message };
    }
    let bytes = reply.body.collect(MAX_ANSWER).await.unwrap_or_default();
    let body = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
    if wire == upstream && body.is_some() {
        return FromUpstream::own(run, status, headers, bytes);
    }
    let failure = upstream.read_error(status.as_u16(), &body.unwrap_or_default());
    FromUpstream::failure(run, wire, &failure, headers)
}

/// Nobody answered.
pub(super) fn unanswered(run: schema::RunId, error: &UpstreamError) -> ApiError {
    tracing::warn!(error = error as &dyn std::error::Error, %run, "an upstream did not answer");
    match error {
        UpstreamError::FirstByte { .. } | UpstreamError::Idle { .. } | UpstreamError::Total { .. } => {
            ApiError::UpstreamLate { run, message: error.to_string() }
        }
        UpstreamError::Connect { .. } | UpstreamError::Tls { .. } | UpstreamError::Reset { .. } => {
            ApiError::UpstreamAway { run, message: error.to_string() }
        }
        // It was written and will be paid for, though nobody wants it.
        UpstreamError::TooLarge { .. } => ApiError::UpstreamNonsense { run, message: error.to_string() },
    }
}

/// The upstream's own answer, with what the caller may have of it.
fn retold(open: &OpenRun, bytes: &Bytes) -> Bytes {
    // It was read as JSON before, and nothing in it is barred.
    let mut body: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let _ = open.discretion().reveal_value(&mut body, &open.lexicon);
    Bytes::from(body.to_string())
}

/// The built-in provider answers.
async fn pretend(
    mut open: Box<OpenRun>,
    tongue: Tongue,
    _permit: &EffectPermit,
    asked: &Asked,
    model: &str,
) -> Result<Response, ApiError> {
    let (run, route) = (open.opening.run, open.explanation.route);
    let request = wire::Request { model: model.to_owned(), ..wire::Request::clone(&asked.request) };
    open.call = Some(ModelCall::begun(mock::NAME, model));
    let answer = match mock::answer(&request) {
        Ok(answer) => answer,
        Err(asked_for) => {
            let kind = FailureKind::of_status(asked_for.status);
            let failure =
                Failure { status: asked_for.status, ..Failure::new(asked.wire, kind, asked_for.to_string()) };
            let error = FromUpstream::failure(run, asked.wire, &failure, HeaderMap::new());
            return Err(open.fail(error).await);
        }
    };
    let response = if asked.request.stream {
        let source = Source::told(mock::pieces(&answer, open.app.models.pace));
        let voice = Voice::Told(Box::new(tongue.writer(&answer.model)));
        let held = holds_back(&open.app, &open.opening.caller, &asked.request).await?;
        streamed(Relay::new(source, voice, tongue, open, Saved::default()).holding(held))
    } else {
        open.used(&answer);
        let told = match open.revealed(&answer) {
            Ok(told) => told,
            Err(barred) => return Err(open.bar(barred, &answer).await),
        };
        open.answered(&answer, Saved::default()).await?;
        tongue.tell(told.as_ref().unwrap_or(&answer))
    };
    Ok(signed(response, run, route))
}
