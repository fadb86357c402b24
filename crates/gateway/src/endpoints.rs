//! Every path there is.

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;
use crate::{chat, error, evidence, health};

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/health", get(health::show))
        .route("/metrics", get(health::metrics))
        .route("/v1/chat/completions", post(chat::create))
        .route("/api/v1/runs/{id}/evidence-packet", get(evidence::show))
        .fallback(error::no_such_path)
        .method_not_allowed_fallback(error::no_such_method)
        .with_state(app)
}
