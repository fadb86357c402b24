//! An answer that was given before is told again: in the caller's wire, streamed if asked, with ids of its own.

use std::time::Duration;

use axum::response::Response;
use router::Recalled;

use super::open_run::{End, OpenRun, recorded, settled};
use super::record::Saved;
use super::relay::{Relay, Voice};
use super::source::Source;
use super::tongue::{Tongue, signed, streamed};
use crate::error::ApiError;

pub(crate) async fn answer(
    open: OpenRun,
    tongue: Tongue,
    recalled: Recalled,
    stream: bool,
) -> Result<Response, ApiError> {
    let (run, explanation) = (open.opening.run, open.explanation.clone());
    // Two callers must not hold the same call's id, and neither may one caller twice.
    let answer = recalled.answer.with_call_ids(|| open.app.new_call_id(tongue.wire));
    let saved = Saved {
        money: open.estimate.saved.unwrap_or_default(),
        millis: open.estimate.live_ms.unwrap_or(0).saturating_sub(open.watch.millis()),
    };
    let response = if stream {
        let told = answer.deltas().into_iter().map(|delta| (Duration::ZERO, delta));
        let voice = Voice::Told(Box::new(tongue.writer(&answer.model)));
        streamed(Relay::new(Source::told(told), voice, tongue, open, saved))
    } else {
        settled(open.end(End::Answered { answer: recorded(&answer), saved })).await?;
        tongue.tell(&answer)
    };
    Ok(signed(response, run, &explanation))
}
