//! Crypto: keys, sealing of secrets, token formats; thin over vetted crates.
//!
//! Nothing here invents cryptography. Ed25519 is `ed25519-dalek`, sealing is XChaCha20-Poly1305
//! from `chacha20poly1305`, hashing is `sha2`; this crate decides the formats around them, keeps
//! secrets out of memory dumps and logs, and keeps keys on disk.
//!
//! Start at [`keyring`] for where keys live, at [`seal`] for secrets at rest, at [`token`] for what
//! callers present, at [`kept`] for secrets that somebody else has. [`random`] is the only place in the workspace that asks the operating system
//! for randomness.
//!
//! Deliberately absent: TLS (the HTTP stack has its own), passwords (they want a slow hash), any clock:
//! whoever creates a key says what time it is.
//!
//! - A type that holds a secret prints none of it, and wipes it when dropped (`no_secret_is_printed`).
//! - A key file is never overwritten by another key, and there is one active key per purpose.
//! - A sealed value that does not open says only that: never which of key, context or bytes was wrong.

pub mod kept;
pub mod keyring;
mod mac;
pub mod random;
pub mod seal;
pub mod secret;
pub mod sign;
pub mod token;

#[cfg(test)]
mod tests;

pub use kept::{KnownSecrets, NotKept, SecretKeeper, SecretSource};
pub use keyring::{KeyId, KeyRing, Purpose};
pub use mac::hmac_sha256;
pub use seal::{DataKey, SealKey};
pub use secret::{Secret, SecretString};
pub use sign::SigningKey;
pub use token::{Token, TokenHash};
