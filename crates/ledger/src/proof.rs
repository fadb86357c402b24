//! C2SP `tlog-proof`: where a leaf is, the path to the root, and the signed checkpoint, as one text.

use std::fmt;
use std::str::FromStr;

use schema::Digest;

use crate::checkpoint::{Checkpoint, base64_digest, parse_base64_digest, parse_decimal};
use crate::note::{Note, NoteError, SignatureLine};

const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// A proof that some leaf is in a log. Reading one checks its spelling; nothing in it is verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Where the leaf is.
    pub index: u64,
    /// From its sibling upwards.
    pub path: Vec<Digest>,
    /// The head of the log the path leads to.
    pub checkpoint: Checkpoint,
    /// The same, as it was signed.
    pub note: Note,
}

/// Why a text is not a proof in the spelling that packets demand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The lines before the checkpoint.
    #[error("the proof's {0} is not as tlog-proof writes it")]
    Line(&'static str),
    /// The checkpoint's note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The checkpoint's text.
    #[error("the checkpoint is not three lines of origin, size and root")]
    Checkpoint,
    /// The order of the signature lines.
    #[error(
        "the signature lines are not sorted (the origin's first, then by name and key id), or one is doubled"
    )]
    SignatureOrder,
}

impl Proof {
    /// A proof from its parts. `note` must be a checkpoint.
    ///
    /// # Errors
    /// It is not, or its signatures are not in order.
    pub fn new(index: u64, path: Vec<Digest>, note: Note) -> Result<Self, ProofError> {
        let checkpoint = Checkpoint::parse(note.text()).ok_or(ProofError::Checkpoint)?;
        if !note.signatures().is_sorted_by(|a, b| rank(&checkpoint, a) < rank(&checkpoint, b)) {
            return Err(ProofError::SignatureOrder);
        }
        Ok(Self { index, path, checkpoint, note })
    }
}

/// Signature lines have one order, so that swapping two of them is not a second spelling of the same proof.
fn rank<'a>(checkpoint: &Checkpoint, line: &'a SignatureLine) -> (bool, &'a [u8], [u8; 4]) {
    (*line.name() != checkpoint.origin, line.name().as_str().as_bytes(), line.id())
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}\nindex {}", self.index)?;
        for digest in &self.path {
            writeln!(f, "{}", base64_digest(*digest))?;
        }
        write!(f, "\n{}", self.note)
    }
}

impl FromStr for Proof {
    type Err = ProofError;

    fn from_str(text: &str) -> Result<Self, ProofError> {
        let (head, note) =
            text.split_once("\n\n").ok_or(ProofError::Line("blank line before the checkpoint"))?;
        let mut lines = head.split('\n');
        if lines.next() != Some(HEADER) {
            return Err(ProofError::Line("first line"));
        }
        let index = lines.next().and_then(|line| line.strip_prefix("index ")).and_then(parse_decimal);
        let index = index.ok_or(ProofError::Line("index line"))?;
        let path: Option<Vec<_>> = lines.map(parse_base64_digest).collect();
        let path = path.ok_or(ProofError::Line("path"))?;
        Self::new(index, path, note.parse()?)
    }
}
