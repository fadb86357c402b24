//! A copy of the checkpoints against a log: whether the log still is what it was when they were signed.
//!
//! Whoever operates the database holds its keys too, and can write another history that verifies by itself. What they cannot
//! do is make it the continuation of a head that somebody else has a copy of.

use std::num::NonZeroU32;

use ledger::note::{KeyName, Note, VerifierKey};
use ledger::trust::Trust;
use ledger::{Checkpoint, Log, verify_consistency};
use serde_json::Value;
use store::{StoreError, TenantStore};

use crate::context::CONTEXT;
use crate::document::{CHECKPOINT, ShippedCheckpoint};

const PAGE: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// How a log stands to the checkpoints that were shipped of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It is the continuation of every one of them.
    Consistent {
        /// How many were looked at.
        checkpoints: usize,
    },
    /// It is not. Its first `kept` leaves are as they were; one of those up to `until` was changed, moved or taken out.
    Rewritten {
        /// The size of the last checkpoint that still holds.
        kept: u64,
        /// The size of the first that does not.
        until: u64,
    },
}

/// What a copy holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copies {
    /// The checkpoints in it, each signed by its log, in the order of the copy.
    pub checkpoints: Vec<Checkpoint>,
    /// The numbers of the lines that are no JSON at all: a crash leaves half a line, and the whole one follows.
    pub torn: Vec<usize>,
}

/// Why a copy is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct CopyError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Copies {
    /// Reads a copy, a document a line, and believes nothing in it that `trust` has no key for.
    ///
    /// # Errors
    /// The first line that is JSON and not what a sink is sent.
    pub fn read(text: &str, trust: &Trust) -> Result<Self, CopyError> {
        let mut copies = Self::default();
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        for (line, number) in lines {
            let Ok(document) = serde_json::from_str::<Value>(line) else {
                copies.torn.push(number);
                continue;
            };
            let is_context = document["format"] == CONTEXT || document["context"]["format"] == CONTEXT;
            if !is_context {
                let checkpoint = checkpoint(document, trust);
                copies.checkpoints.push(checkpoint.map_err(|why| CopyError { line: number, why })?);
            }
        }
        Ok(copies)
    }
}

/// The checkpoint in a document, if the note in it is signed and says what is around it.
fn checkpoint(document: Value, trust: &Trust) -> Result<Checkpoint, &'static str> {
    let shipped: ShippedCheckpoint =
        serde_json::from_value(document).map_err(|_| "it is no document of a sink")?;
    let note: Note = shipped.checkpoint.parse().map_err(|_| "its checkpoint is no signed note")?;
    let checkpoint = Checkpoint::parse(note.text()).ok_or("its note is no checkpoint")?;
    let Checkpoint { origin, size, root } = &checkpoint;
    let says_the_same = shipped.format == CHECKPOINT
        && shipped.origin == origin.as_str()
        && (shipped.size, shipped.root) == (*size, *root)
        && origin.as_str().ends_with(&format!("/{}", shipped.tenant));
    if !says_the_same {
        return Err("what is around its checkpoint says something else");
    }
    // By the log itself: a witness says only that it has seen it.
    let is_by = |key: &VerifierKey| {
        let mut lines = note.signatures().iter();
        lines.any(|line| key.is_named_by(line) && key.verifies(note.text(), line))
    };
    let is_signed = trust.log_keys(origin).any(is_by);
    if is_signed { Ok(checkpoint) } else { Err("no trusted key has signed its checkpoint") }
}

/// Holds the checkpoints of one log against what the log is now. Those of other logs are passed over.
#[must_use]
pub fn compare(shipped: &[Checkpoint], origin: &KeyName, log: &Log) -> Comparison {
    let mut of_log: Vec<&Checkpoint> = shipped.iter().filter(|one| one.origin == *origin).collect();
    of_log.sort_by_key(|checkpoint| checkpoint.size);
    let mut kept = 0;
    for checkpoint in &of_log {
        if !continues(log, checkpoint) {
            return Comparison::Rewritten { kept, until: checkpoint.size };
        }
        kept = checkpoint.size;
    }
    Comparison::Consistent { checkpoints: of_log.len() }
}

/// Whether the log is a continuation of the checkpoint. One that has become shorter has no proof to offer.
fn continues(log: &Log, checkpoint: &Checkpoint) -> bool {
    let proof = log.prove_consistency(checkpoint.size);
    proof.is_some_and(|path| {
        verify_consistency(checkpoint.size, checkpoint.root, log.size(), log.root(), &path)
    })
}

/// A tenant's log as its database has it.
///
/// # Errors
/// The store is out of reach.
pub async fn log_of(store: &dyn TenantStore) -> Result<Log, StoreError> {
    let mut log = Log::default();
    loop {
        let page = store.leaves(log.size(), PAGE).await?;
        if page.is_empty() {
            return Ok(log);
        }
        for leaf in page {
            log.push(leaf);
        }
    }
}
