//! Fingerprints: when two requests are the same, of the same kind, with the same tools, or answered in the same shape.
//!
//! `request.rs` hashes what is fixed, `template.rs` mines what varies. All of them are SHA-256 over canonical JSON, so that
//! whoever has the ledger computes the same ones.

mod request;
mod template;

pub use request::{loose_shape, request, shape, tools};
pub use template::{Piece, Template, Templates};

use schema::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 over the canonical form of `value`.
#[must_use]
pub fn digest(value: &Value) -> Digest {
    // A `Value` always has a canonical form; were there none, its plain form still tells two values apart.
    let bytes = serde_json_canonicalizer::to_vec(value).unwrap_or_else(|_| value.to_string().into_bytes());
    Digest::from_bytes(Sha256::digest(&bytes).into())
}
