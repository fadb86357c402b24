//! An upstream's own error, on its way to the caller.

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use redaction::Lexicon;
use schema::{Route, RunId};
use wire::Failure;

use super::{ApiError, name_run};
use crate::discretion::Discretion;

/// An upstream's error, worded for the caller already.
#[derive(Debug, Clone)]
pub(crate) struct FromUpstream {
    run: RunId,
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    pub(super) message: String,
}

impl FromUpstream {
    /// In the upstream's own bytes.
    pub(crate) fn own(run: RunId, status: StatusCode, headers: HeaderMap, body: Bytes) -> ApiError {
        let message = format!("the upstream answered with status {status}");
        ApiError::Upstream(Box::new(Self { run, status, headers, body, message }))
    }

    /// In the shape of the caller's wire.
    pub(crate) fn failure(run: RunId, wire: wire::Wire, failure: &Failure, headers: HeaderMap) -> ApiError {
        let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let body = Bytes::from(wire.write_error(failure).to_string());
        let message = failure.message.clone();
        ApiError::Upstream(Box::new(Self { run, status, headers, body, message }))
    }

    /// The same without what may not be told: an upstream may repeat the key that it was shown.
    pub(super) fn discreet(self, discretion: &Discretion) -> Self {
        let cleaned = |text: &str| discretion.recorded(text, &mut Lexicon::default(), false).into_owned();
        let body =
            std::str::from_utf8(&self.body).map_or_else(|_| Bytes::new(), |text| Bytes::from(cleaned(text)));
        Self { body, message: cleaned(&self.message), ..self }
    }

    pub(super) fn respond(self) -> Response {
        let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let mut response = (self.status, self.headers, json, self.body).into_response();
        name_run(&mut response, self.run, Route::Live);
        response
    }
}
