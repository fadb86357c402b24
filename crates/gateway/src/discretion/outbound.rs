//! An answer on its way out, whole: the caller's values are put back, and what may not leave is taken out.

use redaction::{Lexicon, replaced};
use serde_json::Value;
use wire::{Answer, Part};

use super::{Discretion, Looked, Outward, Spelling, each_text};

/// Why an answer does not leave: in the name of this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Barred(pub(crate) String);

impl Discretion {
    /// A text as the caller may have it; nothing, if it may as it is.
    pub(super) fn outgoing(
        &self,
        text: &str,
        spelling: Spelling,
        lexicon: &Lexicon,
        looked: &mut Looked,
    ) -> Result<Option<String>, Barred> {
        let findings = self.find(text, "");
        if findings.is_empty() {
            looked.add(&self.detectors, text);
            return Ok(None);
        }
        let mut barred = None;
        let told = replaced(text, &findings, |finding, found| {
            match self.outward(finding, found, spelling, lexicon) {
                Outward::Keep => None,
                Outward::Put(other) => Some(other),
                Outward::Bar(name) => {
                    barred.get_or_insert(Barred(name));
                    None
                }
            }
        });
        match barred {
            Some(barred) => Err(barred),
            None => Ok(match told {
                std::borrow::Cow::Borrowed(_) => None,
                std::borrow::Cow::Owned(told) => Some(told),
            }),
        }
    }

    /// What the caller may have of an answer; nothing, if it may have it as it is. Notes the texts in which nothing was found.
    pub(crate) fn revealed(
        &self,
        answer: &Answer,
        lexicon: &Lexicon,
        looked: &mut Looked,
    ) -> Result<Option<Answer>, Barred> {
        let mut told: Option<Answer> = None;
        for (index, choice) in answer.choices.iter().enumerate() {
            for (place, part) in choice.parts.iter().enumerate() {
                let (text, spelling) = match part {
                    Part::Text { text, .. } | Part::Refusal { text } => (text, Spelling::Plain),
                    Part::Thinking { text, .. } => (text, Spelling::Sealed),
                    Part::ToolCall(call) => {
                        self.outgoing(&call.name, Spelling::Plain, lexicon, looked)?;
                        (&call.arguments, Spelling::Json)
                    }
                    Part::ToolResult(_)
                    | Part::Image { .. }
                    | Part::File { .. }
                    | Part::RedactedThinking { .. }
                    | Part::Foreign { .. }
                    | Part::Beside { .. } => continue,
                };
                let Some(other) = self.outgoing(text, spelling, lexicon, looked)? else { continue };
                let choice = &mut told.get_or_insert_with(|| answer.clone()).choices[index];
                // The words of what was taken out are in its probabilities, too.
                choice.logprobs = None;
                match &mut choice.parts[place] {
                    Part::Text { text, .. } | Part::Refusal { text } | Part::Thinking { text, .. } => {
                        *text = other;
                    }
                    Part::ToolCall(call) => call.arguments = other,
                    _ => {}
                }
            }
        }
        Ok(told)
    }

    /// The same for an answer in its vendor's own shape.
    pub(crate) fn reveal_value(&self, value: &mut Value, lexicon: &Lexicon) -> Result<(), Barred> {
        let (mut barred, mut looked) = (None, Looked::default());
        each_text(
            value,
            "",
            &mut |text, leaf| match self.outgoing(text, leaf.spelling, lexicon, &mut looked) {
                Ok(Some(told)) => *text = told,
                Ok(None) => {}
                Err(why) => drop(barred.get_or_insert(why)),
            },
        );
        without_logprobs(value);
        barred.map_or(Ok(()), Err)
    }
}

/// Takes out the probabilities, which spell out what was taken out.
pub(super) fn without_logprobs(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| name != "logprobs" || member.is_null());
            members.values_mut().for_each(without_logprobs);
        }
        Value::Array(items) => items.iter_mut().for_each(without_logprobs),
        _ => {}
    }
}
