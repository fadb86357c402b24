//! Making a packet from what the ledger holds of a run.

use std::collections::BTreeMap;

use ed25519_dalek::{Signature, Signer};
use schema::{Digest, RunId, TenantId};

use super::{FORMAT, Packet, PacketLeaf, rows};
use crate::canonical::CanonicalError;
use crate::chain::Event;
use crate::hash::sha256;
use crate::log::LoggedLeaf;
use crate::note::{Note, NoteError, SignatureLine, VerifierKey};
use crate::proof::{Proof, ProofError};
use crate::statement::Statement;

/// What the ledger holds of one run.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// Whose run it is.
    pub tenant: TenantId,
    /// The run.
    pub run: RunId,
    /// Its events; those past its newest leaf are left out of the packet.
    pub events: Vec<Event>,
    /// Its places in the log, oldest first.
    pub leaves: Vec<LoggedLeaf>,
    /// The texts of the policies that decided.
    pub policies: Vec<String>,
    /// The texts of the artifacts that were executed.
    pub artifacts: Vec<String>,
}

/// Whoever holds the log's key.
pub struct Exporter<'a, S> {
    /// The public half, named by the log's origin.
    pub key: &'a VerifierKey,
    /// The signing half.
    pub signer: &'a S,
}

/// Why there is no packet to give.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The run has no leaf in the log yet: it is not finished.
    #[error("run {0} is not finished, so the log does not hold it yet")]
    NotInLog(RunId),
    /// The events are not those of a finished run, or contradict each other.
    #[error("the events of run {run} make no packet: {detail}")]
    Events {
        /// The run.
        run: RunId,
        /// Why not.
        detail: String,
    },
    /// The checkpoint is not one of this log.
    #[error("the checkpoint cannot go into a packet")]
    Checkpoint(#[from] ProofError),
    /// The statement cannot be signed.
    #[error("the statement cannot be written")]
    Statement(#[from] NoteError),
    /// A value has no canonical form.
    #[error("the packet has no canonical form")]
    Canonical(#[from] CanonicalError),
}

impl Packet {
    /// The packet of `record`, under the signed checkpoint that its leaves were proven against.
    ///
    /// # Errors
    /// The run is not finished or its records contradict each other; nothing is signed then.
    pub fn build<S: Signer<Signature>>(
        record: RunRecord,
        checkpoint: &Note,
        exporter: &Exporter<'_, S>,
    ) -> Result<Self, BuildError> {
        let RunRecord { tenant, run, mut events, leaves, policies, artifacts } = record;
        let newest = leaves.last().ok_or(BuildError::NotInLog(run))?.leaf.seq;
        events.retain(|event| event.seq <= newest);

        let bound: Vec<_> =
            leaves.iter().map(|place| (place.index, place.leaf.seq, place.leaf.head)).collect();
        let proofs = leaves
            .into_iter()
            .map(|place| Ok((place.leaf, Proof::new(place.index, place.path, checkpoint.clone())?)))
            .collect::<Result<Vec<_>, ProofError>>()?;
        let (_, first) = proofs.first().ok_or(BuildError::NotInLog(run))?;
        let by_digest = |texts: Vec<String>| -> BTreeMap<Digest, String> {
            texts.into_iter().map(|text| (sha256(text.as_bytes()), text)).collect()
        };
        let (policies, artifacts) = (by_digest(policies), by_digest(artifacts));
        let statement = Statement {
            checkpoint: &first.checkpoint,
            run,
            events: events.len(),
            leaves: &bound,
            policies: policies.keys().copied().collect(),
            artifacts: artifacts.keys().copied().collect(),
        }
        .text();
        let rows = rows::derive(tenant, run, &events).map_err(|detail| BuildError::Events { run, detail })?;
        let signature = SignatureLine::sign(&statement, exporter.key, exporter.signer);
        Ok(Self {
            artifacts,
            audit: rows.audit,
            format: FORMAT.to_owned(),
            leaves: proofs
                .iter()
                .map(|(leaf, proof)| PacketLeaf { head: leaf.head, proof: proof.to_string(), seq: leaf.seq })
                .collect(),
            policies,
            run: rows.run,
            side_effects: rows.side_effects,
            statement: Note::new(statement, vec![signature])?.to_string(),
            tenant,
            events,
        })
    }
}
