//! Checkpoints: a log's size and root, to be signed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, Signer};
use schema::{Digest, TenantId};

use crate::canonical::MAX_INTEGER;
use crate::note::{KeyName, Note, NoteError, SignatureLine, VerifierKey};

/// The head of one log. Its text is three lines: origin, size, root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log: `<name>/<tenant id>`, also the name of the key that signs it.
    pub origin: KeyName,
    /// How many leaves it has.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
}

/// The origin of a tenant's log in the installation called `name`.
///
/// # Errors
/// `name` cannot be part of a key name.
pub fn origin(name: &str, tenant: TenantId) -> Result<KeyName, NoteError> {
    let name: KeyName = name.parse()?;
    format!("{name}/{tenant}").parse()
}

impl Checkpoint {
    /// The text that is signed.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, base64_digest(self.root))
    }

    /// The checkpoint under the log's own signature.
    ///
    /// # Errors
    /// Never for a checkpoint whose fields are what they claim; the error is the note's.
    pub fn sign(&self, key: &VerifierKey, signer: &impl Signer<Signature>) -> Result<Note, NoteError> {
        let text = self.text();
        let line = SignatureLine::sign(&text, key, signer);
        Note::new(text, vec![line])
    }

    /// Reads the text of a note. `None` unless it is exactly the three lines, in their one spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        if lines.next().is_some() {
            return None;
        }
        let size = parse_decimal(size).filter(|&size| size > 0)?;
        Some(Self { origin: origin.parse().ok()?, size, root: parse_base64_digest(root)? })
    }
}

/// A decimal without leading zeros, at most 2⁵³ − 1.
pub(crate) fn parse_decimal(text: &str) -> Option<u64> {
    let spelled = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|&number| spelled && number <= MAX_INTEGER)
}

pub(crate) fn base64_digest(digest: Digest) -> String {
    BASE64.encode(digest.as_bytes())
}

pub(crate) fn parse_base64_digest(text: &str) -> Option<Digest> {
    Some(Digest::from_bytes(BASE64.decode(text).ok()?.try_into().ok()?))
}
