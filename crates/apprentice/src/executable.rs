//! A learned program as it serves and travels: one text, named by its digest, that gives the same answer everywhere.
//!
//! The text is all that an answer depends on besides the request. So whoever has a run and the text can answer again, without
//! the learner, the store or the time: that is what [`reexecute`] does for `punk verify`.

use artifact::Artifact;
use artifact::program::{Input, Outcome};
use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::{Answer, Choice, Part, Request, Stop, Wire};

use crate::task::Task;

/// The name of the engine, in events and in the text itself.
pub const ENGINE: &str = "punk.artifact/1";

/// How an answer that is JSON is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Without blanks.
    #[default]
    Compact,
    /// Indented.
    Pretty,
}

/// What serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Executable {
    /// [`ENGINE`].
    pub format: String,
    /// The model it stands for, by its one name.
    pub model: String,
    /// The kind of work it is for.
    pub task: Digest,
    /// How its answers are written.
    pub style: Style,
    /// What it does.
    pub artifact: Artifact,
}

/// Why a text answers nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// Of another version, or of somebody else.
    #[error("the engine `{0}` is not known")]
    Engine(String),
    /// Not an artifact.
    #[error("the artifact cannot be read")]
    Artifact(#[source] serde_json::Error),
    /// Not a request.
    #[error("the recorded request cannot be read: {0}")]
    Request(String),
    /// The artifact is for other work, or abstains.
    #[error("the artifact does not answer this request: {0}")]
    Silent(String),
}

impl Executable {
    /// Reads a text.
    ///
    /// # Errors
    /// It is not an artifact of this engine.
    pub fn read(text: &str) -> Result<Self, ExecuteError> {
        let read: Self = serde_json::from_str(text).map_err(ExecuteError::Artifact)?;
        if read.format == ENGINE { Ok(read) } else { Err(ExecuteError::Engine(read.format)) }
    }

    /// The text, which is what its digest is of.
    #[must_use]
    pub fn text(&self) -> String {
        // Plain data; writing it out cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What it says to `input`, or why it says nothing.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn says(&self, input: &str) -> Result<Value, String> {
        match self.artifact.answer(&Input::new(input)) {
            Outcome::Answer(value) => Ok(value),
            Outcome::Partial(_, missing) => Err(format!("it knows no answer for {}", missing.join(", "))),
            Outcome::Abstain(why) => Err(why.to_string()),
        }
    }

    /// What it said, as a model would have answered.
    #[must_use]
    pub fn worded(&self, said: &Value, model: &str) -> Answer {
        let text = match (said, self.style) {
            (Value::String(text), _) => text.clone(),
            (value, Style::Compact) => value.to_string(),
            (value, Style::Pretty) => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        let choice = Choice { parts: vec![Part::text(text)], stop: Some(Stop::End), logprobs: None };
        Answer { id: None, model: model.to_owned(), choices: vec![choice], usage: None }
    }
}

/// What an answer says, to be compared: JSON where it is JSON, else its words; and how it is written. `None` when it is more than words.
#[must_use]
pub fn said(answer: &Answer) -> Option<(Value, Style)> {
    let [choice] = answer.choices.as_slice() else { return None };
    if choice.stop != Some(Stop::End) {
        return None;
    }
    let text: String = choice.parts.iter().map(Part::as_text).collect::<Option<_>>()?;
    let text = text.trim();
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let is_pretty = text.contains('\n');
            Some((value, if is_pretty { Style::Pretty } else { Style::Compact }))
        }
        _ => Some((Value::from(text), Style::Compact)),
    }
}

/// Answers a recorded request again: `wire`, `model` and `request` as `run.started` has them. Gives the answer as `run.finished` records it.
///
/// # Errors
/// See [`ExecuteError`].
pub fn reexecute(
    engine: &str,
    text: &str,
    wire: &str,
    model: &str,
    request: &Value,
) -> Result<Value, ExecuteError> {
    if engine != ENGINE {
        return Err(ExecuteError::Engine(engine.to_owned()));
    }
    let executable = Executable::read(text)?;
    let request =
        read_request(wire, request).ok_or_else(|| ExecuteError::Request(format!("by the wire `{wire}`")))?;
    let task = Task::of(model, &request).map_err(|why| ExecuteError::Silent(why.to_string()))?;
    if task.key != executable.task {
        return Err(ExecuteError::Silent("it is for other work".to_owned()));
    }
    let said = executable.says(&task.input).map_err(ExecuteError::Silent)?;
    Ok(serde_json::to_value(executable.worded(&said, &request.model)).unwrap_or_default())
}

/// A request as it was recorded.
pub(crate) fn read_request(wire: &str, request: &Value) -> Option<Request> {
    let wire =
        [Wire::Chat, Wire::Messages, Wire::Responses].into_iter().find(|known| known.as_str() == wire)?;
    wire.read_request(request).ok()
}
