//! `POST /api/v1/runs/{id}/memory`: what memory or context had a part in a run, and how far it is trusted.

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use schema::{Digest, RunId, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::append::{append, members};
use crate::error::ApiError;
use crate::identity::Caller;
use crate::strict::Body;
use crate::text::Name;

/// Something that had a part in a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewInfluence {
    /// Where it comes from, such as `web:example.com`.
    source: Name,
    trust_lane: TrustLane,
    /// The SHA-256 of what it said.
    #[serde(default)]
    content_hash: Option<Digest>,
}

/// How far something is trusted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrustLane {
    /// From anywhere.
    Untrusted,
    /// Seen before.
    Observed,
    /// Checked by a rule.
    Verified,
    /// A person said yes.
    HumanApproved,
}

/// Where something is recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Noted {
    pub(crate) run_id: RunId,
    /// The place of the event in its run.
    pub(crate) seq: Seq,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(NewInfluence { source, trust_lane, content_hash }): Body<NewInfluence>,
) -> Result<(StatusCode, Json<Noted>), ApiError> {
    let fields = json!({ "source": source, "trustLane": trust_lane, "contentHash": content_hash });
    let event = ("memory.influenced".to_owned(), members(fields));
    let (run_id, seq) = append(&app, caller.tenant, &id, event).await?;
    Ok((StatusCode::CREATED, Json(Noted { run_id, seq })))
}
