//! An answer that was given before is told again: in the caller's wire, streamed if asked, with ids of its own.

use std::time::Duration;

use axum::response::Response;
use router::Recalled;
use wire::Answer;

use super::open_run::OpenRun;
use super::record::Saved;
use super::relay::{Relay, Voice};
use super::source::Source;
use super::tongue::{Tongue, signed, streamed};
use super::wanted::holds_back;
use crate::error::ApiError;

pub(crate) async fn answer(
    open: Box<OpenRun>,
    tongue: Tongue,
    recalled: Recalled,
    stream: bool,
) -> Result<Response, ApiError> {
    let saved = Saved {
        money: open.estimate.saved.unwrap_or_default(),
        millis: open.estimate.live_ms.unwrap_or(0).saturating_sub(open.watch.millis()),
    };
    tell(open, tongue, recalled.answer, saved, stream).await
}

/// Tells an answer that is on record, as if it came now.
pub(crate) async fn tell(
    mut open: Box<OpenRun>,
    tongue: Tongue,
    answer: Answer,
    saved: Saved,
    stream: bool,
) -> Result<Response, ApiError> {
    let (run, route) = (open.opening.run, open.explanation.route);
    // Two callers must not hold the same call's id, and neither may one caller twice.
    let answer = answer.with_call_ids(|| open.app.new_call_id(tongue.wire));
    let response = if stream {
        let told = answer.deltas().into_iter().map(|delta| (Duration::ZERO, delta));
        let voice = Voice::Told(Box::new(tongue.writer(&answer.model)));
        let held = holds_back(&open.app, &open.opening.caller, open.request()).await?;
        streamed(Relay::new(Source::told(told), voice, tongue, open, saved).holding(held))
    } else {
        let told = match open.revealed(&answer) {
            Ok(told) => told,
            Err(barred) => return Err(open.bar(barred, &answer).await),
        };
        open.answered(&answer, saved).await?;
        tongue.tell(told.as_ref().unwrap_or(&answer))
    };
    Ok(signed(response, run, route))
}
