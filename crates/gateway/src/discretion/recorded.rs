//! What may be recorded of what was said.

use std::borrow::Cow;

use ledger::Name;
use redaction::Lexicon;
use serde_json::{Map, Value};

use super::leaves::is_long;
use super::{Discretion, Leaf, Looked, calls_secret, each_text};
use crate::record::{VALUE_DEPTH, bound, is_bounded};

/// Fields in Punk's own words. They name people and machines because that is what they are for: who asked, who approved,
/// about whom it was. Secrets have no place in them either.
const OURS: [&str; 12] = [
    "actor",
    "agent",
    "app",
    "error",
    "explanation",
    "facts",
    "model",
    "provider",
    "subject",
    "target",
    "verdict",
    "votes",
];

/// What may be recorded of the fields of an event: placeholders for what must not be, and a bounded form of whatever has
/// none. Their names are somebody's words as well.
pub(crate) fn recordable(
    fields: Map<String, Value>,
    discretion: &Discretion,
    lexicon: &mut Lexicon,
) -> Map<String, Value> {
    let field = |(name, mut value): (String, Value)| {
        record_value(&mut value, &name, discretion, lexicon, &Looked::default());
        (discretion.recorded(&name, lexicon, true).into_owned(), value)
    };
    fields.into_iter().map(field).collect()
}

/// The same for fields of Punk's own naming, in their place. What was `looked` at before is left as it is. Says whether anything
/// is recorded otherwise than it is.
pub(crate) fn recorded_fields(
    fields: &mut [(Name, Value)],
    discretion: &Discretion,
    lexicon: &mut Lexicon,
    looked: &Looked,
) -> bool {
    let mut changed = false;
    for (name, value) in fields {
        changed |= record_value(value, name, discretion, lexicon, looked);
    }
    changed
}

/// The same for one value.
fn record_value(
    value: &mut Value,
    name: &str,
    discretion: &Discretion,
    lexicon: &mut Lexicon,
    looked: &Looked,
) -> bool {
    // Most fields are small numbers.
    if !has_text(value) && is_bounded(value, VALUE_DEPTH) {
        return false;
    }
    let mut changed = false;
    each_text(value, name, &mut |text: &mut String, leaf: Leaf<'_>| {
        if looked.has(&discretion.detectors, text) && !calls_secret(leaf.name) {
            return;
        }
        let findings = discretion.find(text, leaf.name);
        if findings.is_empty() {
            return;
        }
        // Whether personal data is taken out as well.
        let personal = !OURS.contains(&name);
        if let Cow::Owned(told) = discretion.stood_for(text, &findings, lexicon, personal) {
            *text = told;
            changed = true;
        }
    });
    if !is_bounded(value, VALUE_DEPTH) {
        bound(value, VALUE_DEPTH);
        changed = true;
    }
    changed
}

/// Whether there may be a text in a value.
fn has_text(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        // A card's number may be one.
        Value::Number(number) => is_long(number),
        Value::String(_) | Value::Array(_) | Value::Object(_) => true,
    }
}
