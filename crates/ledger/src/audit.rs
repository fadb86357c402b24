//! Checking a whole ledger: every chain, every leaf, and the root that was signed.

use std::collections::HashMap;

use schema::{RunId, TenantId};

use crate::chain::{Chain, ChainError, Event};
use crate::checkpoint::Checkpoint;
use crate::log::{Leaf, Log};

/// Walks a tenant's ledger in the order it was written.
#[derive(Debug)]
pub struct Audit {
    tenant: TenantId,
    chains: HashMap<RunId, Chain>,
    log: Log,
    events: u64,
}

/// The first thing in a ledger that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// An event does not continue its run.
    #[error("run {run}: {error}")]
    Event {
        /// Which run.
        run: RunId,
        /// How.
        error: ChainError,
    },
    /// A leaf does not speak of the run's chain as it stood.
    #[error("leaf {index} says run {run} ended in another head", run = leaf.run)]
    Leaf {
        /// Where in the log.
        index: u64,
        /// The leaf.
        leaf: Leaf,
    },
    /// The log's root is not the one that was signed.
    #[error("the checkpoint of size {size} has another root than these leaves")]
    Root {
        /// The size that was signed.
        size: u64,
    },
}

impl Audit {
    /// Begins with an empty ledger.
    #[must_use]
    pub fn new(tenant: TenantId) -> Self {
        Self { tenant, chains: HashMap::new(), log: Log::default(), events: 0 }
    }

    /// The next event.
    ///
    /// # Errors
    /// It is not what was recorded.
    pub fn event(&mut self, run: RunId, event: &Event) -> Result<(), AuditError> {
        let chain = self.chains.entry(run).or_insert_with(|| Chain::new(self.tenant, run));
        chain.verify_next(event).map_err(|error| AuditError::Event { run, error })?;
        self.events += 1;
        Ok(())
    }

    /// The next leaf. It binds the run as it stands now.
    ///
    /// # Errors
    /// The run ends elsewhere.
    pub fn leaf(&mut self, leaf: Leaf) -> Result<(), AuditError> {
        let index = self.log.size();
        let stands = self
            .chains
            .get(&leaf.run)
            .is_some_and(|chain| chain.seq() == leaf.seq && chain.head() == leaf.head);
        if !stands {
            return Err(AuditError::Leaf { index, leaf });
        }
        self.log.push(leaf);
        Ok(())
    }

    /// A checkpoint that was signed over the leaves so far.
    ///
    /// # Errors
    /// It was signed over others.
    pub fn checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), AuditError> {
        if checkpoint.size == self.log.size() && checkpoint.root == self.log.root() {
            return Ok(());
        }
        Err(AuditError::Root { size: checkpoint.size })
    }

    /// How many events were found good.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The log over the leaves found good.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }
}
