//! Payload fields under salted digests: each can be shown or withheld on its own.

use std::fmt;
use std::str::FromStr;

use schema::Digest;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::canonical::{self, CanonicalError};
use crate::hash::sha256;
use crate::payload::{Name, Payload};
use crate::said::Said;
use crate::transcript::{Spot, Transcript};

/// Sixteen unpredictable bytes, used for one field only: without them a withheld value could be guessed and tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

/// A field as it travels: with its value, or with nothing but the digest that the chain committed to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Field {
    /// Shown.
    Disclosed(Disclosed),
    /// Not shown, or erased.
    Withheld(Withheld),
}

/// A value and its salt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disclosed {
    salt: Salt,
    value: Said,
}

/// The explicit marker in place of a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Withheld {
    withheld: Digest,
}

/// Its members say which of the two it is. Told from them as they come, a long value is read once, and not kept aside to be tried as
/// one and then as the other.
impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field: its salt and its value, or that it is withheld")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Field, A::Error> {
                let (mut salt, mut value, mut withheld) = (None, None, None);
                while let Some(member) = members.next_key()? {
                    let is_second = match member {
                        Member::Salt => salt.replace(members.next_value()?).is_some(),
                        Member::Value => value.replace(members.next_value()?).is_some(),
                        Member::Withheld => withheld.replace(members.next_value()?).is_some(),
                    };
                    if is_second {
                        return Err(A::Error::custom("a member of a field is there twice"));
                    }
                }
                match (salt, value, withheld) {
                    (Some(salt), Some(value), None) => Ok(Field::Disclosed(Disclosed { salt, value })),
                    (None, None, Some(withheld)) => Ok(Field::Withheld(Withheld { withheld })),
                    _ => Err(A::Error::custom("a field has a salt and a value, or is withheld")),
                }
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Salt,
    Value,
    Withheld,
}

impl Field {
    /// A field that shows its value.
    #[must_use]
    pub fn disclosed(salt: Salt, value: impl Into<Said>) -> Self {
        Self::Disclosed(Disclosed { salt, value: value.into() })
    }

    /// The value, unless it is withheld.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Disclosed(shown) => Some(&shown.value),
            Self::Withheld(_) => None,
        }
    }

    /// What a reader of a row sees: the value, or the marker itself.
    #[must_use]
    pub fn shown(&self) -> Value {
        match self {
            Self::Disclosed(shown) => Value::clone(&shown.value),
            Self::Withheld(marker) => serde_json::json!({ "withheld": marker.withheld }),
        }
    }

    /// The same field with its value taken out.
    ///
    /// # Errors
    /// The value has no canonical form; then it was never recorded.
    pub fn withheld(&self, name: &str) -> Result<Self, CanonicalError> {
        let mut quoted = Vec::new();
        canonical::write_string(name, &mut quoted);
        Ok(Self::Withheld(Withheld { withheld: self.digest(&quoted, &mut Vec::new())? }))
    }

    /// The digest that the chain commits to. The name is `quoted` as JSON has it. What was hashed is left in `scratch`, which
    /// saves an allocation a field on the hot path.
    fn digest(&self, quoted: &[u8], scratch: &mut Vec<u8>) -> Result<Digest, CanonicalError> {
        match self {
            Self::Disclosed(shown) => {
                scratch.clear();
                scratch.extend_from_slice(b"[\"");
                scratch.extend_from_slice(&shown.salt.to_hex());
                scratch.extend_from_slice(b"\",");
                scratch.extend_from_slice(quoted);
                scratch.push(b',');
                canonical::write(&shown.value, scratch)?;
                scratch.push(b']');
                Ok(sha256(scratch))
            }
            Self::Withheld(marker) => Ok(marker.withheld),
        }
    }

    /// Appends the field as an event has it. `hashed` is what [`Field::digest`] has just left, `name_len` how long the name
    /// is in it: salt and value are copied from there, because the value is in its canonical form already.
    fn write(&self, hashed: &[u8], name_len: usize, out: &mut Vec<u8>) {
        match self {
            Self::Disclosed(_) => {
                // `["SALT","NAME",VALUE]`
                let value = SALT_ENDS + "\",".len() + name_len + ",".len();
                out.extend_from_slice(BEFORE_SALT);
                out.extend_from_slice(&hashed[SALT_BEGINS..SALT_ENDS]);
                out.extend_from_slice(b"\",\"value\":");
                out.extend_from_slice(&hashed[value..hashed.len() - 1]);
                out.push(b'}');
            }
            Self::Withheld(marker) => {
                out.extend_from_slice(b"{\"withheld\":\"");
                out.extend_from_slice(&marker.withheld.to_hex());
                out.extend_from_slice(b"\"}");
            }
        }
    }
}

/// What comes before the salt where an event has it.
const BEFORE_SALT: &[u8] = b"{\"salt\":\"";

/// Where the salt is in what is hashed.
const SALT_BEGINS: usize = "[\"".len();
const SALT_ENDS: usize = SALT_BEGINS + 32;

/// The digest over all fields: names stay visible when values are withheld. Appends them to `text` as an event has them.
pub(crate) fn payload_digest(
    payload: &Payload,
    scratch: &mut Scratch,
    transcript: &mut Transcript,
) -> Result<Digest, CanonicalError> {
    scratch.outer.clear();
    scratch.outer.push(b'{');
    let Transcript { text, spots } = transcript;
    text.push(b'{');
    let mut write = |(name, field): (&Name, &Field)| {
        if scratch.outer.len() > 1 {
            scratch.outer.push(b',');
            text.push(b',');
        }
        let began = text.len();
        canonical::write_string(name, text);
        let quoted = &text[began..];
        let name_len = quoted.len();
        scratch.outer.extend_from_slice(quoted);
        scratch.outer.extend_from_slice(b":\"");
        scratch.outer.extend_from_slice(&field.digest(quoted, &mut scratch.inner)?.to_hex());
        scratch.outer.push(b'"');
        text.push(b':');
        if let Field::Disclosed(shown) = field {
            spots.push(Spot::Field { name: began, at: text.len() + BEFORE_SALT.len(), salt: shown.salt });
        }
        field.write(&scratch.inner, name_len, text);
        Ok(())
    };
    // Fields are in byte order, which is the canonical order unless a name leaves ASCII.
    if payload.keys().all(|name| name.is_ascii()) {
        payload.iter().try_for_each(&mut write)?;
    } else {
        let mut fields: Vec<_> = payload.iter().collect();
        canonical::sort_names(&mut fields, |(name, _)| name);
        fields.into_iter().try_for_each(&mut write)?;
    }
    scratch.outer.push(b'}');
    text.push(b'}');
    Ok(sha256(&scratch.outer))
}

/// Buffers that hashing writes into, kept by a chain so that an event costs no allocation for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// The text of a whole payload or envelope.
    pub(crate) outer: Vec<u8>,
    /// The text of one field.
    inner: Vec<u8>,
}

impl Salt {
    /// A salt of these bytes; they must come from a cryptographic source.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    fn to_hex(self) -> [u8; 32] {
        let mut text = [0; 32];
        schema::write_hex(&self.0, &mut text);
        text
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_hex()).map_err(|_| fmt::Error)?)
    }
}
impl FromStr for Salt {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        schema::read_hex(text).map(Self).ok_or("expected 32 lower-case hex digits")
    }
}
schema::serde_as_text!(Salt);
