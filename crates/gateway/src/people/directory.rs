//! The directory: the people of the installation and what they are where, as the store has them.
//!
//! Everything here is one commit of records with a run of the kind `audit` beside it; the ledger holds ids and roles, never
//! an address or a name. The gateway and the command line use the same.
//!
//! - One address is one person: an account comes with a record named by its address, and a second one of that name is refused.
//! - An organisation always has an owner: whoever takes one away proves, in the same commit, that another is still there.

use std::num::NonZeroU32;
use std::sync::Arc;

use crypto::random::{self, RandomError};
use identity::Role;
use ledger::{Deed, Salt};
use schema::{RunId, TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{
    Append, Commit, CommitError, Record, RecordBody, RecordChange, RecordFilter, RecordKind, Settle, Store,
    StoreError,
};

use super::account::Account;
use super::email::Email;
use crate::discretion::without_secrets;

/// Where people are at home.
pub(crate) const HOME: TenantId = TenantId::NIL;
/// How many records are looked at in one go.
pub const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();
/// The group of the records that hold an address for its person.
const CLAIMS: &str = "email";
const ACTIVE: &str = "active";
const DISABLED: &str = "disabled";

/// The people of an installation.
#[derive(Clone)]
pub struct Directory {
    store: Arc<dyn Store>,
}

/// Something that was read, with the version it has.
#[derive(Debug, Clone)]
pub struct Versioned<T> {
    /// What it says.
    pub value: T,
    pub(crate) version: u64,
}

/// Who changes something, for the record.
#[derive(Debug, Clone)]
pub struct By {
    /// Who: a user, a key, `installation`.
    pub actor: String,
    /// Through which app.
    pub app: String,
    /// As which agent.
    pub agent: String,
}

impl By {
    /// Punk itself, or whoever has its machine.
    #[must_use]
    pub fn installation(agent: &str) -> Self {
        Self { actor: "installation".to_owned(), app: "punk".to_owned(), agent: agent.to_owned() }
    }
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// There is one already.
    #[error("there is somebody with this address already")]
    Taken,
    /// Somebody else was faster.
    #[error("somebody else changed it at the same moment")]
    Moved,
    /// It would be without an owner.
    #[error("the last owner of an organisation stays its owner; make another one first")]
    LastOwner,
    /// What is stored cannot be read.
    #[error("a stored record cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger would not take it.
    #[error("the change cannot be recorded")]
    Record(#[source] CommitError),
}

/// What a person is in an organisation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    /// Who.
    pub user: UserId,
    /// As what.
    pub role: Role,
    /// Since when.
    pub since: Timestamp,
    /// Who made them that.
    pub by: String,
}

/// A deed to put on record: its type, what it was done to, and what else there is to say.
pub(crate) type Done<'a> = (&'a str, String, Value);

