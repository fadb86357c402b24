//! Passwords: argon2id, as strings in the PHC format.
//!
//! [`hash`] and [`verify`] are the two operations; both want a [`Permit`] of a [`Gate`], because each of them fills
//! [`MEMORY_KIB`] KiB of memory and a core for tens of milliseconds. `rules.rs` says which passwords may be chosen,
//! `gate.rs` how many are hashed at once.
//!
//! Deliberately absent: rules about which characters a password holds (they make passwords worse), any normalisation
//! (the bytes count as they were typed), a pepper (the hashes lie where the keys lie).
//!
//! - A user who does not exist costs what a user who does costs: [`verify`] of nothing hashes all the same, with the
//!   parameters of today. Hashes that are stale are told apart until they are hashed again, which a login does.
//! - No type here prints a password or a hash.
//!
//! For the shell: both functions block. Take a permit with [`Gate::enter`], move it into the blocking task, and answer
//! 503 when the gate is full. With the parameters of today `at_once` permits hold `at_once × 19` MiB; the number of
//! cores is a good choice for `at_once`, and a few times that for those who wait.

mod gate;
mod rules;

pub use gate::{Full, Gate, Permit};
pub use rules::{Rule, check};

use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use crypto::SecretString;
use crypto::random::{self, RandomError};

/// How much memory one hash fills: 19 MiB, the lowest of the settings that OWASP recommends, so that a small machine
/// can log several people in at once.
pub const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// A stored hash that asks for more than this was not written by us.
const MOST_MEMORY_KIB: u32 = 1024 * 1024;
const MOST_PASSES: u32 = 16;

/// A hash of no password, with the parameters of today: what is verified when there is no such user.
/// `the_stand_in_costs_what_a_hash_of_today_costs` holds it to them.
const STAND_IN: &str = "$argon2id$v=19$m=19456,t=2,p=1$UHVuayBzdGFuZHMgaW4$\
                        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A hash as it is stored. Prints only its parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

/// A stored text is not a hash that this program would verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stored password hash is not argon2id in the PHC format, or asks for more than this program spends")]
pub struct NotAHash;

/// Why a password could not be hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// No salt.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The hash function refused, for want of memory.
    #[error("password cannot be hashed: {0}")]
    Refused(String),
}

/// What a presented password is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// It is the one. A stale hash has parameters that are no longer the ones of today: hash the password again
    /// while it is at hand, and store that.
    Right {
        /// Whether to hash again.
        stale: bool,
    },
    /// It is not, or there is nobody whose it could be.
    Wrong,
}

impl PasswordHash {
    /// Reads a stored hash.
    pub fn parse(text: &str) -> Result<Self, NotAHash> {
        let hash = phc::PasswordHash::new(text).map_err(|_| NotAHash)?;
        let parameters = Params::try_from(&hash).map_err(|_| NotAHash)?;
        let ours = hash.algorithm == Algorithm::Argon2id.ident()
            && hash.salt.is_some()
            && hash.hash.is_some()
            && parameters.m_cost() <= MOST_MEMORY_KIB
            && parameters.t_cost() <= MOST_PASSES;
        if ours { Ok(Self(text.to_owned())) } else { Err(NotAHash) }
    }

    /// The text to store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it was made with other parameters than those of today.
    pub fn needs_rehash(&self) -> bool {
        let parameters = phc::PasswordHash::new(&self.0).ok().and_then(|hash| Params::try_from(&hash).ok());
        parameters.is_none_or(|found| {
            (found.m_cost(), found.t_cost(), found.p_cost()) != (MEMORY_KIB, PASSES, LANES)
        })
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parameters = self.0.rsplitn(3, '$').last().unwrap_or_default();
        write!(f, "PasswordHash({parameters}$…)")
    }
}

/// The hash of `password` under a new salt. [`check`] it first.
pub fn hash(_permit: &Permit, password: &SecretString) -> Result<PasswordHash, HashError> {
    let refused = |error: &dyn std::fmt::Display| HashError::Refused(error.to_string());
    let salt = random::bytes::<16>()?;
    let parameters = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|error| refused(&error))?;
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
    let hashed = hasher.hash_password_with_salt(password.expose().as_bytes(), &salt);
    Ok(PasswordHash(hashed.map_err(|error| refused(&error))?.to_string()))
}

/// Whether `password` is the one that `stored` was made of. Without a stored hash it hashes as long and is wrong.
pub fn verify(_permit: &Permit, password: &SecretString, stored: Option<&PasswordHash>) -> Verified {
    let text = stored.map_or(STAND_IN, PasswordHash::as_str);
    let right = Argon2::default().verify_password(password.expose().as_bytes(), text).is_ok();
    match stored {
        Some(stored) if right => Verified::Right { stale: stored.needs_rehash() },
        _ => Verified::Wrong,
    }
}

#[cfg(test)]
mod tests;
