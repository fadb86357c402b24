//! Identity: people and machines, what their roles let them do, and the tokens that say who they are.
//!
//! - [`password`]: argon2id behind a bounded gate; [`throttle`]: guessing slowed down without locking the owner out.
//! - [`token`]: Punk's own short-lived tokens. Start at [`token::Issuer`].
//! - [`foreign`]: bearer tokens of issuers that an operator trusts. Start at [`foreign::Bearers`].
//! - [`oidc`]: people who log in at somebody else's. Start at [`oidc::Login`].
//! - [`http`]: the port through which the last two reach the network.
//!
//! Values in, decisions out: no clock (time comes in), no storage, no network of its own. What must be asked of the
//! outside is a small trait that a shell implements.
//!
//! - Nothing that a token says is believed before its signature is verified with a key that we chose.
//! - What cannot be checked is refused.
//! - Every refusal says the same to the outside; the reason is for the log.

pub mod foreign;
pub mod http;
mod jose;
pub mod oidc;
pub mod password;
pub mod permission;
pub mod role;
pub mod throttle;
pub mod token;

pub use jose::Refused;
pub use permission::{Permission, Permissions};
pub use role::Role;
