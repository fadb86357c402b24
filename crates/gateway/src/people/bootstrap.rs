//! The first administrator, from the configuration: made when missing, and never changed afterwards.

use crypto::SecretString;
use identity::Role;
use identity::password::{self, Gate, HashError, Rule};
use schema::{Timestamp, UserId};
use serde_json::json;

use super::account::{Account, Hashed};
use super::directory::{By, ChangeError, Directory, HOME, Versioned, new_id};
use super::email::Email;

/// Who is to be the first administrator.
#[derive(Debug)]
pub struct Admin {
    /// What they log in with.
    pub email: Email,
    /// Their first password.
    pub password: SecretString,
}

/// Why nobody was made an administrator.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The password may not be one.
    #[error("the password of the first administrator may not be one: {0}")]
    Password(#[from] Rule),
    /// It cannot be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// As many are hashed as may be.
    #[error(transparent)]
    Full(#[from] password::Full),
    /// It cannot be stored.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// Makes the first administrator the owner of the default organisation. Whoever has the address already keeps the password
/// they have, and the role, if they have one. Says whether somebody was made.
///
/// # Errors
/// Why not.
pub async fn bootstrap(directory: &Directory, admin: Admin, at: Timestamp) -> Result<bool, BootstrapError> {
    let by = By::installation("bootstrap");
    if let Some(known) = directory.by_email(&admin.email).await? {
        // A start that was cut short left somebody without a role.
        let user = known.value.id;
        let never_joined =
            known.value.organisations.is_empty() && directory.membership(HOME, user).await?.is_none();
        if never_joined {
            directory.make(HOME, user, Some(Role::Owner), Vec::new(), &by, at).await?;
        }
        return Ok(false);
    }
    let new = NewPerson { email: admin.email, name: None, password: admin.password, verified: true };
    match directory.add_with_password(new, &by, at).await {
        Ok(id) => {
            directory.make(HOME, id, Some(Role::Owner), Vec::new(), &by, at).await?;
            Ok(true)
        }
        // Another node started in the same moment.
        Err(BootstrapError::Change(ChangeError::Taken)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Somebody who is to log in.
#[derive(Debug)]
pub struct NewPerson {
    /// What they log in with.
    pub email: Email,
    /// What others call them.
    pub name: Option<String>,
    /// Their first password.
    pub password: SecretString,
    /// Whether the address is known to be theirs.
    pub verified: bool,
}

/// For a shell that hashes one password and is done: these block.
impl Directory {
    /// Makes somebody.
    ///
    /// # Errors
    /// Why not.
    pub async fn add_with_password(
        &self,
        new: NewPerson,
        by: &By,
        at: Timestamp,
    ) -> Result<UserId, BootstrapError> {
        let NewPerson { email, name, password, verified } = new;
        let password = Some(hashed(&password, &email)?);
        let id: UserId = new_id(at).map_err(ChangeError::Random)?;
        let account = Account { name, password, verified, ..Account::new(id, email, at) };
        self.add(&account, by, at).await?;
        Ok(id)
    }

    /// Gives somebody another password, and logs them out everywhere. Says whether there is such a person.
    ///
    /// # Errors
    /// Why not.
    pub async fn reset_password(
        &self,
        email: &Email,
        password: &SecretString,
        by: &By,
        at: Timestamp,
    ) -> Result<bool, BootstrapError> {
        let Some(Versioned { value: mut account, version }) = self.by_email(email).await? else {
            return Ok(false);
        };
        account.password = Some(hashed(password, email)?);
        let done = ("audit.user_changed", account.id.to_string(), json!({ "passwordReset": true }));
        self.change(&account, version, Some(done), by, at).await?;
        self.end_sessions(account.id, |_| true, "password reset", by, at).await?;
        Ok(true)
    }

    /// Keeps somebody out, at once and everywhere, or lets them in again. Says whether there is such a person.
    ///
    /// # Errors
    /// Why not.
    pub async fn keep_out(
        &self,
        email: &Email,
        is_out: bool,
        by: &By,
        at: Timestamp,
    ) -> Result<bool, BootstrapError> {
        let Some(Versioned { value: mut account, version }) = self.by_email(email).await? else {
            return Ok(false);
        };
        account.disabled_at = is_out.then(|| account.disabled_at.unwrap_or(at));
        let done = ("audit.user_changed", account.id.to_string(), json!({ "disabled": is_out }));
        self.change(&account, version, Some(done), by, at).await?;
        if is_out {
            self.end_sessions(account.id, |_| true, "kept out", by, at).await?;
        }
        Ok(true)
    }
}

fn hashed(password: &SecretString, email: &Email) -> Result<Hashed, BootstrapError> {
    password::check(password, email.as_str())?;
    let permit = Gate::new(1, 0).try_enter()?;
    Ok(Hashed::of(&password::hash(&permit, password)?))
}
