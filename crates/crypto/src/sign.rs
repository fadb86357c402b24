//! Signing: Ed25519 keys, and the derivation of one key per log from a stored one.
//!
//! [`SigningKey`] implements [`Signer`], so that the ledger can take `&impl Signer<Signature>` and need
//! not know where keys come from. [`SigningKey::derive`] gives every transparency log a key of its own,
//! named by the log's origin: a signature made for one tenant's log verifies in no other.
//! [`SigningKey::derive_secret`] is the same for secrets that are shared with somebody outside.

use crate::mac::hmac_of;
use crate::random::{self, RandomError};
use crate::secret::Secret;

pub use ed25519_dalek::{Signature, Signer, Verifier, VerifyingKey};

/// What stands before the context in a derivation, so that no other use of HMAC under the same
/// seed can ask for the same bytes.
const DERIVATION: &[u8] = b"punk/derived-key/v1\n";

/// The same for secrets: a secret that is given away must never be the seed of a key that is not.
const SECRET_DERIVATION: &[u8] = b"punk/derived-secret/v1\n";

/// An Ed25519 key that signs. Wiped when dropped; prints only its public half.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// A new key from the operating system's randomness.
    pub fn generate() -> Result<Self, RandomError> {
        let seed = Secret::new(random::bytes::<32>()?);
        Ok(Self::from_seed(seed.expose()))
    }

    /// The key of `seed`, the 32 bytes that RFC 8032 calls the private key.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// A second copy of the key, as easy to search for as [`Secret::duplicate`].
    pub fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }

    /// The half that verifies, free to be shown to anybody.
    pub fn public(&self) -> VerifyingKey {
        self.0.verifying_key()
    }

    /// Signs `message`. Deterministic: the same message always gets the same signature.
    pub fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message)
    }

    /// The child key of `context`: its seed is HMAC-SHA256 of `"punk/derived-key/v1\n" ‖ context`
    /// under this key's seed. The same parent and context always give the same child; a child
    /// tells nothing about its parent or its siblings.
    pub fn derive(&self, context: &str) -> Self {
        let seed = Secret::new(derived_seed(self.0.as_bytes(), context));
        Self::from_seed(seed.expose())
    }

    /// The secret of `context`, to be shared with one other party: HMAC-SHA256 of
    /// `"punk/derived-secret/v1\n" ‖ context` under this key's seed. Whoever knows it knows nothing of
    /// this key, of other secrets, or of [`SigningKey::derive`]d keys, whatever their context.
    pub fn derive_secret(&self, context: &str) -> Secret<[u8; 32]> {
        Secret::new(derived_secret(self.0.as_bytes(), context))
    }
}

fn derived_seed(parent: &[u8; 32], context: &str) -> [u8; 32] {
    hmac_of(parent, &[DERIVATION, context.as_bytes()])
}

fn derived_secret(parent: &[u8; 32], context: &str) -> [u8; 32] {
    hmac_of(parent, &[SECRET_DERIVATION, context.as_bytes()])
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, ed25519_dalek::SignatureError> {
        self.0.try_sign(message)
    }
}

impl zeroize::ZeroizeOnDrop for SigningKey {}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey(public {})", hex::encode(self.public().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rfc_8032_vector_is_reproduced() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let key = SigningKey::from_seed(&hex::decode(seed).unwrap().try_into().unwrap());
        assert_eq!(
            hex::encode(key.public().as_bytes()),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
        assert_eq!(
            hex::encode(key.sign(b"").to_bytes()),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
             d25bf5f0595bbe24655141438e7a100b"
        );
    }

    #[test]
    fn a_derived_seed_is_the_hmac_it_is_documented_to_be() {
        // python3 -c 'import hmac; print(hmac.digest(bytes(32), b"punk/derived-key/v1\ntenant-a", "sha256").hex())'
        assert_eq!(
            hex::encode(derived_seed(&[0; 32], "tenant-a")),
            "de016a103ca817e09a5bb7af9384df0d2429595f7ca530969e5e88da2b5f8294"
        );
    }

    #[test]
    fn a_derived_secret_is_the_hmac_it_is_documented_to_be_and_the_seed_of_no_key() {
        // python3 -c 'import hmac; print(hmac.digest(bytes(32), b"punk/derived-secret/v1\ntenant-a", "sha256").hex())'
        let secret = derived_secret(&[0; 32], "tenant-a");
        assert_eq!(hex::encode(secret), "5418ea44004f2de8f610096937763f079bf219eb9c3a1bdb9f906016fcd1a46e");
        assert_ne!(secret, derived_seed(&[0; 32], "tenant-a"));
        let parent = SigningKey::from_seed(&[0; 32]);
        assert_eq!(*parent.derive_secret("tenant-a").expose(), secret);
    }

    #[test]
    fn every_context_has_its_own_key_and_always_the_same() {
        let parent = SigningKey::generate().unwrap();
        let public = |context: &str| parent.derive(context).public();
        assert_eq!(public("punk.local/ten_a"), public("punk.local/ten_a"));
        assert_ne!(public("punk.local/ten_a"), public("punk.local/ten_b"));
        assert_ne!(public(""), parent.public());
    }

    #[test]
    fn what_one_log_signed_verifies_in_no_other() {
        let parent = SigningKey::generate().unwrap();
        let signature = parent.derive("a").sign(b"checkpoint");
        assert!(parent.derive("a").public().verify(b"checkpoint", &signature).is_ok());
        assert!(parent.derive("b").public().verify(b"checkpoint", &signature).is_err());
        assert!(parent.derive("a").public().verify(b"checkpoinT", &signature).is_err());
    }

    #[test]
    fn it_signs_where_any_signer_is_taken() {
        fn signed_by(signer: &impl Signer<Signature>) -> Signature {
            signer.sign(b"message")
        }
        let key = SigningKey::from_seed(&[1; 32]);
        assert_eq!(signed_by(&key), key.sign(b"message"));
    }
}
