//! JSON by schema: whatever the schema and the text, the answer fits.

use super::{answer, extraction};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Why `value` does not fit `schema`; nothing when it does. Of JSON Schema, what the mock knows.
fn misfit(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let rules = schema.as_object()?;
    let say = |what: &str| Some(format!("{what}: {value} for {schema}"));
    if let Some(reference) = rules.get("$ref").and_then(Value::as_str)
        && let Some(problem) = misfit(root, root.pointer(&reference[1..]).unwrap(), value)
    {
        return Some(problem);
    }
    for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        if let Some(problem) = misfit(root, part, value) {
            return Some(problem);
        }
    }
    if let Some(branches) = rules.get("anyOf").and_then(Value::as_array)
        && branches.iter().all(|branch| misfit(root, branch, value).is_some())
    {
        return say("no branch");
    }
    if rules.get("const").is_some_and(|only| only != value) {
        return say("const");
    }
    if rules.get("enum").is_some_and(|choices| !choices.as_array().unwrap().contains(value)) {
        return say("enum");
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    let typed = match rules.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => true,
    };
    if !typed {
        return say("type");
    }
    let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        let right = limit("minimum").is_none_or(|least| number >= least)
            && limit("maximum").is_none_or(|most| number <= most)
            && limit("exclusiveMinimum").is_none_or(|least| number > least)
            && limit("exclusiveMaximum").is_none_or(|most| number < most)
            && limit("multipleOf").is_none_or(|step| (number / step).fract() == 0.0);
        if !right {
            return say("limits");
        }
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as f64;
        if limit("minLength").is_some_and(|least| length < least)
            || limit("maxLength").is_some_and(|most| length > most)
        {
            return say("length");
        }
        if rules.get("format") == Some(&json!("email")) && !text.contains('@') {
            return say("format");
        }
        if rules.get("format") == Some(&json!("date")) && !text.split('-').map(str::len).eq([4, 2, 2]) {
            return say("format");
        }
    }
    if let Some(items) = value.as_array() {
        let count = items.len() as f64;
        if limit("minItems").is_some_and(|least| count < least)
            || limit("maxItems").is_some_and(|most| count > most)
        {
            return say("items");
        }
        if rules.get("uniqueItems") == Some(&json!(true))
            && items.iter().enumerate().any(|(place, item)| items[..place].contains(item))
        {
            return say("unique");
        }
        return items.iter().find_map(|item| misfit(root, rules.get("items")?, item));
    }
    let object = value.as_object()?;
    let properties = rules.get("properties").and_then(Value::as_object);
    for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap()) {
            return say("required");
        }
    }
    for (name, member) in object {
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => {
                if let Some(problem) = misfit(root, schema, member) {
                    return Some(problem);
                }
            }
            None if rules.get("additionalProperties") == Some(&json!(false)) => return say("additional"),
            None => {}
        }
    }
    None
}

#[track_caller]
fn fits(schema: &Value, text: &str) -> Value {
    let answer = answer(&extraction(schema.clone(), text)).unwrap();
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(misfit(schema, schema, &value), None);
    value
}

#[test]
fn references_are_followed_and_what_never_ends_is_ended() {
    let tree = json!({
        "$defs": { "node": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "children": { "type": "array", "items": { "$ref": "#/$defs/node" } },
                "parent": { "anyOf": [{ "$ref": "#/$defs/node" }, { "type": "null" }] },
            },
            "required": ["name", "children", "parent"],
            "additionalProperties": false,
        } },
        "$ref": "#/$defs/node",
    });
    fits(&tree, "Ada has 3 children in Paris, and a parent called Byron");
    // Nothing can fit this one; what matters is that an answer comes.
    let endless =
        json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
    assert!(answer(&extraction(endless, "x")).is_ok());
    let wide: Map<String, Value> =
        (0..20).map(|number| (format!("f{number}"), json!({ "$ref": "#" }))).collect();
    let required: Vec<String> = wide.keys().cloned().collect();
    assert!(
        answer(&extraction(json!({ "type": "object", "properties": wide, "required": required }), "x"))
            .is_ok()
    );
}

