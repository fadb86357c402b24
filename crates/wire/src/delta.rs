//! An answer in pieces.

use schema::Usage;
use serde_json::Value;

use crate::answer::{Answer, Choice, Stop};
use crate::part::{Part, ToolCall};

/// The next thing that a stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// It begins.
    Start {
        /// The vendor's id for the answer.
        id: Option<String>,
        /// The model that answers.
        model: String,
    },
    /// More of an answer.
    Piece {
        /// Which one, from 0.
        choice: u32,
        /// What comes next in it.
        piece: Piece,
    },
    /// Probabilities for what came last, as the vendor sent them.
    Logprobs {
        /// Which answer.
        choice: u32,
        /// As they were sent.
        value: Value,
    },
    /// An answer is complete.
    Stop {
        /// Which one.
        choice: u32,
        /// Why.
        stop: Stop,
    },
    /// What it took so far; a later one replaces it.
    Usage(Usage),
    /// The vendor gave up midway.
    Error {
        /// The vendor's word for the kind, such as `overloaded_error`.
        kind: String,
        /// What it said.
        message: String,
    },
    /// Nothing more comes. A stream that ends without it was cut off.
    End,
}

/// More of an answer. Pieces of one kind in a row belong to one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A thought.
    Thinking(String),
    /// The seal on the thought so far, which ends it.
    Signature(String),
    /// A thought that only the vendor can read.
    RedactedThinking(String),
    /// Words of a refusal.
    Refusal(String),
    /// A call begins.
    Call {
        /// Which call of this answer, from 0.
        index: u32,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call.
    Arguments {
        /// Which call.
        index: u32,
        /// JSON text.
        json: String,
    },
}

/// Puts the pieces together as they pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gather {
    id: Option<String>,
    model: String,
    choices: Vec<Gathered>,
    usage: Option<Usage>,
    ended: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Gathered {
    choice: Choice,
    /// Where in the parts each call is.
    calls: Vec<(u32, usize)>,
}

/// More answers than anybody asks for; a stream that numbers them higher is talking nonsense.
const MAX_CHOICES: u32 = 128;

impl Gather {
    /// Takes what came next.
    pub fn take(&mut self, delta: &Delta) {
        match delta {
            Delta::Start { id, model } => (self.id, self.model) = (id.clone(), model.clone()),
            Delta::Piece { choice, piece } => {
                if let Some(gathered) = self.choice(*choice) {
                    gathered.take(piece);
                }
            }
            Delta::Logprobs { choice, value } => {
                if let Some(gathered) = self.choice(*choice) {
                    add_logprobs(&mut gathered.choice.logprobs, value);
                }
            }
            Delta::Stop { choice, stop } => {
                if let Some(gathered) = self.choice(*choice) {
                    gathered.choice.stop = Some(stop.clone());
                }
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Error { .. } => {}
            Delta::End => self.ended = true,
        }
    }

    /// Whether the stream said that it is over.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// What was said of usage so far.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The answer as far as it came.
    #[must_use]
    pub fn into_answer(self) -> Answer {
        let choices = self.choices.into_iter().map(|gathered| gathered.choice).collect();
        Answer { id: self.id, model: self.model, choices, usage: self.usage }
    }

    fn choice(&mut self, choice: u32) -> Option<&mut Gathered> {
        if choice >= MAX_CHOICES {
            return None;
        }
        let choice = choice as usize;
        if self.choices.len() <= choice {
            self.choices.resize_with(choice + 1, Gathered::default);
        }
        self.choices.get_mut(choice)
    }
}

impl Gathered {
    fn take(&mut self, piece: &Piece) {
        let parts = &mut self.choice.parts;
        match (piece, parts.last_mut()) {
            (Piece::Text(more), Some(Part::Text { text, .. }))
            | (Piece::Thinking(more), Some(Part::Thinking { text, signature: None }))
            | (Piece::Refusal(more), Some(Part::Refusal { text })) => text.push_str(more),
            (Piece::Signature(more), Some(Part::Thinking { signature, .. })) => {
                signature.get_or_insert_default().push_str(more);
            }
            (Piece::Text(text), _) if text.is_empty() => {}
            (Piece::Text(text), _) => parts.push(Part::text(text)),
            (Piece::Thinking(text), _) => parts.push(Part::Thinking { text: text.clone(), signature: None }),
            (Piece::Signature(seal), _) => {
                parts.push(Part::Thinking { text: String::new(), signature: Some(seal.clone()) });
            }
            (Piece::RedactedThinking(data), _) => parts.push(Part::RedactedThinking { data: data.clone() }),
            (Piece::Refusal(text), _) => parts.push(Part::Refusal { text: text.clone() }),
            (Piece::Call { index, id, name }, _) => {
                self.calls.push((*index, parts.len()));
                let (id, name) = (id.clone(), name.clone());
                parts.push(Part::ToolCall(ToolCall { id, name, arguments: String::new() }));
            }
            (Piece::Arguments { index, json }, _) => {
                let place = self.calls.iter().rev().find(|(call, _)| call == index);
                if let Some(Part::ToolCall(call)) = place.and_then(|(_, place)| parts.get_mut(*place)) {
                    call.arguments.push_str(json);
                }
            }
        }
    }
}

/// OpenAI sends the probabilities of a stream piece by piece: the lists in them are one list.
fn add_logprobs(so_far: &mut Option<Value>, more: &Value) {
    let Some(known) = so_far else {
        *so_far = Some(more.clone());
        return;
    };
    let Some(more) = more.as_object() else { return };
    for (name, value) in more {
        match (known.get_mut(name), value) {
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
            (Some(_), _) => {}
            (None, value) => known[name] = value.clone(),
        }
    }
}
