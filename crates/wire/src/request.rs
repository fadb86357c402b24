//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::part::Part;
use crate::wire::Wire;

/// What a model is asked, in no vendor's shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The wire it came by: what only that wire knows goes out by no other.
    pub wire: Wire,
    /// The model that was asked for.
    pub model: String,
    /// What was said so far, instructions included and in their place.
    pub messages: Vec<Message>,
    /// What the model may have called.
    pub tools: Vec<Tool>,
    /// Whether it must.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may ask for several calls at once; absent is the vendor's default, which is yes.
    pub parallel_tool_calls: Option<bool>,
    /// How it chooses its words.
    pub sampling: Sampling,
    /// What form the answer has.
    pub format: Format,
    /// How much it thinks first.
    pub reasoning: Option<Reasoning>,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Whether a stream ends with its usage (OpenAI chat; the other wires always say).
    pub include_usage: bool,
    /// How many answers are wanted; 1 but on the OpenAI chat wire.
    pub choices: u32,
    /// The caller's own name for its user.
    pub user: Option<String>,
    /// Fields that only the wire it came by knows, as they were sent.
    pub extra: Map<String, Value>,
    /// Hints inside messages and tools that this shape has no place for, such as `messages.name`: left out by every wire
    /// it is written to, and named.
    pub left_out: Vec<String>,
}

impl Request {
    /// A request that says nothing yet.
    #[must_use]
    pub fn new(wire: Wire, model: impl Into<String>) -> Self {
        Self {
            wire,
            model: model.into(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            parallel_tool_calls: None,
            sampling: Sampling::default(),
            format: Format::Text,
            reasoning: None,
            stream: false,
            include_usage: false,
            choices: 1,
            user: None,
            extra: Map::new(),
            left_out: Vec::new(),
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said. What tools gave is a message of the user, whatever the wire calls it.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Who sets the rules.
    System,
    /// Who asks, and who brings what tools gave.
    User,
    /// Who answers.
    Assistant,
}

/// Something the model may have called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments; absent when it takes none.
    pub parameters: Option<Value>,
    /// Whether the arguments must fit the schema exactly.
    pub strict: Option<bool>,
    /// What an Anthropic caller said about caching up to here, as it was sent.
    pub cache_control: Option<Value>,
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// None of them.
    None,
    /// One or more, any.
    Required,
    /// This one.
    Tool(String),
}

/// How the model chooses its words. Absent is the vendor's default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// From 0, always the likeliest word.
    pub temperature: Option<f64>,
    /// Only words that together have this probability.
    pub top_p: Option<f64>,
    /// Only the so many likeliest words.
    pub top_k: Option<u64>,
    /// Against words that were used at all.
    pub presence_penalty: Option<f64>,
    /// Against words that were used often.
    pub frequency_penalty: Option<f64>,
    /// Where chance starts.
    pub seed: Option<i64>,
    /// Texts at which to stop.
    pub stop: Vec<String>,
    /// How long the answer may be, in tokens.
    pub max_tokens: Option<u64>,
    /// Whether probabilities are wanted.
    pub logprobs: bool,
    /// For how many words in each place.
    pub top_logprobs: Option<u64>,
}

/// What form the answer has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Any.
    #[default]
    Text,
    /// Some JSON object.
    Json,
    /// JSON of this schema.
    Schema {
        /// What the schema is called.
        name: String,
        /// What it is for.
        description: Option<String>,
        /// The JSON Schema.
        schema: Value,
        /// Whether the answer must fit exactly.
        strict: Option<bool>,
    },
}

/// How much the model thinks first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// In words; absent when it was said in tokens.
    pub effort: Option<Effort>,
    /// In tokens (Anthropic).
    pub budget_tokens: Option<u64>,
    /// Whether and how a summary of the thoughts is wanted (OpenAI Responses), as it was sent.
    pub summary: Option<String>,
}

/// How much to think, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

/// Why a body is not a request: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The field, such as `messages[0].role`; empty for the body itself.
    pub param: String,
    /// What is wrong with it and what was expected, beginning with the field.
    pub message: String,
}

impl Refused {
    /// A field that is not right; `message` says what was expected.
    #[must_use]
    pub fn new(param: impl Into<String>, message: &str) -> Self {
        let param = param.into();
        let message = if param.is_empty() { message.to_owned() } else { format!("{param}: {message}") };
        Self { param, message }
    }
}

/// A request in a vendor's shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    /// The body to send.
    pub body: Value,
    /// The hints that the wire has no word for, by the name the caller gave them, such as `seed`.
    pub left_out: Vec<String>,
}
