//! How a caller is spoken to: its wire, and what an answer says of itself there.

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use schema::{Route, RunId, Timestamp};
use wire::{Answer, Failure, FailureKind, Request, Stamp, Wire, Writer};

use super::relay::Relay;

const RUN_ID: HeaderName = HeaderName::from_static("x-punk-run-id");
const ROUTE: HeaderName = HeaderName::from_static("x-punk-route");

/// How one caller is spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Tongue {
    pub(crate) wire: Wire,
    stamp: Stamp,
    /// Whether a stream of chat completions ends with its usage.
    pub(crate) include_usage: bool,
}

impl Tongue {
    pub(crate) fn of(request: &Request, run: RunId, at: Timestamp) -> Self {
        let id = run.to_string();
        let stamp = Stamp {
            id: id.strip_prefix("run_").unwrap_or(&id).to_owned(),
            created: i64::try_from(at.as_millis() / 1000).unwrap_or(i64::MAX),
            model: request.model.clone(),
            echo: request.wire.echo(request),
        };
        Self { wire: request.wire, stamp, include_usage: request.include_usage }
    }

    /// The answer as this caller reads it.
    pub(crate) fn tell(&self, answer: &Answer) -> Response {
        own(self.wire.answer_text(answer, &self.stamp_of(&answer.model)).into())
    }

    /// Who tells a stream to this caller.
    pub(crate) fn writer(&self, model: &str) -> Writer {
        self.wire.writer(&self.stamp_of(model), self.include_usage)
    }

    /// Says in a stream that it ends here, though it is not complete.
    pub(crate) fn write_cut(&self, code: &str, message: &str, out: &mut Vec<u8>) {
        let failure = Failure::new(self.wire, FailureKind::Internal, message);
        self.wire.write_error_frame(&Failure { code: Some(code.to_owned()), ..failure }, out);
    }

    fn stamp_of(&self, model: &str) -> Stamp {
        let mut stamp = self.stamp.clone();
        if !model.is_empty() {
            model.clone_into(&mut stamp.model);
        }
        stamp
    }
}

/// An answer that is written out already, ours or the upstream's own.
pub(super) fn own(bytes: Bytes) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
}

/// A stream as a response.
pub(crate) fn streamed(relay: Relay) -> Response {
    let mut response = Response::new(axum::body::Body::new(relay));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies in between are asked not to collect the stream before they pass it on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The same response, which says what run it is and how it was answered.
pub(crate) fn signed(mut response: Response, run: RunId, route: Route) -> Response {
    let headers = response.headers_mut();
    // An id is in letters and digits, so it always fits.
    if let Ok(run) = HeaderValue::try_from(run.to_string()) {
        headers.append(RUN_ID, run);
    }
    headers.append(ROUTE, HeaderValue::from_static(route.as_str()));
    response
}
