//! Small documents of a tenant that change: approvals, exceptions, budgets, what is decided about agents, webhooks, sinks.
//!
//! A record is found by its id, by the word it is grouped under and by its key. It changes inside a commit and nowhere
//! else, from the version that its writer has seen: whoever comes second is told so, and nothing of its commit is written.
//!
//! Records are sources: nothing else says what they say, so nothing can make them again; but for those of the learner, which
//! follow from the log, and which its own view makes again and has forget. What is about a person belongs in events, which are
//! sealed; a record is not.
//!
//! To add a kind: a variant of [`RecordKind`], its place in `ALL` and its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commit::CommitError;
use crate::error::StoreError;

/// How many characters an id may have.
const LONGEST_ID: usize = 160;
/// How many the word may have that a record is grouped under.
const LONGEST_GROUP: usize = 64;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// Somebody is asked whether an action may happen.
    Approval,
    /// A policy does not hold for something, for a while.
    Exception,
    /// How much may be spent, or how often something may be done.
    Budget,
    /// What was decided about an agent.
    Agent,
    /// Where others are told of what happens.
    Webhook,
    /// Where what happens is copied to.
    Sink,
    /// A person who logs in. Persons belong to the installation: their records are in the default tenant.
    User,
    /// What a person is in an organisation, which is a tenant; its id is the person's.
    Membership,
    /// Somebody is asked to join an organisation.
    Invitation,
    /// A person is logged in; in the default tenant, by the hash of its token.
    Session,
    /// An account of a machine.
    ServiceAccount,
    /// A token that was given out and no longer holds, until it would have ended by itself.
    Revocation,
    /// A secret in the vault, sealed.
    Credential,
    /// A conversation with a model: which runs it consists of. What was said is in those.
    Conversation,
    /// How far the learner has read the tenant's log. This and what follows is derived from the log, and can be made again.
    Learning,
    /// Work of one kind that comes again and again.
    Pattern,
    /// The learner of a pattern, as it was a while ago.
    Learner,
    /// An attempt to make an artifact of a pattern.
    Attempt,
    /// A learned program on its way to serving.
    Artifact,
    /// The text of a program that an artifact serves with; named by events, so it stays.
    Program,
}

impl RecordKind {
    /// Every kind there is.
    pub const ALL: [Self; 20] = [
        Self::Approval,
        Self::Exception,
        Self::Budget,
        Self::Agent,
        Self::Webhook,
        Self::Sink,
        Self::User,
        Self::Membership,
        Self::Invitation,
        Self::Session,
        Self::ServiceAccount,
        Self::Revocation,
        Self::Credential,
        Self::Conversation,
        Self::Learning,
        Self::Pattern,
        Self::Learner,
        Self::Attempt,
        Self::Artifact,
        Self::Program,
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Exception => "exception",
            Self::Budget => "budget",
            Self::Agent => "agent",
            Self::Webhook => "webhook",
            Self::Sink => "sink",
            Self::User => "user",
            Self::Membership => "membership",
            Self::Invitation => "invitation",
            Self::Session => "session",
            Self::ServiceAccount => "service_account",
            Self::Revocation => "revocation",
            Self::Credential => "credential",
            Self::Conversation => "conversation",
            Self::Learning => "learning",
            Self::Pattern => "pattern",
            Self::Learner => "learner",
            Self::Attempt => "attempt",
            Self::Artifact => "artifact",
            Self::Program => "program",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A record as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// What it is.
    pub kind: RecordKind,
    /// Its id, or its name. Lists go by it, so ids that sort by time list by time.
    pub id: String,
    /// How often it was written, counted from 1. One that was deleted and made again begins anew.
    pub version: u64,
    /// The word it is grouped under, such as a status; may be empty.
    pub group: String,
    /// What else it is found by. Several may share one.
    pub key: Option<Digest>,
    /// What it says.
    pub body: Value,
    /// When it was made, as its writers say.
    pub created_at: Timestamp,
    /// When somebody should look at it.
    pub due_at: Option<Timestamp>,
}

/// What a change makes of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordBody {
    /// See [`Record::group`]; up to 64 characters.
    pub group: String,
    /// See [`Record::key`].
    pub key: Option<Digest>,
    /// See [`Record::body`].
    pub body: Value,
    /// See [`Record::created_at`]. A change says it again.
    pub created_at: Timestamp,
    /// See [`Record::due_at`].
    pub due_at: Option<Timestamp>,
}

/// What a commit does to one record. A record occurs once in a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordChange {
    /// What it is.
    pub kind: RecordKind,
    /// Which; 1 to 160 characters.
    pub id: String,
    /// The version that must be there; 0 if there must be none. The next one is one more.
    pub expected: u64,
    /// What it is from now on; `None` deletes it.
    pub to: Option<RecordBody>,
}

impl RecordChange {
    /// Whether these changes can be made at all, whatever is there.
    pub(crate) fn check(changes: &[Self]) -> Result<(), CommitError> {
        let mut seen = BTreeSet::new();
        for change in changes {
            let Self { kind, id, to, .. } = change;
            let group = to.as_ref().map_or("", |to| &to.group);
            if !(1..=LONGEST_ID).contains(&id.chars().count()) || group.chars().count() > LONGEST_GROUP {
                return Err(CommitError::RecordUnfit { kind: *kind, id: id.clone() });
            }
            if !seen.insert((kind, id)) {
                return Err(change.moved());
            }
        }
        Ok(())
    }

    /// The refusal of a change that does not find what it expects.
    pub(crate) fn moved(&self) -> CommitError {
        CommitError::RecordMoved { kind: self.kind, id: self.id.clone() }
    }

    /// The record after the change, unless it is gone then.
    pub(crate) fn record(&self) -> Option<Record> {
        let RecordBody { group, key, body, created_at, due_at } = self.to.clone()?;
        let (kind, id, version) = (self.kind, self.id.clone(), self.expected.saturating_add(1));
        Some(Record { kind, id, version, group, key, body, created_at, due_at })
    }
}

/// Which records are meant: those that fit everything that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFilter {
    /// What they are.
    pub kind: RecordKind,
    /// The word they are grouped under.
    pub group: Option<String>,
    /// What else they are found by.
    pub key: Option<Digest>,
}

impl RecordFilter {
    /// All records of a kind.
    #[must_use]
    pub fn of(kind: RecordKind) -> Self {
        Self { kind, group: None, key: None }
    }
}

/// Looks up records. The handle carries the tenant; [`Commit::records`](crate::Commit::records) changes them, and
/// [`Store::due_records`](crate::Store::due_records) finds those of all tenants that somebody should look at.
#[async_trait]
pub trait RecordStore: Send + Sync {
    /// The record, if the tenant has it.
    async fn record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError>;

    /// Records that the filter fits, with ids before `before`, the last id first, at most `limit`; from the last one when
    /// `before` is absent.
    async fn records(
        &self,
        filter: &RecordFilter,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, StoreError>;

    /// How many records of the kind are grouped under each word. A word that has none is not there.
    async fn record_counts(&self, kind: RecordKind) -> Result<BTreeMap<String, u64>, StoreError>;
}
