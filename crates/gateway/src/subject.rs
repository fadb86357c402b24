//! `DELETE /api/v1/subjects/{subject}`: forgets a person, and says where that is recorded.

use axum::Json;
use axum::extract::{Path, State};
use redaction::Lexicon;
use retention::{Actor, EraseError};
use schema::{RunId, Subject, SubjectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::strict::Params;

/// What a caller may say about an erasure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EraseQuery {
    /// Why, in 1 to 200 visible characters; recorded, so no names in it.
    #[serde(default)]
    reason: Option<String>,
}

/// A person was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Erased {
    erased: bool,
    /// What stands for the person in what is left.
    subject_id: SubjectId,
    /// How many runs were about them.
    runs: u64,
    /// The run that records it; its evidence packet proves it.
    run_id: RunId,
}

pub(crate) async fn erase(
    State(app): State<App>,
    caller: Caller,
    Path(subject): Path<String>,
    Params(EraseQuery { reason }): Params<EraseQuery>,
) -> Result<Json<Erased>, ApiError> {
    let reason = reason.unwrap_or_else(|| "on request".to_owned());
    if reason.is_empty() || reason.len() > 200 || reason.chars().any(char::is_control) {
        return Err(ApiError::Invalid {
            param: "reason",
            message: "a reason is 1 to 200 visible characters".into(),
            hint: "shorten it, or leave it out",
        });
    }
    let subject = Subject::try_from(subject).map_err(|_| ApiError::NoSuchSubject)?;
    let reason = app.house.of(caller.tenant).recorded(&reason, &mut Lexicon::default(), true).into_owned();
    let actor = Actor { by: caller.actor(), app: caller.app, agent: caller.agent };
    let erased = app.keeper.erase(caller.tenant, &subject, &actor, &reason).await;
    let erased = erased.map_err(|error| match error {
        EraseError::Unknown => ApiError::NoSuchSubject,
        EraseError::Store(error) => unread(error),
    })?;
    Ok(Json(Erased { erased: true, subject_id: erased.subject, runs: erased.runs, run_id: erased.record }))
}
