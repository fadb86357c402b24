//! When two model requests are the same.

use ledger::canonical::{self, CanonicalError};
use schema::{Digest, Subject};
use serde_json::{Value, json};
use wire::{Request, Wire};

use crate::wish::Rules;

/// Why a request is not kept and not looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncacheable {
    /// It may be answered differently every time, and the caller did not say that one answer is as good as another.
    #[error("the request is not deterministic: its temperature is not 0")]
    Chance,
    /// It asks for something that only its vendor has, and that an answer told again would lack.
    #[error("the request uses `{0}`, which only its vendor can answer")]
    Foreign(&'static str),
    /// Some value in it has no canonical form, such as a number beyond 2^53.
    #[error("the request has no canonical form")]
    NoForm,
}

/// Fields that make the vendor run something of its own, remember something, or answer in a form that we do not keep.
const FOREIGN: &[&str] = &[
    "audio",
    "background",
    "container",
    "conversation",
    "include",
    "mcp_servers",
    "modalities",
    "previous_response_id",
    "prompt",
    "tools",
    "web_search_options",
];

/// What the answer to a request is kept under: all of its body, whatever is in it, so that no parameter can be forgotten.
/// `model` is the model's canonical name, so that aliases share answers. How the answer is delivered, in one piece or
/// streamed, is not in the key.
///
/// # Errors
/// The request may not be answered from a cache.
pub fn exact_key(
    request: &Request,
    body: &Value,
    model: &str,
    subject: Option<&Subject>,
    rules: &Rules,
) -> Result<Digest, Uncacheable> {
    if rules.deterministic_only && request.sampling.temperature != Some(0.0) {
        return Err(Uncacheable::Chance);
    }
    if let Some(name) = FOREIGN.iter().find(|name| request.extra.contains_key(**name)) {
        return Err(Uncacheable::Foreign(name));
    }
    let delivery = |name: &str| matches!(name, "stream" | "stream_options" | "model");
    let said = body.as_object().into_iter().flatten().filter(|(name, _)| !delivery(name));
    let bytes = whole(request.wire, model, subject, said).map_err(|_| Uncacheable::NoForm)?;
    Ok(ledger::sha256(&bytes))
}

/// The canonical text of `{ model, punk, request, subject, wire }`. It is written around the members of the request where they
/// are: a request can be long, and is not copied for this.
fn whole<'m>(
    wire: Wire,
    model: &str,
    subject: Option<&Subject>,
    said: impl Iterator<Item = (&'m String, &'m Value)> + Clone,
) -> Result<Vec<u8>, CanonicalError> {
    let mut out = Vec::with_capacity(ROOM);
    let member = |before: &str, value: Value, out: &mut Vec<u8>| {
        out.extend_from_slice(before.as_bytes());
        canonical::write(&value, out)
    };
    member(r#"{"model":"#, json!(model), &mut out)?;
    out.extend_from_slice(br#","punk":"exact/1","request":"#);
    canonical::write_members(said, &mut out)?;
    member(r#","subject":"#, json!(subject), &mut out)?;
    member(r#","wire":"#, json!(wire), &mut out)?;
    out.push(b'}');
    Ok(out)
}

/// What most requests fit in.
const ROOM: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keyed(body: &Value, subject: Option<&Subject>, rules: &Rules) -> Result<Digest, Uncacheable> {
        exact_key(&Wire::Chat.read_request(body).unwrap(), body, "gpt-4o", subject, rules)
    }

    fn key(body: &Value) -> Digest {
        keyed(body, None, &Rules::default()).unwrap()
    }

    fn body() -> Value {
        json!({ "model": "gpt-4o", "temperature": 0, "messages": [{ "role": "user", "content": "Hello" }] })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut body = body();
        body[name] = value;
        body
    }

    #[test]
    fn every_parameter_that_can_change_an_answer_is_in_the_key() {
        let plain = key(&body());
        let changed = [
            with("temperature", json!(0.0)),
            with("max_tokens", json!(5)),
            with("top_p", json!(0.5)),
            with("seed", json!(7)),
            with("stop", json!("x")),
            with("reasoning_effort", json!("low")),
            with("response_format", json!({ "type": "json_object" })),
            with("tools", json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }])),
            with("logprobs", json!(true)),
            with("n", json!(2)),
            with("user", json!("u")),
            with("some_new_field", json!(1)),
            with("messages", json!([{ "role": "user", "content": "Hello", "name": "alice" }])),
        ];
        for (index, changed) in changed.iter().enumerate() {
            // The first says the same in other words.
            assert_eq!(key(changed) == plain, index == 0, "{changed}");
        }
    }

    #[test]
    fn the_key_is_the_digest_of_one_canonical_object() {
        let subject = Subject::try_from("user-7".to_owned()).unwrap();
        let mut said = body();
        said.as_object_mut().unwrap().remove("model");
        let object = json!({
            "punk": "exact/1", "wire": "chat", "model": "gpt-4o", "subject": "user-7", "request": said,
        });
        let expected = ledger::sha256(&canonical::to_vec(&object).unwrap());
        assert_eq!(keyed(&body(), Some(&subject), &Rules::default()), Ok(expected));
    }

    #[test]
    fn how_an_answer_is_delivered_is_not_in_the_key() {
        let mut streamed = with("stream", json!(true));
        streamed["stream_options"] = json!({ "include_usage": true });
        assert_eq!(key(&streamed), key(&body()));
    }

    #[test]
    fn an_alias_shares_the_answers_of_its_model_and_a_subject_shares_with_nobody() {
        assert_eq!(key(&with("model", json!("openai:gpt-4o"))), key(&body()));
        let subject = Subject::try_from("user-7".to_owned()).unwrap();
        assert_ne!(keyed(&body(), Some(&subject), &Rules::default()), Ok(key(&body())));
    }

    #[test]
    fn chance_is_not_cached_unless_asked() {
        let mut chance = body();
        chance["temperature"] = json!(0.7);
        assert_eq!(keyed(&chance, None, &Rules::default()), Err(Uncacheable::Chance));
        let rules = Rules { deterministic_only: false, ..Rules::default() };
        assert!(keyed(&chance, None, &rules).is_ok());
    }

    #[test]
    fn what_only_the_vendor_can_do_is_not_cached() {
        let body = json!({ "model": "m", "temperature": 0, "input": "Hi", "previous_response_id": "resp_1" });
        let request = Wire::Responses.read_request(&body).unwrap();
        let key = exact_key(&request, &body, "m", None, &Rules::default());
        assert_eq!(key, Err(Uncacheable::Foreign("previous_response_id")));
    }

    proptest! {
        #[test]
        fn the_order_of_members_is_not_in_the_key(text in ".*") {
            let one = json!({ "model": "m", "temperature": 0, "messages": [{ "role": "user", "content": text }] });
            let other = json!({ "messages": [{ "content": text, "role": "user" }], "temperature": 0, "model": "m" });
            prop_assert_eq!(key(&one), key(&other));
        }
    }
}
