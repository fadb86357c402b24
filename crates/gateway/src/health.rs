//! Whether the process is there, and what it has counted.

use std::sync::atomic::Ordering;

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
    if app.leaving.load(Ordering::Relaxed) {
        return Err(ApiError::Leaving);
    }
    // A store that is known to be away is not asked once more: it may take its time to say so.
    if app.store_watch.is_away() {
        return Err(ApiError::Unread);
    }
    app.store.ready().await.map_err(unread)?;
    Ok(Json(Ready { ready: true }))
}

pub(crate) async fn metrics(State(app): State<App>) -> ([(http::HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], app.metrics.render())
}
