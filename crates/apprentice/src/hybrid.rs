//! Hybrids: programs that answer a part of what is asked, and what is asked of a small model for the rest.
//!
//! Everything here is words and values. Whoever may act asks the model: the gateway, with leave to. It asks for what is open and
//! nothing else ([`Draft::question`]), and what it is told has to complete the part as live would have ([`Draft::complete`]), or
//! there is no answer.

use std::sync::Arc;

use artifact::program::Open;
use artifact::text::{mix, stable_hash};
use schema::{Digest, RunId, Timestamp};
use serde_json::{Map, Value, json};
use wire::{Answer, Format, Message, Part, Request, Role, Sampling, ToolChoice};

use crate::executable::said;
use crate::shelf::{Offered, Shelved};

/// The small model that may be asked for what programs leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Small {
    /// Its name, as it is configured.
    pub model: String,
    /// Of a hundred live requests that a hybrid in the shadow has a part for, so many are an occasion to ask it beforehand.
    pub percent: u8,
}

impl Small {
    /// Whether the request of `run` is such an occasion. Nobody who does not know `choice` can tell.
    #[must_use]
    pub(crate) fn takes(&self, choice: u64, run: RunId) -> bool {
        mix(stable_hash(choice, run.as_bytes())) % 100 < u64::from(self.percent)
    }
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Whose it is.
    pub shelved: Arc<Shelved>,
    /// The small model that is asked for the rest.
    pub small: String,
    /// What the program says.
    pub(crate) part: Map<String, Value>,
    /// The model that was asked for.
    pub(crate) model: String,
    /// What its input is known by.
    pub(crate) key: Digest,
}

impl Draft {
    /// The fields that are missing.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        self.shelved.open()
    }

    /// Their names.
    #[must_use]
    pub fn open_names(&self) -> Vec<String> {
        self.open().iter().map(|open| open.name.clone()).collect()
    }

    /// Asking came to an answer or not: what comes to nothing again and again is left alone for a while.
    pub fn came_to(&self, is_answer: bool, now: Timestamp) {
        self.shelved.rest.note(is_answer, now);
    }

    /// `request`, as the small model is asked: the same conversation, for what is missing alone.
    #[must_use]
    pub fn question(&self, request: &Request) -> Request {
        let mut messages = request.messages.clone();
        let instructions = messages.iter().take_while(|message| message.role == Role::System).count();
        let wanted = Message { role: Role::System, parts: vec![Part::text(wanted(self.open()))] };
        messages.insert(instructions, wanted);
        let Sampling { temperature, top_p, max_tokens, .. } = request.sampling.clone();
        Request {
            messages,
            // What was called before may be in the conversation, so tools stay; none of them is called for a field.
            tools: request.tools.clone(),
            tool_choice: (!request.tools.is_empty()).then_some(ToolChoice::None),
            sampling: Sampling { temperature, top_p, max_tokens, ..Sampling::default() },
            format: narrowed(&request.format, self.open()),
            user: request.user.clone(),
            ..Request::new(request.wire, self.small.as_str())
        }
    }

    /// The whole answer, if `told` is what is missing, and like what live says there, with what was told as text for the record; or
    /// why it is not.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn complete(&self, told: &Answer) -> Result<(Offered, String), String> {
        let Some((Value::Object(told), _)) = said(told) else {
            return Err("what it said is no JSON object".to_owned());
        };
        let said = self.shelved.executable.completed(&self.part, &told)?;
        let answer = self.shelved.executable.worded(&said, &self.model);
        let offered = Offered { shelved: Arc::clone(&self.shelved), said, answer, key: self.key };
        // As text: in a record, numbers have one spelling only, and the answer has the model's.
        Ok((offered, Value::Object(told).to_string()))
    }
}

/// The form of an answer that has the open fields alone: the caller's schema has fields in it that are known already.
fn narrowed(format: &Format, open: &[Open]) -> Format {
    let Format::Schema { name, schema, strict, .. } = format else { return format.clone() };
    let mut schema = schema.clone();
    let names: Vec<&str> = open.iter().map(|open| open.name.as_str()).collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return Format::Json;
    };
    properties.retain(|name, _| names.contains(&name.as_str()));
    if properties.len() != names.len() {
        return Format::Json;
    }
    schema["required"] = json!(names);
    Format::Schema { name: name.clone(), description: None, schema, strict: *strict }
}

/// What is wanted of a small model, in words.
fn wanted(open: &[Open]) -> String {
    let mut text = "Of the JSON object that is asked for, all fields are known but these. Answer with one JSON object that has \
                    exactly these fields, and with nothing else:"
        .to_owned();
    for Open { name, values, shapes, .. } in open {
        let list = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
        let form = if values.is_empty() {
            format!("of the form {}", list(shapes).join(" or "))
        } else {
            format!("one of {}", list(values).join(", "))
        };
        text.push_str(&format!("\n- {}: {form}", Value::from(name.as_str())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_what_is_open_and_how_live_says_it() {
        let mood =
            Open { name: "mood".into(), place: 1, shapes: vec![json!("text")], values: vec![json!("calm")] };
        let note = Open { name: "note".into(), values: Vec::new(), ..mood.clone() };
        let text = wanted(&[mood, note]);
        assert!(text.ends_with("\n- \"mood\": one of \"calm\"\n- \"note\": of the form \"text\""), "{text}");
    }

    #[test]
    fn a_schema_is_narrowed_to_what_is_open_and_one_that_does_not_name_it_is_any_object() {
        let open = [Open { name: "mood".into(), place: 1, shapes: vec![json!("text")], values: Vec::new() }];
        let of = |schema: Value| Format::Schema {
            name: "mail".into(),
            description: None,
            schema,
            strict: Some(true),
        };
        let mood = json!({ "type": "string", "enum": ["calm", "angry"] });
        let whole = json!({
            "type": "object", "additionalProperties": false, "required": ["order", "mood"],
            "properties": { "order": { "type": "integer" }, "mood": mood },
        });
        let part = json!({
            "type": "object", "additionalProperties": false, "required": ["mood"], "properties": { "mood": mood },
        });
        assert_eq!(narrowed(&of(whole), &open), of(part));
        assert_eq!(narrowed(&of(json!({ "$ref": "#/$defs/mail" })), &open), Format::Json);
        assert_eq!(narrowed(&Format::Text, &open), Format::Text);
    }

    #[test]
    fn so_many_of_a_hundred_are_an_occasion() {
        let taken = |percent: u8| {
            let small = Small { model: "s".to_owned(), percent };
            (0..1_000_u64).filter(|at| small.takes(7, RunId::new(*at, [0; 10]))).count()
        };
        assert_eq!((taken(0), taken(100)), (0, 1_000));
        assert!((150..250).contains(&taken(20)), "{}", taken(20));
    }
}
