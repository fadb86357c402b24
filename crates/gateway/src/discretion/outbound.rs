//! An answer on its way out, whole: the caller's values are put back, and what may not leave is taken out.

use redaction::{Lexicon, replaced};
use serde_json::Value;
use wire::{Answer, Part, ToolResult};

use super::{Discretion, Outward, Spelling, each_text};

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
    ) -> Result<Option<String>, Barred> {
        let findings = self.find(text, "");
        if findings.is_empty() {
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

    /// Makes an answer what the caller may have. Whether anything changed.
    pub(crate) fn reveal(&self, answer: &mut Answer, lexicon: &Lexicon) -> Result<bool, Barred> {
        let mut changed = false;
        for choice in &mut answer.choices {
            let mut here = false;
            for part in &mut choice.parts {
                let (text, spelling) = match part {
                    Part::Text { text, .. } | Part::Refusal { text } => (text, Spelling::Plain),
                    Part::Thinking { text, .. } => (text, Spelling::Sealed),
                    Part::ToolCall(call) => {
                        self.outgoing(&call.name, Spelling::Plain, lexicon)?;
                        (&mut call.arguments, Spelling::Json)
                    }
                    Part::ToolResult(ToolResult { .. })
                    | Part::Image { .. }
                    | Part::File { .. }
                    | Part::RedactedThinking { .. }
                    | Part::Foreign { .. } => continue,
                };
                if let Some(told) = self.outgoing(text, spelling, lexicon)? {
                    *text = told;
                    here = true;
                }
            }
            // The words of what was taken out are in its probabilities, too.
            if here {
                choice.logprobs = None;
            }
            changed |= here;
        }
        Ok(changed)
    }

    /// The same for an answer in its vendor's own shape.
    pub(crate) fn reveal_value(&self, value: &mut Value, lexicon: &Lexicon) -> Result<(), Barred> {
        let mut barred = None;
        each_text(value, "", &mut |text, leaf| match self.outgoing(text, leaf.spelling, lexicon) {
            Ok(Some(told)) => *text = told,
            Ok(None) => {}
            Err(why) => drop(barred.get_or_insert(why)),
        });
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
