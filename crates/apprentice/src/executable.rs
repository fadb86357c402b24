//! A learned program as it serves and travels: one text, named by its digest, that gives the same answer everywhere.
//!
//! The text is all that an answer depends on besides the request. So whoever has a run and the text can answer again, without
//! the learner, the store or the time: that is what [`reexecute`] does for `punk verify`.

use artifact::Artifact;
use artifact::program::{Input, Open, Outcome, complete};
use learning::comparator::Comparator;
use learning::synthesis::agrees_in_part;
use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::{Answer, Choice, Part, Request, Stop, Wire};

use crate::plan;
use crate::task::{Loose, Task};
use crate::template::Skeleton;

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
    /// As calls of tools, where it is a plan.
    Calls,
}

impl Style {
    /// How answers are written of which one was written like `other`: where something is called, that stays so.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match self {
            Self::Calls => self,
            Self::Compact | Self::Pretty => other,
        }
    }
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
    /// What its requests have in common, where that was mined and no instructions say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Skeleton>,
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

    /// Every text in it that can be somebody's words: all but rows of numbers, which are written as text and look like secrets.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        gather_words(serde_json::to_value(self).unwrap_or_default(), "", &mut words);
        words
    }

    /// What of a request is different every time; or why the request is none of its kind.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn input_of(&self, model: &str, request: &Request) -> Result<String, String> {
        let other = || "it is for other work".to_owned();
        if let Some(template) = &self.template {
            let loose = Loose::of(model, request).filter(|loose| template.admits(loose));
            return loose.map(|loose| loose.text).ok_or_else(other);
        }
        let task = Task::of(model, request).map_err(|why| why.to_string())?;
        if task.key == self.task { Ok(task.input) } else { Err(other()) }
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

    /// The fields that it leaves open in every answer.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        self.artifact.program.open()
    }

    /// What it says to `input` of an answer in which fields are open; or why it says nothing.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn says_in_part(&self, input: &str) -> Result<Map<String, Value>, String> {
        match self.artifact.answer(&Input::new(input)) {
            Outcome::Partial(part, _) if !self.open().is_empty() => Ok(part),
            Outcome::Answer(_) | Outcome::Partial(..) => Err("it leaves nothing open".to_owned()),
            Outcome::Abstain(why) => Err(why.to_string()),
        }
    }

    /// The whole answer that `part` and what somebody told make.
    ///
    /// # Errors
    /// The reason why they do not, in words.
    pub fn completed(&self, part: &Map<String, Value>, told: &Map<String, Value>) -> Result<Value, String> {
        complete(part, self.open(), told).map(Value::Object).map_err(|misfit| misfit.to_string())
    }

    /// Whether it says to `input` what live said, as far as it says anything; `None` where it says nothing.
    #[must_use]
    pub fn agrees(&self, input: &str, live: &Value, comparator: &Comparator) -> Option<bool> {
        match self.artifact.answer(&Input::new(input)) {
            Outcome::Answer(said) => Some(comparator.agree(&said, live)),
            Outcome::Partial(part, _) if !self.open().is_empty() => {
                Some(agrees_in_part(&part, self.open(), live, comparator))
            }
            Outcome::Partial(..) | Outcome::Abstain(_) => None,
        }
    }

    /// What it said, as a model would have answered.
    #[must_use]
    pub fn worded(&self, said: &Value, model: &str) -> Answer {
        let planned = if self.style == Style::Calls { plan::to_parts(said) } else { None };
        let (parts, stop) = planned.map_or_else(
            || (vec![Part::text(self.text_of(said))], Stop::End),
            |calls| (calls, Stop::ToolCalls),
        );
        let choice = Choice { parts, stop: Some(stop), logprobs: None };
        Answer { id: None, model: model.to_owned(), choices: vec![choice], usage: None }
    }

    fn text_of(&self, said: &Value) -> String {
        match (said, self.style) {
            (Value::String(text), _) => text.clone(),
            (value, Style::Compact | Style::Calls) => value.to_string(),
            (value, Style::Pretty) => serde_json::to_string_pretty(value).unwrap_or_default(),
        }
    }

    /// Whether its answers can be calls of tools.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.style == Style::Calls && plan::may_call(&self.artifact.program)
    }
}

