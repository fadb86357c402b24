//! An answer as a caller is told it: what it borrows is written out as it is, without a tree of JSON in between, which would cost
//! several times what the writing does.

use std::borrow::Cow;

use schema::Usage;
use serde::Serialize;
use serde_json::Value;

use super::answer::write_stop;
use crate::answer::{Answer, Choice};
use crate::part::{Part, ToolCall};
use crate::wire::Stamp;

/// The answer, in the order in which OpenAI writes it.
#[derive(Serialize)]
pub(crate) struct Told<'a> {
    id: String,
    object: &'static str,
    created: i64,
    model: &'a str,
    choices: Vec<ToldChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ToldUsage>,
}

#[derive(Serialize)]
struct ToldChoice<'a> {
    index: usize,
    message: Message<'a>,
    logprobs: Option<&'a Value>,
    finish_reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<Cow<'a, str>>,
    refusal: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// What was used.
#[derive(Serialize)]
pub(super) struct ToldUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl<'a> Told<'a> {
    pub(crate) fn of(answer: &'a Answer, stamp: &'a Stamp) -> Self {
        Self {
            id: format!("chatcmpl-{}", stamp.id),
            object: "chat.completion",
            created: stamp.created,
            model: &stamp.model,
            choices: answer.choices.iter().enumerate().map(ToldChoice::of).collect(),
            usage: answer.usage.as_ref().map(ToldUsage::of),
        }
    }
}

impl<'a> ToldChoice<'a> {
    fn of((index, choice): (usize, &'a Choice)) -> Self {
        Self {
            index,
            message: Message::of(&choice.parts),
            logprobs: choice.logprobs.as_ref(),
            finish_reason: choice.stop.as_ref().map(write_stop),
        }
    }
}

impl<'a> Message<'a> {
    fn of(parts: &'a [Part]) -> Self {
        let (mut content, mut refusal, mut thoughts) = (None, None, None);
        let mut calls = Vec::new();
        for part in parts {
            match part {
                Part::Text { text, .. } => add(&mut content, text),
                Part::Refusal { text } => add(&mut refusal, text),
                Part::Thinking { text, .. } if !text.is_empty() => add(&mut thoughts, text),
                Part::ToolCall(call) => calls.push(Call::of(call)),
                // A seal is of use only to the vendor that set it, and the rest is nothing that a model says.
                _ => {}
            }
        }
        Self { role: "assistant", content, refusal, reasoning_content: thoughts, tool_calls: calls }
    }
}

/// One more part of a text: most have one only.
fn add<'a>(text: &mut Option<Cow<'a, str>>, part: &'a str) {
    match text {
        None => *text = Some(Cow::Borrowed(part)),
        Some(text) => text.to_mut().push_str(part),
    }
}

impl<'a> Call<'a> {
    fn of(call: &'a ToolCall) -> Self {
        let function = Function { name: &call.name, arguments: &call.arguments };
        Self { id: &call.id, r#type: "function", function }
    }
}

impl ToldUsage {
    pub(super) fn of(usage: &Usage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            prompt_tokens_details: PromptDetails {
                cached_tokens: usage.cache_read_tokens,
                cache_write_tokens: usage.cache_write_tokens.saturating_add(usage.cache_write_long_tokens),
                audio_tokens: 0,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning_tokens,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}
