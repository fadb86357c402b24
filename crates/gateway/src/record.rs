//! The forms that a recorded value can have.

use ledger::Name;
use ledger::canonical::{MAX_DEPTH, MAX_INTEGER};
use serde_json::{Map, Number, Value};

/// Fields of an event that Punk itself names, on their way to the record.
pub(crate) type Fields = Vec<(Name, Value)>;

/// These fields.
pub(crate) fn fields<const N: usize>(fields: [(&'static str, Value); N]) -> Fields {
    // Room for the few that some events have besides.
    let mut all = Fields::with_capacity(N + 8);
    all.extend(fields.map(|(name, value)| (Name::Borrowed(name), value)));
    all
}

/// Fields as members of an object.
pub(crate) fn named(fields: Fields) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.into_owned(), value)).collect()
}

/// The members of an object as fields.
pub(crate) fn fields_of_object(value: Value) -> Fields {
    let Value::Object(members) = value else { return Fields::new() };
    members.into_iter().map(|(name, value)| (Name::Owned(name), value)).collect()
}

/// How deep a recorded value may nest: what is around it in a packet takes the rest.
pub(crate) const VALUE_DEPTH: usize = MAX_DEPTH - 10;

/// Gives a value a canonical form: numbers beyond 2⁵³ − 1 and nesting without end are carried as text.
pub(crate) fn bound(value: &mut Value, depth: usize) {
    match value {
        Value::Number(number) if !fits(number) => *value = Value::from(number.to_string()),
        Value::Array(_) | Value::Object(_) if depth == 0 => *value = Value::from(value.to_string()),
        Value::Array(items) => items.iter_mut().for_each(|item| bound(item, depth - 1)),
        Value::Object(members) => members.values_mut().for_each(|member| bound(member, depth - 1)),
        Value::Number(_) | Value::String(_) | Value::Null | Value::Bool(_) => {}
    }
}

/// Whether a value has a canonical form as it is.
pub(crate) fn is_bounded(value: &Value, depth: usize) -> bool {
    match value {
        Value::Number(number) => fits(number),
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_bounded(item, depth - 1)),
        Value::Object(members) => members.values().all(|member| is_bounded(member, depth - 1)),
        Value::String(_) | Value::Null | Value::Bool(_) => true,
    }
}

/// Whether every reader keeps a number.
fn fits(number: &Number) -> bool {
    match number.as_i64() {
        Some(integer) => integer.unsigned_abs() <= MAX_INTEGER,
        None => {
            let whole = 9_007_199_254_740_992.0..1e21;
            number.is_f64() && number.as_f64().is_some_and(|double| !whole.contains(&double.abs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn big_numbers_and_deep_values_are_recorded_as_text() {
        let mut recorded = json!({ "n": 9_007_199_254_740_993u64, "x": 1e20 });
        assert!(!is_bounded(&recorded, 9));
        bound(&mut recorded, 9);
        assert!(is_bounded(&recorded, 9));
        assert_eq!(recorded, json!({ "n": "9007199254740993", "x": "1e+20" }));
        let mut deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(!is_bounded(&deep, VALUE_DEPTH));
        bound(&mut deep, VALUE_DEPTH);
        assert!(is_bounded(&deep, VALUE_DEPTH));
        assert!(ledger::canonical::to_vec(&deep).is_ok());
    }
}
