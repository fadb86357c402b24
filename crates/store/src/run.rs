//! Runs as lists show them: a view, derived from events and from nothing else.

mod fields;
mod outline;

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Event;
use schema::{Digest, RunId, Seq, SubjectId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::fields::RunFields;
pub(crate) use self::fields::{KEPT, SUBJECT, place};
pub(crate) use self::outline::{Adds, FieldsOf, Outline};
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
    pub fields: RunFields,
}

/// The type of the event that says which runs' events were given up, by their ids in `runs`.
pub const RANGE_SEALED: &str = "audit.range_sealed";

/// The type of the event that ends a run.
const END: &str = "run.finished";

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
            fields: RunFields::default(),
        });
        (row.seq, row.head, row.updated_at) = (event.seq, event.hash, event.at);
        // A run ends once, and what it came to is what it was then.
        if !row.finished && is_kept(&event.r#type) {
            row.finished |= event.r#type == END;
            row.fields.learn(event);
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
            self.fields.set(SUBJECT, name.into());
        }
        self
    }

    /// The row after all of `events`.
    #[must_use]
    pub fn fold_all(row: Option<Self>, id: RunId, events: &[Event]) -> Option<Self> {
        events.iter().fold(row, |row, event| Some(Self::fold(row, id, event)))
    }
}

/// Whether a row keeps fields of such events.
fn is_kept(r#type: &str) -> bool {
    matches!(r#type, "run.started" | END)
}

/// What the row after all of `events` has in one of the fields that it keeps, without making it.
pub(crate) fn told<'e>(events: &'e [Event], name: &str) -> Option<&'e Value> {
    let after_end = events.iter().position(|event| event.r#type == END).map(|end| end + 1);
    let until_end = events.get(..after_end.unwrap_or(events.len()))?;
    let mut kept = until_end.iter().rev().filter(|event| is_kept(&event.r#type));
    kept.find_map(|event| event.payload.get(name)?.value())
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

#[cfg(test)]
mod tests {
    use ledger::{Recorder, Salt};
    use proptest::prelude::*;
    use schema::TenantId;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn a_field_that_is_looked_up_is_what_the_row_has(
            told_in in prop::collection::vec((0..4usize, prop::option::of(0..3u8)), 0..8),
        ) {
            let run = RunId::new(1, [0; 10]);
            let mut recorder = Recorder::new(TenantId::NIL, run);
            for (r#type, model) in told_in {
                let r#type = ["run.started", "model.completed", "run.finished", "run.finished"][r#type];
                let fields: serde_json::Map<_, _> =
                    model.map(|model| ("model".to_owned(), json!(model))).into_iter().collect();
                recorder.append(Timestamp::EPOCH, r#type, fields, || Salt::from_bytes([7; 16])).unwrap();
            }
            let events = recorder.end();
            let row = RunRow::fold_all(None, run, &events);
            prop_assert_eq!(told(&events, "model"), row.as_ref().and_then(|row| row.fields.get("model")));
        }
    }
}
