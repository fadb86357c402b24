//! E-mail addresses: what people are found by.

use std::fmt;

use crypto::token::TokenHash;
use schema::Digest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An e-mail address in lower case. Two spellings that differ in nothing else are one person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

impl Email {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is behind the `@`.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// What its person is found by.
    pub(crate) fn digest(&self) -> Digest {
        Digest::from_bytes(*TokenHash::of(&format!("user e-mail\n{}", self.0)).as_bytes())
    }
}

impl TryFrom<String> for Email {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WANTED: &str = "expected an e-mail address such as ada@example.org, up to 254 characters";
        if text.len() > 1_000 {
            return Err(WANTED);
        }
        let text = text.trim().to_lowercase();
        let (name, domain) = text.rsplit_once('@').ok_or(WANTED)?;
        let is_plain = !text.chars().any(|each| each.is_control() || each.is_whitespace());
        let fits = text.len() <= 254 && !name.is_empty() && !name.contains('@');
        if is_plain && fits && domain.contains('.') && !domain.starts_with('.') && !domain.ends_with('.') {
            Ok(Self(text))
        } else {
            Err(WANTED)
        }
    }
}

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for Email {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Email".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "email", "maxLength": 254, "description": "An e-mail address" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_one_and_what_is_none_is_refused() {
        let email = |text: &str| Email::try_from(text.to_owned());
        assert_eq!(email(" Ada@Example.ORG ").unwrap(), email("ada@example.org").unwrap());
        assert_eq!(email("ada@example.org").unwrap().domain(), "example.org");
        for bad in ["", "ada", "@example.org", "ada@org", "a@b@c.d", "a b@c.d", "a@.d", "a@c.", "a\n@c.d"] {
            assert!(email(bad).is_err(), "{bad:?}");
        }
        assert!(email(&format!("{}@example.org", "a".repeat(250))).is_err());
    }
}
