//! The exporter's signed word for a whole trail: which time it is about, how many runs it has, and every line of it.
//!
//! Packets prove that nothing in a run was changed or left out. That no run was left out cannot be proven by any number of
//! packets; whoever exports a trail signs for it, and a packet that the trail should have had convicts the signer.

use ledger::note::{KeyKind, KeyName, Note, VerifierKey};
use ledger::trust::Trust;
use ledger::{Checkpoint, sha256};
use schema::{Digest, Timestamp};

/// Can never be the first line of a checkpoint, because an origin has no spaces, nor that of a packet's statement.
const TITLE: &str = "punk audit statement v1";

/// Everything that a trail binds.
pub(super) struct Statement<'a> {
    pub(super) checkpoint: &'a Checkpoint,
    pub(super) from: Option<Timestamp>,
    pub(super) to: Timestamp,
    pub(super) runs: u64,
    /// Runs of that time that have something of the trail which is not in the log yet.
    pub(super) open: u64,
    pub(super) lines: Digest,
}

impl Statement<'_> {
    /// The text that is signed.
    pub(super) fn text(&self) -> String {
        let Checkpoint { origin, size, root } = self.checkpoint;
        let from = self.from.map_or_else(|| "beginning".to_owned(), |from| from.to_string());
        let Self { to, runs, open, lines, .. } = self;
        format!(
            "{TITLE}\n{origin}\ntree {size} {root}\nfrom {from}\nto {to}\nruns {runs}\nopen {open}\nlines {lines}\n"
        )
    }
}

/// The digest over lines: that of their digests, one after another.
#[derive(Debug, Default)]
pub(super) struct LineDigest(Vec<u8>);

impl LineDigest {
    /// One more line, without its end.
    pub(super) fn push(&mut self, line: &[u8]) {
        self.0.extend_from_slice(sha256(line).as_bytes());
    }

    pub(super) fn value(&self) -> Digest {
        sha256(&self.0)
    }
}

/// The witnesses under a note that the log called `origin` signed.
///
/// # Errors
/// The log did not sign it, or somebody did whom the trust file does not know, or a signature does not hold.
pub(super) fn signed<'t>(
    note: &Note,
    origin: &KeyName,
    trust: &'t Trust,
) -> Result<Vec<&'t VerifierKey>, String> {
    let mut signers = Vec::new();
    for line in note.signatures() {
        let name = line.name();
        let key = trust.key_of(origin, line);
        let key = key.ok_or_else(|| format!("the trust file lists no such key of {name} for {origin}"))?;
        if !key.verifies(note.text(), line) {
            return Err(format!("the signature by {name} does not hold"));
        }
        signers.push(key);
    }
    let all = signers.len();
    signers.retain(|key| key.kind() == KeyKind::Witness);
    if signers.len() == all { Err(format!("{origin} did not sign it")) } else { Ok(signers) }
}
