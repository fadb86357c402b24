//! `DELETE /api/v1/subjects/{subject}`: forgets a person, and says where that is recorded.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use retention::{Actor, EraseError, Erasure};
use schema::Subject;
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::error::{ApiError, Wire, unread};

/// What a caller may say about an erasure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseQuery {
    /// Why; recorded, so no names in it.
    #[serde(default)]
    reason: Option<String>,
}

pub(crate) async fn erase(
    State(app): State<App>,
    headers: HeaderMap,
    Path(subject): Path<String>,
    query: Result<Query<EraseQuery>, QueryRejection>,
) -> Response {
    match forget(&app, &headers, subject, query).await {
        Ok(Erasure { record, subject, runs }) => {
            Json(json!({ "erased": true, "subjectId": subject, "runs": runs, "runId": record }))
                .into_response()
        }
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn forget(
    app: &App,
    headers: &HeaderMap,
    subject: String,
    query: Result<Query<EraseQuery>, QueryRejection>,
) -> Result<Erasure, ApiError> {
    let caller = app.identify(headers)?;
    let Query(EraseQuery { reason }) = query.map_err(|error| ApiError::Invalid {
        param: "query",
        message: error.body_text(),
        hint: "send `reason`, or nothing",
    })?;
    let reason = reason.unwrap_or_else(|| "on request".to_owned());
    if reason.is_empty() || reason.len() > 200 || reason.chars().any(char::is_control) {
        return Err(ApiError::Invalid {
            param: "reason",
            message: "a reason is 1 to 200 visible characters".into(),
            hint: "shorten it, or leave it out",
        });
    }
    let subject = Subject::try_from(subject).map_err(|_| ApiError::NoSuchSubject)?;
    let reason = app.mask.apply(&reason).into_owned();
    let actor = Actor { app: caller.app, agent: caller.agent };
    let erased = app.keeper.erase(caller.tenant, &subject, &actor, &reason).await;
    erased.map_err(|error| match error {
        EraseError::Unknown => ApiError::NoSuchSubject,
        EraseError::Store(error) => unread(error),
    })
}
