//! Login at somebody else's: OpenID Connect, authorization code with PKCE.
//!
//! ```text
//! Login::begin  → Pending (kept in a sealed cookie) and the address to send the browser to
//!                 … the person logs in there, and the browser comes back with a code …
//! Login::finish → the code is exchanged, the ID token verified: a Person
//! ```
//!
//! `provider.rs` reads what a provider publishes, `pending.rs` is a login between its two halves, `client.rs` who we are
//! to the provider, `exchange.rs` trades the code, `id_token.rs` verifies what came.
//!
//! Deliberately absent: the userinfo endpoint (the ID token says enough), refresh tokens (a session of ours begins, and
//! the provider's part is done), every flow but this one.
//!
//! - A code is worth nothing without the `state`, the `nonce` and the PKCE verifier of the browser that began.
//! - An answer meant for another provider is refused: by its `iss` parameter where the provider sends one, and by the
//!   issuer in the ID token always.
//! - An e-mail address is a claim of the provider's, and often not verified. Who somebody is, is issuer and subject.

mod client;
mod exchange;
mod id_token;
mod login;
mod pending;
mod provider;
#[cfg(test)]
pub(crate) mod tests;

pub use client::{Authentication, Client, ClientError};
pub use id_token::Person;
pub use login::{Login, LoginError};
pub use pending::{NotPending, Pending};
pub use provider::{Provider, ProviderError};
