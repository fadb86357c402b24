//! What may be recorded of what was said.

use ledger::canonical::{MAX_DEPTH, MAX_INTEGER};
use serde_json::Value;
use telemetry::mask::Mask;

/// How deep a recorded value may nest: what is around it in a packet takes the rest.
pub(crate) const VALUE_DEPTH: usize = MAX_DEPTH - 10;

/// What may be recorded of a value: credentials masked, and whatever has no canonical form (numbers beyond 2⁵³ − 1,
/// nesting without end) carried as text instead.
pub(crate) fn recordable(value: Value, mask: &Mask, depth: usize) -> Value {
    let masked = |text: &str| mask.apply(text).into_owned();
    match value {
        Value::String(text) => Value::from(masked(&text)),
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
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::from(masked(&value.to_string())),
        Value::Array(items) => items.into_iter().map(|item| recordable(item, mask, depth - 1)).collect(),
        Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(name, member)| (masked(&name), recordable(member, mask, depth - 1)));
            Value::Object(members.collect())
        }
        Value::Null | Value::Bool(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_big_numbers_and_deep_values_are_recorded_as_harmless_text() {
        let mask = Mask::default();
        let recorded = recordable(
            json!({ "sk-12345678901": "key sk-proj-1234567890", "n": 9_007_199_254_740_993u64, "x": 1e20 }),
            &mask,
            9,
        );
        assert_eq!(
            recorded,
            json!({ "sk-[masked]": "key sk-[masked]", "n": "9007199254740993", "x": "1e+20" })
        );
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(ledger::canonical::to_vec(&recordable(deep, &mask, VALUE_DEPTH)).is_ok());
    }
}
