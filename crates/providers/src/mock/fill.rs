//! JSON that fits a schema, with what a text says in its places.
//!
//! What the text gives evidence for is put in; what is required and not in the text is made up so that it fits. Known of
//! JSON Schema: `type`, `enum`, `const`, `default`, `properties`, `required`, `items`, `prefixItems`, the limits of numbers,
//! lengths and items, `uniqueItems`, `multipleOf`, the common formats, `anyOf`, `oneOf` (the first branch that does), `allOf`,
//! and `$ref` into the same schema. Not known: `pattern`, `not`, conditions, and names that only a pattern gives.
//!
//! `found.rs` looks for evidence, `made.rs` makes up the rest, `schema.rs` reads the schema.

mod found;
mod made;
mod schema;

use serde_json::{Map, Value, json};

use super::classify::{self, Label};
use super::facts::{Fact, facts};
use super::prompt::Prompt;
use super::speech;
use super::text::{Word, words};
use schema::Shape;

/// JSON of this schema, by what the prompt says.
pub(super) fn json(schema: &Value, prompt: &Prompt<'_>) -> Value {
    let results: Vec<&str> = prompt.results.iter().map(|(_, text, _)| text.as_str()).collect();
    let text = if results.is_empty() {
        prompt.asked.clone()
    } else {
        format!("{}\n{}", results.join("\n"), prompt.asked)
    };
    let hints = classify::find(&prompt.system).map(|(labels, _)| labels).unwrap_or_default();
    Filler::new(schema, &text, hints).value(schema, Field::NONE)
}

/// The arguments of a tool, by what a text says, and whether the text had all that is required.
pub(super) fn arguments(parameters: Option<&Value>, text: &str) -> (Value, bool) {
    let nothing = json!({ "type": "object" });
    let schema = parameters.unwrap_or(&nothing);
    let mut filler = Filler::new(schema, text, Vec::new());
    let value = filler.value(schema, Field::NONE);
    let value = if value.is_object() { value } else { Value::Object(Map::new()) };
    (value, filler.made_up == 0)
}

/// Some JSON object: like the example in the prompt, with the keys that it names, or with the answer in words.
pub(super) fn any_object(prompt: &Prompt<'_>) -> Value {
    for text in [&prompt.system, &prompt.asked] {
        if let Some(example) = example(text) {
            return json(&schema_of(&example), prompt);
        }
    }
    if let Some(label) = classify::choose(prompt) {
        return json!({ "label": label });
    }
    json!({ "answer": speech::say(prompt) })
}

/// The first JSON object in a text.
fn example(text: &str) -> Option<Value> {
    text.match_indices('{').take(8).find_map(|(place, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[place..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| value.as_object().is_some_and(|object| !object.is_empty()))
    })
}

/// A schema for things like an example; `"a|b"` in it is a choice.
fn schema_of(example: &Value) -> Value {
    match example {
        Value::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), schema_of(member))).collect();
            let required: Vec<&String> = members.keys().collect();
            json!({ "type": "object", "properties": properties, "required": required })
        }
        Value::Array(items) => {
            json!({ "type": "array", "items": items.first().map_or(json!({ "type": "string" }), schema_of) })
        }
        Value::String(text) if text.contains('|') => {
            json!({ "enum": text.split('|').map(str::trim).collect::<Vec<_>>() })
        }
        Value::String(_) => json!({ "type": "string" }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Null => json!({ "type": ["string", "null"] }),
    }
}

/// What a value is for.
#[derive(Debug, Clone, Copy)]
struct Field<'f> {
    /// The name of the member.
    name: &'f str,
    /// What the schema says about it.
    about: &'f str,
    /// Whether it cannot be left out. What can wants better evidence.
    required: bool,
}

impl Field<'_> {
    const NONE: Self = Self { name: "", about: "", required: true };
}

struct Filler<'a> {
    root: &'a Value,
    text: &'a str,
    words: Vec<Word>,
    facts: Vec<Fact>,
    /// Which facts have found their place.
    used: Vec<bool>,
    /// What the rules say about labels.
    hints: Vec<Label<'a>>,
    /// How many values had to be made up.
    made_up: usize,
    /// How much more may be looked at: a schema may describe more than anybody can hold.
    budget: usize,
}

/// How deep values nest before only what must be there is made.
const DEEP: usize = 6;
/// How deep values nest at all. A schema that demands more demands something without end.
const TOO_DEEP: usize = 24;

impl<'a> Filler<'a> {
    fn new(root: &'a Value, text: &'a str, hints: Vec<Label<'a>>) -> Self {
        let facts = facts(text);
        let used = vec![false; facts.len()];
        Self { root, text, words: words(text), facts, used, hints, made_up: 0, budget: 20_000 }
    }

    /// A value of `schema`: found if it can be, made up if not.
    fn value(&mut self, schema: &Value, field: Field<'_>) -> Value {
        self.found(schema, field, 0).unwrap_or_else(|| self.made(schema, field, 0))
    }

    /// The schema with its references followed and its parts put together.
    fn shape(&mut self, schema: &Value) -> Option<Shape> {
        self.budget = self.budget.checked_sub(1)?;
        Some(Shape::of(self.root, schema))
    }
}
