//! What may be recorded of what was said.

use std::borrow::Cow;

use redaction::Lexicon;
use serde_json::{Map, Value};

use super::{Discretion, Leaf, each_text};
use crate::record::{VALUE_DEPTH, bounded};

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
/// none.
pub(crate) fn recordable(
    fields: Map<String, Value>,
    discretion: &Discretion,
    lexicon: &mut Lexicon,
) -> Map<String, Value> {
    let field = |(name, value): (String, Value)| {
        let personal = !OURS.contains(&name.as_str());
        let value = value_of(value, &name, discretion, lexicon, personal);
        (discretion.recorded(&name, lexicon, true).into_owned(), value)
    };
    fields.into_iter().map(field).collect()
}

/// The same for one value. `personal`: whether personal data is taken out as well.
fn value_of(
    mut value: Value,
    name: &str,
    discretion: &Discretion,
    lexicon: &mut Lexicon,
    personal: bool,
) -> Value {
    each_text(&mut value, name, &mut |text: &mut String, leaf: Leaf<'_>| {
        if let Cow::Owned(changed) = discretion.recorded_as(leaf.name, text, lexicon, personal) {
            *text = changed;
        }
    });
    bounded(value, VALUE_DEPTH)
}
