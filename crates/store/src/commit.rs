//! Writing: everything that belongs together commits together.

use ledger::{ChainError, Recorded};
use schema::{ApiKeyId, Digest, RunId, Seq, Subject, SubjectId, Tenant, Timestamp};
use serde_json::{Map, Value};

use crate::api_key::KeyChange;
use crate::cache::{CacheKind, CacheWrite};
use crate::error::StoreError;
use crate::job::NewJob;
use crate::meter::Settlement;
use crate::record::{RecordChange, RecordKind};

/// What to write. All of it is there afterwards, or none of it: an event and the job it causes never come apart.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Events, run by run; a run occurs once.
    pub appends: Vec<Append>,
    /// The texts of policies that the events name. One that is known already costs nothing.
    pub policies: Vec<String>,
    /// Work that follows from them.
    pub jobs: Vec<NewJob>,
    /// Subjects whose keys are destroyed.
    pub erase: Vec<SubjectId>,
    /// Runs whose events are given up: their heads stay, in the log.
    pub seal: Vec<Seal>,
    /// What becomes of API keys.
    pub keys: Vec<KeyChange>,
    /// Tenants to make; one that is there is replaced. Whoever operates the installation makes them.
    pub tenants: Vec<Tenant>,
    /// What the tenant sets from now on, instead of what it had set.
    pub settings: Option<Map<String, Value>>,
    /// Entries of the cache to put.
    pub cache: Vec<CacheWrite>,
    /// Entries of the cache that served.
    pub touched: Vec<(CacheKind, Digest)>,
    /// What becomes of records.
    pub records: Vec<RecordChange>,
    /// Reservations that are settled, with what was really spent.
    pub settled: Vec<Settlement>,
}

/// What to add to one run.
#[derive(Debug, Clone)]
pub struct Append {
    /// The events, and what the caller believes to be before them. Without any, nothing is added.
    pub events: Recorded,
    /// Whether the run's head goes into the log with them.
    pub settle: Settle,
    /// Whom they are about. Their values are sealed under that subject's key; without a subject they are not.
    pub subject: Option<Subject>,
}

impl Append {
    /// Whom it is about, and since when; nobody, if there are no events.
    pub(crate) fn about(&self) -> Option<(&Subject, Timestamp)> {
        Some((self.subject.as_ref()?, self.events.first()?.at))
    }
}

/// A run to give up the events of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The run.
    pub run: RunId,
    /// How many events the caller believes it to have.
    pub expected: Seq,
}

/// Whether an append ends in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    /// More events are to come.
    Open,
    /// The run is finished, or later events have settled.
    Leaf,
}

/// Why a commit did not succeed. After all but `Store` nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Somebody else was faster.
    #[error("run {run} is at {actual}, not {expected}")]
    Moved {
        /// The run.
        run: RunId,
        /// Where the caller thought it was.
        expected: Seq,
        /// Where it is.
        actual: Seq,
    },
    /// The events do not continue the run.
    #[error("the events do not continue run {run}")]
    Refused {
        /// The run.
        run: RunId,
        /// How.
        #[source]
        cause: ChainError,
    },
    /// There is no such subject, or it is erased already.
    #[error("there is no subject {0}")]
    NoSubject(SubjectId),
    /// There is no such key to take back.
    #[error("there is no API key {0}")]
    NoKey(ApiKeyId),
    /// A key with this id or this token is there already, or it is another tenant's.
    #[error("API key {0} is taken")]
    KeyTaken(ApiKeyId),
    /// The record is not at the version that was expected, or the commit changes it twice.
    #[error("{kind} `{id}` is not at the version that was expected")]
    RecordMoved {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: String,
    },
    /// A record cannot have such an id, or be grouped under such a word: it is empty or too long.
    #[error("{kind} `{id}` has an id or a group that is empty or too long")]
    RecordUnfit {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: String,
    },
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}
