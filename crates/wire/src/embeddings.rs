//! Texts as vectors: OpenAI's `/v1/embeddings`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::at::At;
use crate::request::Refused;

/// What is to be turned into vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Embed {
    /// The model that was asked for.
    pub model: String,
    /// What to turn, in order; never empty.
    pub input: Vec<EmbedInput>,
    /// How the vectors are to be written.
    pub encoding: Encoding,
    /// How many numbers each is to have, if the caller says.
    pub dimensions: Option<u64>,
    /// The caller's own name for its user.
    pub user: Option<String>,
    /// Fields that are passed on as they were sent.
    pub extra: Map<String, Value>,
}

/// One thing to turn into a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedInput {
    /// Words.
    Text(String),
    /// Words as the model's tokens.
    Tokens(Vec<u32>),
}

/// How vectors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// As a list of numbers.
    #[default]
    Float,
    /// As the bytes of their 32-bit floats, least first, in base64; what the official clients ask for unasked.
    Base64,
}

/// The vendor takes no more at once.
const MAX_INPUTS: usize = 2048;

const KNOWN: [&str; 5] = ["model", "input", "encoding_format", "dimensions", "user"];

const INPUT: &str =
    "a string, a list of strings, a list of tokens or a list of lists of tokens, none of them empty";

/// Reads what a caller asks. Strict: what is malformed is refused by its field.
pub fn read(body: &Value) -> Result<Embed, Refused> {
    let at = At::body(body)?;
    let model = at.need("model", "the name of a model")?.text_of(1..=512)?.to_owned();
    let input = read_input(&at.need("input", INPUT)?)?;
    let encoding = match at.get("encoding_format") {
        None => Encoding::Float,
        Some(format) => match format.text()? {
            "float" => Encoding::Float,
            "base64" => Encoding::Base64,
            _ => return Err(format.expected("`float` or `base64`")),
        },
    };
    let dimensions = at.get("dimensions").map(|number| number.integer(1..=65_536)).transpose()?;
    let user = at.get("user").map(|user| user.text().map(str::to_owned)).transpose()?;
    let unknown = |(name, value): &(&String, &Value)| !KNOWN.contains(&name.as_str()) && !value.is_null();
    let extra = at.object()?.iter().filter(unknown).map(|(name, value)| (name.clone(), value.clone()));
    Ok(Embed { model, input, encoding, dimensions, user, extra: extra.collect() })
}

fn read_input(at: &At<'_>) -> Result<Vec<EmbedInput>, Refused> {
    let text = |at: &At<'_>| match at.value.as_str() {
        Some("") | None => Err(at.expected("a string that is not empty")),
        Some(text) => Ok(EmbedInput::Text(text.to_owned())),
    };
    let items = match at.value {
        Value::String(_) => return Ok(vec![text(at)?]),
        Value::Array(items) if (1..=MAX_INPUTS).contains(&items.len()) => items,
        // Tokens may be many: they are one input.
        Value::Array(items) if items.first().is_some_and(Value::is_number) => items,
        Value::Array(items) if items.len() > MAX_INPUTS => {
            return Err(at.refused("expected at most 2048 inputs"));
        }
        _ => return Err(at.expected(INPUT)),
    };
    match items.first() {
        Some(Value::Number(_)) => Ok(vec![read_tokens(at)?]),
        Some(Value::Array(_)) => at.items()?.map(|item| read_tokens(&item)).collect(),
        _ => at.items()?.map(|item| text(&item)).collect(),
    }
}

fn read_tokens(at: &At<'_>) -> Result<EmbedInput, Refused> {
    let mut tokens = Vec::new();
    for token in at.items()? {
        let number = token.integer(0..=u64::from(u32::MAX))?;
        tokens.push(u32::try_from(number).unwrap_or(u32::MAX));
    }
    if tokens.is_empty() {
        return Err(at.refused("expected at least one token"));
    }
    Ok(EmbedInput::Tokens(tokens))
}

