//! SHA-256, the only hash of the ledger.

use schema::Digest;
use sha2::Digest as _;

/// The SHA-256 digest of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(sha2::Sha256::digest(bytes).into())
}
