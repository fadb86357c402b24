//! The interpreter: one walk over the program, with a count of steps and of bytes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::{Call, Operation, Part, Program};
use crate::normal::as_value;
use crate::tag::{Layout, Tagger};
use crate::text::words;
use crate::token::{Kind, Token, tokens};

/// What a program may use. Whatever needs more abstains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Forms that are looked at.
    pub steps: u32,
    /// How deep forms may lie in one another.
    pub depth: u32,
    /// Bytes of text in the answer.
    pub bytes: usize,
    /// Bytes of the input.
    pub input: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 4096, depth: 16, bytes: 64 * 1024, input: 256 * 1024 }
    }
}

/// What a program is given: the variable part of a request. Tokens and JSON are read when they are first needed.
#[derive(Debug)]
pub struct Input {
    text: String,
    pieces: OnceLock<Vec<Piece>>,
    json: OnceLock<Option<Value>>,
    words: OnceLock<BTreeSet<String>>,
}

/// A token of an input, without borrowing from it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Option<Kind>,
    pub(crate) lower: String,
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All of the answer.
    Answer(Value),
    /// The answer but for these fields.
    Partial(Map<String, Value>, Vec<String>),
    /// None, and why.
    Abstain(Abstention),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Abstention {
    /// The program asks for something that is not in the input.
    #[error("what the program looks for is not in the input")]
    NotFound,
    /// Two ways to find the answer differ.
    #[error("two ways to find the answer differ")]
    Conflict,
    /// What was learned is not sure enough.
    #[error("it is not sure enough")]
    Unsure,
    /// The guard does not know inputs like this.
    #[error("the input is unlike what was proven")]
    Unsupported,
    /// More steps, depth or bytes than allowed.
    #[error("the program needs more than it may use")]
    Exhausted,
}

impl Input {
    /// The input with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), pieces: OnceLock::new(), json: OnceLock::new(), words: OnceLock::new() }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'_>> + Clone {
        self.pieces().iter().map(|piece| Token {
            text: self.slice(piece),
            start: piece.start,
            kind: piece.kind,
        })
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        self.pieces.get_or_init(|| {
            let piece = |token: &Token<'_>| Piece {
                start: token.start,
                end: token.start + token.text.len(),
                kind: token.kind,
                lower: token.text.to_lowercase(),
            };
            tokens(&self.text).iter().map(piece).collect()
        })
    }

    pub(crate) fn slice(&self, piece: &Piece) -> &str {
        &self.text[piece.start..piece.end]
    }

    pub(crate) fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_str(&self.text).ok()).as_ref()
    }

    fn has_word(&self, word: &str) -> bool {
        self.words
            .get_or_init(|| words(&self.text).into_iter().map(|word| word.text).collect())
            .contains(word)
    }
}

/// Runs `program` on `input`.
#[must_use]
pub fn run(program: &Program, input: &Input, limits: Limits) -> Outcome {
    if input.text.len() > limits.input {
        return Outcome::Abstain(Abstention::Exhausted);
    }
    let mut walk = Walk { input, steps: limits.steps, bytes: limits.bytes };
    if let Program::Fields { fields, delegated } = program {
        return match walk.fields(fields, limits.depth) {
            Err(why) => Outcome::Abstain(why),
            Ok(Value::Object(object)) if !delegated.is_empty() => {
                Outcome::Partial(object, delegated.iter().map(|open| open.name.clone()).collect())
            }
            Ok(object) => Outcome::Answer(object),
        };
    }
    if let Program::Tag { tagger, layout } = program {
        return match walk.tag(tagger, layout) {
            Err(why) => Outcome::Abstain(why),
            Ok((found, unsure)) if unsure.is_empty() => Outcome::Answer(Value::Object(found)),
            Ok((found, unsure)) => Outcome::Partial(found, unsure),
        };
    }
    walk.value(program, limits.depth).map_or_else(Outcome::Abstain, Outcome::Answer)
}

struct Walk<'a> {
    input: &'a Input,
    steps: u32,
    bytes: usize,
}

