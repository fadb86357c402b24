//! The envelope: a value sealed under a key of its own, and that key wrapped by a master key.
//!
//! Both are sealed for a [`Place`], which is not stored with them: whoever opens says whose credential it is opening,
//! which one and which value of it, so nothing that was moved to another place opens there.

use crypto::seal::{OpenError, SealError};
use crypto::{DataKey, SecretString};
use schema::{CredentialId, TenantId};

use crate::master::MasterKeys;

/// What an envelope is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tenant: TenantId,
    pub(crate) id: CredentialId,
    /// Which value, counted from 1.
    pub(crate) version: u64,
}

/// Why nothing was sealed.
#[derive(Debug, thiserror::Error)]
#[error("the secret could not be sealed")]
pub struct NotSealed(#[from] SealError);

impl From<crypto::random::RandomError> for NotSealed {
    fn from(error: crypto::random::RandomError) -> Self {
        Self(error.into())
    }
}

/// A value at rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The value, under its own key.
    pub(crate) sealed: Vec<u8>,
    /// Its own key, under a master key.
    pub(crate) wrapped: Vec<u8>,
}

impl Place {
    /// What is authenticated with a value. Each part has a form that has no line end in it.
    fn of_value(self) -> String {
        self.context("value")
    }

    fn of_key(self) -> String {
        self.context("key")
    }

    fn context(self, what: &str) -> String {
        let Self { tenant, id, version } = self;
        format!("punk/credential/v1\n{what}\n{tenant}\n{id}\n{version}")
    }
}

impl Envelope {
    /// Seals `value` for `place`, under a new key that the active master key wraps.
    pub(crate) fn seal(masters: &MasterKeys, place: Place, value: &SecretString) -> Result<Self, NotSealed> {
        let key = DataKey::generate()?;
        Ok(Self {
            sealed: key.seal(place.of_value().as_bytes(), value.expose().as_bytes())?,
            wrapped: key.wrap(masters.active(), place.of_key().as_bytes())?,
        })
    }

    /// The value, if this is the envelope of `place`.
    pub(crate) fn open(&self, masters: &MasterKeys, place: Place) -> Result<SecretString, OpenError> {
        let key = DataKey::unwrap(masters.all(), place.of_key().as_bytes(), &self.wrapped)?;
        let value = key.open(place.of_value().as_bytes(), &self.sealed)?;
        str::from_utf8(&value).map(|value| SecretString::new(value.to_owned())).map_err(|_| OpenError)
    }

    /// The same value under the same key, which the active master key wraps from now on.
    pub(crate) fn rewrap(&self, masters: &MasterKeys, place: Place) -> Result<Self, RewrapError> {
        let key = DataKey::unwrap(masters.all(), place.of_key().as_bytes(), &self.wrapped)?;
        let wrapped = key.wrap(masters.active(), place.of_key().as_bytes()).map_err(NotSealed)?;
        Ok(Self { sealed: self.sealed.clone(), wrapped })
    }
}

/// Why a key is not wrapped by another master key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RewrapError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Seal(#[from] NotSealed),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crypto::SealKey;

    fn masters() -> MasterKeys {
        MasterKeys::new(SealKey::from_bytes([1; 32]), Vec::new())
    }

    fn place(tenant: u8, id: u8, version: u64) -> Place {
        Place { tenant: TenantId::new(1, [tenant; 10]), id: CredentialId::new(1, [id; 10]), version }
    }

    fn secret() -> SecretString {
        SecretString::new("hunter2 ü".to_owned())
    }

    #[test]
    fn moved_ciphertext_does_not_open() {
        let (masters, home) = (masters(), place(1, 1, 1));
        let envelope = Envelope::seal(&masters, home, &secret()).unwrap();
        assert_eq!(envelope.open(&masters, home).unwrap(), secret());
        for elsewhere in [place(2, 1, 1), place(1, 2, 1), place(1, 1, 2)] {
            assert_eq!(envelope.open(&masters, elsewhere).unwrap_err(), OpenError, "{elsewhere:?}");
            assert!(matches!(envelope.rewrap(&masters, elsewhere), Err(RewrapError::Open(_))));
            // Nor half of it, under the key of whoever lives there.
            let theirs = Envelope::seal(&masters, elsewhere, &secret()).unwrap();
            let mixed = Envelope { sealed: envelope.sealed.clone(), wrapped: theirs.wrapped };
            assert_eq!(mixed.open(&masters, elsewhere).unwrap_err(), OpenError, "{elsewhere:?}");
        }
    }

    #[test]
    fn another_master_key_opens_nothing() {
        let envelope = Envelope::seal(&masters(), place(1, 1, 1), &secret()).unwrap();
        let others = MasterKeys::new(SealKey::from_bytes([2; 32]), Vec::new());
        assert_eq!(envelope.open(&others, place(1, 1, 1)).unwrap_err(), OpenError);
    }

    #[test]
    fn a_changed_byte_does_not_open() {
        let (masters, home) = (masters(), place(1, 1, 1));
        let envelope = Envelope::seal(&masters, home, &secret()).unwrap();
        for index in 0..envelope.sealed.len() {
            let mut changed = envelope.clone();
            changed.sealed[index] ^= 1;
            assert!(changed.open(&masters, home).is_err());
        }
        for index in 0..envelope.wrapped.len() {
            let mut changed = envelope.clone();
            changed.wrapped[index] ^= 1;
            assert!(changed.open(&masters, home).is_err());
        }
    }

    #[test]
    fn a_re_wrapped_key_opens_by_the_new_master_key_alone_and_the_value_is_untouched() {
        let home = place(1, 1, 1);
        let envelope = Envelope::seal(&masters(), home, &secret()).unwrap();
        let new = || SealKey::from_bytes([2; 32]);
        let both = MasterKeys::new(new(), vec![SealKey::from_bytes([1; 32])]);
        let rewrapped = envelope.rewrap(&both, home).unwrap();
        assert_eq!(rewrapped.sealed, envelope.sealed);
        assert_eq!(rewrapped.open(&MasterKeys::new(new(), Vec::new()), home).unwrap(), secret());
        assert!(rewrapped.open(&masters(), home).is_err());
    }
}
