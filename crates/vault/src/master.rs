//! The master keys: the one that wraps, and those that only unwrap any more.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crypto::{KeyId, SealKey};
use zeroize::Zeroizing;

/// The keys that the keys of credentials are wrapped by.
#[derive(Debug)]
pub struct MasterKeys {
    active: SealKey,
    old: Vec<SealKey>,
}

/// A text is no master key. Nothing of it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// It is not 32 bytes in one of the two spellings.
    #[error(
        "a master key is 32 bytes as 44 characters of base64 or 64 hexadecimal digits; make one with `openssl rand -base64 32`"
    )]
    Format,
    /// All its bytes are the same: somebody has left a placeholder.
    #[error("a master key whose bytes are all the same is none; make one with `openssl rand -base64 32`")]
    Placeholder,
}

impl MasterKeys {
    /// `active` wraps from now on; what `old` have wrapped can still be opened.
    #[must_use]
    pub fn new(active: SealKey, old: Vec<SealKey>) -> Self {
        Self { active, old }
    }

    /// The key in a text, as a file, a variable or a command gives it. White space around it does not matter.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<SealKey, KeyTextError> {
        let text = text.trim();
        let bytes = Zeroizing::new(match text.len() {
            64 => hex::decode(text).map_err(|_| KeyTextError::Format)?,
            44 => BASE64.decode(text).map_err(|_| KeyTextError::Format)?,
            _ => return Err(KeyTextError::Format),
        });
        let key = Zeroizing::new(<[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| KeyTextError::Format)?);
        if key.iter().all(|byte| *byte == key[0]) {
            return Err(KeyTextError::Placeholder);
        }
        Ok(SealKey::from_bytes(*key))
    }

    /// The key that wraps.
    #[must_use]
    pub fn active(&self) -> &SealKey {
        &self.active
    }

    /// Every key that unwraps, the active one first.
    pub fn all(&self) -> impl Iterator<Item = &SealKey> {
        std::iter::once(&self.active).chain(&self.old)
    }

    /// Whether the key with this id is one of them.
    #[must_use]
    pub fn has(&self, id: KeyId) -> bool {
        self.all().any(|key| key.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_in_both_spellings_and_they_mean_the_same() {
        let bytes: Vec<u8> = (0..32).collect();
        let (hex, base64) = (hex::encode(&bytes), BASE64.encode(&bytes));
        let ids = [&hex, &base64, &format!(" {base64}\n"), &hex.to_uppercase()]
            .map(|text| MasterKeys::parse(text).unwrap().id());
        assert!(ids.iter().all(|id| *id == ids[0]));
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        let secret = "hunter2".repeat(7);
        for text in ["", "changeme", &secret[..44], &"g".repeat(64), &"a".repeat(63)] {
            let error = MasterKeys::parse(text).unwrap_err();
            assert_eq!(error, KeyTextError::Format, "{text}");
            assert!(!error.to_string().contains("hunter"));
        }
        assert_eq!(MasterKeys::parse(&"00".repeat(32)).unwrap_err(), KeyTextError::Placeholder);
    }
}
