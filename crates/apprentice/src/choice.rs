//! The secret number that decides which answers are audited: the same in every process of an installation.

use crypto::KeyRing;

/// The number that follows from the installation's key. Who does not have the key cannot tell what is audited.
#[must_use]
pub fn choice_of(keys: &KeyRing) -> u64 {
    let secret = keys.signing_key().map(|key| key.derive_secret("punk/audit-choice/v1"));
    let bytes = secret.and_then(|secret| secret.expose().first_chunk().copied());
    bytes.map_or(0, u64::from_be_bytes)
}
