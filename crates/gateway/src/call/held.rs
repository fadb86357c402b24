//! An answer that was held back, and is approved: given as it was, not asked for again.
//!
//! A model that is asked twice may answer differently, and then people would have approved something else. So whoever names
//! the approval of a call gets the very answer that the call is in, once.

use axum::response::Response;
use schema::{Approval, ApprovalId, Route, RouteExplanation, RunId};
use serde_json::Value;
use store::RecordKind;
use wire::Answer;

use super::hash_of;
use super::open_run::OpenRun;
use super::recall;
use super::record::Saved;
use super::tongue::Tongue;
use crate::app::App;
use crate::append::events;
use crate::error::{ApiError, unread};
use crate::identity::Caller;

/// An answer that waits for an approval.
pub(crate) struct HeldAnswer {
    approval: ApprovalId,
    run: RunId,
    answer: Answer,
}

/// The answer that an approval is about; nothing, if it is about something else than an answer.
pub(crate) async fn find(
    app: &App,
    caller: &Caller,
    request: &Value,
    id: ApprovalId,
) -> Result<Option<HeldAnswer>, ApiError> {
    let record = app.of(caller.tenant).record(RecordKind::Approval, &id.to_string()).await.map_err(unread)?;
    let Some(record) = record else {
        return Err(ApiError::ApprovalUnfit { id, why: "there is no such approval".to_owned() });
    };
    let approval: Approval = serde_json::from_value(record.body).map_err(unread)?;
    if approval.tool.is_none() {
        return Ok(None);
    }
    let events = events(app, caller.tenant, approval.run_id).await?;
    let field = |r#type: &str, name: &str| -> Option<Value> {
        let event = events.iter().find(|event| event.r#type == r#type)?;
        event.payload.get(name)?.value().cloned()
    };
    let answer = field("run.finished", "answer").and_then(|answer| serde_json::from_value(answer).ok());
    let Some(answer) = answer else { return Ok(None) };
    // What was recorded is what may be recorded; this request is held against that.
    let same = hash_of(request);
    if field("run.started", "request").is_none_or(|request| hash_of(&request) != same) {
        return Err(ApiError::ApprovalUnfit { id, why: "it was given for another request".to_owned() });
    }
    Ok(Some(HeldAnswer { approval: id, run: approval.run_id, answer }))
}

/// Gives it. The calls in it are judged again: each that needs an approval must have one, and uses it up.
pub(crate) async fn answer(
    mut open: Box<OpenRun>,
    tongue: Tongue,
    held: HeldAnswer,
    stream: bool,
) -> Result<Response, ApiError> {
    let HeldAnswer { approval, run, answer } = held;
    let reason = format!("the answer of {run} was held back for {approval}");
    open.explanation = RouteExplanation::new(Route::Live, reason, open.opening.judged.verdict.clone());
    recall::tell(open, tongue, answer, Saved::default(), stream).await
}
