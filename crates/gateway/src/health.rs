//! Whether the process is there, and what it has counted.

use axum::Json;
use axum::extract::State;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::{ApiError, unread};

/// That the process is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    ok: bool,
    version: &'static str,
    /// Who answers model requests.
    provider: &'static str,
}

/// That a request would be recorded now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ready {
    ready: bool,
}

pub(crate) async fn show() -> Json<Health> {
    Json(Health { ok: true, version: env!("CARGO_PKG_VERSION"), provider: providers::mock::NAME })
}

pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Ready>, ApiError> {
    app.store.ready().await.map_err(unread)?;
    Ok(Json(Ready { ready: true }))
}

pub(crate) async fn metrics(State(app): State<App>) -> ([(http::HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], app.metrics.render())
}
