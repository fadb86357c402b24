//! A chat, in no vendor's shape.

use schema::{MicroUsd, Usage};
use serde::Serialize;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Who sets the rules.
    System,
    /// Who asks.
    User,
    /// Who answers.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
}

/// What a provider is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chat {
    /// The model that was asked for.
    pub model: String,
    /// What was said so far; never empty.
    pub messages: Vec<Message>,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
}

/// What a provider answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The model that answered.
    pub model: String,
    /// What it said.
    pub content: String,
    /// Why it ends there.
    pub finish_reason: FinishReason,
    /// Tokens in and out.
    pub usage: Usage,
    /// What the call cost; absent when the price is not known.
    pub cost: Option<MicroUsd>,
}