impl Directory {
    /// The directory in this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Whether anybody was ever there.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub async fn has_people(&self) -> Result<bool, StoreError> {
        let counts = self.store.tenant(HOME).record_counts(RecordKind::User).await?;
        Ok(counts.values().any(|count| *count > 0))
    }

    /// The person with this address.
    ///
    /// # Errors
    /// The store cannot be asked, or what it has cannot be read.
    pub async fn by_email(&self, email: &Email) -> Result<Option<Versioned<Account>>, ChangeError> {
        let filter = RecordFilter { key: Some(email.digest()), ..RecordFilter::of(RecordKind::User) };
        let found = self.store.tenant(HOME).records(&filter, None, NonZeroU32::MIN).await?;
        found.first().map(read).transpose()
    }

    /// The person with this id.
    ///
    /// # Errors
    /// The store cannot be asked, or what it has cannot be read.
    pub async fn by_id(&self, user: UserId) -> Result<Option<Versioned<Account>>, ChangeError> {
        self.record(HOME, RecordKind::User, &user.to_string()).await
    }

    /// People with ids before `before`, the newest first.
    ///
    /// # Errors
    /// The store cannot be asked, or what it has cannot be read.
    pub async fn people(
        &self,
        before: Option<UserId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Account>, ChangeError> {
        let before = before.map(|id| id.to_string());
        let filter = RecordFilter::of(RecordKind::User);
        let records = self.store.tenant(HOME).records(&filter, before.as_deref(), limit).await?;
        // Addresses, and names elsewhere, sort behind people.
        records
            .iter()
            .filter(|record| record.group == ACTIVE || record.group == DISABLED)
            .map(|record| read(record).map(|read| read.value))
            .collect()
    }

    /// Makes a person.
    ///
    /// # Errors
    /// [`ChangeError::Taken`] if the address is somebody's.
    pub async fn add(&self, account: &Account, by: &By, at: Timestamp) -> Result<(), ChangeError> {
        let claim = claim(CLAIMS, format!("{CLAIMS}-{}", account.email.digest()), account.id, at);
        let done = ("audit.user_created", account.id.to_string(), json!({}));
        let records = vec![claim, user_change(account, 0)?];
        self.commit(HOME, records, Some(done), by, at).await.map_err(|error| match error {
            ChangeError::Moved => ChangeError::Taken,
            other => other,
        })
    }

    /// Changes a person.
    ///
    /// # Errors
    /// [`ChangeError::Moved`] if somebody else did meanwhile.
    pub(crate) async fn change(
        &self,
        account: &Account,
        version: u64,
        done: Option<Done<'_>>,
        by: &By,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        self.commit(HOME, vec![user_change(account, version)?], done, by, at).await
    }

    /// What somebody is in an organisation.
    ///
    /// # Errors
    /// The store cannot be asked, or what it has cannot be read.
    pub async fn membership(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<Versioned<Membership>>, ChangeError> {
        self.record(tenant, RecordKind::Membership, &user.to_string()).await
    }

    /// The members of an organisation with ids before `before`, the newest first.
    pub(crate) async fn members(
        &self,
        tenant: TenantId,
        before: Option<UserId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Membership>, ChangeError> {
        let before = before.map(|id| id.to_string());
        let filter = RecordFilter::of(RecordKind::Membership);
        let records = self.store.tenant(tenant).records(&filter, before.as_deref(), limit).await?;
        records.iter().map(|record| read(record).map(|read| read.value)).collect()
    }

    /// Makes somebody something in an organisation, or, without a role, nothing. `beside` happens in the same commit.
    ///
    /// # Errors
    /// [`ChangeError::LastOwner`] if nobody would own it any more.
    pub async fn make(
        &self,
        tenant: TenantId,
        user: UserId,
        role: Option<Role>,
        beside: Vec<RecordChange>,
        by: &By,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        let before = self.membership(tenant, user).await?;
        let expected = before.as_ref().map_or(0, |before| before.version);
        let was = before.map(|before| before.value);
        let mut records = beside;
        if was.as_ref().is_some_and(|was| was.role == Role::Owner) && role != Some(Role::Owner) {
            records.push(self.another_owner(tenant, user).await?);
        }
        if role.is_some() {
            // First: an address to look at that leads nowhere does no harm; a membership that nobody finds would.
            self.note_organisation(user, tenant, by, at).await?;
        }
        let to = role.map(|role| {
            let since = was.as_ref().map_or(at, |was| was.since);
            Membership { user, role, since, by: by.actor.clone() }
        });
        records.push(RecordChange {
            kind: RecordKind::Membership,
            id: user.to_string(),
            expected,
            to: to.as_ref().map(|to| body(to.role.as_str(), to, to.since, None)).transpose()?,
        });
        let details = json!({ "before": was.map(|was| was.role), "after": role });
        self.commit(tenant, records, Some(("audit.member_changed", user.to_string(), details)), by, at).await
    }

    /// A change that changes nothing, but that fails unless somebody else still owns the organisation.
    async fn another_owner(&self, tenant: TenantId, user: UserId) -> Result<RecordChange, ChangeError> {
        let filter = RecordFilter {
            group: Some(Role::Owner.as_str().to_owned()),
            ..RecordFilter::of(RecordKind::Membership)
        };
        let owners = self.store.tenant(tenant).records(&filter, None, PAGE).await?;
        let other = owners.into_iter().find(|owner| owner.id != user.to_string());
        let Record { kind, id, version, group, key, body, created_at, due_at } =
            other.ok_or(ChangeError::LastOwner)?;
        Ok(RecordChange {
            kind,
            id,
            expected: version,
            to: Some(RecordBody { group, key, body, created_at, due_at }),
        })
    }

    /// Remembers with a person where to look for a membership.
    async fn note_organisation(
        &self,
        user: UserId,
        tenant: TenantId,
        by: &By,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        for _ in 0..8 {
            let Some(Versioned { value: mut account, version }) = self.by_id(user).await? else {
                return Ok(());
            };
            if account.organisations.contains(&tenant) {
                return Ok(());
            }
            account.organisations.push(tenant);
            match self.change(&account, version, None, by, at).await {
                Err(ChangeError::Moved) => {}
                other => return other,
            }
        }
        Err(ChangeError::Moved)
    }

    /// A record, read.
    pub(crate) async fn record<T: DeserializeOwned>(
        &self,
        tenant: TenantId,
        kind: RecordKind,
        id: &str,
    ) -> Result<Option<Versioned<T>>, ChangeError> {
        self.store.tenant(tenant).record(kind, id).await?.as_ref().map(read).transpose()
    }

    /// Records, read.
    pub(crate) async fn records(
        &self,
        tenant: TenantId,
        filter: &RecordFilter,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, ChangeError> {
        Ok(self.store.tenant(tenant).records(filter, before, limit).await?)
    }

    /// Changes records, and puts on record what was done.
    pub(crate) async fn commit(
        &self,
        tenant: TenantId,
        records: Vec<RecordChange>,
        done: Option<Done<'_>>,
        by: &By,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        let appends = done.map(|done| deed(tenant, done, by, at)).transpose()?.into_iter().collect();
        let commit = Commit { appends, records, ..Commit::default() };
        self.store.tenant(tenant).commit(commit).await.map_err(|error| match error {
            CommitError::RecordMoved { .. } => ChangeError::Moved,
            CommitError::Store(error) => ChangeError::Store(error),
            other => ChangeError::Record(other),
        })
    }
}

/// A new id, of whatever kind.
pub(crate) fn new_id<K: schema::Prefix>(at: Timestamp) -> Result<schema::Id<K>, RandomError> {
    Ok(schema::Id::new(at.as_millis(), random::bytes()?))
}

/// What a record says, with its version.
pub(crate) fn read<T: DeserializeOwned>(record: &Record) -> Result<Versioned<T>, ChangeError> {
    let value = T::deserialize(&record.body).map_err(ChangeError::Unreadable)?;
    Ok(Versioned { value, version: record.version })
}

/// The body of a record.
pub(crate) fn body<T: Serialize>(
    group: &str,
    value: &T,
    created_at: Timestamp,
    due_at: Option<Timestamp>,
) -> Result<RecordBody, ChangeError> {
    let body = serde_json::to_value(value).map_err(ChangeError::Unreadable)?;
    Ok(RecordBody { group: group.to_owned(), key: None, body, created_at, due_at })
}

pub(crate) fn user_change(account: &Account, expected: u64) -> Result<RecordChange, ChangeError> {
    let group = if account.disabled_at.is_some() { DISABLED } else { ACTIVE };
    let to =
        RecordBody { key: Some(account.email.digest()), ..body(group, account, account.created_at, None)? };
    Ok(RecordChange { kind: RecordKind::User, id: account.id.to_string(), expected, to: Some(to) })
}

/// Takes a name for a person, which nobody else can take then.
pub(super) fn claim(group: &str, id: String, user: UserId, at: Timestamp) -> RecordChange {
    let body = json!({ "user": user });
    let to = RecordBody { group: group.to_owned(), key: None, body, created_at: at, due_at: None };
    RecordChange { kind: RecordKind::User, id, expected: 0, to: Some(to) }
}

fn deed(tenant: TenantId, done: Done<'_>, by: &By, at: Timestamp) -> Result<Append, ChangeError> {
    let (r#type, target, details) = done;
    let mut fields = if let Value::Object(fields) = details { fields } else { Map::new() };
    fields.insert("actor".to_owned(), json!(by.actor));
    fields.insert("target".to_owned(), json!(target));
    for value in fields.values_mut() {
        if let Value::String(text) = value {
            *text = without_secrets(text).into_owned();
        }
    }
    let run: RunId = new_id(at)?;
    // One draw a field: a salt that is used twice would let two fields be compared.
    let mut failed = None;
    let salt = || match random::bytes() {
        Ok(bytes) => Salt::from_bytes(bytes),
        Err(error) => {
            failed = Some(error);
            Salt::from_bytes([0; 16])
        }
    };
    let deed = Deed { app: &by.app, agent: &by.agent, r#type, fields };
    let recorded = deed.record(tenant, run, at, salt);
    if let Some(error) = failed {
        return Err(error.into());
    }
    let cause = |error: ledger::canonical::CanonicalError| StoreError::Unavailable(Box::new(error));
    let events = recorded.map_err(cause)?;
    Ok(Append { events, settle: Settle::Leaf, subject: None })
}
