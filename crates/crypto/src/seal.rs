//! Sealing: secrets at rest under XChaCha20-Poly1305.
//!
//! A sealed value is bytes of one layout:
//!
//! ```text
//! 1  kind     1 = a value, 2 = a wrapped data key
//! 8  key id   which key seals it, so that retired keys still open what they sealed
//! 24 nonce    random; 192 bits are enough to never count
//! n  ciphertext, then 16 bytes of tag
//! ```
//!
//! The first 9 bytes and the caller's context (`aad`) are authenticated: a value sealed for one record
//! does not open as another's. The context is not stored; who opens must know what it is opening.
//!
//! [`DataKey`] is the envelope: a key per record or subject, itself stored only wrapped by a [`SealKey`].
//! Destroying the wrapped key erases everything sealed under it, wherever copies of that went.

use crate::keyring::KeyId;
use crate::random::{self, RandomError};
use crate::secret::Secret;
use chacha20poly1305::aead::{Aead as _, AeadInOut as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

const KEY_ID: usize = 8;
const NONCE: usize = 24;
const HEADER: usize = 1 + KEY_ID;

/// Why a value was not sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// No nonce could be made.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// XChaCha20 counts blocks in 32 bits.
    #[error("value of {length} bytes is too long to seal; split it below 256 GiB")]
    TooLong {
        /// The length that was refused.
        length: usize,
    },
}

/// A sealed value did not open. Deliberately one answer for a foreign key, a foreign context, damage and
/// truncation: telling them apart helps only who is guessing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "sealed value does not open: it was sealed by a key not in the ring, for another context, or is damaged"
)]
pub struct OpenError;

/// What a sealed value holds. Part of the authenticated header, so one never opens as the other.
#[derive(Clone, Copy)]
enum Kind {
    Value = 1,
    WrappedKey = 2,
}

/// A key that seals, 32 bytes. Wiped when dropped; prints only its id.
pub struct SealKey {
    id: KeyId,
    key: Secret<[u8; 32]>,
}

impl SealKey {
    /// A new key from the operating system's randomness.
    pub fn generate() -> Result<Self, RandomError> {
        Ok(Self::from_bytes(random::bytes()?))
    }

    /// The key of these 32 bytes.
    pub fn from_bytes(key: [u8; 32]) -> Self {
        Self { id: KeyId::of_seal_key(&key), key: Secret::new(key) }
    }

    /// The same key once more, for another owner.
    pub fn duplicate(&self) -> Self {
        Self { id: self.id, key: self.key.duplicate() }
    }

    /// The id that sealed values carry.
    pub fn id(&self) -> KeyId {
        self.id
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SealKey({})", self.id)
    }
}

/// Seals `plaintext` under `key` for the context `aad`.
pub fn seal(key: &SealKey, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
    seal_as(Kind::Value, key, aad, plaintext)
}

/// Opens what [`seal`] made, with whichever of `keys` sealed it.
pub fn open<'k>(
    keys: impl IntoIterator<Item = &'k SealKey>,
    aad: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    open_as(Kind::Value, keys, aad, sealed)
}

fn seal_as(kind: Kind, key: &SealKey, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
    let nonce = random::bytes::<NONCE>()?;
    let header = header(kind, key.id);
    let ciphertext = cipher(key)
        .encrypt(&XNonce::from(nonce), Payload { msg: plaintext, aad: &bound(&header, aad) })
        .map_err(|_| SealError::TooLong { length: plaintext.len() })?;
    Ok([&header[..], &nonce, &ciphertext].concat())
}

fn open_as<'k>(
    kind: Kind,
    keys: impl IntoIterator<Item = &'k SealKey>,
    aad: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    let (head, rest) = sealed.split_first_chunk::<HEADER>().ok_or(OpenError)?;
    let (nonce, ciphertext) = rest.split_first_chunk::<NONCE>().ok_or(OpenError)?;
    let key = keys.into_iter().find(|key| header(kind, key.id) == *head).ok_or(OpenError)?;
    // Decrypted in place, so that no second buffer with the plaintext is left behind.
    let mut buffer = Zeroizing::new(ciphertext.to_vec());
    cipher(key)
        .decrypt_in_place(&XNonce::from(*nonce), &bound(head, aad), &mut *buffer)
        .map_err(|_| OpenError)?;
    Ok(buffer)
}

fn cipher(key: &SealKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.key.expose().into())
}

fn header(kind: Kind, id: KeyId) -> [u8; HEADER] {
    let mut header = [kind as u8; HEADER];
    header[1..].copy_from_slice(id.as_bytes());
    header
}

/// The authenticated data. The header has a fixed length, so no two pairs give the same bytes.
fn bound(header: &[u8; HEADER], aad: &[u8]) -> Vec<u8> {
    [header, aad].concat()
}

/// A key for one record or one subject, kept only in its wrapped form.
#[derive(Debug)]
pub struct DataKey(SealKey);

impl DataKey {
    /// A new data key.
    pub fn generate() -> Result<Self, RandomError> {
        SealKey::generate().map(Self)
    }

    /// This key sealed under `master`, the only form to store. `aad` names what the key is for.
    pub fn wrap(&self, master: &SealKey, aad: &[u8]) -> Result<Vec<u8>, SealError> {
        seal_as(Kind::WrappedKey, master, aad, self.0.key.expose())
    }

    /// The key again, by whichever of `masters` wrapped it.
    pub fn unwrap<'k>(
        masters: impl IntoIterator<Item = &'k SealKey>,
        aad: &[u8],
        wrapped: &[u8],
    ) -> Result<Self, OpenError> {
        let key = open_as(Kind::WrappedKey, masters, aad, wrapped)?;
        let key = Zeroizing::new(<[u8; 32]>::try_from(key.as_slice()).map_err(|_| OpenError)?);
        Ok(Self(SealKey::from_bytes(*key)))
    }

    /// Seals a value under this key, see [`seal`].
    pub fn seal(&self, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
        seal(&self.0, aad, plaintext)
    }

    /// Opens a value sealed under this key, see [`open`].
    pub fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        open([&self.0], aad, sealed)
    }
}

#[cfg(test)]
mod tests;
