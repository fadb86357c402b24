//! Texts of callers that name something, checked once where they come in.

use std::fmt;

use redaction::has_secret;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The name of something: 1 to 120 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Name(String);

/// A text that people wrote: 1 to 2,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Note(String);

/// Instructions for a model: 1 to 32,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Prompt(String);

/// What somebody says to a model: 1 to 200,000 characters, not all of them blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Speech(String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let fits = (1..=120).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if !fits {
            return Err("expected 1 to 120 visible characters");
        }
        // A name is shown and kept as it is, wherever it stands.
        if has_secret(&text) { Err("expected a name, and this looks like a secret") } else { Ok(Self(text)) }
    }
}
impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Note {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let fits = (1..=2_000).contains(&text.chars().count());
        if fits { Ok(Self(text)) } else { Err("expected 1 to 2000 characters") }
    }
}
impl From<Note> for String {
    fn from(note: Note) -> Self {
        note.0
    }
}

impl TryFrom<String> for Prompt {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let fits = (1..=32_000).contains(&text.chars().count());
        if fits { Ok(Self(text)) } else { Err("expected 1 to 32000 characters") }
    }
}
impl From<Prompt> for String {
    fn from(prompt: Prompt) -> Self {
        prompt.0
    }
}

impl TryFrom<String> for Speech {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let fits = text.chars().count() <= 200_000 && !text.trim().is_empty();
        if fits { Ok(Self(text)) } else { Err("expected 1 to 200000 characters, not all of them blank") }
    }
}
impl From<Speech> for String {
    fn from(speech: Speech) -> Self {
        speech.0
    }
}

macro_rules! text_schema {
    ($type:ident, $most:literal, $pattern:literal, $about:literal) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "minLength": 1, "maxLength": $most, "pattern": $pattern, "description": $about })
            }
        }
    };
}
text_schema!(Name, 120, "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", "1 to 120 visible characters");
text_schema!(Note, 2000, "", "1 to 2000 characters");
text_schema!(Prompt, 32000, "", "1 to 32000 characters");
text_schema!(Speech, 200_000, "\\S", "1 to 200000 characters, not all of them blank");
