//! Whether the process is there, and what it has counted.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::{Wire, unread};

pub(crate) async fn show() -> Json<Value> {
    Json(json!({ "ok": true, "version": env!("CARGO_PKG_VERSION"), "provider": providers::mock::NAME }))
}

/// Whether a request would be recorded now.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    match app.store.ready().await {
        Ok(()) => Json(json!({ "ready": true })).into_response(),
        Err(error) => unread(error).respond(Wire::Rest),
    }
}

pub(crate) async fn metrics(State(app): State<App>) -> ([(http::HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], app.metrics.render())
}
