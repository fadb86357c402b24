//! What was answered before and may be answered again: a view that forgets, and that can be made again where it only points.
//!
//! An entry of the kind `exact_response` holds no answer. It points to the run whose recorded answer serves, so that erasing
//! a person or giving up a run takes the answer with it: such an entry reads as absent. An entry of the kind `tool_result`
//! holds a value, sealed under the key of the subject it is about, or as it is where it is about nobody; so do `evaluation` and `negative`, which say of
//! what was learned whether it was right, and are about nobody.
//!
//! - A newer entry replaces an older one; an older one changes nothing.
//! - A kind is bounded by the puts themselves: one in so many, picked by its key, takes away the oldest beyond the bound. To
//!   find where that is takes a walk along all that stay, so the larger the bound, the fewer look; it is never exceeded by
//!   much more than a sixteenth.
//! - An invalidation that is to outlast a rebuild is on record, as an event of the type [`CACHE_INVALIDATED`].

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Event;
use schema::{Digest, RunId, Subject, SubjectId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::run::told;
use crate::view::RunEvents;

/// The type of the event that says what was taken out of the cache: its field `filter` is a [`CacheFilter`].
pub const CACHE_INVALIDATED: &str = "audit.cache_invalidated";

/// One put in so many sees to the bound, or one in as many as are a sixteenth of it.
pub(crate) const SHARE: u32 = 16;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// The answer to an identical request.
    ExactResponse,
    /// What a tool gave for identical arguments.
    ToolResult,
    /// How an artifact compared with live on an input.
    Evaluation,
    /// What is not to be tried again for a while: a pattern, or an input of one.
    Negative,
}

impl CacheKind {
    /// Every kind there is.
    pub const ALL: [Self; 4] = [Self::ExactResponse, Self::ToolResult, Self::Evaluation, Self::Negative];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ExactResponse => "exact_response",
            Self::ToolResult => "tool_result",
            Self::Evaluation => "evaluation",
            Self::Negative => "negative",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheHeld {
    /// The recorded answer of a run.
    Run(RunId),
    /// The value itself.
    Value(Vec<u8>),
}

/// An entry to put, which takes the place of an older one with its kind and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheWrite {
    /// What it is.
    pub kind: CacheKind,
    /// What it is found by.
    pub key: Digest,
    /// What serves. A run that is not there, and does not come with the commit, makes no entry.
    pub held: CacheHeld,
    /// Whom a value is about; a run says so itself.
    pub subject: Option<Subject>,
    /// The model it came from.
    pub model: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it no longer serves.
    pub expires_at: Timestamp,
    /// How large what it serves is.
    pub bytes: u64,
    /// How many entries of its kind the tenant may have, or a few more; absent is without end.
    pub at_most: Option<NonZeroU32>,
}

impl CacheWrite {
    /// The entry that a run's own events ask for, by the fields `cacheKey` and `cacheExpiresAt` of its `run.finished`, and
    /// `cacheBytes` where that is known. A rebuild makes the same one.
    #[must_use]
    pub fn of_run(run: RunId, events: &[Event], at_most: Option<NonZeroU32>) -> Option<Self> {
        let finished = events.iter().find(|event| event.r#type == "run.finished")?;
        let field = |name: &str| finished.payload.get(name).and_then(ledger::Field::value);
        let model = told(events, "model").and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            kind: CacheKind::ExactResponse,
            key: field("cacheKey")?.as_str()?.parse().ok()?,
            held: CacheHeld::Run(run),
            subject: None,
            model,
            created_at: finished.at,
            expires_at: field("cacheExpiresAt")?.as_str()?.parse().ok()?,
            bytes: field("cacheBytes").and_then(Value::as_u64).unwrap_or(0),
            at_most,
        })
    }

    /// The bound, if this put is one of those that see to it.
    pub(crate) fn sees_to(&self) -> Option<NonZeroU32> {
        let (by, _) = self.key.as_bytes().split_first_chunk()?;
        let by = u32::from_le_bytes(*by);
        self.at_most.filter(|bound| by.is_multiple_of((bound.get() / 16).max(SHARE)))
    }

    /// What decides between two entries of one key.
    pub(crate) fn age(&self) -> (Timestamp, Option<RunId>) {
        (self.created_at, if let CacheHeld::Run(run) = self.held { Some(run) } else { None })
    }
}

/// An entry as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheRow {
    /// What it is.
    pub kind: CacheKind,
    /// What it is found by.
    pub key: Digest,
    /// What serves.
    pub held: CacheHeld,
    /// Whom it is about.
    pub subject: Option<SubjectId>,
    /// The model it came from.
    pub model: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it no longer serves.
    pub expires_at: Timestamp,
    /// How often it served.
    pub hits: u64,
    /// How large what it serves is.
    pub bytes: u64,
}

