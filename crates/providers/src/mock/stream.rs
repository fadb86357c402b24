//! The answer in pieces.

use std::time::Duration;

use serde_json::{Value, json};
use wire::{Answer, Choice, Delta, Part, Piece};

use crate::tokens::split;

/// How fast the pieces come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// With pauses like those of a small, fast model.
    #[default]
    Realistic,
    /// Without any.
    Instant,
}

/// Until the first piece.
const FIRST: Duration = Duration::from_millis(80);
/// Between two pieces.
const NEXT: Duration = Duration::from_millis(12);
/// How many tokens a piece has.
const TOKENS: usize = 3;

/// The pieces of an answer, each with how long to wait before it. Gathered, they are the answer again.
#[must_use]
pub fn pieces(answer: &Answer, pace: Pace) -> Vec<(Duration, Delta)> {
    let mut deltas = vec![Delta::Start { id: answer.id.clone(), model: answer.model.clone() }];
    for (number, choice) in (0..).zip(&answer.choices) {
        choice_pieces(number, choice, &mut deltas);
    }
    deltas.extend(answer.usage.map(Delta::Usage));
    deltas.push(Delta::End);
    let pause = |place: usize, delta: &Delta| match (pace, delta) {
        (Pace::Realistic, Delta::Start { .. }) => FIRST,
        (Pace::Realistic, Delta::Piece { .. }) if place > 1 => NEXT,
        _ => Duration::ZERO,
    };
    deltas.into_iter().enumerate().map(|(place, delta)| (pause(place, &delta), delta)).collect()
}

fn choice_pieces(number: u32, choice: &Choice, deltas: &mut Vec<Delta>) {
    let mut calls = 0;
    let mut probabilities =
        choice.logprobs.as_ref().and_then(|all| all["content"].as_array()).into_iter().flatten();
    for part in &choice.parts {
        let mut say = |piece| deltas.push(Delta::Piece { choice: number, piece });
        match part {
            Part::Text { text, .. } => {
                for piece in grouped(text) {
                    deltas.push(Delta::Piece { choice: number, piece: Piece::Text(piece.to_owned()) });
                    if choice.logprobs.is_some() {
                        let content: Vec<&Value> =
                            probabilities.by_ref().take(split(piece).count()).collect();
                        deltas.push(Delta::Logprobs {
                            choice: number,
                            value: json!({ "content": content, "refusal": null }),
                        });
                    }
                }
            }
            Part::Thinking { text, signature } => {
                grouped(text).for_each(|piece| say(Piece::Thinking(piece.to_owned())));
                signature.iter().for_each(|seal| say(Piece::Signature(seal.clone())));
            }
            Part::RedactedThinking { data } => say(Piece::RedactedThinking(data.clone())),
            Part::Refusal { text } => grouped(text).for_each(|piece| say(Piece::Refusal(piece.to_owned()))),
            Part::ToolCall(call) => {
                say(Piece::Call { index: calls, id: call.id.clone(), name: call.name.clone() });
                grouped(&call.arguments)
                    .for_each(|piece| say(Piece::Arguments { index: calls, json: piece.to_owned() }));
                calls += 1;
            }
            // No model answers with these.
            Part::Image { .. }
            | Part::File { .. }
            | Part::ToolResult(_)
            | Part::Foreign { .. }
            | Part::Beside { .. } => {}
        }
    }
    deltas.extend(choice.stop.clone().map(|stop| Delta::Stop { choice: number, stop }));
}

/// A few tokens at a time. Nothing is one empty piece: a thought that was cut before its first word was begun, even so.
fn grouped(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut first = true;
    std::iter::from_fn(move || {
        if rest.is_empty() && !std::mem::take(&mut first) {
            return None;
        }
        first = false;
        let length = split(rest).take(TOKENS).map(str::len).sum();
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}
