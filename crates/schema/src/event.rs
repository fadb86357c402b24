//! Trace events as callers see them. How they are hashed and chained is the ledger's business.

use serde::{Deserialize, Serialize};

use crate::{Digest, RunId, TenantId, Timestamp};

/// The place of an event in its run: the first has 1, an empty run is at [`Seq::START`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// The place after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// One event of a run, as the REST interface shows it: values in the clear, salts left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceEvent<P> {
    /// Whose run it is.
    pub tenant: TenantId,
    /// Which run.
    pub run_id: RunId,
    /// Where in the run.
    pub seq: Seq,
    /// When it was recorded.
    pub at: Timestamp,
    /// What happened, such as `model.completed`.
    pub r#type: String,
    /// Its fields; a withheld one is `{"withheld": digest}`.
    pub payload: P,
    /// The hash that the next event builds on.
    pub hash: Digest,
}
