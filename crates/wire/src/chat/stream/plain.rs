//! The chunks that most streams are made of: one answer begins, goes on with a few more words, or ends.
//!
//! It is read without building the JSON it is written in. Whatever is not exactly that is left to the patient reader.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default, borrow)]
    id: Cow<'a, str>,
    #[serde(default, borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    choices: [Choice<'a>; 1],
    #[serde(default)]
    usage: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(default)]
    x_groq: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: usize,
    #[serde(borrow)]
    delta: Delta<'a>,
    #[serde(default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    logprobs: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Cow<'a, str>,
    #[serde(default)]
    reasoning: Option<IgnoredAny>,
    #[serde(default)]
    reasoning_content: Option<IgnoredAny>,
    #[serde(default)]
    refusal: Option<IgnoredAny>,
    #[serde(default)]
    tool_calls: Option<IgnoredAny>,
}

/// What such a chunk says; of words, names and reasons that are left out it says nothing.
#[derive(Debug, PartialEq)]
pub(super) struct Plain<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    /// Which answer it is about.
    pub(super) choice: usize,
    /// What it goes on with.
    pub(super) words: Cow<'a, str>,
    /// The vendor's word for why it ends.
    pub(super) reason: Option<Cow<'a, str>>,
}

/// Reads a chunk; `None` if there is more to it.
pub(super) fn read(data: &str) -> Option<Plain<'_>> {
    let chunk: Chunk<'_> = serde_json::from_str(data).ok()?;
    let [choice] = chunk.choices;
    let delta = choice.delta;
    let more = [
        chunk.usage,
        chunk.error,
        chunk.x_groq,
        choice.logprobs,
        delta.reasoning,
        delta.reasoning_content,
        delta.refusal,
        delta.tool_calls,
    ];
    more.iter().all(Option::is_none).then_some(Plain {
        id: chunk.id,
        model: chunk.model,
        choice: choice.index,
        words: delta.content,
        reason: choice.finish_reason,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::chat::Reader;
    use crate::sse::Event;

    fn some_of(members: &'static [(&'static str, &'static str)]) -> impl Strategy<Value = Value> {
        prop::collection::vec(any::<bool>(), members.len()).prop_map(move |chosen| {
            let chosen = members.iter().zip(chosen).filter(|(_, chosen)| *chosen);
            let member = |((name, value), _): (&(&str, &str), bool)| {
                ((*name).to_owned(), serde_json::from_str(value).unwrap())
            };
            Value::Object(chosen.map(member).collect())
        })
    }

    #[test]
    fn a_chunk_as_openai_sends_it_is_read_the_quick_way() {
        let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default",
            "choices":[{"index":0,"delta":{"content":"a\nb"},"logprobs":null,"finish_reason":null}],"usage":null}"#;
        let read =
            |chunk: &str| super::read(chunk).map(|plain| (plain.words.to_string(), plain.reason.is_some()));
        assert_eq!(read(chunk), Some(("a\nb".to_owned(), false)));
        let last = chunk.replace(r#""finish_reason":null"#, r#""finish_reason":"stop""#);
        assert_eq!(read(&last.replace(r#""content":"a\nb""#, "")), Some((String::new(), true)));
        assert_eq!(read(&last.replace(r#""usage":null"#, r#""usage":{}"#)), None);
    }

    proptest! {
        #[test]
        fn the_quick_way_hears_what_the_patient_way_hears(
            mut chunk in some_of(&[
                ("id", "\"c\""), ("model", "\"m\""), ("usage", "null"), ("error", "null"), ("extra", "[1]"),
                ("usage", "{\"prompt_tokens\":1}"), ("error", "{\"message\":\"x\"}"),
                ("x_groq", "{\"usage\":{\"prompt_tokens\":2}}"),
            ]),
            mut choice in some_of(&[
                ("index", "0"), ("index", "1"), ("finish_reason", "null"), ("finish_reason", "\"stop\""),
                ("finish_reason", "\"\""), ("logprobs", "null"), ("logprobs", "{\"content\":[]}"), ("index", "\"0\""),
            ]),
            delta in some_of(&[
                ("role", "\"assistant\""), ("content", "\"words\""), ("content", "\"\\\"é\\n\""), ("content", "\"\""),
                ("refusal", "null"), ("refusal", "\"no\""), ("reasoning_content", "\"hm\""), ("reasoning", "\"hm\""),
                ("tool_calls", "[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]"), ("tool_calls", "null"),
            ]),
            twice in any::<bool>(),
            begun in any::<bool>(),
        ) {
            choice["delta"] = delta;
            chunk["choices"] = if twice { json!([choice, choice]) } else { json!([choice]) };
            let first = json!({ "id": "c", "model": "m", "choices": [{ "index": 1, "delta": {} }] }).to_string();
            let data = chunk.to_string();
            let (mut quick, mut patient) = (Reader::default(), Reader::default());
            let (mut heard, mut expected) = (Vec::new(), Vec::new());
            if begun {
                quick.read(&Event { name: None, data: &first }, &mut heard).unwrap();
                patient.read_patiently(&first, false, &mut expected).unwrap();
            }
            // The second and third time it may be the chunk before with other words.
            for data in [&data, &data.replace("words", "others"), &data] {
                quick.read(&Event { name: None, data }, &mut heard).unwrap();
                patient.read_patiently(data, false, &mut expected).unwrap();
            }
            quick.close(&mut heard);
            patient.close(&mut expected);
            prop_assert_eq!(heard, expected);
        }
    }
}
