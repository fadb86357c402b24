//! Every path there is.

use axum::Router;
use axum::routing::{delete, get, post};

use crate::app::App;
use crate::{chat, error, evidence, health, job, run, subject, trace};

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/health", get(health::show))
        .route("/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/v1/chat/completions", post(chat::create))
        .route("/api/v1/runs", get(run::list).post(run::create))
        .route("/api/v1/runs/{id}", get(run::show))
        .route("/api/v1/runs/{id}/evidence-packet", get(evidence::show))
        .route("/api/v1/trace", post(trace::create))
        .route("/api/v1/jobs", get(job::list))
        .route("/api/v1/jobs/{id}/requeue", post(job::requeue))
        .route("/api/v1/subjects/{subject}", delete(subject::erase))
        .fallback(error::no_such_path)
        .method_not_allowed_fallback(error::no_such_method)
        .with_state(app)
}
