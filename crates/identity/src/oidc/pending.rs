//! A login between its two halves: what the browser must bring back, and what only it can know.

use crate::jose::compact::encode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use crypto::random::{self, RandomError};
use crypto::{SealKey, SecretString, seal};
use schema::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Long enough for a second factor that is in another room.
const LONGEST: u64 = 10 * 60 * 1000;
/// What a sealed login is bound to, so that no other sealed value passes for one.
const CONTEXT: &[u8] = b"punk/pending-login/v1";

/// A login that was begun and not yet finished.
///
/// [`Pending::seal`] makes it a text for a cookie (HttpOnly, Secure, SameSite=Lax, ten minutes): the cookie binds the
/// login to the browser that began it, and nothing is to be kept here.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    issuer: String,
    state: String,
    nonce: String,
    verifier: String,
    begun: Timestamp,
    /// Where the shell wants to go on after the login; it is the shell's to check.
    return_to: Option<String>,
}

/// A cookie is not a pending login, or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no login is pending in this browser, or it took longer than ten minutes; begin again")]
pub struct NotPending;

impl Pending {
    pub(super) fn new(issuer: &str, return_to: Option<String>, now: Timestamp) -> Result<Self, RandomError> {
        // 256 bits each; the verifier has 43 characters, as few as RFC 7636 allows.
        let drawn = || random::bytes::<32>().map(|bytes| encode(&bytes));
        let (state, nonce, verifier) = (drawn()?, drawn()?, drawn()?);
        Ok(Self { issuer: issuer.to_owned(), state, nonce, verifier, begun: now, return_to })
    }

    /// As the text of a cookie, which only the holder of `key` can read.
    pub fn seal(&self, key: &SealKey) -> Result<SecretString, seal::SealError> {
        let plain = Zeroizing::new(serde_json::to_vec(self).unwrap_or_default());
        seal::seal(key, CONTEXT, &plain).map(|sealed| SecretString::new(encode(&sealed)))
    }

    /// Reads a cookie again, sealed with any of `keys`, when the login is not too old.
    pub fn open<'k>(
        keys: impl IntoIterator<Item = &'k SealKey>,
        cookie: &str,
        now: Timestamp,
    ) -> Result<Self, NotPending> {
        let sealed = BASE64URL.decode(cookie).map_err(|_| NotPending)?;
        let plain = seal::open(keys, CONTEXT, &sealed).map_err(|_| NotPending)?;
        let pending: Self = serde_json::from_slice(&plain).map_err(|_| NotPending)?;
        if pending.is_in_time(now) { Ok(pending) } else { Err(NotPending) }
    }

    /// Where the login was begun: which provider the answer must be from.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Where to go on, as the shell said when it began.
    pub fn return_to(&self) -> Option<&str> {
        self.return_to.as_deref()
    }

    pub(super) fn is_in_time(&self, now: Timestamp) -> bool {
        now.as_millis().saturating_sub(self.begun.as_millis()) < LONGEST
    }

    pub(super) fn state(&self) -> &str {
        &self.state
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    pub(super) fn verifier(&self) -> &str {
        &self.verifier
    }

    /// The verifier's SHA-256, which is shown to everybody: PKCE with S256.
    pub(super) fn challenge(&self) -> String {
        encode(&Sha256::digest(self.verifier.as_bytes()))
    }

    pub(super) fn is_state(&self, given: &str) -> bool {
        self.state.as_bytes().ct_eq(given.as_bytes()).into()
    }

    pub(super) fn is_nonce(&self, given: &str) -> bool {
        self.nonce.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.verifier);
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({}, begun {})", self.issuer, self.begun)
    }
}
