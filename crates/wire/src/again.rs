//! An answer told again as a stream.

use crate::answer::{Answer, Choice};
use crate::delta::{Delta, Piece};
use crate::part::Part;

/// How many words come at once, and how many bytes of a call's arguments.
const WORDS: usize = 4;
const BYTES: usize = 48;

impl Answer {
    /// The answer as the stream it might have come in; gathering that gives this answer again.
    #[must_use]
    pub fn deltas(&self) -> Vec<Delta> {
        let mut deltas = vec![Delta::Start { id: self.id.clone(), model: self.model.clone() }];
        for (choice, number) in self.choices.iter().zip(0..) {
            tell(choice, number, &mut deltas);
        }
        deltas.extend(self.usage.map(Delta::Usage));
        deltas.push(Delta::End);
        deltas
    }
}

fn tell(said: &Choice, choice: u32, deltas: &mut Vec<Delta>) {
    let mut calls = 0;
    for part in &said.parts {
        let mut say = |piece| deltas.push(Delta::Piece { choice, piece });
        match part {
            Part::Text { text, .. } => pieces(text, Piece::Text, say),
            Part::Refusal { text } => pieces(text, Piece::Refusal, say),
            Part::Thinking { text, signature } => {
                pieces(text, Piece::Thinking, &mut say);
                if let Some(signature) = signature {
                    say(Piece::Signature(signature.clone()));
                }
            }
            Part::RedactedThinking { data } => say(Piece::RedactedThinking(data.clone())),
            Part::ToolCall(call) => {
                let index = calls;
                calls += 1;
                say(Piece::Call { index, id: call.id.clone(), name: call.name.clone() });
                for json in fragments(&call.arguments) {
                    say(Piece::Arguments { index, json: json.to_owned() });
                }
            }
            // Nothing that a model says.
            Part::Image { .. }
            | Part::File { .. }
            | Part::ToolResult(_)
            | Part::Foreign { .. }
            | Part::Beside { .. } => {}
        }
    }
    deltas.extend(said.logprobs.clone().map(|value| Delta::Logprobs { choice, value }));
    deltas.extend(said.stop.clone().map(|stop| Delta::Stop { choice, stop }));
}

/// A few words at a time, with the spaces after them. An empty text is one piece too: it is a part of the answer.
fn pieces(text: &str, kind: impl Fn(String) -> Piece, mut say: impl FnMut(Piece)) {
    let mut words = text.split_inclusive(char::is_whitespace);
    let mut said = 0;
    loop {
        let length: usize = words.by_ref().take(WORDS).map(str::len).sum();
        if length == 0 && said > 0 {
            return;
        }
        say(kind(text[said..said + length].to_owned()));
        said += length;
        if said == text.len() {
            return;
        }
    }
}

/// Pieces of about so many bytes, between letters.
fn fragments(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let end = (BYTES.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let (now, later) = rest.split_at(end);
        rest = later;
        (!now.is_empty()).then_some(now)
    })
}