#[test]
fn limits_hold_for_what_is_made_up() {
    let schema = json!({
        "type": "object",
        "properties": {
            "rating": { "type": "integer", "minimum": 1, "maximum": 5 },
            "share": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            "step": { "type": "integer", "multipleOf": 5, "minimum": 12 },
            "code": { "type": "string", "minLength": 3, "maxLength": 4 },
            "tags": { "type": "array", "items": { "enum": ["a", "b", "c"] }, "minItems": 2, "uniqueItems": true },
            "when": { "type": "string", "format": "date" },
            "kind": { "const": "order" },
            "note": { "type": ["string", "null"] },
        },
        "required": ["rating", "share", "step", "code", "tags", "when", "kind", "note"],
        "additionalProperties": false,
    });
    for text in ["", "order 900 for 77 at 4000", "nothing of use"] {
        fits(&schema, text);
    }
}

#[test]
fn a_format_says_more_than_a_name() {
    let schema = json!({ "type": "object", "properties": { "email": { "type": "string", "format": "date" } }, "required": ["email"] });
    assert_eq!(fits(&schema, "ada@example.org on March 5, 2024"), json!({ "email": "2024-03-05" }));
}

#[test]
fn parts_of_a_schema_are_put_together() {
    let schema = json!({
        "allOf": [
            { "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] },
            { "properties": { "b": { "type": "boolean" } }, "required": ["b"] },
        ],
    });
    assert_eq!(fits(&schema, "a is 5"), json!({ "a": 5, "b": false }));
}

/// Schemas of all the kinds that the mock knows.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..3usize, 0..5usize).prop_map(|(least, more)| json!({ "type": "string", "minLength": least, "maxLength": least + more })),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "string", "format": "email" })),
        Just(json!({ "type": "string", "format": "date" })),
        (-50..50i64, 0..60i64).prop_map(|(least, more)| json!({ "type": "integer", "minimum": least, "maximum": least + more })),
        (-50..50i64, 1..60i64).prop_map(|(least, more)| json!({ "type": "number", "exclusiveMinimum": least, "exclusiveMaximum": least + more })),
        (1..7i64).prop_map(|step| json!({ "type": "integer", "multipleOf": step })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "enum": ["red", "green", "light blue"] })),
        Just(json!({ "enum": [1, "one", null] })),
        Just(json!({ "const": { "x": 1 } })),
        Just(json!({ "$ref": "#/$defs/shared" })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = ["name", "email", "amount", "city", "due_date", "tags", "count", "is_gift"];
        let members = prop::collection::vec((prop::sample::select(names.to_vec()), inner.clone(), any::<bool>()), 0..5);
        prop_oneof![
            members.prop_map(|members| {
                let required: Vec<&str> = members.iter().filter(|(.., required)| *required).map(|(name, ..)| *name).collect();
                let properties: Map<String, Value> = members.iter().map(|(name, schema, _)| ((*name).to_owned(), schema.clone())).collect();
                json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
            }),
            (inner.clone(), 0..3usize).prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least, "maxItems": least + 2 })),
            prop::collection::vec(inner, 1..3).prop_map(|branches| json!({ "anyOf": branches })),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_schema_and_the_text_the_answer_fits(
        schema in any_schema(),
        text in prop_oneof![
            ".{0,60}",
            Just("Ada Lovelace (ada@example.org) paid $42.50 for 3 red gifts in Paris on March 5, 2024, [1, 2, 3]".to_owned()),
            Just("amount: 12, count = 7, city is Rome, tags: \"a\", 'b'".to_owned()),
        ],
    ) {
        let mut root = schema;
        root["$defs"] = json!({ "shared": { "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] } });
        let answer = answer(&extraction(root.clone(), &text)).unwrap();
        let value: Value = serde_json::from_str(&answer.text()).unwrap();
        prop_assert_eq!(misfit(&root, &root, &value), None, "{}", value);
    }
}