impl Walk<'_> {
    fn value(&mut self, program: &Program, depth: u32) -> Result<Value, Abstention> {
        self.steps = self.steps.checked_sub(1).ok_or(Abstention::Exhausted)?;
        let depth = depth.checked_sub(1).ok_or(Abstention::Exhausted)?;
        match program {
            Program::Constant { value } => self.keep(value.clone()),
            Program::Lookup { key, table } => {
                let key = as_text(&self.value(key, depth)?);
                self.keep(table.get(&key).ok_or(Abstention::NotFound)?.clone())
            }
            Program::Template { parts } => self.template(parts, depth),
            Program::Extract { find, read } => {
                let found = find.in_input(self.input).ok_or(Abstention::NotFound)?;
                self.keep(read.apply(&found).ok_or(Abstention::NotFound)?)
            }
            Program::Consensus { of } => self.consensus(of, depth),
            Program::DecisionList { rules, otherwise } => {
                let holds = |rule: &&super::Rule| {
                    rule.all_of.iter().all(|word| self.input.has_word(word))
                        && !rule.none_of.iter().any(|word| self.input.has_word(word))
                };
                match (rules.iter().find(holds), otherwise) {
                    (Some(rule), _) => self.keep(rule.value.clone()),
                    (None, Some(otherwise)) => self.value(otherwise, depth),
                    (None, None) => Err(Abstention::NotFound),
                }
            }
            Program::Classify { classifier } => {
                let label = classifier.answer(self.input.text()).ok_or(Abstention::Unsure)?;
                self.keep(serde_json::from_str(label).unwrap_or_else(|_| Value::from(label)))
            }
            Program::Tag { tagger, layout } => match self.tag(tagger, layout)? {
                (found, unsure) if unsure.is_empty() => Ok(Value::Object(found)),
                _ => Err(Abstention::Unsure),
            },
            Program::Arithmetic { operation, left, right, digits } => {
                let left = self.value(left, depth)?.as_f64().ok_or(Abstention::NotFound)?;
                let right = self.value(right, depth)?.as_f64().ok_or(Abstention::NotFound)?;
                compute(*operation, left, right, *digits).ok_or(Abstention::NotFound)
            }
            Program::Fields { fields, delegated } if delegated.is_empty() => self.fields(fields, depth),
            // Only the outermost object can be completed by somebody else.
            Program::Fields { .. } => Err(Abstention::NotFound),
            Program::Plan { calls } => self.plan(calls, depth),
        }
    }

    /// All fields; or those that are sure, and the names of those that are not. A text without any field is a stranger.
    fn tag(
        &mut self,
        tagger: &Tagger,
        layout: &Layout,
    ) -> Result<(Map<String, Value>, Vec<String>), Abstention> {
        let text = self.input.text();
        let reading = tagger.read(text);
        let (mut pieces, mut unsure) = (Vec::new(), BTreeSet::new());
        for span in &reading.spans {
            let name = tagger.fields.get(span.field as usize).ok_or(Abstention::NotFound)?;
            if tagger.is_sure(span) {
                pieces.push((name.as_str(), &text[span.start..span.end]));
            } else {
                unsure.insert(name.as_str());
            }
        }
        // A field of which one piece is sure and another is not is told by whoever knows all of it.
        pieces.retain(|(name, _)| !unsure.contains(name));
        if pieces.is_empty() {
            return Err(if reading.spans.is_empty() { Abstention::NotFound } else { Abstention::Unsure });
        }
        if unsure.is_empty() && tagger.whole.is_some() && !tagger.is_whole(&reading) {
            return Err(Abstention::Unsure);
        }
        let partly = Layout { reads: layout.reads.clone(), ..Layout::default() };
        let layout = if unsure.is_empty() { layout } else { &partly };
        let found = layout.object(pieces.into_iter()).ok_or(Abstention::NotFound)?;
        self.bytes = self.bytes.checked_sub(size_of_all(&found)).ok_or(Abstention::Exhausted)?;
        Ok((found, unsure.into_iter().map(str::to_owned).collect()))
    }

    fn template(&mut self, parts: &[Part], depth: u32) -> Result<Value, Abstention> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Slot(program) => text.push_str(&as_text(&self.value(program, depth)?)),
            }
            if text.len() > self.bytes {
                return Err(Abstention::Exhausted);
            }
        }
        self.keep(Value::from(text))
    }

    fn consensus(&mut self, of: &[Program], depth: u32) -> Result<Value, Abstention> {
        let mut agreed: Option<Value> = None;
        for program in of {
            match (self.value(program, depth), &agreed) {
                (Ok(value), None) => agreed = Some(value),
                (Ok(value), Some(before)) if value != *before => return Err(Abstention::Conflict),
                (Err(Abstention::Exhausted), _) => return Err(Abstention::Exhausted),
                _ => {}
            }
        }
        agreed.ok_or(Abstention::NotFound)
    }

    fn fields(&mut self, fields: &[(String, Program)], depth: u32) -> Result<Value, Abstention> {
        let mut object = Map::new();
        for (name, program) in fields {
            object.insert(name.clone(), self.value(program, depth)?);
        }
        Ok(Value::Object(object))
    }

    fn plan(&mut self, calls: &[Call], depth: u32) -> Result<Value, Abstention> {
        let mut planned = Vec::new();
        for call in calls {
            let arguments = self.fields(&call.arguments, depth)?;
            planned.push(serde_json::json!({ "tool": call.tool, "arguments": arguments }));
        }
        Ok(Value::Array(planned))
    }

    fn keep(&mut self, value: Value) -> Result<Value, Abstention> {
        self.bytes = self.bytes.checked_sub(size(&value)).ok_or(Abstention::Exhausted)?;
        Ok(value)
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum::<usize>() + items.len(),
        Value::Object(fields) => size_of_all(fields),
        _ => 8,
    }
}

pub(super) fn size_of_all(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(name, value)| name.len() + size(value)).sum()
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn compute(operation: Operation, left: f64, right: f64, digits: u8) -> Option<Value> {
    let exact = match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
        Operation::Divide if right == 0.0 => return None,
        Operation::Divide => left / right,
    };
    let scale = 10_f64.powi(i32::from(digits.min(9)));
    let rounded = (exact * scale).round() / scale;
    rounded.is_finite().then(|| as_value(rounded)).flatten()
}
