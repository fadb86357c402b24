//! The key of one tenant's log: what signs its checkpoints, and whatever else is said in the log's name.

use ed25519_dalek::{Signature, Signer, VerifyingKey};
use schema::{Digest, TenantId};

use crate::checkpoint::{Checkpoint, origin};
use crate::note::{KeyKind, KeyName, Note, NoteError, SignatureLine, VerifierKey};
use crate::packet::Exporter;

/// The key of one log, both halves, named by the log's origin.
#[derive(Debug)]
pub struct LogKey<S> {
    key: VerifierKey,
    signer: S,
}

impl<S: Signer<Signature>> LogKey<S> {
    /// The key of `tenant`'s log in the installation called `name`. `derive` makes it from the log's origin, which is what
    /// gives every log a key of its own.
    ///
    /// # Errors
    /// `name` cannot be part of a key name.
    pub fn new(
        name: &str,
        tenant: TenantId,
        derive: impl FnOnce(&str) -> (S, VerifyingKey),
    ) -> Result<Self, NoteError> {
        let origin = origin(name, tenant)?;
        let (signer, public) = derive(origin.as_str());
        Ok(Self { key: VerifierKey::new(origin, KeyKind::Log, public), signer })
    }

    /// Which log.
    #[must_use]
    pub fn origin(&self) -> &KeyName {
        self.key.name()
    }

    /// The half that verifies.
    #[must_use]
    pub fn verifier(&self) -> &VerifierKey {
        &self.key
    }

    /// The log's head, signed.
    ///
    /// # Errors
    /// See [`Checkpoint::sign`].
    pub fn checkpoint(&self, size: u64, root: Digest) -> Result<Note, NoteError> {
        Checkpoint { origin: self.origin().clone(), size, root }.sign(&self.key, &self.signer)
    }

    /// The log's signature under a text. It must be one that no checkpoint and no statement could be: its first line has a
    /// space and is its own.
    #[must_use]
    pub fn sign(&self, text: &str) -> SignatureLine {
        SignatureLine::sign(text, &self.key, &self.signer)
    }

    /// What packets are signed with.
    #[must_use]
    pub fn exporter(&self) -> Exporter<'_, S> {
        Exporter { key: &self.key, signer: &self.signer }
    }
}
