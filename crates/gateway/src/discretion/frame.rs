//! Texts changed in a frame of a stream that is otherwise passed on in its vendor's own bytes.

use redaction::Lexicon;
use serde_json::Value;

use super::outbound::{Barred, without_logprobs};
use super::{Passed, Screen};

/// Members that carry what a model says piece by piece.
const TELLING: [&str; 10] = [
    "content",
    "text",
    "delta",
    "reasoning_content",
    "reasoning",
    "refusal",
    "arguments",
    "partial_json",
    "thinking",
    "reasoning_text",
];

impl Screen {
    /// The bytes of a frame that may leave. What was changed and cannot be told so in them does not leave at all.
    pub(crate) fn frame(&self, passed: &mut Passed, lexicon: &Lexicon) -> Result<Vec<u8>, Barred> {
        let raw = std::mem::take(&mut passed.raw);
        if passed.before.is_empty() && !passed.after_change {
            return Ok(raw);
        }
        let unread = || Barred("redaction:unread".to_owned());
        let Some((mut value, rest)) = read(&raw) else {
            // A frame that says nothing, such as the one that ends a stream, passes as it is.
            return if passed.before.is_empty() { Ok(raw) } else { Err(unread()) };
        };
        let before = value.clone();
        if passed.before.is_empty() {
            // It may say again, as a whole, what was said in pieces.
            self.discretion.reveal_value(&mut value, lexicon)?;
        } else {
            for (was, is) in &passed.before {
                if !retold(&mut value, "", was, is) {
                    return Err(unread());
                }
            }
            without_logprobs(&mut value);
        }
        Ok(if value == before { raw } else { written(&rest, &value) })
    }
}

/// The JSON of a frame, and its other lines.
fn read(raw: &[u8]) -> Option<(Value, Vec<String>)> {
    let (mut data, mut rest) = (String::new(), Vec::new());
    for line in std::str::from_utf8(raw).ok()?.lines() {
        match line.strip_prefix("data:") {
            Some(more) => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(more.strip_prefix(' ').unwrap_or(more));
            }
            None if line.is_empty() => {}
            None => rest.push(line.to_owned()),
        }
    }
    Some((serde_json::from_str(&data).ok()?, rest))
}

fn written(rest: &[String], value: &Value) -> Vec<u8> {
    let mut text = String::new();
    for line in rest {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("data: ");
    text.push_str(&value.to_string());
    text.push_str("\n\n");
    text.into_bytes()
}

/// Puts `is` in the place of the first text that `was`, where such texts stand.
fn retold(value: &mut Value, name: &str, was: &str, is: &str) -> bool {
    match value {
        Value::String(text) if text == was && TELLING.contains(&name) => {
            is.clone_into(text);
            true
        }
        Value::Array(items) => items.iter_mut().any(|item| retold(item, name, was, is)),
        Value::Object(members) => members.iter_mut().any(|(name, member)| retold(member, name, was, is)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::discretion::Discretion;
    use crate::discretion::setting::RedactionSettings;

    #[track_caller]
    fn check(raw: &str, was: &str, is: &str, expected: Option<&str>) {
        let discretion = Discretion::new(&RedactionSettings::default(), [].iter(), &[], true).unwrap();
        let before = vec![(was.to_owned(), is.to_owned())];
        let mut passed = Passed { raw: raw.into(), before, after_change: true, ..Passed::default() };
        let told = Screen::new(Arc::new(discretion), false).frame(&mut passed, &Lexicon::default());
        assert_eq!(told.ok().map(|bytes| String::from_utf8(bytes).unwrap()).as_deref(), expected);
    }

    #[test]
    fn what_was_changed_leaves_changed_or_not_at_all() {
        let frame = "event: delta\ndata: {\"delta\":{\"text\":\"a key\"}}\n\n";
        check(frame, "a key", "[gone]", Some("event: delta\ndata: {\"delta\":{\"text\":\"[gone]\"}}\n\n"));
        check("data: {\"somewhere else\":\"a key\"}\n\n", "a key", "[gone]", None);
        check("data: a key\n\n", "a key", "[gone]", None);
    }
}
