//! When two answers are the same: per class of task, and declared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How answers of one pattern are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Comparator {
    /// The same after normalisation: blanks at the ends and between words do not count, nor the order of fields.
    #[default]
    Exact,
    /// JSON field by field; a number may be off by its field's tolerance (by JSON pointer).
    Json {
        /// Pointer and tolerance.
        #[serde(default)]
        tolerances: BTreeMap<String, f64>,
        /// Fields that do not count, by pointer.
        #[serde(default)]
        ignored: Vec<String>,
    },
    /// Texts with so much of their words in common, from 0 to 1.
    Words {
        /// The share.
        least: f64,
    },
}

impl Comparator {
    /// Whether `answer` says the same as `live`.
    #[must_use]
    pub fn agree(&self, answer: &Value, live: &Value) -> bool {
        match self {
            Self::Exact => same(answer, live, "", &BTreeMap::new(), &[]),
            Self::Json { tolerances, ignored } => same(answer, live, "", tolerances, ignored),
            Self::Words { least } => overlap(&text(answer), &text(live)) >= *least,
        }
    }

    /// Whether the field of this name does not count.
    #[must_use]
    pub fn ignores(&self, field: &str) -> bool {
        matches!(self, Self::Json { ignored, .. } if ignored.contains(&pointer("", field)))
    }
}

/// The JSON pointer of field `name` of what is at `at`.
fn pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn same(a: &Value, b: &Value, at: &str, tolerances: &BTreeMap<String, f64>, ignored: &[String]) -> bool {
    if ignored.iter().any(|pointer| pointer == at) {
        return true;
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.split_whitespace().eq(b.split_whitespace()),
        (Value::Number(a), Value::Number(b)) => {
            let tolerance = tolerances.get(at).copied().unwrap_or(0.0);
            a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= tolerance)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .enumerate()
                    .all(|(index, (a, b))| same(a, b, &format!("{at}/{index}"), tolerances, ignored))
        }
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).all(|name| {
            let at = pointer(at, name);
            let missing = || ignored.contains(&at);
            a.get(name).zip(b.get(name)).map_or_else(missing, |(a, b)| same(a, b, &at, tolerances, ignored))
        }),
        _ => a == b,
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn overlap(a: &str, b: &str) -> f64 {
    let count = |text: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in artifact::text::words(text) {
            *counts.entry(word.text).or_default() += 1;
        }
        counts
    };
    let (a, b) = (count(a), count(b));
    let common: usize = a.iter().map(|(word, times)| times.min(b.get(word).unwrap_or(&0))).sum();
    let all = a.values().sum::<usize>() + b.values().sum::<usize>();
    if all == 0 { 1.0 } else { 2.0 * common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blanks_and_the_order_of_fields_do_not_count() {
        assert!(Comparator::Exact.agree(&json!({ "a": "x  y", "b": 1 }), &json!({ "b": 1.0, "a": "x y " })));
        assert!(!Comparator::Exact.agree(&json!({ "a": "x" }), &json!({ "a": "x", "b": null })));
    }

    #[test]
    fn a_field_has_its_own_tolerance() {
        let comparator = Comparator::Json {
            tolerances: BTreeMap::from([("/score".to_owned(), 0.1)]),
            ignored: vec!["/note".to_owned()],
        };
        assert!(comparator.agree(&json!({ "score": 1.0 }), &json!({ "score": 1.05, "note": "x" })));
        assert!(!comparator.agree(&json!({ "score": 1.0, "n": 1 }), &json!({ "score": 1.0, "n": 1.05 })));
    }

    #[test]
    fn texts_are_compared_by_their_words() {
        let comparator = Comparator::Words { least: 0.8 };
        assert!(comparator.agree(&json!("please reset my card"), &json!("Please, reset my card!")));
        assert!(!comparator.agree(&json!("please reset my card"), &json!("the weather is fine today")));
    }
}