/// What an answer says, to be compared: a plan where it only calls tools, JSON where it is JSON, else its words; and how it is
/// written. `None` when it is something else, or more than one of these.
#[must_use]
pub fn said(answer: &Answer) -> Option<(Value, Style)> {
    let [choice] = answer.choices.as_slice() else { return None };
    match choice.stop {
        Some(Stop::End) => {}
        Some(Stop::ToolCalls) => return Some((plan::of_parts(&choice.parts)?, Style::Calls)),
        _ => return None,
    }
    let text: String = choice.parts.iter().map(Part::as_text).collect::<Option<_>>()?;
    let text = text.trim();
    match serde_json::from_str::<Value>(text) {
        // Words that look like calls could not be told from calls.
        Ok(value) if plan::calls(&value).is_some() => None,
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let is_pretty = text.contains('\n');
            Some((value, if is_pretty { Style::Pretty } else { Style::Compact }))
        }
        _ => Some((Value::from(text), Style::Compact)),
    }
}

/// Answers a recorded request again: `wire`, `model` and `request` as `run.started` has them. Gives the answer as `run.finished` records it.
/// The ids of calls are the gateway's and not the program's: they are taken from `recorded`, the answer that is on record. So are the
/// fields that the program leaves open: they are what a small model `told`, by the record of that call.
///
/// # Errors
/// See [`ExecuteError`].
pub fn reexecute(
    engine: &str,
    text: &str,
    (wire, model, request): (&str, &str, &Value),
    (recorded, told): (Option<&Value>, Option<&str>),
) -> Result<Value, ExecuteError> {
    if engine != ENGINE {
        return Err(ExecuteError::Engine(engine.to_owned()));
    }
    let executable = Executable::read(text)?;
    let request =
        read_request(wire, request).ok_or_else(|| ExecuteError::Request(format!("by the wire `{wire}`")))?;
    let input = executable.input_of(model, &request).map_err(ExecuteError::Silent)?;
    let said = match told {
        None => executable.says(&input),
        Some(told) => serde_json::from_str(told)
            .map_err(|_| "what a small model told is no object".to_owned())
            .and_then(|told| executable.completed(&executable.says_in_part(&input)?, &told)),
    };
    let said = said.map_err(ExecuteError::Silent)?;
    let mut ids = recorded.map(call_ids).unwrap_or_default().into_iter();
    let answer = executable.worded(&said, &request.model).with_call_ids(|| ids.next().unwrap_or_default());
    Ok(serde_json::to_value(answer).unwrap_or_default())
}

/// The ids of the calls in a recorded answer, in order.
fn call_ids(answer: &Value) -> Vec<String> {
    let Ok(answer) = serde_json::from_value::<Answer>(answer.clone()) else { return Vec::new() };
    let parts = answer.choices.into_iter().flat_map(|choice| choice.parts);
    parts.filter_map(|part| if let Part::ToolCall(call) = part { Some(call.id) } else { None }).collect()
}

/// A request as it was recorded.
pub(crate) fn read_request(wire: &str, request: &Value) -> Option<Request> {
    let wire =
        [Wire::Chat, Wire::Messages, Wire::Responses].into_iter().find(|known| known.as_str() == wire)?;
    wire.read_request(request).ok()
}

fn gather_words(value: Value, name: &str, words: &mut Vec<String>) {
    match value {
        Value::String(text) if artifact::packed::is_row(name, &text) => {}
        Value::String(text) => words.push(text),
        Value::Array(items) => items.into_iter().for_each(|item| gather_words(item, "", words)),
        Value::Object(members) => {
            for (name, member) in members {
                gather_words(member, &name, words);
                words.push(name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
