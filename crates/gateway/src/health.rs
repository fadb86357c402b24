//! Whether the process is there, and what it has counted.

use axum::Json;
use axum::extract::State;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::app::App;

pub(crate) async fn show() -> Json<Value> {
    Json(json!({ "ok": true, "version": env!("CARGO_PKG_VERSION"), "provider": providers::mock::NAME }))
}

pub(crate) async fn metrics(State(app): State<App>) -> ([(http::HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], app.metrics.render())
}
