//! People: who logs in, what they are in which organisation, and how a browser proves that it is theirs.
//!
//! `directory.rs` is what the store has of people; `session.rs` what is between a login and its end; `login.rs` the way in.
//! The rest is a file for each noun of the REST interface. What a role may do is not here: that is the table in
//! `identity::role`, and the gate asks it.
//!
//! - Nothing of a session is remembered by the process: each request reads it, so an end is one everywhere at once.
//! - Whoever does not exist is refused with the same words, after the same work, as whoever shows a wrong password.
//! - A cookie that was there before a login is never the one that is good after it.

mod account;
mod bootstrap;
mod client;
mod cookie;
mod directory;
mod email;
pub(crate) mod invitation;
pub(crate) mod login;
pub(crate) mod member;
pub(crate) mod oidc;
pub(crate) mod organisation;
mod password;
mod person;
mod session;
mod sweep;
pub(crate) mod user;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crypto::random::RandomError;
use crypto::{KeyRing, SecretString};
use identity::password::{Gate, PasswordHash, Verified};
use identity::throttle::{Devices, Throttle};
use identity::{Permissions, Role};
use schema::TenantId;
use telemetry::metrics::{BoundedLabel, Counter, Metrics};

pub use account::Account;
pub use bootstrap::{Admin, BootstrapError, NewPerson, bootstrap};
pub(crate) use client::Client;
pub(crate) use cookie::Cookie;
pub use directory::{By, ChangeError, Directory, Membership, PAGE, Versioned};
pub(crate) use directory::{HOME, body, new_id, read};
pub use email::Email;
pub(crate) use oidc::Oidc;
pub use oidc::OidcProvider;
pub use password::NewPassword;
pub use session::SessionRules;
pub(crate) use session::{FoundSession, Session, Standing};
pub(crate) use sweep::sweep;

use crate::clock::Stopwatch;
use crate::error::{ApiError, unread};

/// How long it is taken for granted that nobody is there yet.
const GOOD_FOR_MS: u64 = 2_000;

/// How people log in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Login {
    /// Whether anonymous callers are refused even while there is nobody who could log in.
    pub required: bool,
    /// How long sessions last.
    pub sessions: SessionRules,
}

/// What the process knows about logging in.
pub(crate) struct People {
    pub(crate) directory: Directory,
    pub(crate) rules: SessionRules,
    pub(crate) devices: Devices,
    required: bool,
    /// Whether anybody is there: once they are, they stay.
    seen: AtomicBool,
    looked: Mutex<Option<Stopwatch>>,
    throttle: Mutex<Throttle>,
    hashing: Gate,
    hashed: Counter<1>,
}

impl People {
    pub(crate) fn new(
        directory: Directory,
        login: Login,
        keys: &KeyRing,
        metrics: &Metrics,
    ) -> Result<Self, RandomError> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let devices = keys.token_keys().map(|(_, key)| key.derive_secret("login devices")).collect();
        let help = "Passwords that were hashed, to make one or to compare";
        Ok(Self {
            directory,
            rules: login.sessions,
            devices: Devices::new(devices),
            required: login.required,
            seen: AtomicBool::new(false),
            looked: Mutex::new(None),
            throttle: Mutex::new(Throttle::new()?),
            hashing: Gate::new(cores, cores * 16),
            hashed: metrics.counter("punk_passwords_hashed", help, ["what"]),
        })
    }

    /// Whether people have to log in: somebody could, or it is said so. Who cannot find out refuses.
    pub(crate) async fn login_mode(&self) -> Result<bool, ApiError> {
        if self.required || self.seen.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let good = locked(&self.looked).is_some_and(|looked| looked.millis() < GOOD_FOR_MS);
        if good {
            return Ok(false);
        }
        let looked = Stopwatch::start();
        let has_people = self.directory.has_people().await.map_err(unread)?;
        if has_people {
            self.has_somebody();
        }
        *locked(&self.looked) = Some(looked);
        Ok(has_people || self.seen.load(Ordering::Relaxed))
    }

    /// Somebody is there from now on.
    pub(crate) fn has_somebody(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }

    pub(crate) fn throttle(&self) -> MutexGuard<'_, Throttle> {
        locked(&self.throttle)
    }

    /// Whether the password is the one; without a stored one it takes as long, and is not.
    pub(crate) async fn verify(
        &self,
        password: SecretString,
        stored: Option<PasswordHash>,
    ) -> Result<Verified, ApiError> {
        let permit = self.hashing.enter().await.map_err(|_| ApiError::TooManyLogins)?;
        self.hashed.increment([BoundedLabel::fixed("compared")]);
        let verify = move || identity::password::verify(&permit, &password, stored.as_ref());
        tokio::task::spawn_blocking(verify).await.map_err(unread)
    }

    pub(crate) async fn hash(&self, password: SecretString) -> Result<PasswordHash, ApiError> {
        let permit = self.hashing.enter().await.map_err(|_| ApiError::TooManyLogins)?;
        self.hashed.increment([BoundedLabel::fixed("made")]);
        let hash = move || identity::password::hash(&permit, &password);
        tokio::task::spawn_blocking(hash).await.map_err(unread)?.map_err(unread)
    }
}

/// What somebody may do as what they are. Whoever owns the default organisation runs the installation.
pub(crate) fn of_person(role: Option<Role>, organisation: TenantId) -> Permissions {
    match role {
        Some(Role::Owner) if organisation == TenantId::NIL => Permissions::all(),
        Some(role) => role.permissions(),
        None => Permissions::NONE,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Timestamp;
    use std::sync::Arc;
    use store::memory::MemoryStore;
    use telemetry::metrics::Build;

    #[tokio::test]
    async fn the_first_person_of_another_node_is_seen_as_soon_as_somebody_looks_again() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyRing::open(folder.path()).unwrap();
        let metrics = Metrics::new(Build { version: "0", commit: None, target: "test" }, 0.0);
        let directory = Directory::new(Arc::new(MemoryStore::new()));
        let people = People::new(directory.clone(), Login::default(), &keys, &metrics).unwrap();
        assert!(!people.login_mode().await.unwrap(), "nobody is there");
        let at = Timestamp::from_millis(1).unwrap();
        let email = Email::try_from("ada@example.org".to_owned()).unwrap();
        let account = Account::new(schema::UserId::NIL, email, at);
        directory.add(&account, &By::installation("tests"), at).await.unwrap();
        assert!(!people.login_mode().await.unwrap(), "for two seconds it is taken for granted");
        *locked(&people.looked) = None;
        assert!(people.login_mode().await.unwrap());
    }
}
