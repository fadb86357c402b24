//! The forms that a recorded value can have.

use ledger::canonical::{MAX_DEPTH, MAX_INTEGER};
use serde_json::Value;

/// How deep a recorded value may nest: what is around it in a packet takes the rest.
pub(crate) const VALUE_DEPTH: usize = MAX_DEPTH - 10;

/// A value with a canonical form: numbers beyond 2⁵³ − 1 and nesting without end are carried as text.
pub(crate) fn bounded(value: Value, depth: usize) -> Value {
    match value {
        Value::Number(number) => {
            let fits = match number.as_i64() {
                Some(integer) => integer.unsigned_abs() <= MAX_INTEGER,
                None => {
                    number.is_f64()
                        && number
                            .as_f64()
                            .is_some_and(|double| !(9_007_199_254_740_992.0..1e21).contains(&double.abs()))
                }
            };
            if fits { Value::Number(number) } else { Value::from(number.to_string()) }
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::from(value.to_string()),
        Value::Array(items) => items.into_iter().map(|item| bounded(item, depth - 1)).collect(),
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(name, member)| (name, bounded(member, depth - 1))).collect(),
        ),
        Value::String(_) | Value::Null | Value::Bool(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn big_numbers_and_deep_values_are_recorded_as_text() {
        let recorded = bounded(json!({ "n": 9_007_199_254_740_993u64, "x": 1e20 }), 9);
        assert_eq!(recorded, json!({ "n": "9007199254740993", "x": "1e+20" }));
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(ledger::canonical::to_vec(&bounded(deep, VALUE_DEPTH)).is_ok());
    }
}
