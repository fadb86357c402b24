//! The built-in provider: deterministic, offline, in need of no key.
//!
//! [`answer`] takes a request and answers it, the same request always in the same way, well enough for a demonstration
//! and for the learning loop: it picks labels, reads facts out of a text, writes JSON that fits a schema, calls tools, does
//! sums, gives a first sentence as a summary, and otherwise says back what it was told. It is no language model and knows
//! nothing of the world.
//!
//! Start at [`answer`], which says what is tried in which order; `speech.rs` is what it says in words, `fill.rs` makes JSON of a
//! schema and a text, `call.rs` decides on tools, `classify.rs` on labels, `facts.rs` reads a text, `shape.rs` keeps to what
//! the request allows, [`pieces`] is the answer as a stream, [`embed`] the vectors.
//!
//! - JSON fits its schema whatever the text is, as far as `fill.rs` knows schemas.
//! - Stop texts and the room for the answer are honoured.
//! - It costs what the model that was asked for would: the counts of `tokens::rough` go with any price.
//!
//! A model called `mock-error-429` (or any status from 400 on) fails with that status, for tests of what comes after.

mod arithmetic;
mod call;
mod classify;
mod embed;
mod facts;
mod fill;
mod prompt;
mod shape;
mod speech;
mod stream;
mod text;

#[cfg(test)]
pub(crate) mod tests;

pub use embed::{default_dimensions, embed};
pub use stream::{Pace, pieces};

use schema::Usage;
use wire::{Answer, Format, Part, Request, Stop, ToolChoice};

use crate::tokens;
use prompt::Prompt;

/// What the recorded calls name as their provider.
pub const NAME: &str = "mock";

/// The models that it calls its own; it answers for any other.
pub const MODELS: [&str; 3] = ["mock-small", "mock-large", "mock-embedding"];

/// A failure that a model's name asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the mock was asked to fail with status {status}")]
pub struct Failure {
    /// The HTTP status.
    pub status: u16,
}

/// Answers a request.
pub fn answer(request: &Request) -> Result<Answer, Failure> {
    if let Some(failure) = failure(&request.model) {
        return Err(failure);
    }
    let prompt = Prompt::of(request);
    let mut parts = Vec::new();
    if let Some(thought) = shape::thought(request, &prompt) {
        parts.push(thought);
    }
    let calls = call::calls(request, &prompt);
    let wants_tools = !calls.is_empty();
    parts.extend(calls.into_iter().map(Part::ToolCall));
    if !wants_tools {
        parts.push(Part::text(words(request, &prompt)));
    }
    let stop = if wants_tools { Stop::ToolCalls } else { Stop::End };
    let choice = shape::within(request, parts, stop);
    let choices = vec![choice; usize::try_from(request.choices.clamp(1, 128)).unwrap_or(1)];
    let usage = usage(request, &choices);
    Ok(Answer { id: None, model: request.model.clone(), choices, usage: Some(usage) })
}

/// What it says: JSON when that is asked for, else words.
fn words(request: &Request, prompt: &Prompt<'_>) -> String {
    match &request.format {
        Format::Schema { schema, .. } => fill::json(schema, prompt).to_string(),
        Format::Json => fill::any_object(prompt).to_string(),
        Format::Text => speech::say(prompt),
    }
}

fn usage(request: &Request, choices: &[wire::Choice]) -> Usage {
    let (mut output, mut thoughts) = (0, 0);
    for part in choices.iter().flat_map(|choice| &choice.parts) {
        match part {
            Part::Thinking { text, .. } => {
                thoughts += tokens::rough(text);
                output += tokens::rough(text);
            }
            Part::ToolCall(call) => output += 3 + tokens::rough(&call.name) + tokens::rough(&call.arguments),
            other => output += other.as_text().map_or(0, tokens::rough),
        }
    }
    Usage {
        input_tokens: tokens::rough_request(request),
        output_tokens: output,
        reasoning_tokens: thoughts,
        ..Usage::default()
    }
}

fn failure(model: &str) -> Option<Failure> {
    let status = model.strip_prefix("mock-error-")?.parse().ok()?;
    (400..600).contains(&status).then_some(Failure { status })
}

/// Whether tools may be called at all.
fn may_call(request: &Request) -> bool {
    !request.tools.is_empty() && request.tool_choice != Some(ToolChoice::None)
}

/// A number that is always the same for the same bytes (FNV-1a).
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
