//! Alignment: where in a text the values are that live told of it.
//!
//! A value is found by the sameness of answers: blanks do not count, everything else does. What cannot be put together again from
//! pieces of the text is no sample for a tagger, and says why by its field; never by its value, which is somebody's.

use std::collections::BTreeMap;
use std::fmt;

use artifact::tag::object;
use artifact::text::{MOST_WORDS, Word, words};
use serde_json::{Map, Value};

use super::Gold;
use crate::comparator::Comparator;
use crate::synthesis::Sample;

/// Why an answer is not made of pieces of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unaligned {
    /// The answer has no fields.
    NoFields,
    /// The text is too long to be learned from.
    TooLong,
    /// A value is neither a text nor a list of texts.
    NoText(String),
    /// A value is not in the text, or is not made of whole words of it.
    NotFound(String),
    /// A value is in the text at several places.
    Ambiguous(String),
    /// A value shares words with that of another field.
    Overlapping(String),
    /// All pieces are there, and say something else when they are put together.
    Otherwise,
}

impl fmt::Display for Unaligned {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFields => to.write_str("the answer is no object with fields"),
            Self::TooLong => to.write_str("the input is too long"),
            Self::NoText(field) => write!(to, "{field}: not a text"),
            Self::NotFound(field) => write!(to, "{field}: not a piece of the input"),
            Self::Ambiguous(field) => write!(to, "{field}: at several places of the input"),
            Self::Overlapping(field) => write!(to, "{field}: shares words with another field"),
            Self::Otherwise => to.write_str("its pieces do not make the answer"),
        }
    }
}

/// A longer text is not learned from: samples are kept.
const LONGEST: usize = 2048;

/// Where the values of `live` are in `text`, if together with what fields say `otherwise` they are all of it.
///
/// # Errors
/// See [`Unaligned`].
pub(super) fn align(
    text: &str,
    live: &Value,
    otherwise: &Map<String, Value>,
    comparator: &Comparator,
) -> Result<Vec<Gold>, Unaligned> {
    let fields = live.as_object().filter(|fields| !fields.is_empty()).ok_or(Unaligned::NoFields)?;
    let words = words(text);
    if text.len() > LONGEST || words.len() >= MOST_WORDS {
        return Err(Unaligned::TooLong);
    }
    let mut gold: Vec<Gold> = Vec::new();
    for (field, value) in fields {
        if otherwise.get(field) == Some(value) || comparator.ignores(field) {
            continue;
        }
        for value in values(value).ok_or_else(|| Unaligned::NoText(field.clone()))? {
            let (start, end) = place(text, &words, value).map_err(|why| why(field.clone()))?;
            if gold.iter().any(|other| start < other.end && other.start < end) {
                return Err(Unaligned::Overlapping(field.clone()));
            }
            gold.push(Gold { field: field.clone(), start, end });
        }
    }
    gold.sort_by_key(|one| one.start);
    let pieces = gold.iter().map(|one| (one.field.as_str(), &text[one.start..one.end]));
    let said = Value::Object(object(pieces, otherwise));
    if comparator.agree(&said, live) { Ok(gold) } else { Err(Unaligned::Otherwise) }
}

/// What fields say that are always there and not always a piece of the text: the value that each has then, more often than all others
/// together. Once or twice is an accident.
pub(super) fn otherwise(samples: &[Sample]) -> Map<String, Value> {
    let Some(first) = samples.first().and_then(|sample| sample.output.as_object()) else { return Map::new() };
    let mut said = Map::new();
    for field in first.keys() {
        let mut counts: BTreeMap<String, (usize, &Value)> = BTreeMap::new();
        let is_always_there = samples.iter().all(|sample| sample.output.get(field).is_some());
        for sample in samples {
            let Some(value) = sample.output.get(field) else { continue };
            let is_piece = values(value).is_some_and(|values| {
                let words = words(&sample.input);
                !values.is_empty() && values.iter().all(|value| place(&sample.input, &words, value).is_ok())
            });
            if !is_piece {
                counts.entry(value.to_string()).or_insert((0, value)).0 += 1;
            }
        }
        let all: usize = counts.values().map(|(count, _)| count).sum();
        let most = counts.values().find(|(count, _)| count * 2 > all && *count >= FEWEST);
        if let Some((_, value)) = most.filter(|_| is_always_there) {
            said.insert(field.clone(), (*value).clone());
        }
    }
    said
}

