//! A credential: what can be shown of a secret.

use std::fmt;
use std::str::FromStr;

use crypto::{KeyId, SecretString};
use schema::{CredentialId, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a name may be.
const LONGEST_NAME: usize = 64;
/// How many bytes a value may have: a key with its certificates fits, a document does not.
pub const LONGEST_VALUE: usize = 16 * 1024;

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// The key of a model provider.
    Provider,
    /// What a tool shows to whom it calls.
    Tool,
    /// What messages are signed or sent with.
    Webhook,
    /// A text that is planted where a model reads it, and must never come out.
    Canary,
    /// Anything else.
    Other,
}

impl CredentialKind {
    /// Every kind there is.
    pub const ALL: [Self; 5] = [Self::Provider, Self::Tool, Self::Webhook, Self::Canary, Self::Other];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Tool => "tool",
            Self::Webhook => "webhook",
            Self::Canary => "canary",
            Self::Other => "other",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What people call a credential: 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or a digit, and not
/// with `crd_`, which ids begin with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// A text is no name. It is not repeated: somebody may have put the secret in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or a digit, and not with `crd_`"
)]
pub struct UnfitName;

impl Name {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = UnfitName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=LONGEST_NAME).contains(&text.len())
            && text.bytes().all(of_names)
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && !text.starts_with("crd_");
        if fits { Ok(Self(text.to_owned())) } else { Err(UnfitName) }
    }
}

impl TryFrom<String> for Name {
    type Error = UnfitName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text cannot be the value of a credential. It is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a text of 1 to 16384 bytes")]
pub struct UnfitValue;

/// `text` as a value.
///
/// # Errors
/// It is empty or too long.
pub fn value(text: SecretString) -> Result<SecretString, UnfitValue> {
    if (1..=LONGEST_VALUE).contains(&text.expose().len()) { Ok(text) } else { Err(UnfitValue) }
}

/// A credential to be kept.
#[derive(Debug)]
pub struct NewCredential {
    /// Its id.
    pub id: CredentialId,
    /// What people call it.
    pub name: Name,
    /// What it is for.
    pub kind: CredentialKind,
    /// The secret.
    pub value: SecretString,
    /// Who keeps it: a key id, or `installation`.
    pub created_by: String,
    /// When.
    pub at: Timestamp,
}

/// A credential without its value, which nothing shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Its id.
    pub id: CredentialId,
    /// What people call it; no two of a tenant share one.
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub name: Name,
    /// What it is for.
    pub kind: CredentialKind,
    /// Which value it has, counted from 1.
    pub version: u64,
    /// The master key that its own key is wrapped by.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub master_key_id: KeyId,
    /// Who added it: a key id, or `installation`.
    pub created_by: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last got another value; null if it never did.
    pub rotated_at: Option<Timestamp>,
    /// How often its record was written: what a change expects.
    #[serde(skip)]
    pub(crate) revision: u64,
}

fn as_text<S: serde::Serializer>(id: &KeyId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_no_ids() {
        for name in ["a", "openai", "Acme.prod_1-x", "0", &"n".repeat(64)] {
            assert!(name.parse::<Name>().is_ok(), "{name}");
        }
        for name in ["", ".a", "-a", "_a", "a b", "a/b", "ü", "a\n", "crd_x", &"n".repeat(65)] {
            assert_eq!(name.parse::<Name>(), Err(UnfitName), "{name}");
        }
    }

    #[test]
    fn a_credential_to_be_kept_prints_nothing_of_its_value() {
        let new = NewCredential {
            id: CredentialId::new(1, [1; 10]),
            name: "openai".parse().unwrap(),
            kind: CredentialKind::Provider,
            value: SecretString::new("hunter2".to_owned()),
            created_by: "installation".to_owned(),
            at: Timestamp::EPOCH,
        };
        assert!(!format!("{new:?} {new:#?} {UnfitValue} {UnfitName}").contains("hunter"));
    }

    #[test]
    fn a_value_has_one_to_16384_bytes() {
        let fits = |length: usize| value(SecretString::new("x".repeat(length))).is_ok();
        assert_eq!([0, 1, LONGEST_VALUE, LONGEST_VALUE + 1].map(fits), [false, true, true, false]);
    }
}
