//! An artifact as one file: its program, the proof it had where it was made, and the signature of the log that proved it.
//!
//! The signature says who vouches for the proof. It does not say that the artifact may serve: wherever it is brought, it begins in
//! the shadow and is proven against that tenant's own live answers.

use ledger::note::{KeyName, Note, SignatureLine};
use ledger::sha256;
use ledger::trust::Trust;
use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::executable::{Executable, ExecuteError};
use crate::study::Made;

/// The name of the format.
pub const PORTABLE: &str = "punk.artifact-file/1";
/// Can never be the first line of a checkpoint, because an origin has no spaces, nor that of another statement.
const TITLE: &str = "punk artifact statement v1";

/// An artifact as a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Portable {
    /// [`PORTABLE`].
    pub format: String,
    /// The log that vouches for it.
    pub origin: String,
    /// What serves.
    pub program: String,
    /// The artifact as it stood: what was compared, and what was corrected.
    pub proof: Value,
    /// What is vouched for, signed.
    pub statement: String,
}

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum PortableError {
    /// Another format.
    #[error("expected {PORTABLE}, found `{0}`")]
    Format(String),
    /// The program is none.
    #[error(transparent)]
    Program(#[from] ExecuteError),
    /// The signed text is about something else, or no note.
    #[error("the statement is not about this program and this proof")]
    Statement,
    /// Nobody who is trusted signed.
    #[error("the trust file lists no key of {0} that signed it")]
    Unsigned(String),
}

impl Portable {
    /// The file of an artifact. `sign` is the log's signature under a text.
    #[must_use]
    pub fn new(
        origin: &KeyName,
        program: String,
        made: &Made,
        sign: impl FnOnce(&str) -> SignatureLine,
    ) -> Option<Self> {
        let proof = serde_json::to_value(made).ok()?;
        let text = statement(origin.as_str(), &program, &proof);
        let line = sign(&text);
        let statement = Note::new(text, vec![line]).ok()?.to_string();
        let (format, origin) = (PORTABLE.to_owned(), origin.to_string());
        Some(Self { format, origin, program, proof, statement })
    }

    /// Whether somebody who is trusted vouches for it.
    ///
    /// # Errors
    /// See [`PortableError`].
    pub fn check(&self, trust: &Trust) -> Result<Executable, PortableError> {
        if self.format != PORTABLE {
            return Err(PortableError::Format(self.format.clone()));
        }
        let executable = Executable::read(&self.program)?;
        let note: Note = self.statement.parse().map_err(|_| PortableError::Statement)?;
        if note.text() != statement(&self.origin, &self.program, &self.proof) {
            return Err(PortableError::Statement);
        }
        let unsigned = || PortableError::Unsigned(self.origin.clone());
        let origin = self.origin.parse::<KeyName>().map_err(|_| unsigned())?;
        let is_good = |line: &SignatureLine| {
            trust.key_of(&origin, line).is_some_and(|key| key.verifies(note.text(), line))
        };
        if !note.signatures().is_empty() && note.signatures().iter().all(is_good) {
            Ok(executable)
        } else {
            Err(unsigned())
        }
    }

    /// The digest of its program.
    #[must_use]
    pub fn digest(&self) -> Digest {
        sha256(self.program.as_bytes())
    }
}

fn statement(origin: &str, program: &str, proof: &Value) -> String {
    let proof = ledger::canonical::to_vec(proof).unwrap_or_default();
    format!("{TITLE}\n{origin}\nprogram {}\nproof {}\n", sha256(program.as_bytes()), sha256(&proof))
}
