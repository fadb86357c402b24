//! Runs as lists show them: a view, derived from events and from nothing else.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Event;
use schema::{Digest, RunId, Seq, SubjectId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::filter::RunFilter;

/// What a list shows of a run. Every field comes from its events by [`RunRow::fold`]; a rebuild gives the same row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunRow {
    /// The run.
    pub id: RunId,
    /// How many events it has.
    pub seq: Seq,
    /// The hash of the last one.
    pub head: Digest,
    /// When its first event was recorded.
    pub started_at: Timestamp,
    /// When its last event was recorded.
    pub updated_at: Timestamp,
    /// Whether it has ended.
    pub finished: bool,
    /// The disclosed fields of `run.started` and `run.finished` that lists show and filter by.
    pub fields: serde_json::Map<String, Value>,
}

/// The type of the event that says which runs' events were given up, by their ids in `runs`.
pub const RANGE_SEALED: &str = "audit.range_sealed";

const SUBJECT: &str = "subject";

/// Which fields of the first and the last event of a run its row keeps.
const KEPT: &[&str] = &[
    "kind",
    "app",
    "agent",
    SUBJECT,
    "gatewayMode",
    "model",
    "status",
    "route",
    "costMicroUsd",
    "savedMicroUsd",
    "inputTokens",
    "outputTokens",
    "latencyMs",
    "provider",
    "upstream",
    "wire",
    "stream",
    "keyId",
    "errorCode",
    "ghostRoute",
    "ghostSavedMicroUsd",
    "savedMs",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
    "usageEstimated",
];

impl RunRow {
    /// The row after one more event. Pure: the same events always give the same row.
    #[must_use]
    pub fn fold(row: Option<Self>, id: RunId, event: &Event) -> Self {
        let mut row = row.unwrap_or_else(|| Self {
            id,
            seq: Seq::START,
            head: Digest::ZERO,
            started_at: event.at,
            updated_at: event.at,
            finished: false,
            fields: serde_json::Map::new(),
        });
        (row.seq, row.head, row.updated_at) = (event.seq, event.hash, event.at);
        // A run ends once, and what it came to is what it was then.
        if !row.finished && matches!(event.r#type.as_str(), "run.started" | "run.finished") {
            row.finished |= event.r#type == "run.finished";
            for name in KEPT {
                if let Some(value) = event.payload.get(*name).and_then(ledger::Field::value) {
                    row.fields.insert((*name).to_owned(), value.clone());
                }
            }
        }
        row
    }

    /// The row as it is kept. The name of a subject that has a key is not in it: it is kept once, with the key.
    pub(crate) fn at_rest(mut self, subject: Option<SubjectId>) -> Self {
        if subject.is_some() {
            self.fields.remove(SUBJECT);
        }
        self
    }

    /// The row as a reader sees it while the subject is known.
    pub(crate) fn with_subject(mut self, name: Option<String>) -> Self {
        if let Some(name) = name {
            self.fields.insert(SUBJECT.to_owned(), name.into());
        }
        self
    }

    /// The row after all of `events`.
    #[must_use]
    pub fn fold_all(row: Option<Self>, id: RunId, events: &[Event]) -> Option<Self> {
        events.iter().fold(row, |row, event| Some(Self::fold(row, id, event)))
    }
}

/// Lists and looks up runs. The handle carries the tenant.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// The run, if the tenant has it.
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError>;

    /// Runs that the filter fits, older than `before`, newest first, at most `limit`; from the newest when `before` is absent.
    async fn runs(
        &self,
        filter: &RunFilter,
        before: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunRow>, StoreError>;

    /// What is left of a run whose events were given up.
    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError>;
}

/// What is left of a run whose events were given up: enough to find its leaf, and to hold a copy of it against that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sealed {
    /// How many events it had.
    pub seq: Seq,
    /// The hash of the last one.
    pub head: Digest,
    /// Where in the log the leaf is that binds it.
    pub leaf: u64,
}
