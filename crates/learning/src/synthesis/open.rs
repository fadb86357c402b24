//! What is known of a field that has no program: enough to tell whether somebody else's value could be live's.

use artifact::fingerprint::outline;
use artifact::program::Open;
use serde_json::Value;

/// More shapes than this are none.
const MOST_SHAPES: usize = 8;
/// More values than this, or values that are seen less often, are no few.
const MOST_VALUES: usize = 16;
const LEAST_SUPPORT: usize = 3;
/// A text that is longer is no value among a few.
const LONGEST_VALUE: usize = 80;

/// The field `name` at this place. `outputs`: its values in all samples; absent if it is not in every one.
pub(super) fn learn(name: &str, place: usize, outputs: Option<&[&Value]>) -> Open {
    let outputs = outputs.unwrap_or_default();
    let mut shapes: Vec<Value> = Vec::new();
    for shape in outputs.iter().map(|output| outline(output)) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    if shapes.len() > MOST_SHAPES {
        shapes.clear();
    }
    Open { name: name.to_owned(), place, shapes, values: few(outputs).unwrap_or_default() }
}

/// The values, if there are only a few.
fn few(outputs: &[&Value]) -> Option<Vec<Value>> {
    let mut counted: Vec<(&Value, usize)> = Vec::new();
    for output in outputs {
        match counted.iter_mut().find(|(value, _)| value == output) {
            Some((_, times)) => *times += 1,
            None => counted.push((output, 1)),
        }
        if counted.len() > MOST_VALUES {
            return None;
        }
    }
    let is_value = |value: &Value| match value {
        Value::String(text) => text.len() <= LONGEST_VALUE,
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    let mut values: Vec<Value> = Vec::new();
    for (value, times) in counted {
        if times < LEAST_SUPPORT || !is_value(value) {
            return None;
        }
        values.push(value.clone());
    }
    // In one order, whichever came first.
    values.sort_by_key(Value::to_string);
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(outputs: &[Value]) -> Open {
        learn("mood", 0, Some(&outputs.iter().collect::<Vec<_>>()))
    }

    #[test]
    fn a_few_values_are_all_that_there_are() {
        let open = of(&[
            json!("calm"),
            json!("angry"),
            json!("calm"),
            json!("angry"),
            json!("calm"),
            json!("angry"),
        ]);
        assert_eq!(open.values, [json!("angry"), json!("calm")]);
        assert!(open.admits(&json!("calm")) && !open.admits(&json!("bright")) && !open.admits(&json!(1)));
    }

    #[test]
    fn a_value_that_is_seen_once_makes_any_of_its_shape_possible() {
        let open = of(&[json!("a"), json!("a"), json!("a"), json!("b"), Value::Null]);
        assert!(open.values.is_empty());
        assert!(open.admits(&json!("c")) && open.admits(&Value::Null) && !open.admits(&json!(["c"])));
    }

    #[test]
    fn what_is_not_in_every_answer_is_completed_by_nobody() {
        let open = learn("mood", 0, None);
        assert!([json!("calm"), Value::Null, json!(1)].iter().all(|value| !open.admits(value)));
    }
}
