//! What the writer is asked, and what it answers.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use schema::{ApiKeyId, Digest, JobId, RunId, Seq, Subject, SubjectId, TenantId, Timestamp};

use super::cache::TakeOut;
use super::event::Prepared;
use super::job::ClaimRequest;
use super::row::unavailable;
use crate::cache::{CacheKind, CacheRow};
use crate::commit::CommitError;
use crate::error::StoreError;
use crate::job::{Claimed, LeaseToken, Retry};
use crate::record::RecordKind;
use crate::sealing::SubjectRow;
use crate::sums::Sums;
use crate::view::Rebuilt;

/// Everything that writes.
pub(super) enum Request {
    /// Nothing, to see whether a write would go through.
    Nothing,
    /// The write lock, for what comes by way of the journal.
    Hold,
    Commit(Arc<Prepared>),
    /// The row of a subject: the one that is there, or else this one.
    Subject {
        tenant: TenantId,
        subject: Subject,
        new: SubjectRow,
    },
    /// The rows of some runs, made again.
    Rebuild {
        tenant: TenantId,
        after: Option<RunId>,
    },
    /// An entry of the cache served.
    Touch {
        tenant: TenantId,
        kind: CacheKind,
        key: Digest,
    },
    /// Some of the cache's entries, taken out.
    TakeOut {
        tenant: TenantId,
        what: TakeOut,
    },
    /// The cache's entries that point to runs, made again.
    MendCache {
        tenant: TenantId,
        wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    },
    /// The usage, made again.
    MendUsage {
        tenant: TenantId,
        wanted: Sums,
    },
    /// The agents, made again.
    MendAgents {
        tenant: TenantId,
        wanted: Sums,
    },
    /// What agents did, made again.
    MendConduct {
        tenant: TenantId,
        wanted: Sums,
    },
    /// The windows of meters that began before then, deleted.
    ForgetMeters {
        before: i64,
    },
    /// Jobs that are done and were made before then, deleted.
    ForgetJobs {
        before: Timestamp,
        limit: NonZeroU32,
    },
    Claim(ClaimRequest),
    Extend {
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    },
    Complete {
        job: JobId,
        token: LeaseToken,
    },
    Fail {
        job: JobId,
        token: LeaseToken,
        error: String,
        retry: Retry,
    },
    Requeue {
        tenant: TenantId,
        job: JobId,
        now: Timestamp,
    },
}

impl Request {
    /// Whether it changes rows that commits add to.
    pub(super) fn is_about_sums(&self) -> bool {
        use Request::{ForgetMeters, MendAgents, MendCache, MendConduct, MendUsage, Rebuild};
        matches!(
            self,
            Rebuild { .. }
                | MendCache { .. }
                | MendUsage { .. }
                | MendAgents { .. }
                | MendConduct { .. }
                | ForgetMeters { .. }
        )
    }
}

/// What a writer answers.
pub(super) enum Reply {
    Done,
    Subject(SubjectRow),
    Rebuilt(Rebuilt, Option<RunId>),
    /// How many rows it came to.
    Count(u64),
    Claimed(Vec<Claimed>),
    /// Whether a row was there to be changed.
    Changed(bool),
}

/// Why something was not written; cloned when a failed commit is told to many.
#[derive(Debug, Clone)]
pub(super) enum WriteError {
    Moved {
        run: RunId,
        expected: Seq,
        actual: Seq,
    },
    Refused {
        run: RunId,
        cause: ledger::ChainError,
    },
    NoSubject(SubjectId),
    NoKey(ApiKeyId),
    KeyTaken(ApiKeyId),
    RecordMoved {
        kind: RecordKind,
        id: String,
    },
    /// The key that an append was sealed with is no longer there.
    KeyGone(SubjectId),
    Store(Arc<StoreError>),
    Gone,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(Arc::new(unavailable(error)))
    }
}
impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
impl From<WriteError> for StoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Store(error) => match Arc::try_unwrap(error) {
                Ok(error) => error,
                Err(shared) => match &*shared {
                    Self::Damaged(what) => Self::Damaged(what.clone()),
                    Self::Full(_) => Self::Full(cause(&shared).into()),
                    Self::Unavailable(_) => Self::unavailable(shared.to_string() + ": " + &cause(&shared)),
                },
            },
            WriteError::Gone => Self::unavailable("the writer has stopped"),
            WriteError::Moved { .. }
            | WriteError::Refused { .. }
            | WriteError::NoSubject(_)
            | WriteError::NoKey(_)
            | WriteError::KeyTaken(_)
            | WriteError::RecordMoved { .. }
            | WriteError::KeyGone(_) => Self::unavailable("only a commit can be refused"),
        }
    }
}
impl From<WriteError> for CommitError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Moved { run, expected, actual } => Self::Moved { run, expected, actual },
            WriteError::Refused { run, cause } => Self::Refused { run, cause },
            WriteError::NoSubject(subject) => Self::NoSubject(subject),
            WriteError::NoKey(key) => Self::NoKey(key),
            WriteError::KeyTaken(key) => Self::KeyTaken(key),
            WriteError::RecordMoved { kind, id } => Self::RecordMoved { kind, id },
            other => Self::Store(other.into()),
        }
    }
}

fn cause(error: &StoreError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}
