//! `POST /api/v1/trace`: one more event of a run, from whoever watched it happen.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use ledger::Event;
use schema::{RunId, Seq, SideEffectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::App;
use crate::append::{History, append, append_after, check_names, payload};
use crate::clock::now;
use crate::error::ApiError;
use crate::identity::Caller;
use crate::side_effect::{self, ToldEffect};
use crate::strict::Body;

/// Types that only the runtime itself may record: what verification reads must not come from outside.
const RESERVED: &[&str] = &[
    "run.",
    "policy.",
    "route.",
    "model.",
    "artifact.",
    "audit.",
    "cache.",
    "feedback.",
    "memory.",
    "side_effect.",
];

/// An event of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewTrace {
    /// The run, as `x-punk-run-id` named it.
    run_id: String,
    /// What happened, such as `tool.called`. Types of the runtime's own are refused, but for `side_effect.planned` and
    /// `side_effect.executed`.
    #[schemars(length(min = 1, max = 120))]
    r#type: String,
    /// Its fields. Of a side effect: `toolName`, `level` from 0 to 4, `payload`, and for an executed one `sideEffectId`.
    #[serde(default)]
    payload: Map<String, Value>,
}

/// Where it is recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Traced {
    run_id: RunId,
    /// The place of the event in its run.
    seq: Seq,
    /// The side effect that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    side_effect_id: Option<SideEffectId>,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewTrace { run_id, r#type, payload: fields }): Body<NewTrace>,
) -> Result<(StatusCode, Json<Traced>), ApiError> {
    check_names(&fields, "payload")?;
    let new = SideEffectId::new(now().as_millis(), app.random_bytes());
    let tenant = caller.tenant;
    let (run_id, seq, side_effect_id) = match r#type.as_str() {
        side_effect::PLANNED => {
            let planned = side_effect::planned(&payload(fields)?, new)?;
            let (run, seq) = append(&app, tenant, &run_id, planned).await?;
            (run, seq, Some(new))
        }
        side_effect::EXECUTED => {
            let told: ToldEffect = payload(fields)?;
            let tell = |before: &[Event]| side_effect::executed(&told, before, new);
            let (run, seq, id) = append_after(&app, tenant, &run_id, History::Read, tell).await?;
            (run, seq, Some(id))
        }
        _ => {
            check_type(&r#type)?;
            let (run, seq) = append(&app, tenant, &run_id, (r#type, fields)).await?;
            (run, seq, None)
        }
    };
    Ok((StatusCode::CREATED, Json(Traced { run_id, seq, side_effect_id })))
}

fn check_type(r#type: &str) -> Result<(), ApiError> {
    let invalid = |message: String, hint| Err(ApiError::Invalid { param: "type", message, hint });
    if r#type.is_empty() || r#type.len() > 120 || r#type.chars().any(char::is_control) {
        return invalid(
            "the type of an event is 1 to 120 visible characters".into(),
            "send a type such as `tool.called`",
        );
    }
    match RESERVED.iter().find(|prefix| r#type.starts_with(**prefix)) {
        Some(prefix) => invalid(
            format!("types that start with `{prefix}` are recorded by the runtime alone"),
            "send a type such as `tool.called`",
        ),
        None => Ok(()),
    }
}
