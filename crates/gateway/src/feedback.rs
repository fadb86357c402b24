//! `POST /api/v1/runs/{id}/feedback`: what somebody thinks of an answer.

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::append::{append, members};
use crate::error::ApiError;
use crate::identity::Caller;
use crate::influence::Noted;
use crate::learning;
use crate::strict::Body;
use crate::text::Note;

/// What somebody thinks of an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewFeedback {
    r#type: FeedbackType,
    rating: Rating,
    /// What the answer should have been.
    #[serde(default)]
    correction: Option<Note>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FeedbackType {
    /// Good or bad.
    Rating,
}

/// Good or bad.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
struct Rating(i64);

impl TryFrom<i64> for Rating {
    type Error = &'static str;

    fn try_from(rating: i64) -> Result<Self, Self::Error> {
        if matches!(rating, 1 | -1) { Ok(Self(rating)) } else { Err("expected 1 or -1") }
    }
}
impl From<Rating> for i64 {
    fn from(rating: Rating) -> Self {
        rating.0
    }
}
impl JsonSchema for Rating {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rating".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": [1, -1], "description": "1 is good, -1 is bad" })
    }
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(NewFeedback { r#type, rating, correction }): Body<NewFeedback>,
) -> Result<(StatusCode, Json<Noted>), ApiError> {
    let correction_given = correction.is_some();
    let fields =
        json!({ "type": r#type, "rating": rating, "correction": correction, "actor": caller.actor() });
    let corrects = correction_given && i64::from(rating) < 0;
    let event = ("feedback.recorded".to_owned(), members(fields));
    let (run_id, seq) = append(&app, caller.tenant, &id, event).await?;
    if corrects {
        // What was corrected must not be said again while somebody waits for the next tick.
        learning::soon(&app, caller.tenant);
    }
    Ok((StatusCode::CREATED, Json(Noted { run_id, seq })))
}
