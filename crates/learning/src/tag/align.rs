//! Alignment: where in a text the values are that live told of it.
//!
//! A value is found by the sameness of answers: blanks do not count, everything else does; but all values of a field may be pieces
//! that are read in one way, as numbers or in lower case. What cannot be put together again from pieces of the text is no sample for
//! a tagger, and says why by its field; never by its value, which is somebody's.

use std::collections::BTreeMap;
use std::fmt;

use artifact::normal::Read;
use artifact::tag::{Layout, MOST_FIELDS};
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
    /// A value is neither a text, nor a number, nor a list of these.
    NoPiece(String),
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
            Self::NoPiece(field) => write!(to, "{field}: neither a text nor a number"),
            Self::NotFound(field) => write!(to, "{field}: not a piece of the input"),
            Self::Ambiguous(field) => write!(to, "{field}: at several places of the input"),
            Self::Overlapping(field) => write!(to, "{field}: shares words with another field"),
            Self::Otherwise => to.write_str("its pieces do not make the answer"),
        }
    }
}

/// A longer text is not learned from: samples are kept.
const LONGEST: usize = 2048;
/// Words that a number or a date may have.
const MOST_READ: usize = 4;
/// What pieces may be read as, the plainest first. A sum of money is none: its sign is not part of a word.
const READS: [Read; 5] = [Read::Text, Read::Number, Read::Date, Read::Lower, Read::Upper];
/// Once or twice is an accident.
const FEWEST: usize = 3;

/// Where the values of `live` are in `text`, if laid out they are all of it.
///
/// # Errors
/// See [`Unaligned`].
pub(super) fn align(
    text: &str,
    live: &Value,
    layout: &Layout,
    comparator: &Comparator,
) -> Result<Vec<Gold>, Unaligned> {
    let fields = live.as_object().filter(|fields| !fields.is_empty()).ok_or(Unaligned::NoFields)?;
    let words = words(text);
    if text.len() > LONGEST || words.len() >= MOST_WORDS {
        return Err(Unaligned::TooLong);
    }
    let mut gold: Vec<Gold> = Vec::new();
    for (field, value) in fields {
        if layout.otherwise.get(field) == Some(value) || comparator.ignores(field) {
            continue;
        }
        for value in values(value).ok_or_else(|| Unaligned::NoPiece(field.clone()))? {
            let (start, end) =
                place(text, &words, value, layout.read(field)).map_err(|why| why(field.clone()))?;
            if gold.iter().any(|other| start < other.end && other.start < end) {
                return Err(Unaligned::Overlapping(field.clone()));
            }
            gold.push(Gold { field: field.clone(), start, end });
        }
    }
    gold.sort_by_key(|one| one.start);
    let pieces = gold.iter().map(|one| (one.field.as_str(), &text[one.start..one.end]));
    let said = layout.object(pieces).map(Value::Object);
    if said.is_some_and(|said| comparator.agree(&said, live)) { Ok(gold) } else { Err(Unaligned::Otherwise) }
}

/// How answers like these are made of pieces of their texts: what each field is read as, which is what finds most of its values; and
/// what it says, if it is always there, where it is no piece: the value that it has then more often than all others together.
pub(super) fn layout(samples: &[Sample]) -> Layout {
    let mut layout = Layout::default();
    let mut fields: Vec<&String> = Vec::new();
    for field in samples.iter().filter_map(|sample| sample.output.as_object()).flat_map(Map::keys) {
        if !fields.contains(&field) && fields.len() < MOST_FIELDS {
            fields.push(field);
        }
    }
    let split: Vec<Vec<Word>> = samples.iter().map(|sample| words(&sample.input)).collect();
    for field in fields {
        let told: Vec<(&Sample, &[Word], &Value)> = samples
            .iter()
            .zip(&split)
            .filter_map(|(sample, words)| Some((sample, words.as_slice(), sample.output.get(field)?)))
            .collect();
        let is_piece = |read: Read, (sample, words, value): &(&Sample, &[Word], &Value)| {
            values(value).is_some_and(|values| {
                let is_found = |value: &&Value| place(&sample.input, words, value, read).is_ok();
                !values.is_empty() && values.iter().all(is_found)
            })
        };
        let found = |read: Read| told.iter().filter(|one| is_piece(read, one)).count();
        // Of those that find as many, the plainest.
        let best = READS.into_iter().rev().max_by_key(|read| found(*read)).unwrap_or(Read::Text);
        if best != Read::Text && found(best) >= FEWEST {
            layout.reads.insert(field.clone(), best);
        }
        let mut counts: BTreeMap<String, (usize, &Value)> = BTreeMap::new();
        for one in told.iter().filter(|one| !is_piece(layout.read(field), one)) {
            counts.entry(one.2.to_string()).or_insert((0, one.2)).0 += 1;
        }
        let all: usize = counts.values().map(|(count, _)| count).sum();
        let most = counts.values().find(|(count, _)| count * 2 > all && *count >= FEWEST);
        if let Some((_, value)) = most.filter(|_| told.len() == samples.len()) {
            layout.otherwise.insert(field.clone(), (*value).clone());
        }
    }
    layout
}

/// The texts and numbers that a value is made of.
fn values(value: &Value) -> Option<Vec<&Value>> {
    let is_one = |value: &&Value| value.is_string() || value.is_number();
    match value {
        Value::Array(items) => items.iter().map(|item| Some(item).filter(is_one)).collect(),
        one => Some(vec![one]).filter(|_| is_one(&one)),
    }
}

/// The only place of whole words in `text` that says `value`, read so.
fn place(
    text: &str,
    all: &[Word],
    value: &Value,
    read: Read,
) -> Result<(usize, usize), fn(String) -> Unaligned> {
    let counts = match read {
        Read::Number | Read::Date | Read::Amount | Read::Currency => 1..=MOST_READ,
        Read::Text | Read::Lower | Read::Upper => {
            let count = value.as_str().map_or(0, |text| words(text).len());
            count..=count
        }
    };
    let says = |(start, end): &(usize, usize)| {
        let said = read.apply(&text[*start..*end]);
        said.is_some_and(|said| Comparator::Exact.agree(&said, value))
    };
    let mut found = counts
        .filter(|count| *count > 0)
        .flat_map(|count| all.windows(count).map(move |run| (run[0].start, run[count - 1].end)))
        .filter(says);
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
        let layout =
            json!({ "otherwise": { "intent": "play", "year": null }, "reads": { "count": "number" } });
        let aligned = align(text, live, &serde_json::from_value(layout).unwrap(), &Comparator::Exact);
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
        check("play 1,200 songs", &live(json!({ "count": 1200 })), &expect!["count=1,200"]);
        check("play 4 songs", &live(json!({ "loud": true })), &expect!["loud: neither a text nor a number"]);
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
    fn what_fields_say_and_are_read_as_is_seen_from_many_answers() {
        let sample = |at: usize| Sample {
            input: format!("play song{at} for {}.5 hours", at + 20),
            output: json!({
                "intent": "play music", "song": format!("song{at}"), "count": at as f64 + 20.5,
                "artist": if at.is_multiple_of(2) { Value::Null } else { json!(format!("song{at}")) },
                "mood": if at == 3 { json!("glad") } else { json!(format!("song{at}")) },
            }),
        };
        let samples: Vec<Sample> = (0..10).map(sample).collect();
        let layout = layout(&samples);
        assert_eq!(Value::Object(layout.otherwise), json!({ "intent": "play music", "artist": null }));
        assert_eq!(layout.reads, BTreeMap::from([("count".to_owned(), Read::Number)]));
    }
}
