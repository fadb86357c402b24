//! Passwords on their way in.

use crypto::SecretString;
use identity::password::check;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::email::Email;
use crate::error::ApiError;

/// Longer than any password that could be chosen.
const LONGEST: usize = 1024;

/// A password that somebody sent. It prints nothing of itself.
#[derive(Debug)]
pub struct NewPassword(SecretString);

impl NewPassword {
    /// This text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(SecretString::new(text))
    }

    /// As it was sent, to be compared.
    pub(crate) fn shown(self) -> SecretString {
        self.0
    }

    /// As somebody's new password, if it may be one.
    pub(crate) fn chosen(self, param: &str, email: &Email) -> Result<SecretString, ApiError> {
        match check(&self.0, email.as_str()) {
            Ok(()) => Ok(self.0),
            Err(rule) => Err(ApiError::Malformed { param: param.to_owned(), message: rule.to_string() }),
        }
    }
}

impl<'de> Deserialize<'de> for NewPassword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Hashing takes longer the longer a text is, and whoever sends it need not be anybody.
        if text.len() > LONGEST {
            return Err(serde::de::Error::custom("expected at most 1024 bytes"));
        }
        Ok(Self::new(text))
    }
}

impl JsonSchema for NewPassword {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Password".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "description": "12 to 256 characters, when it is a new one" })
    }
}