/// Writes the vectors for the caller, in the order of the inputs.
#[must_use]
pub fn write(vectors: &[Vec<f32>], encoding: Encoding, model: &str, input_tokens: u64) -> Value {
    let written = |vector: &Vec<f32>| match encoding {
        Encoding::Float => json!(vector),
        Encoding::Base64 => {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            Value::from(STANDARD.encode(bytes))
        }
    };
    let item =
        |(index, vector)| json!({ "object": "embedding", "index": index, "embedding": written(vector) });
    json!({
        "object": "list",
        "data": vectors.iter().enumerate().map(item).collect::<Vec<_>>(),
        "model": model,
        "usage": { "prompt_tokens": input_tokens, "total_tokens": input_tokens },
    })
}

/// What an upstream says that it took.
#[must_use]
pub fn read_tokens_used(body: &Value) -> Option<u64> {
    body.get("usage")?.get("prompt_tokens")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[test]
    fn every_form_of_input_is_read() {
        let read = |input: Value| read(&json!({ "model": "m", "input": input })).unwrap().input;
        let text = |text: &str| EmbedInput::Text(text.to_owned());
        assert_eq!(read(json!("a")), [text("a")]);
        assert_eq!(read(json!(["a", "b"])), [text("a"), text("b")]);
        assert_eq!(read(json!([1, 2])), [EmbedInput::Tokens(vec![1, 2])]);
        assert_eq!(read(json!([[1], [2, 3]])), [EmbedInput::Tokens(vec![1]), EmbedInput::Tokens(vec![2, 3])]);
        assert_eq!(read(json!(vec![7; 5000])), [EmbedInput::Tokens(vec![7; 5000])]);
    }

    #[track_caller]
    fn refused(mut body: Value, expected: &Expect) {
        body.as_object_mut().unwrap().entry("model").or_insert(json!("m"));
        expected.assert_eq(&read(&body).unwrap_err().message);
    }

    #[test]
    fn what_is_malformed_is_refused_by_its_field() {
        refused(
            json!({}),
            &expect![
                "input: is required: expected a string, a list of strings, a list of tokens or a list of lists of tokens, none of them empty"
            ],
        );
        refused(
            json!({ "input": "" }),
            &expect![[r#"input: expected a string that is not empty, found """#]],
        );
        refused(
            json!({ "input": [] }),
            &expect![
                "input: expected a string, a list of strings, a list of tokens or a list of lists of tokens, none of them empty, found a list"
            ],
        );
        refused(
            json!({ "input": ["a", 1] }),
            &expect!["input[1]: expected a string that is not empty, found 1"],
        );
        refused(json!({ "input": [[1], []] }), &expect!["input[1]: expected at least one token"]);
        refused(
            json!({ "input": [1, -1] }),
            &expect!["input[1]: expected an integer from 0 to 4294967295, found -1"],
        );
        refused(json!({ "input": vec!["a"; 2049] }), &expect!["input: expected at most 2048 inputs"]);
        refused(
            json!({ "input": "a", "encoding_format": "hex" }),
            &expect![[r#"encoding_format: expected `float` or `base64`, found "hex""#]],
        );
        refused(
            json!({ "input": "a", "dimensions": 0 }),
            &expect!["dimensions: expected an integer from 1 to 65536, found 0"],
        );
        refused(json!({ "input": "a", "model": 1 }), &expect!["model: expected a string, found 1"]);
    }

    proptest! {
        #[test]
        fn vectors_in_base64_are_their_floats_least_byte_first(vector in prop::collection::vec(any::<f32>(), 0..20)) {
            let body = write(std::slice::from_ref(&vector), Encoding::Base64, "m", 3);
            let bytes = STANDARD.decode(body["data"][0]["embedding"].as_str().unwrap()).unwrap();
            let back = bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()).to_bits());
            prop_assert_eq!(back.collect::<Vec<_>>(), vector.iter().map(|number| number.to_bits()).collect::<Vec<_>>());
        }
    }
}
