//! Whom an encrypted connection trusts.

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// The roots that certificates must come from, read once and shared.
#[derive(Debug, Clone)]
pub struct Trust(Arc<ClientConfig>);

/// Why there can be no encrypted connection.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// One of the certificates given is none.
    #[error("a root certificate cannot be read")]
    Certificate(#[source] rustls::Error),
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up")]
    Setup(#[source] rustls::Error),
}

impl Trust {
    /// Trusts what the operating system trusts, and `more`.
    ///
    /// A system without any roots is no error: what is on plain HTTP needs none, and everything else will be refused.
    pub fn system(more: &[CertificateDer<'_>]) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::empty();
        let native = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(native.certs);
        if added == 0 {
            tracing::warn!(
                errors = native.errors.len(),
                "the system has no root certificates: https is refused"
            );
        }
        Self::build(roots, more)
    }

    /// Trusts `certificates` and nobody else.
    pub fn only(certificates: &[CertificateDer<'_>]) -> Result<Self, TrustError> {
        Self::build(RootCertStore::empty(), certificates)
    }

    /// The same for connections that speak HTTP/1.1.
    pub(crate) const fn config(&self) -> &Arc<ClientConfig> {
        &self.0
    }

    /// The same for whoever keeps connections, over which several requests go at once: HTTP/2 where it is spoken.
    #[must_use]
    pub fn for_kept_connections(&self) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(&self.0);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }

    fn build(mut roots: RootCertStore, more: &[CertificateDer<'_>]) -> Result<Self, TrustError> {
        for certificate in more {
            roots.add(certificate.clone().into_owned()).map_err(TrustError::Certificate)?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config =
            builder.map_err(TrustError::Setup)?.with_root_certificates(roots).with_no_client_auth();
        // One request a connection: there is nothing for HTTP/2 to share.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}
