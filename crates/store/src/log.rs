//! The tenant's Merkle log.

use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::Leaf;
use ledger::packet::RunRecord;
use schema::{Digest, RunId, Seq};

use crate::error::StoreError;

/// A run and its places in the log, all against one tree.
#[derive(Debug)]
pub struct RunProof {
    /// The run; its leaves are empty while it is not finished.
    pub record: RunRecord,
    /// The tree's size.
    pub size: u64,
    /// The tree's root.
    pub root: Digest,
}

/// A leaf as a feed tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedRow {
    /// Where in the log it is.
    pub index: u64,
    /// The run it binds.
    pub run: RunId,
    /// Up to which event it does.
    pub seq: Seq,
    /// Up to which event the run's leaf before it did: what came after that is news.
    pub after: Seq,
}

/// Proves what the log holds. The handle carries the tenant.
#[async_trait]
pub trait LogStore: Send + Sync {
    /// The run with its proofs, if the tenant has it.
    async fn prove(&self, run: RunId) -> Result<Option<RunProof>, StoreError>;

    /// The log's size and root.
    async fn log_head(&self) -> Result<(u64, Digest), StoreError>;

    /// The log's size alone: cheap enough to ask for now and then.
    async fn log_size(&self) -> Result<u64, StoreError>;

    /// The leaves from index `from` on as a feed tells of them, in order, at most `limit`. The events of a run that was given
    /// up since are not there to be told.
    async fn feed(&self, from: u64, limit: NonZeroU32) -> Result<Vec<FeedRow>, StoreError>;

    /// The leaves from index `from` on, in order, at most `limit`.
    async fn leaves(&self, from: u64, limit: NonZeroU32) -> Result<Vec<Leaf>, StoreError>;

    /// The texts of policies whose digests come after `after`, in the order of their digests, at most `limit`; from the
    /// first when `after` is absent.
    async fn policies(&self, after: Option<Digest>, limit: NonZeroU32) -> Result<Vec<String>, StoreError>;
}

/// The policies that a run's decisions name, in the order of their digests.
pub(crate) fn policies_named_by(events: &[ledger::Event]) -> std::collections::BTreeSet<Digest> {
    let decided = events.iter().filter(|event| event.r#type == "policy.decided");
    let named = decided.filter_map(|event| event.payload.get("policies")?.value()?.as_array());
    named.flatten().filter_map(|digest| digest.as_str()?.parse().ok()).collect()
}
