//! Fingerprints: when two requests are the same, of the same kind, with the same tools, or answered in the same shape.
//!
//! `request.rs` hashes what is fixed, `template.rs` mines what varies. All of them are SHA-256 over canonical JSON, so that
//! whoever has the ledger computes the same ones.

mod request;
mod template;

pub use request::{loose_shape, outline, request, shape, tools};
pub use template::{COUNTED, Observed, Piece, Template, Templates, fits, skeleton};

use ledger::{canonical, sha256};
use schema::Digest;
use serde_json::Value;

/// SHA-256 over the canonical form of `value`.
#[must_use]
pub fn digest(value: &Value) -> Digest {
    digest_of(|out| canonical::write(value, out)).unwrap_or_else(|| digest_beyond(value))
}

/// SHA-256 over what is written, if it can be.
fn digest_of<E>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Option<Digest> {
    let mut bytes = Vec::with_capacity(1024);
    write(&mut bytes).ok()?;
    Some(sha256(&bytes))
}

/// The same for what the ledger's form has no place for, such as a number that not every reader keeps.
fn digest_beyond(value: &Value) -> Digest {
    // A `Value` always has a form by RFC 8785; were there none, its plain form still tells two values apart.
    let bytes = serde_json_canonicalizer::to_vec(value).unwrap_or_else(|_| value.to_string().into_bytes());
    sha256(&bytes)
}
