//! What a caller asks of a model: read strictly, before anything is recorded.

use std::sync::Arc;

use axum::extract::rejection::BytesRejection;
use bytes::Bytes;
use cache::Wish;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use wire::{Refused, Request, Wire};

use crate::error::ApiError;

/// A request as it came: by which wire, its own bytes, and what they say.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) wire: Wire,
    /// The caller's own bytes, which go on to an upstream that speaks the same wire.
    pub(crate) bytes: Bytes,
    /// The body, for the record, which shares it.
    pub(crate) body: Arc<Value>,
    pub(crate) request: Arc<Request>,
    /// What the caller wishes about kept answers.
    pub(crate) wish: Wish,
}

impl Asked {
    pub(crate) fn read(wire: Wire, headers: &HeaderMap, bytes: Bytes) -> Result<Self, ApiError> {
        let body = read_json(&bytes)?;
        let request = wire.read_request(&body).map_err(refused)?;
        Ok(Self { wire, bytes, body: Arc::new(body), request: Arc::new(request), wish: wish(headers)? })
    }
}

impl Asked {
    /// The same request, with another body.
    pub(crate) fn with_body(self, body: Value) -> Result<Self, ApiError> {
        let bytes = Bytes::from(body.to_string());
        let request = Arc::new(self.wire.read_request(&body).map_err(refused)?);
        Ok(Self { bytes, body: Arc::new(body), request, ..self })
    }
}

/// What the headers wish about kept answers.
pub(crate) fn wish(headers: &HeaderMap) -> Result<Wish, ApiError> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    Wish::read(text(CACHE_CONTROL.as_str()), text("x-punk-cache"))
        .map_err(|_| ApiError::Header { name: "x-punk-cache", wanted: "expected `on` or `off`" })
}

/// The body, if all of it came.
pub(crate) fn read_bytes(body: Result<Bytes, BytesRejection>) -> Result<Bytes, ApiError> {
    body.map_err(|error| ApiError::unread_body(&error))
}

/// The body as JSON; that it is an object is for the wires to say.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| ApiError::Body {
        status: StatusCode::BAD_REQUEST,
        message: format!("the body is not JSON: {error}"),
    })
}

/// What a wire refuses, in the gateway's words.
pub(crate) fn refused(Refused { param, message }: Refused) -> ApiError {
    ApiError::Field { param, message }
}
