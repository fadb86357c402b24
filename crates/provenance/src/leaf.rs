//! Values as the single facts in them, each with its path and its record.

use serde_json::Value;

/// One fact of a value: everything that is not a list or an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf<'a> {
    /// Where it stands, for people: `[0].sender`, `recipients[1]`.
    pub(crate) path: String,
    /// Where its kind of fact stands, without positions: `sender`, `owner.email`.
    pub(crate) field: String,
    /// The object it is part of, counted from 0.
    pub(crate) record: usize,
    /// The fact.
    pub(crate) fact: Fact<'a>,
}

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fact<'a> {
    /// A value of JSON.
    Value(&'a Value),
    /// A key that is itself data: `{"ann@example.org": "reader"}`.
    Key(&'a str),
}

impl Leaf<'_> {
    /// The fact in its one spelling.
    pub(crate) fn text(&self) -> String {
        match self.fact {
            Fact::Key(key) => key.to_owned(),
            Fact::Value(value) => text_of(value),
        }
    }
}

/// A value that is no list and no object as a text; numbers in one spelling, so that `50` and `50.0` are the same.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}

/// The facts in `value`, in order. `root` names the whole: the argument, or nothing.
pub(crate) fn leaves<'a>(root: &str, value: &'a Value) -> Vec<Leaf<'a>> {
    let mut walk = Walk { found: Vec::new(), records: 0 };
    walk.enter(value, root.to_owned(), root.to_owned(), 0);
    walk.found
}

struct Walk<'a> {
    found: Vec<Leaf<'a>>,
    records: usize,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, value: &'a Value, path: String, field: String, record: usize) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.enter(item, format!("{path}[{index}]"), field.clone(), record);
                }
            }
            Value::Object(fields) => {
                // A mapping by data, such as people's addresses, is part of the record around it.
                let is_record = fields.keys().all(|key| is_name(key));
                if is_record {
                    self.records += 1;
                }
                let record = if is_record { self.records } else { record };
                let below =
                    |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
                for (key, value) in fields {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    if is_name(key) {
                        self.enter(value, path, below(key), record);
                    } else {
                        let key =
                            Leaf { path: path.clone(), field: below("*"), record, fact: Fact::Key(key) };
                        self.found.push(key);
                        self.enter(value, path, below("*"), record);
                    }
                }
            }
            _ => self.found.push(Leaf { path, field, record, fact: Fact::Value(value) }),
        }
    }
}

fn is_name(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_fact_has_a_path_a_field_and_a_record() {
        let value =
            json!([{ "id": 4, "to": ["a", "b"] }, { "id": 5, "shares": { "ann@example.org": "rw" } }]);
        let found: Vec<String> = leaves("", &value)
            .iter()
            .map(|leaf| format!("{} {} {} {}", leaf.record, leaf.path, leaf.field, leaf.text()))
            .collect();
        let expected = [
            "1 [0].id id 4",
            "1 [0].to[0] to a",
            "1 [0].to[1] to b",
            "2 [1].id id 5",
            "2 [1].shares.ann@example.org shares.* ann@example.org",
            "2 [1].shares.ann@example.org shares.* rw",
        ];
        assert_eq!(found, expected);
    }
}
