//! Key ids: `key_` and sixteen hexadecimal digits, derived from the key they name.

use crate::mac::hmac_of;
use sha2::{Digest as _, Sha256};

/// The name of a key. Derived from the key, so it can be neither chosen nor confused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 8]);

/// A text is not a key id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a key id; one looks like key_0123456789abcdef (see `punk keys list`)")]
pub struct KeyIdError {
    text: String,
}

impl KeyId {
    /// The first eight bytes of the SHA-256 of the public key.
    pub fn of_public_key(public: &crate::sign::VerifyingKey) -> Self {
        Self::first_bytes(Sha256::digest(public.as_bytes()).into())
    }

    /// A sealing key has no public half to hash. The id is taken from an HMAC under the key, so that
    /// it tells nothing of the key and equals no hash that is used for anything else.
    pub(crate) fn of_seal_key(key: &[u8; 32]) -> Self {
        Self::first_bytes(hmac_of(key, &[b"punk/seal-key-id/v1\n"]))
    }

    fn first_bytes(digest: [u8; 32]) -> Self {
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        Self(id)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "key_{}", hex::encode(self.0))
    }
}

impl std::fmt::Debug for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for KeyId {
    type Err = KeyIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut id = [0; 8];
        text.strip_prefix("key_")
            .filter(|digits| !digits.bytes().any(|byte| byte.is_ascii_uppercase()))
            .and_then(|digits| hex::decode_to_slice(digits, &mut id).ok())
            .map(|()| Self(id))
            .ok_or_else(|| KeyIdError { text: text.to_owned() })
    }
}
