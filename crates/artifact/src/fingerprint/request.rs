//! What is fixed in a request and its answer: all of it, its tools, the shape of what came back.

use ledger::canonical;
use schema::Digest;
use serde_json::{Map, Value, json};

use super::{digest, digest_of};

/// The hash of a whole request. `model` is the model's one name: aliases are resolved before.
#[must_use]
pub fn request(model: &str, body: &Value) -> Digest {
    let quickly = body.as_object().and_then(|fields| digest_of(|out| write_request(model, fields, out)));
    quickly.unwrap_or_else(|| {
        let mut body = body.clone();
        if let Value::Object(fields) = &mut body {
            fields.remove("model");
        }
        digest(&json!({ "model": model, "body": body }))
    })
}

/// The canonical form of a request beside its model, without a copy of what is long.
fn write_request(
    model: &str,
    fields: &Map<String, Value>,
    out: &mut Vec<u8>,
) -> Result<(), canonical::CanonicalError> {
    out.extend_from_slice(br#"{"body":"#);
    canonical::write_members(fields.iter().filter(|(name, _)| *name != "model"), out)?;
    out.extend_from_slice(br#","model":"#);
    canonical::write(&Value::from(model), out)?;
    out.push(b'}');
    Ok(())
}

/// The hash of the tools of a request, whatever their order.
#[must_use]
pub fn tools(tools: &[Value]) -> Digest {
    let mut each: Vec<Value> = tools.iter().map(|tool| Value::from(digest(tool).to_string())).collect();
    each.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    each.dedup();
    digest(&Value::Array(each))
}

/// The hash of an answer's shape: names and types of its fields, or that it is text.
#[must_use]
pub fn shape(answer: &Value) -> Digest {
    digest(&outline(answer))
}

/// The hash of an answer's shape, where fields that say something in words may be there or not: an object of texts is of one shape
/// with one that has another text, none, or a list of them.
#[must_use]
pub fn loose_shape(answer: &Value) -> Digest {
    let mut outline = outline(answer);
    if let Value::Object(fields) = &mut outline {
        let optional = [json!("text"), json!("null"), json!([["text"]]), json!([[]])];
        let before = fields.len();
        fields.retain(|_, kind| !optional.contains(kind));
        if fields.len() < before {
            fields.insert("*".to_owned(), json!("texts"));
        }
    }
    digest(&outline)
}

/// The shape of an answer: names and types of its fields, or that it is text.
#[must_use]
pub fn outline(answer: &Value) -> Value {
    outlined(answer, 8)
}

fn outlined(value: &Value, depth: u8) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        _ if depth == 0 => json!("deep"),
        Value::Array(items) => {
            let mut kinds: Vec<Value> = items.iter().map(|item| outlined(item, depth - 1)).collect();
            kinds.sort_by_key(Value::to_string);
            kinds.dedup();
            json!([kinds])
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), outlined(value, depth - 1)))
                .collect::<Map<_, _>>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_model_are_one_request() {
        let with = |model: &str| json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }] });
        assert_eq!(request("gpt-4o", &with("gpt-4o")), request("gpt-4o", &with("openai/gpt-4o")));
        assert_ne!(request("gpt-4o", &with("gpt-4o")), request("gpt-5", &with("gpt-4o")));
    }

    #[test]
    fn a_request_is_hashed_by_the_canonical_form_of_all_of_it() {
        for body in [
            json!({ "messages": [{ "role": "user", "content": "é\n\"x\"" }], "zeta": 0.5, "model": "m", "É": 1 }),
            json!({ "seed": u64::MAX, "model": "m" }),
            json!(["model"]),
        ] {
            let mut rest = body.clone();
            if let Some(fields) = rest.as_object_mut() {
                fields.remove("model");
            }
            let whole = json!({ "model": "gpt-4o", "body": rest });
            assert_eq!(request("gpt-4o", &body), crate::fingerprint::digest_beyond(&whole));
        }
    }

    #[test]
    fn the_order_of_tools_does_not_matter() {
        let (a, b) = (json!({ "name": "a" }), json!({ "name": "b" }));
        assert_eq!(tools(&[a.clone(), b.clone()]), tools(&[b, a]));
    }

    #[test]
    fn a_shape_is_names_and_types_and_not_values() {
        assert_eq!(shape(&json!({ "a": 1, "b": ["x"] })), shape(&json!({ "b": ["y", "z"], "a": 2.5 })));
        assert_ne!(shape(&json!({ "a": 1 })), shape(&json!({ "a": "1" })));
    }

    #[test]
    fn texts_that_are_there_or_not_are_one_loose_shape_and_numbers_are_not() {
        let one = loose_shape(&json!({ "artist": "Ann", "list": "mine" }));
        for same in
            [json!({ "list": "x" }), json!({ "artist": null, "list": ["x", "y"] }), json!({ "list": [] })]
        {
            assert_eq!(loose_shape(&same), one, "{same}");
        }
        for other in
            [json!({ "list": "x", "year": 4 }), json!({ "list": { "a": "x" } }), json!("x"), json!({})]
        {
            assert_ne!(loose_shape(&other), one, "{other}");
        }
    }
}
