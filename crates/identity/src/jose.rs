//! JOSE: the compact form of signed tokens, read strictly. What `token` and `foreign` share.
//!
//! Written by hand over vetted signatures, without a JWT crate: the part that such a crate would take from us is the
//! forty lines of `compact.rs`, and the part that goes wrong in practice is what it leaves to its caller. Here the time
//! comes in (a crate reads the clock), a claim that is there twice is refused (a crate takes the last one), headers
//! that would let a token choose its own key are refused, and which key verifies is decided by us before the token's
//! `alg` is looked at.
//!
//! - Nothing of a token is believed before its signature is verified, except which key it names and, among several
//!   trusted issuers, which issuer.
//! - A token has one spelling: base64url without padding or stray bits, three parts, no white space.

pub(crate) mod compact;
pub(crate) mod json;
mod refused;
pub(crate) mod times;

pub use refused::Refused;
