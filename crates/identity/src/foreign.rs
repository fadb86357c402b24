//! Tokens of others: bearer JWTs of issuers that an operator trusts.
//!
//! [`Bearers`] holds the [`TrustedIssuer`]s and verifies; `jwks.rs` reads the keys that an issuer publishes, `cache.rs`
//! keeps them, `claims.rs` turns an issuer's claims into ours.
//!
//! - Which key verifies is decided by us: its `kid`, its type and an algorithm of the allow-list together. A public key
//!   is a parsed key of its own type and no text, so it cannot be taken for an HMAC secret; there is no HMAC here.
//! - A token that brings its own key (`jwk`, `jku`, `x5c`, `x5u`), or asks for understanding we do not have (`crit`,
//!   `b64`, `zip`), is refused whatever its signature.
//! - A token that is bound to a key of its bearer (`cnf`) is refused: we do not check the binding, so it must not be
//!   taken for one without.
//! - What cannot be checked is refused: no keys, no answer about revocation, no claim that the mapping asks for.

mod algorithm;
mod bearer;
mod cache;
mod claims;
mod jwks;
#[cfg(test)]
pub(crate) mod tests;
mod trusted;

pub use algorithm::Algorithm;
pub use bearer::{Bearers, Revocations, RevocationsAway, claimed_issuer};
pub use cache::KeyCache;
pub use claims::{Bearer, Mapping, Organisation};
pub use jwks::{Jwks, JwksError};
pub use trusted::{KeySource, TokenIds, TrustError, TrustedIssuer};

pub(crate) use bearer::{Expected, audience_has, text_claim, verified_claims};
