//! What a model answers.

use schema::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::part::Part;

/// What a model answers, in no vendor's shape. This is also how answers are recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The vendor's id for it, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that answered.
    pub model: String,
    /// One answer, or as many as were asked for.
    pub choices: Vec<Choice>,
    /// What it took; absent when the vendor did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Choice {
    /// What was said.
    pub parts: Vec<Part>,
    /// Why it ends there; absent when it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Probabilities, as the vendor sent them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Value>,
}

/// Why an answer ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done.
    End,
    /// There was no more room.
    Length,
    /// It met a text at which to stop, if known which.
    Sequence(Option<String>),
    /// It wants tools called.
    ToolCalls,
    /// The vendor's filter stepped in, or the model declined.
    Filtered,
    /// The vendor paused a long turn; sending it back goes on.
    Paused,
}

impl Stop {
    /// The word for it in the record.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::End => "stop",
            Self::Length => "length",
            Self::Sequence(_) => "stop_sequence",
            Self::ToolCalls => "tool_calls",
            Self::Filtered => "content_filter",
            Self::Paused => "pause",
        }
    }
}

impl Answer {
    /// Not a word yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self { id: None, model: String::new(), choices: Vec::new(), usage: None }
    }

    /// The words of the first answer, without thoughts and calls.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = self.choices.first().map_or(&[][..], |choice| &choice.parts);
        parts.iter().filter_map(Part::as_text).collect()
    }

    /// The same answer with new ids for its tool calls: a call must not be mistaken for one that was made before.
    #[must_use]
    pub fn with_call_ids(mut self, mut mint: impl FnMut() -> String) -> Self {
        for part in self.choices.iter_mut().flat_map(|choice| &mut choice.parts) {
            if let Part::ToolCall(call) = part {
                call.id = mint();
            }
        }
        self
    }
}
