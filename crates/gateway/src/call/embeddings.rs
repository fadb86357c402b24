//! `POST /v1/embeddings`: texts become vectors. A run like any other, but its vectors are not recorded: they say nothing
//! to a reader that the texts do not, and take a hundred times the room.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::{IntoResponse as _, Response};
use governance::{Action, EffectPermit};
use http::header::{CONTENT_TYPE, HeaderMap};
use providers::mock;
use providers::model::{MOCK, Resolution};
use providers::upstream::{Next, Prepared, Target};
use schema::{RunKind, Usage};
use serde_json::{Value, json};
use wire::embeddings::{self, Embed, EmbedInput};
use wire::{Message, Part, Request, Role, Wire, splice};

use super::asked::{read_bytes, read_json, refused};
use super::live::{told, unanswered};
use super::open_run::{End, OpenRun};
use super::record::{ModelCall, Saved};
use super::tongue::{own, signed};
use super::{Beginning, begin, look};
use crate::app::App;
use crate::error::ApiError;
use crate::identity::Caller;

const MAX_VECTORS: usize = 256 * 1024 * 1024;
/// The longest vector that the built-in provider makes.
const MAX_DIMENSIONS: u64 = 16_384;

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let answered = answered(&app, caller, &headers, body).await;
    answered.unwrap_or_else(|error| error.respond(Wire::Chat.into()))
}

async fn answered(
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let bytes = read_bytes(body)?;
    let mut body = Arc::new(read_json(&bytes)?);
    embeddings::read(&body).map_err(refused)?;
    let mut seen = look(app, &caller, &mut body).await?;
    let (bytes, body) = match seen.told.take() {
        Some(told) => (Bytes::from(told.to_string()), Arc::new(told)),
        None => (bytes, body),
    };
    let embed = embeddings::read(&body).map_err(refused)?;
    let resolution = app.resolve(&embed.model)?;
    let targets = targets(app, &resolution, embed.dimensions)?;
    let beginning = Beginning {
        kind: RunKind::Embeddings,
        wire: "embeddings",
        action: Action::model_embed(),
        model: &resolution.canonical,
        body: &body,
        seen,
        request: Arc::new(as_request(&embed)),
        headers,
    };
    let (mut open, permit) = begin(app, caller, beginning).await?;
    let Some(permit) = permit else { return Err(open.block().await) };
    open.explanation.reason = "vectors are always made anew".to_owned();
    let made = match targets {
        None => Ok(pretended(&mut open, &embed)),
        Some(targets) => asked(&mut open, &permit, headers, targets, &bytes).await,
    };
    match made {
        Ok((response, usage)) => {
            let (run, route) = (open.opening.run, open.explanation.route);
            open.spent(usage);
            let summary = json!({ "vectors": embed.input.len() });
            open.end(End::Answered { answer: summary, saved: Saved::default() }).await?;
            Ok(signed(response, run, route))
        }
        Err(error) => Err(open.fail(error).await),
    }
}

/// Who can be asked: nobody but the built-in provider, or upstreams of OpenAI's kind.
fn targets(
    app: &App,
    resolution: &Resolution,
    dimensions: Option<u64>,
) -> Result<Option<Vec<Vec<Target>>>, ApiError> {
    let first = resolution.groups.first().and_then(|group| group.first());
    if first.is_some_and(|choice| choice.upstream == MOCK) {
        return if dimensions.is_none_or(|asked| asked <= MAX_DIMENSIONS) {
            Ok(None)
        } else {
            let message =
                format!("dimensions: the built-in provider makes vectors of up to {MAX_DIMENSIONS}");
            Err(ApiError::Field { param: "dimensions".to_owned(), message })
        };
    }
    let speaks = |choice: &providers::model::Choice| {
        let upstream = app.models.upstreams.get(&choice.upstream)?;
        upstream.speaks().contains(&Wire::Chat).then(|| Target::new(upstream, &choice.model))
    };
    let groups = resolution.groups.iter().map(|group| group.iter().filter_map(speaks).collect());
    let groups: Vec<Vec<Target>> = groups.filter(|group: &Vec<_>| !group.is_empty()).collect();
    if groups.is_empty() {
        let message = "model: nobody who serves this model makes vectors".to_owned();
        return Err(ApiError::Field { param: "model".to_owned(), message });
    }
    Ok(Some(groups))
}

/// Asks the upstreams, and gives the answer in their own bytes.
async fn asked(
    open: &mut OpenRun,
    _permit: &EffectPermit,
    headers: &HeaderMap,
    targets: Vec<Vec<Target>>,
    bytes: &Bytes,
) -> Result<(Response, Option<Usage>), ApiError> {
    let run = open.opening.run;
    let mut trying = open.app.dispatcher.begin(targets, None);
    let next = trying.next(|target| {
        let body = splice::with_fields(bytes, &[("model", Some(json!(&*target.model)))]);
        let body = body.map_err(|error| error.to_string())?;
        Ok(Prepared::post("/embeddings", Bytes::from(body), headers))
    });
    let next = next.await;
    open.tried(trying.records());
    let reply = match next {
        Next::Answer(reply) | Next::Last(reply) => reply,
        Next::Failed(error) => return Err(unanswered(run, &error)),
        Next::Unavailable { retry_after } => return Err(ApiError::Resting { run, retry_after }),
        Next::Keyless { upstream } => return Err(ApiError::keyless(run, &upstream, trying.records())),
        Next::Unfit => return Err(ApiError::Unserved { run }),
    };
    if !reply.status.is_success() {
        return Err(told(run, Wire::Chat, Wire::Chat, reply).await);
    }
    let headers = reply.headers.clone();
    let bytes = reply.body.collect(MAX_VECTORS).await.map_err(|error| unanswered(run, &error))?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let usage = embeddings::read_tokens_used(&body);
    let usage = usage.map(|input_tokens| Usage { input_tokens, ..Usage::default() });
    Ok(((headers, own(bytes)).into_response(), usage))
}

/// The built-in provider's vectors.
fn pretended(open: &mut OpenRun, embed: &Embed) -> (Response, Option<Usage>) {
    open.call = Some(ModelCall::begun(mock::NAME, &embed.model));
    let asked = embed.dimensions.and_then(|asked| usize::try_from(asked).ok());
    let dimensions = asked.unwrap_or_else(|| mock::default_dimensions(&embed.model));
    let texts = embed.input.iter().map(|input| match input {
        EmbedInput::Text(text) => Cow::Borrowed(text.as_str()),
        EmbedInput::Tokens(tokens) => Cow::Owned(format!("{tokens:?}")),
    });
    let texts: Vec<Cow<'_, str>> = texts.collect();
    let vectors: Vec<_> = texts.iter().map(|text| mock::embed(text, dimensions)).collect();
    let input_tokens = texts.iter().map(|text| providers::tokens::rough(text)).sum();
    let body = embeddings::write(&vectors, embed.encoding, &embed.model, input_tokens).to_string();
    let response = ([(CONTENT_TYPE, "application/json")], body).into_response();
    (response, Some(Usage { input_tokens, ..Usage::default() }))
}

/// The texts as a request, to count them where nobody else does.
fn as_request(embed: &Embed) -> Request {
    let parts = embed.input.iter().map(|input| match input {
        EmbedInput::Text(text) => Part::text(text),
        EmbedInput::Tokens(tokens) => Part::text(format!("{tokens:?}")),
    });
    let messages = vec![Message { role: Role::User, parts: parts.collect() }];
    Request { messages, ..Request::new(Wire::Chat, &embed.model) }
}