const FEWEST: usize = 3;

/// The texts that a value is made of.
fn values(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// The only place of whole words in `text` that says `value`.
fn place(text: &str, all: &[Word], value: &str) -> Result<(usize, usize), fn(String) -> Unaligned> {
    let count = words(value).len();
    if count == 0 {
        return Err(Unaligned::NotFound);
    }
    let mut found = all
        .windows(count)
        .map(|run| (run[0].start, run[count - 1].end))
        .filter(|(start, end)| text[*start..*end].split_whitespace().eq(value.split_whitespace()));
    let first = found.next().ok_or(Unaligned::NotFound as fn(String) -> Unaligned)?;
    if found.next().is_some() { Err(Unaligned::Ambiguous) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, live: &Value, expected: &Expect) {
        let otherwise = json!({ "intent": "play", "year": null });
        let aligned = align(text, live, otherwise.as_object().unwrap(), &Comparator::Exact);
        let told = match aligned {
            Ok(gold) => gold
                .iter()
                .map(|one| format!("{}={}", one.field, &text[one.start..one.end]))
                .collect::<Vec<_>>()
                .join(", "),
            Err(why) => why.to_string(),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn values_are_found_where_they_are_and_blanks_do_not_count() {
        let live = |fields: Value| {
            let mut all = json!({ "intent": "play", "year": null });
            all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            all
        };
        check(
            "add Don't  Stop by Queen to my list",
            &live(json!({ "artist": "Queen", "song": "Don't Stop" })),
            &expect!["song=Don't  Stop, artist=Queen"],
        );
        check(
            "play Blue and Red",
            &live(json!({ "song": ["Blue", "Red"] })),
            &expect!["song=Blue, song=Red"],
        );
        check(
            "play Blue of 1999",
            &live(json!({ "song": "Blue", "year": "1999" })),
            &expect!["song=Blue, year=1999"],
        );
        check("play Blue", &live(json!({ "song": "blue" })), &expect!["song: not a piece of the input"]);
        check("play Bluebird", &live(json!({ "song": "Blue" })), &expect!["song: not a piece of the input"]);
        check(
            "play Blue or Blue",
            &live(json!({ "song": "Blue" })),
            &expect!["song: at several places of the input"],
        );
        check(
            "play Blue Moon",
            &live(json!({ "song": "Blue Moon", "colour": "Blue" })),
            &expect!["colour: shares words with another field"],
        );
        check("play 4 songs", &live(json!({ "count": 4 })), &expect!["count: not a text"]);
        check(
            "play Red and Blue",
            &live(json!({ "song": ["Blue", "Red"] })),
            &expect!["its pieces do not make the answer"],
        );
        check("play Blue", &json!({ "song": "Blue" }), &expect!["its pieces do not make the answer"]);
        check("play Blue", &json!("Blue"), &expect!["the answer is no object with fields"]);
        check(&"la ".repeat(900), &live(json!({ "song": "la" })), &expect!["the input is too long"]);
    }

    #[test]
    fn what_a_field_says_where_nothing_is_found_has_to_be_said_more_than_twice() {
        let sample = |at: usize| Sample {
            input: format!("play song{at}"),
            output: json!({
                "intent": "play music", "song": format!("song{at}"),
                "artist": if at.is_multiple_of(2) { Value::Null } else { json!(format!("song{at}")) },
                "mood": if at == 3 { json!("glad") } else { json!(format!("song{at}")) },
            }),
        };
        let samples: Vec<Sample> = (0..10).map(sample).collect();
        assert_eq!(Value::Object(otherwise(&samples)), json!({ "intent": "play music", "artist": null }));
    }
}
