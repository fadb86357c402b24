//! Machines: accounts that get short-lived tokens, tokens for one run, and tokens of issuers that are trusted.
//!
//! `service_account.rs` is the accounts, `token.rs` where tokens are given out and taken back, `capability.rs` those for one
//! run, `bearer.rs` who somebody is that shows one, `signer.rs` who signs them. What a token says and whether it is ours is decided in `identity::token`
//! and `identity::foreign`.
//!
//! - A token proves who signed it, and no more: with every request the store is asked whether its account, its session, its
//!   maker is still there, and whether it was taken back.
//! - A token for one run opens that run, and no other endpoint.

mod bearer;
pub(crate) mod capability;
mod http;
pub(crate) mod revocation;
pub(crate) mod service_account;
mod signer;
pub(crate) mod token;

use std::sync::Arc;

use crypto::KeyRing;
use egress::{Client, Reach, Trust, TrustError as CertificateError};
use identity::foreign::{Bearers, TrustError, TrustedIssuer};
use identity::http::Http;
use identity::token::{Issuer, NoTokenKey};

use self::signer::Signer;
pub(crate) use bearer::Shown;
pub use http::Network;

use crate::people::Directory;

/// Who our own tokens are for.
const AUDIENCE: &str = "punk";

/// Whose word is taken about who somebody is, besides our own.
#[derive(Debug, Default)]
pub struct Federation {
    /// Issuers whose bearer tokens are taken.
    pub issuers: Vec<TrustedIssuer>,
    /// Where people may log in instead of here.
    pub oidc: Option<crate::people::OidcProvider>,
    /// Whether those may be in a private network.
    pub allow_private: bool,
}

/// Why nobody can be told by tokens.
#[derive(Debug, thiserror::Error)]
pub enum FederationError {
    /// Nothing to sign with.
    #[error(transparent)]
    Key(#[from] NoTokenKey),
    /// An issuer cannot be trusted as configured.
    #[error(transparent)]
    Issuer(#[from] TrustError),
    /// The certificates that others are known by cannot be read.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
}

/// What the process knows about tokens.
pub(crate) struct Machines {
    signer: Signer,
    bearers: Option<Bearers>,
    pub(crate) http: Arc<dyn Http>,
}

impl Machines {
    /// Tokens are issued by `name`, which is the address of the gateway where that is known.
    pub(crate) fn new(
        name: &str,
        keys: &KeyRing,
        directory: &Directory,
        issuers: Vec<TrustedIssuer>,
        allow_private: bool,
    ) -> Result<Self, FederationError> {
        let reach = if allow_private { Reach::private() } else { Reach::public() };
        let http: Arc<dyn Http> = Arc::new(Network::new(Client::new(reach, Trust::system(&[])?)));
        let revocations = Arc::new(revocation::OfOthers(directory.clone()));
        let bearers = if issuers.is_empty() {
            None
        } else {
            Some(Bearers::new(issuers, Arc::clone(&http), revocations)?)
        };
        Ok(Self { signer: Signer::new(keys, name, AUDIENCE)?, bearers, http })
    }

    /// Who signs our own tokens.
    pub(crate) fn issuer(&self) -> Arc<Issuer> {
        self.signer.issuer()
    }
}