impl CacheRow {
    pub(crate) fn new(write: CacheWrite, subject: Option<SubjectId>) -> Self {
        let CacheWrite { kind, key, held, model, created_at, expires_at, bytes, .. } = write;
        Self { kind, key, held, subject, model, created_at, expires_at, hits: 0, bytes }
    }

    /// Whether it says what `other` says. How often an entry served is in no event.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        *self == Self { hits: self.hits, ..other.clone() }
    }
}

/// What the entries of one kind come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheStats {
    /// The kind.
    pub kind: CacheKind,
    /// How many serve.
    pub entries: u64,
    /// How often they did.
    pub hits: u64,
    /// How large what they serve is.
    pub bytes: u64,
}

/// Which entries are meant: those that fit everything that is said. Nothing said means all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CacheFilter {
    /// What they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CacheKind>,
    /// The model they came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whom they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<SubjectId>,
    /// Made before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_than: Option<Timestamp>,
    /// What they are found by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Digest>,
}

impl CacheFilter {
    pub(crate) fn fits(&self, row: &CacheRow) -> bool {
        self.kind.is_none_or(|kind| row.kind == kind)
            && self.model.as_ref().is_none_or(|model| row.model.as_ref() == Some(model))
            && self.subject.is_none_or(|subject| row.subject == Some(subject))
            && self.older_than.is_none_or(|moment| row.created_at < moment)
            && self.key.is_none_or(|key| row.key == key)
    }
}

/// Looks up entries, and takes them out. The handle carries the tenant; [`Commit::cache`](crate::Commit::cache) puts them.
#[async_trait]
pub trait CacheStore: Send + Sync {
    /// The entry, if there is one that still serves: it has not expired, and what it points to or is sealed with is there.
    async fn cached(
        &self,
        kind: CacheKind,
        key: Digest,
        now: Timestamp,
    ) -> Result<Option<CacheRow>, StoreError>;

    /// Counts that the entry served. [`Commit::touched`](crate::Commit::touched) does so without a commit of its own.
    async fn touch(&self, kind: CacheKind, key: Digest) -> Result<(), StoreError>;

    /// What the entries of each kind that has any come to.
    async fn cache_stats(&self, now: Timestamp) -> Result<Vec<CacheStats>, StoreError>;

    /// Takes out the entries that the filter fits, and says how many they were.
    async fn invalidate(&self, filter: &CacheFilter) -> Result<u64, StoreError>;

    /// Takes out what no longer serves, and says how many entries that was.
    async fn sweep_cache(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// The entries that a tenant's events ask for, as they are read run by run.
#[derive(Default)]
pub(crate) struct Asked {
    entries: BTreeMap<Digest, CacheWrite>,
    subjects: BTreeMap<RunId, SubjectId>,
    taken_out: Vec<(Timestamp, CacheFilter)>,
    newest: Option<Timestamp>,
}

impl Asked {
    /// Reads one more run.
    pub(crate) fn read(&mut self, run: &RunEvents) {
        self.newest = self.newest.max(run.events.last().map(|event| event.at));
        for event in run.events.iter().filter(|event| event.r#type == CACHE_INVALIDATED) {
            let filter = event.payload.get("filter").and_then(ledger::Field::value);
            let filter = filter.and_then(|filter| serde_json::from_value(filter.clone()).ok());
            self.taken_out.extend(filter.map(|filter| (event.at, filter)));
        }
        // Of somebody who was erased there is no answer to point to.
        let Some(write) = CacheWrite::of_run(run.run, &run.events, None).filter(|_| !run.is_erased) else {
            return;
        };
        self.subjects.extend(run.subject.map(|subject| (run.run, subject)));
        if self.entries.get(&write.key).is_none_or(|other| other.age() <= write.age()) {
            self.entries.insert(write.key, write);
        }
    }

    /// The entries of the kind `exact_response` that should be there, and the moment up to which events are known: what had
    /// expired by then need not be.
    pub(crate) fn wanted(self) -> (BTreeMap<Digest, CacheRow>, Timestamp) {
        let now = self.newest.unwrap_or(Timestamp::EPOCH);
        let rows = self.entries.into_iter().map(|(key, write)| {
            let subject = write.age().1.and_then(|run| self.subjects.get(&run).copied());
            (key, CacheRow::new(write, subject))
        });
        let was_taken_out = |row: &CacheRow| {
            self.taken_out.iter().any(|(at, filter)| row.created_at <= *at && filter.fits(row))
        };
        let rows = rows.filter(|(_, row)| row.expires_at > now && !was_taken_out(row)).collect();
        (rows, now)
    }
}
