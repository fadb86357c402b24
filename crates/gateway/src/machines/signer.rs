//! Who signs our tokens: the key ring, read again now and then, so that a rotated key is used and published without a
//! restart.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crypto::KeyRing;
use identity::token::{Issuer, NoTokenKey};

use crate::clock::Stopwatch;

/// How long what was read of the key ring is good for. A key that was just retired verifies for longer than any token lives,
/// so nobody is turned away meanwhile.
const GOOD_FOR_MS: u64 = 10_000;

/// The issuer of our tokens, as the key ring has it.
pub(crate) struct Signer {
    folder: PathBuf,
    name: String,
    audience: &'static str,
    read: RwLock<(Stopwatch, Arc<Issuer>)>,
}

impl Signer {
    pub(crate) fn new(keys: &KeyRing, name: &str, audience: &'static str) -> Result<Self, NoTokenKey> {
        let issuer = Arc::new(Issuer::new(keys, name, audience)?);
        let read = RwLock::new((Stopwatch::start(), issuer));
        Ok(Self { folder: keys.folder().to_owned(), name: name.to_owned(), audience, read })
    }

    /// The issuer as it is now, or was a moment ago.
    pub(crate) fn issuer(&self) -> Arc<Issuer> {
        {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            if read.0.millis() < GOOD_FOR_MS {
                return Arc::clone(&read.1);
            }
        }
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        if read.0.millis() >= GOOD_FOR_MS {
            match self.again() {
                Ok(issuer) => read.1 = Arc::new(issuer),
                // What was read before still signs and verifies.
                Err(error) => tracing::warn!(error, "the keys that sign tokens cannot be read again"),
            }
            read.0 = Stopwatch::start();
        }
        Arc::clone(&read.1)
    }

    fn again(&self) -> Result<Issuer, String> {
        let keys = KeyRing::open(&self.folder).map_err(|error| error.to_string())?;
        Issuer::new(&keys, &self.name, self.audience).map_err(|error| error.to_string())
    }
}
