//! The statement: the exporter's signed word for what a packet binds.
//!
//! An inclusion proof shows that a leaf is in the log, not that no newer leaf of the run is. The statement says so,
//! over the signer's name; a packet that shows a leaf it left out convicts the signer.

use std::fmt::Write as _;

use schema::{Digest, RunId, Seq};

use crate::checkpoint::{Checkpoint, base64_digest};

/// Can never be the first line of a checkpoint: an origin has no spaces.
const TITLE: &str = "punk evidence statement v1";

/// Everything a packet binds.
pub(crate) struct Statement<'a> {
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) run: RunId,
    pub(crate) events: usize,
    /// Index, seq and head of each leaf.
    pub(crate) leaves: &'a [(u64, Seq, Digest)],
    pub(crate) policies: Vec<Digest>,
    pub(crate) artifacts: Vec<Digest>,
}

impl Statement<'_> {
    /// The text that is signed. Policies and artifacts come in ascending order.
    pub(crate) fn text(&self) -> String {
        let Checkpoint { origin, size, root } = self.checkpoint;
        let mut text = format!(
            "{TITLE}\n{origin}\nrun {}\ntree {size} {}\nevents {}\n",
            self.run,
            base64_digest(*root),
            self.events
        );
        // Writing into a String cannot fail.
        for (index, seq, head) in self.leaves {
            let _ = writeln!(text, "leaf {index} {seq} {head}");
        }
        for policy in &self.policies {
            let _ = writeln!(text, "policy {policy}");
        }
        for artifact in &self.artifacts {
            let _ = writeln!(text, "artifact {artifact}");
        }
        text
    }
}
