//! A person, as the store has them.

use identity::password::PasswordHash;
use schema::{TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::email::Email;

/// A person who logs in. They belong to the installation; what they are in an organisation is a membership.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Their id.
    pub id: UserId,
    /// What they log in with.
    pub email: Email,
    /// What others call them.
    pub name: Option<String>,
    /// Their password, hashed; none for somebody who comes through another provider, or has yet to choose one.
    #[serde(default)]
    pub(crate) password: Option<Hashed>,
    /// Who another provider says they are.
    #[serde(default)]
    pub(crate) subjects: Vec<ForeignSubject>,
    /// Whether the address is known to be theirs.
    pub verified: bool,
    /// Since when they are not let in.
    #[serde(default)]
    pub disabled_at: Option<Timestamp>,
    /// Where to look for their memberships, in the order in which they joined. What they are there, the membership says.
    #[serde(default)]
    pub organisations: Vec<TenantId>,
    /// When they came.
    pub created_at: Timestamp,
}

impl Account {
    /// Somebody without a password, of whom nothing is known but the address.
    pub(crate) fn new(id: UserId, email: Email, at: Timestamp) -> Self {
        Self {
            id,
            email,
            name: None,
            password: None,
            subjects: Vec::new(),
            verified: false,
            disabled_at: None,
            organisations: Vec::new(),
            created_at: at,
        }
    }
}

/// The hash of a password, which prints nothing of it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Hashed(String);

impl Hashed {
    pub(crate) fn of(hash: &PasswordHash) -> Self {
        Self(hash.as_str().to_owned())
    }

    /// The hash, unless it is none that we would verify.
    pub(crate) fn read(&self) -> Option<PasswordHash> {
        PasswordHash::parse(&self.0).ok()
    }
}

impl std::fmt::Debug for Hashed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[hash]")
    }
}

/// Somebody, in the words of another provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignSubject {
    pub(crate) issuer: String,
    pub(crate) subject: String,
}

/// A person as others see them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownUser {
    pub(crate) id: UserId,
    pub(crate) email: Email,
    pub(crate) name: Option<String>,
    /// Whether the address is known to be theirs.
    verified: bool,
    /// Since when they are not let in.
    disabled_at: Option<Timestamp>,
    /// Whether they have a password; others come through another provider.
    has_password: bool,
    created_at: Timestamp,
}

impl From<&Account> for ShownUser {
    fn from(account: &Account) -> Self {
        Self {
            id: account.id,
            email: account.email.clone(),
            name: account.name.clone(),
            verified: account.verified,
            disabled_at: account.disabled_at,
            has_password: account.password.is_some(),
            created_at: account.created_at,
        }
    }
}
