//! The compact form: `header.payload.signature`, each in base64url.

use super::{Refused, json};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Map, Value};

/// A token in its parts. Nothing is verified yet.
pub(crate) struct Compact<'t> {
    pub(crate) header: Map<String, Value>,
    /// What the signature is of.
    pub(crate) signed: &'t [u8],
    /// The bytes of the claims.
    pub(crate) payload: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl<'t> Compact<'t> {
    /// Takes `text` apart. One of more than `longest` bytes is not looked at.
    pub(crate) fn parse(text: &'t str, longest: usize) -> Result<Self, Refused> {
        if text.len() > longest {
            return Err(Refused::TooLong);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Refused::Form)?;
        let (header, payload) = signed.split_once('.').ok_or(Refused::Form)?;
        // A point in the payload would be a fourth part; base64url has none, so decoding refuses it.
        Ok(Self {
            header: json::object(&decode(header)?).ok_or(Refused::Form)?,
            signed: signed.as_bytes(),
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    /// A header that is a text, when it is there.
    pub(crate) fn header_text(&self, name: &str) -> Result<Option<&str>, Refused> {
        match self.header.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or(Refused::Header),
        }
    }

    /// The claims, for whoever has verified the signature or only asks whose token it claims to be.
    pub(crate) fn claims(&self) -> Result<Map<String, Value>, Refused> {
        json::object(&self.payload).ok_or(Refused::Form)
    }
}

/// Without padding, without stray bits at the end: one text for the same bytes.
fn decode(part: &str) -> Result<Vec<u8>, Refused> {
    BASE64URL.decode(part).map_err(|_| Refused::Form)
}

/// A part of a token.
pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64URL.encode(bytes)
}
