//! What can go wrong with the vault. No message has anything of a value.

use crypto::KeyId;
use schema::CredentialId;
use store::{CommitError, RecordKind, StoreError};

use crate::envelope::NotSealed;
use crate::reference::Reference;
use crate::vault::MOST;

/// Why a vault does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Something is wrapped by a key that is not there.
    #[error(
        "credentials in the vault are wrapped by {missing}, which is not among the master keys it was given ({given})"
    )]
    KeyMissing {
        /// The key that is not there.
        missing: KeyId,
        /// The ids of those that are.
        given: String,
    },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a credential is not opened. No message has anything of a value.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none.
    #[error("there is no credential `{0}` in the vault; add it with `punk vault add`")]
    Missing(Reference),
    /// Its key is wrapped by a master key that is not there.
    #[error("credential {id} is wrapped by {key}, which is not among the master keys of the vault")]
    KeyMissing {
        /// Which.
        id: CredentialId,
        /// The key that is not there.
        key: KeyId,
    },
    /// It does not open.
    #[error("credential {0} does not open: its record was changed or moved")]
    Unopened(CredentialId),
    /// The store did not answer.
    #[error("the vault cannot be read")]
    Store(#[from] StoreError),
}

/// Why a credential was not added, replaced or removed. Nothing was written, but after `Unwritten` it may have been.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another credential of the tenant has the name.
    #[error("the name is taken")]
    NameTaken,
    /// The tenant has as many as there can be.
    #[error("there are {MOST} credentials already")]
    TooMany,
    /// It was changed or removed meanwhile.
    #[error("the credential was changed meanwhile")]
    Moved,
    /// It could not be sealed.
    #[error(transparent)]
    Unsealed(#[from] NotSealed),
    /// The store did not take it.
    #[error(transparent)]
    Unwritten(CommitError),
}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        Self::Unwritten(error.into())
    }
}

/// A change that found another version than it expected.
pub(crate) fn moved(error: CommitError) -> ChangeError {
    match error {
        CommitError::RecordMoved { kind: RecordKind::Credential, .. } => ChangeError::Moved,
        other => ChangeError::Unwritten(other),
    }
}
