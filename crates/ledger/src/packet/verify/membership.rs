//! Whether the log held the run's leaves, and who signed for it.

use schema::{Digest, RunId, Seq};

use super::super::Packet;
use super::super::reason::{Broken, Reason};
use crate::checkpoint::Checkpoint;
use crate::log::{Leaf, verify_inclusion};
use crate::note::{KeyKind, Note};
use crate::proof::Proof;
use crate::statement::Statement;
use crate::trust::Trust;

/// Index, seq and head of a leaf.
pub(super) type Place = (u64, Seq, Digest);

pub(super) fn proofs(
    packet: &Packet,
    run: RunId,
    trust: &Trust,
) -> Result<(Checkpoint, Vec<Place>, Vec<String>), Broken> {
    let mut places: Vec<Place> = Vec::new();
    let mut first: Option<(Proof, Vec<String>)> = None;
    for leaf in &packet.leaves {
        let proof: Proof = leaf
            .proof
            .parse()
            .map_err(|error| Reason::ProofText.because(format!("the leaf at event {}: {error}", leaf.seq)))?;
        if let Some((first, _)) = &first {
            if proof.note != first.note {
                return Err(Reason::CheckpointDiffers
                    .because(format!("the leaf at event {} has another checkpoint", leaf.seq)));
            }
        } else {
            let witnesses = checkpoint(packet, &proof, trust)?;
            first = Some((proof.clone(), witnesses));
        }
        if places.last().is_some_and(|(index, ..)| proof.index <= *index) {
            return Err(Reason::LeafOrder
                .because(format!("the leaf at event {} is not after the one before it", leaf.seq)));
        }
        let Checkpoint { size, root, .. } = proof.checkpoint;
        let data = Leaf { run, seq: leaf.seq, head: leaf.head };
        if !verify_inclusion(&data, proof.index, size, root, &proof.path) {
            let detail = format!(
                "the leaf at event {} is not at index {} of the tree of {size}",
                leaf.seq, proof.index
            );
            return Err(Reason::Inclusion.because(detail));
        }
        places.push((proof.index, leaf.seq, leaf.head));
    }
    let (proof, witnesses) = first.ok_or_else(|| Reason::WrongShape.because("`leaves` is empty"))?;
    Ok((proof.checkpoint, places, witnesses))
}

/// Checks who signed the checkpoint and returns the witnesses among them.
fn checkpoint(packet: &Packet, proof: &Proof, trust: &Trust) -> Result<Vec<String>, Broken> {
    let origin = &proof.checkpoint.origin;
    if !origin.as_str().ends_with(&format!("/{}", packet.tenant)) {
        return Err(
            Reason::WrongOrigin.because(format!("{origin} is not the log of tenant {}", packet.tenant))
        );
    }
    let mut signers = Vec::new();
    for line in proof.note.signatures() {
        let key = trust.key_of(origin, line).ok_or_else(|| {
            let id = u32::from_be_bytes(line.id());
            Reason::UnknownKey
                .because(format!("the trust file lists no key {}+{id:08x} for {origin}", line.name()))
        })?;
        if !key.verifies(proof.note.text(), line) {
            return Err(Reason::BadSignature
                .because(format!("the checkpoint's signature by {} does not hold", line.name())));
        }
        signers.push(key);
    }
    if !signers.iter().any(|key| key.kind() == KeyKind::Log) {
        return Err(Reason::Unsigned.because(format!("{origin} did not sign its checkpoint")));
    }
    signers.retain(|key| key.kind() == KeyKind::Witness);
    if !trust.is_quorum(&signers) {
        return Err(Reason::Quorum
            .because(format!("{} witnesses cosigned, the trust file wants others or more", signers.len())));
    }
    Ok(signers.iter().map(|key| key.name().to_string()).collect())
}

pub(super) fn statement(
    packet: &Packet,
    run: RunId,
    checkpoint: &Checkpoint,
    places: &[Place],
    trust: &Trust,
) -> Result<(), Broken> {
    let note: Note = packet
        .statement
        .parse()
        .map_err(|error| Reason::StatementText.because(format!("the statement: {error}")))?;
    let [line] = note.signatures() else {
        return Err(Reason::StatementText.because("the statement has more than one signature"));
    };
    let expected = Statement {
        checkpoint,
        run,
        events: packet.events.len(),
        leaves: places,
        policies: packet.policies.keys().copied().collect(),
        artifacts: packet.artifacts.keys().copied().collect(),
    };
    if note.text() != expected.text() {
        return Err(Reason::StatementDiffers
            .because("the statement speaks of other events, leaves, policies or artifacts"));
    }
    let key = trust.log_keys(&checkpoint.origin).find(|key| key.is_named_by(line));
    let key = key.ok_or_else(|| {
        Reason::UnknownKey.because(format!("the statement is signed by {}, not by the log", line.name()))
    })?;
    if !key.verifies(note.text(), line) {
        return Err(Reason::BadSignature.because("the statement's signature does not hold"));
    }
    Ok(())
}
