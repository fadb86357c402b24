//! Values that are made up: they fit, and mean as much as can be guessed.

use serde_json::{Map, Value, json};

use super::found::{as_number, within};
use super::schema::Shape;
use super::{Field, Filler, TOO_DEEP};
use crate::mock::classify::{self, Label};
use crate::mock::facts::Kind;
use crate::mock::text::{is_filler, words};

impl Filler<'_> {
    /// Some value of `schema`.
    pub(super) fn made(&mut self, schema: &Value, field: Field<'_>, depth: usize) -> Value {
        let Some(shape) = self.shape(schema).filter(|_| depth < TOO_DEEP) else { return Value::Null };
        if let Some(value) = shape.get("const") {
            return value.clone();
        }
        if let Some(values) = shape.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty())
        {
            return self.fitting(values);
        }
        if let Some(branches) = shape.branches() {
            // Deep inside, `null` ends what would not end otherwise.
            if depth >= TOO_DEEP / 2 && shape.allows_null() {
                return Value::Null;
            }
            let branch =
                branches.iter().find(|branch| branch["type"] != "null").unwrap_or(&branches[0]).clone();
            return self.made(&branch, field, depth + 1);
        }
        if depth >= TOO_DEEP / 2 && shape.allows_null() {
            return Value::Null;
        }
        let kind = shape.kind();
        if !matches!(kind, "object" | "dict" | "array" | "tuple" | "null") {
            self.made_up += 1;
        }
        match kind {
            "object" | "dict" => self.made_object(&shape, depth),
            "array" | "tuple" => self.made_array(&shape, field, depth),
            "integer" => self.made_number(&shape, true),
            "number" | "float" => self.made_number(&shape, false),
            "boolean" => {
                shape.get("default").filter(|value| value.is_boolean()).cloned().unwrap_or(Value::Bool(false))
            }
            "null" => Value::Null,
            _ => self.made_string(&shape, field),
        }
    }

    fn made_object(&mut self, shape: &Shape, depth: usize) -> Value {
        let mut object = Map::new();
        for (name, schema, required) in shape.members() {
            if required {
                let value = self.made(&schema, Field { name: &name, about: "", required: true }, depth + 1);
                object.insert(name, value);
            }
        }
        Value::Object(object)
    }

    fn made_array(&mut self, shape: &Shape, field: Field<'_>, depth: usize) -> Value {
        let first = shape.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let items = shape
            .get("items")
            .filter(|items| items.is_object())
            .cloned()
            .unwrap_or(json!({ "type": "string" }));
        let least = shape
            .count("minItems")
            .unwrap_or(0)
            .max(first.len())
            .min(shape.count("maxItems").unwrap_or(usize::MAX));
        let unique = shape.get("uniqueItems") == Some(&Value::Bool(true));
        let mut values: Vec<Value> = Vec::new();
        for place in 0..least {
            let value = self.made(first.get(place).unwrap_or(&items), field, depth + 1);
            values.push(if unique && values.contains(&value) {
                self.another(&items, &values, value)
            } else {
                value
            });
            if self.budget == 0 {
                break;
            }
        }
        Value::Array(values)
    }

    /// A value unlike the others: the next choice, the next number, a longer text.
    fn another(&mut self, items: &Value, values: &[Value], value: Value) -> Value {
        let Some(shape) = self.shape(items) else { return value };
        if let Some(choices) = shape.get("enum").and_then(Value::as_array) {
            return choices.iter().find(|choice| !values.contains(choice)).cloned().unwrap_or(value);
        }
        let place = values.len();
        match &value {
            Value::Number(number) => {
                let step = shape.number("multipleOf").unwrap_or(1.0);
                let base = number.as_f64().unwrap_or_default();
                let whole = shape.kind() == "integer";
                let others =
                    (1..=place + 1).flat_map(|far| [base + far as f64 * step, base - far as f64 * step]);
                let mut others = others
                    .filter(|other| within(&shape, *other))
                    .filter_map(|other| as_number(other, whole).map(Value::Number));
                others.find(|other| !values.contains(other)).unwrap_or(value)
            }
            Value::String(text) => {
                let most = shape.count("maxLength").unwrap_or(usize::MAX);
                let mark = place.to_string();
                let keep = text.chars().count().min(most.saturating_sub(mark.len()));
                Value::String(text.chars().take(keep).chain(mark.chars()).collect())
            }
            Value::Bool(yes) => Value::Bool(!yes),
            _ => value,
        }
    }

    /// The choice that fits the text best.
    fn fitting(&self, values: &[Value]) -> Value {
        if let Some(value) = self.mentioned(values) {
            return value.clone();
        }
        let names: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
        let Some(names) = names else { return values[0].clone() };
        let labels: Vec<Label<'_>> = names
            .iter()
            .map(|name| {
                let about = self.hints.iter().find(|hint| hint.name == *name).map_or("", |hint| hint.about);
                Label { name, about }
            })
            .collect();
        classify::best(&labels, self.text).map_or_else(|| values[0].clone(), |place| values[place].clone())
    }

    fn made_number(&mut self, shape: &Shape, whole: bool) -> Value {
        if let Some(default) =
            shape.get("default").filter(|value| if whole { value.is_i64() } else { value.is_number() })
            && default.as_f64().is_some_and(|value| within(shape, value))
        {
            return default.clone();
        }
        // Numbers in digits first: those in letters are more often a way to speak.
        let by_form = [false, true].into_iter().flat_map(|spelled| {
            let facts = &self.facts;
            (0..facts.len()).filter(move |place| facts[*place].is_spelled() == spelled)
        });
        let next =
            by_form.filter(|place| !self.used[*place]).find_map(|place| match self.facts[place].kind {
                Kind::Number(value, _) if within(shape, value) && (!whole || value.fract() == 0.0) => {
                    Some((place, value))
                }
                _ => None,
            });
        if let Some((place, value)) = next {
            self.used[place] = true;
            return as_number(value, whole).map_or(Value::Null, Value::Number);
        }
        as_number(allowed(shape, whole), whole).map_or(Value::from(0), Value::Number)
    }

    fn made_string(&mut self, shape: &Shape, field: Field<'_>) -> Value {
        let most = shape.count("maxLength").unwrap_or(usize::MAX);
        let least = shape.count("minLength").unwrap_or(0).min(most).min(100_000);
        let text = match shape.text("format") {
            "date" => "2024-01-01".to_owned(),
            "date-time" => "2024-01-01T00:00:00Z".to_owned(),
            "time" => "00:00:00Z".to_owned(),
            "email" | "idn-email" => "user@example.org".to_owned(),
            "uri" | "url" | "iri" | "uri-reference" => "https://example.org/".to_owned(),
            "uuid" => "00000000-0000-4000-8000-000000000000".to_owned(),
            "ipv4" => "192.0.2.1".to_owned(),
            "ipv6" => "2001:db8::1".to_owned(),
            "hostname" | "idn-hostname" => "example.org".to_owned(),
            "duration" => "P1D".to_owned(),
            _ => {
                let text = shape
                    .get("default")
                    .and_then(Value::as_str)
                    .map_or_else(|| self.guess(field), str::to_owned);
                let mut text: String = text.chars().take(most).collect();
                let missing = least.saturating_sub(text.chars().count());
                text.extend(std::iter::repeat_n('x', missing));
                text
            }
        };
        Value::String(text)
    }

    /// Words of the text for a field that nothing in it is marked as.
    fn guess(&self, field: Field<'_>) -> String {
        let name: Vec<String> = words(field.name).into_iter().map(|word| word.text).collect();
        let called = |wanted: &[&str]| name.iter().any(|word| wanted.contains(&word.as_str()));
        let text = self.text.trim();
        if called(&[
            "text",
            "message",
            "content",
            "body",
            "input",
            "question",
            "sentence",
            "comment",
            "description",
            "summary",
            "answer",
            "reply",
            "response",
            "reason",
            "explanation",
        ]) {
            return text.to_owned();
        }
        // What follows the last small word that introduces a thing: "the price *of* gold bars".
        let mut phrase: Vec<&str> = Vec::new();
        let mut best: Vec<&str> = Vec::new();
        let mut introduced = false;
        for raw in text.split_whitespace() {
            let bare = raw.trim_matches(|character: char| !character.is_alphanumeric());
            let lower = bare.to_lowercase();
            let introduces = ["of", "for", "about", "on", "called", "named", "in", "with", "from"]
                .contains(&lower.as_str());
            if introduces || is_filler(&lower) || bare.is_empty() {
                if introduced && !phrase.is_empty() && best.is_empty() {
                    best.clone_from(&phrase);
                }
                phrase.clear();
                introduced |= introduces;
            } else if introduced {
                phrase.push(bare);
            }
        }
        if best.is_empty() {
            best = phrase;
        }
        if best.is_empty() {
            if text.is_empty() { "unknown".to_owned() } else { text.to_owned() }
        } else {
            best.join(" ")
        }
    }
}

/// A number that a schema allows: 0 if it may be, else the one nearest to it.
fn allowed(shape: &Shape, whole: bool) -> f64 {
    let step = shape.number("multipleOf").filter(|step| *step > 0.0);
    let least = shape
        .number("minimum")
        .into_iter()
        .chain(shape.number("exclusiveMinimum"))
        .fold(f64::NEG_INFINITY, f64::max);
    let most = shape
        .number("maximum")
        .into_iter()
        .chain(shape.number("exclusiveMaximum"))
        .fold(f64::INFINITY, f64::min);
    let nearest = if least > 0.0 {
        least
    } else if most < 0.0 {
        most
    } else {
        0.0
    };
    let unit = step.unwrap_or(1.0);
    let rounded = if least > 0.0 { (nearest / unit).ceil() * unit } else { (nearest / unit).floor() * unit };
    let between = (least + most) / 2.0;
    [nearest, rounded, rounded + unit, rounded - unit, between, nearest + 1e-6, nearest - 1e-6]
        .into_iter()
        .find(|value| within(shape, *value) && (!whole || value.fract() == 0.0))
        .unwrap_or(rounded)
}
