//! A learned program answers, or is compared with what live answered.
//!
//! Programs work on the recorded form of a request, because that is what they were learned from; what stands in their answers
//! for something the caller sent is put back on the way out, as in any answer. What was executed is on record by its digest,
//! so whoever verifies the run executes it again.

use std::borrow::Cow;
use std::sync::Arc;

use apprentice::{COMPARED, ENGINE, EXECUTED, Offered, said};
use axum::response::Response;
use schema::{MicroUsd, RunStatus};
use serde_json::{Value, json};
use wire::{Part, Request};

use super::asked::Asked;
use super::open_run::OpenRun;
use super::recall;
use super::record::Saved;
use super::tongue::Tongue;
use crate::app::App;
use crate::error::ApiError;
use crate::record::{Fields, fields};

/// What a learned program has to do with a run.
#[derive(Debug)]
pub(crate) enum Learned {
    /// It answers.
    Executed(Box<Offered>),
    /// Live answers, and it is compared with that.
    Audited(Box<Offered>),
}

/// The request as it is recorded.
pub(crate) fn request_recorded(asked: &Asked, recorded: &Arc<Value>) -> Option<Arc<Request>> {
    if Arc::ptr_eq(&asked.body, recorded) {
        return Some(Arc::clone(&asked.request));
    }
    asked.wire.read_request(recorded).ok().map(Arc::new)
}

/// Whether the answer is recorded as it is given: only then can it be made again from the record.
pub(crate) fn is_recordable(open: &mut OpenRun, offered: &Offered) -> bool {
    let parts = offered.answer.choices.iter().flat_map(|choice| &choice.parts);
    parts.into_iter().all(|part| {
        let text =
            if let Part::ToolCall(call) = part { Some(call.arguments.as_str()) } else { part.as_text() };
        text.is_none_or(|text| is_recorded_as_it_is(open, text))
    })
}

/// What stands for what the caller sent stays as it is; anything else that would be taken out of a text is not a program's answer.
pub(crate) fn is_recorded_as_it_is(open: &mut OpenRun, text: &str) -> bool {
    let discretion = open.discretion();
    matches!(discretion.recorded(text, &mut open.lexicon, true), Cow::Borrowed(_))
}

/// Answers with the program.
pub(crate) async fn answer(
    mut open: Box<OpenRun>,
    tongue: Tongue,
    offered: Box<Offered>,
    stream: bool,
) -> Result<Response, ApiError> {
    if let Some(small) = &open.small {
        // What it was paid is not saved; and what that is nobody knows is not known to be saved.
        let left = open.estimate.saved.zip(small.cost());
        open.estimate.saved = left.map(|(usual, paid)| MicroUsd(usual.0.saturating_sub(paid.0).max(0)));
        open.explanation.estimated_saved_usd = open.estimate.saved;
    }
    let saved = Saved {
        money: open.estimate.saved.unwrap_or_default(),
        millis: open.estimate.live_ms.unwrap_or(0).saturating_sub(open.watch.millis()),
    };
    let answer = offered.answer.clone();
    open.learned = Some(Box::new(Learned::Executed(offered)));
    recall::tell(open, tongue, answer, saved, stream).await
}

/// What is recorded of it, now that the run is over. A comparison counts on the shelf at once.
pub(crate) fn told(
    app: &App,
    learned: Option<Box<Learned>>,
    status: RunStatus,
    answer: Option<&Value>,
) -> Option<(&'static str, Fields)> {
    match *learned? {
        Learned::Executed(offered) => {
            let shelved = &offered.shelved;
            let executed = fields([
                ("artifact", json!(shelved.digest)),
                ("artifactId", json!(shelved.artifact)),
                ("engine", json!(ENGINE)),
                ("patternId", json!(shelved.pattern)),
                ("version", json!(shelved.version)),
            ]);
            Some((EXECUTED, executed))
        }
        Learned::Audited(offered) => {
            // What live did not answer, or not in words, compares with nothing.
            let answer = answer.filter(|_| status == RunStatus::Completed)?;
            let (live, _) = said(&serde_json::from_value(answer.clone()).ok()?)?;
            let agreed = offered.shelved.comparator.agree(&offered.said, &live);
            app.shelf.compared(&offered, agreed);
            let compared = fields([
                ("agreed", json!(agreed)),
                ("artifactId", json!(offered.shelved.artifact)),
                ("patternId", json!(offered.shelved.pattern)),
                ("said", offered.said.clone()),
                ("version", json!(offered.shelved.version)),
            ]);
            Some((COMPARED, compared))
        }
    }
}
