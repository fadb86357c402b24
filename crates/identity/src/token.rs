//! Punk's own tokens: short-lived JWTs, signed with Ed25519.
//!
//! ```text
//! {"alg":"EdDSA","typ":"at+jwt","kid":"key_…"}
//! {"iss":"https://punk.example","aud":"punk","sub":"usr_…","iat":…,"nbf":…,"exp":…,"jti":"…",
//!  "kind":"session","org":"ten_…","sid":"ses_…","role":"operator"}
//! ```
//!
//! [`Issuer`] makes and verifies them with the token keys of the ring. [`Grant`] is what a token says; its
//! [`Authority`] is one of three kinds:
//!
//! | kind | of | says | lives at most |
//! |---|---|---|---|
//! | `session` | a person who logged in | the session (`sid`) and the `role` | 15 minutes |
//! | `service` | a service account | its `scope` | an hour |
//! | `capability` | one run | the `run` and the `scope` | an hour |
//!
//! A token proves who signed what; it does not prove that it still holds. Whoever verifies one asks the store whether
//! the session, the account or the run is still there, and so a deletion takes effect at once.
//!
//! Signed and read by hand (see `jose.rs` for why): one algorithm, one form, no choice for the token to make.
//!
//! - A token of one kind is never taken for another.
//! - Any changed byte is refused (`any_changed_byte_is_refused`).
//! - A retired key verifies what it signed until the longest-lived token has expired, and nothing after.

mod claims;
mod issuer;
mod scope;
#[cfg(test)]
mod tests;

pub use claims::{Authority, Claims, Grant, Kind};
pub use issuer::{IssueError, Issued, Issuer, NoTokenKey};
pub use scope::{ScopeError, Scopes};
