//! What is promised of other people's tokens, with real keys and an issuer in memory.

mod caching;
pub(crate) mod issuer;
mod key_sets;
mod refusals;
