//! Vault: secrets at rest, sealed under a master key, referred to as `cred:…` and opened at use.
//!
//! A [`Credential`] is what can be shown of a secret. Its value is sealed under a key of its own, and that key is wrapped
//! by the vault's master key: so a new master key re-wraps small keys and touches no value ([`Vault::rotate`]). Whoever
//! uses a secret holds a [`Reference`] and asks [`Vault::open`] when it needs it, so a new value holds from the next use.
//!
//! Start at [`Vault`]; `envelope.rs` is what is sealed and for whom, `stored.rs` what a record says, `rotation.rs` how
//! everything comes under a new master key, `known.rs` which values this process knows, for whoever has to keep them out
//! of what it writes.
//!
//! Deliberately absent: where the master key comes from (the shell reads files and runs commands), who may add a secret
//! (the gateway's), and the clock.
//!
//! - No value is ever in a record, an error, a log or a `Debug` (`the_database_holds_no_value`).
//! - What is sealed opens for its tenant, its id and its version alone (`moved_ciphertext_does_not_open`).
//! - A rotation that is killed anywhere goes on where it was, and every credential opens meanwhile
//!   (`a_rotation_killed_after_any_commit_is_resumed`).
//! - A name is taken once in a tenant, however many ask for it at once.

mod credential;
mod envelope;
mod error;
mod in_use;
mod keeper;
mod known;
mod look;
mod master;
mod memory;
mod reference;
mod rotation;
mod stored;
mod vault;

pub use credential::{
    Credential, CredentialKind, LONGEST_VALUE, Name, NewCredential, UnfitName, UnfitValue, value,
};
pub use error::{ChangeError, OpenError, StartError};
pub use keeper::Kept;
pub use known::{Known, Values};
pub use master::{KeyTextError, MasterKeys};
pub use reference::{Reference, ReferenceError};
pub use rotation::{Left, Progress, RotateError, Rotated};
pub use vault::{MOST, Reload, Vault};
