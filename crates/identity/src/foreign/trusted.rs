//! Whom an operator trusts, and for what.

use super::{Algorithm, Mapping};
use crate::http::trusted_url;
use std::time::Duration;

/// Where an issuer's keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// At this address.
    Url(String),
    /// Where the issuer's OpenID configuration says.
    Discovery,
}

/// Whether a token must have a `jti`, without which it cannot be revoked before it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenIds {
    /// One without is refused.
    Required,
    /// One without is taken: some issuers write none.
    Optional,
}

/// An issuer whose tokens are taken.
#[derive(Debug, Clone)]
pub struct TrustedIssuer {
    /// Exactly what its tokens have as `iss`.
    pub issuer: String,
    /// Who we are to it: one of these must be in `aud`.
    pub audiences: Vec<String>,
    /// What it may sign with.
    pub algorithms: Vec<Algorithm>,
    /// Where its keys are.
    pub keys: KeySource,
    /// What its claims mean here.
    pub mapping: Mapping,
    /// Whether its tokens have names of their own.
    pub ids: TokenIds,
    /// The longest that a token of it may be valid.
    pub longest: Duration,
}

/// Why an issuer cannot be trusted as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// Not an address that may be trusted.
    #[error(
        "{field}: {value:?} is not an https address (http is for this machine only); write it as the issuer does"
    )]
    Address {
        /// Which setting.
        field: &'static str,
        /// What it was.
        value: String,
    },
    /// Nothing there.
    #[error("{field} of {issuer}: there is none; name at least one")]
    Empty {
        /// Which setting.
        field: &'static str,
        /// Of which issuer.
        issuer: String,
    },
    /// Two entries for one issuer.
    #[error("issuer: {issuer} is there twice; put its audiences into one entry")]
    Twice {
        /// Which one.
        issuer: String,
    },
}

impl TrustedIssuer {
    pub(super) fn check(&self) -> Result<(), TrustError> {
        let address = |field, value: &str| match trusted_url(value) {
            Some(_) => Ok(()),
            None => Err(TrustError::Address { field, value: value.to_owned() }),
        };
        let empty = |field, is_empty| match is_empty {
            true => Err(TrustError::Empty { field, issuer: self.issuer.clone() }),
            false => Ok(()),
        };
        address("issuer", &self.issuer)?;
        if let KeySource::Url(url) = &self.keys {
            address("keys", url)?;
        }
        empty("audiences", self.audiences.iter().all(String::is_empty))?;
        empty("algorithms", self.algorithms.is_empty())
    }
}
