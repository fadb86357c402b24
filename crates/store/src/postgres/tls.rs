//! Encrypted connections, and what the URL's `sslmode` and `sslrootcert` mean.
//!
//! | `sslmode`                | the connection                                     | the server must show                        |
//! |--------------------------|----------------------------------------------------|---------------------------------------------|
//! | `disable`                | is in plain text                                   | nothing                                     |
//! | `prefer` (if none given) | is encrypted if the server offers it               | nothing: whoever is in between can read all |
//! | `require`, `verify-full` | is encrypted                                       | a certificate for its host name             |
//! | `verify-ca`              | is encrypted                                       | a certificate for any name                  |
//!
//! A certificate must come from an authority in the file that `sslrootcert` names (PEM), or from one that the operating
//! system trusts. Other clients let `require` trust anybody; here it does not, for a connection that is encrypted to
//! an unknown party keeps nothing secret.

use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::OpenError;

/// What the server must show.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Proof {
    Nothing,
    Authority,
    AuthorityAndName,
}

/// What a URL says about encryption.
#[derive(Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) mode: SslMode,
    proof: Proof,
    roots: Option<PathBuf>,
}

/// Takes what is ours out of the URL: the driver knows fewer words, and would refuse it.
pub(super) fn take(url: &str) -> Result<(String, Wish), OpenError> {
    // As the driver reads it: user and password end at the first @, parameters begin at the first ? after that.
    let after_user = url.find('@').unwrap_or_default();
    let place = url[after_user..].find('?').map_or(url.len(), |place| after_user + place);
    let (rest, parameters) = url.split_at(place);
    let (mut others, mut mode, mut roots) = (Vec::new(), None, None);
    for parameter in parameters.trim_start_matches('?').split('&').filter(|text| !text.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value),
            Some(("sslrootcert", value)) => {
                let path = percent_decode_str(value).decode_utf8().map_err(|_| OpenError::Url)?;
                roots = Some(path.into_owned()).filter(|path| path != "system");
            }
            Some(("sslcert" | "sslkey" | "sslpassword" | "sslcrl", _)) => return Err(OpenError::Parameter),
            _ => others.push(parameter),
        }
    }
    let (mode, proof) = match mode {
        Some("disable") => (SslMode::Disable, Proof::Nothing),
        None | Some("prefer") => (SslMode::Prefer, Proof::Nothing),
        Some("require" | "verify-full") => (SslMode::Require, Proof::AuthorityAndName),
        Some("verify-ca") => (SslMode::Require, Proof::Authority),
        Some(_) => return Err(OpenError::SslMode),
    };
    if roots.is_some() && proof == Proof::Nothing {
        return Err(OpenError::UselessRoots);
    }
    let url = if others.is_empty() { rest.to_owned() } else { format!("{rest}?{}", others.join("&")) };
    Ok((url, Wish { mode, proof, roots: roots.map(PathBuf::from) }))
}

impl Wish {
    /// What makes the encrypted connections.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, OpenError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().map_err(OpenError::TlsSetup)?;
        let verifier: Arc<dyn ServerCertVerifier> = match self.proof {
            Proof::Nothing => Arc::new(Lenient { inner: None, provider }),
            Proof::Authority => Arc::new(Lenient { inner: Some(self.verifier(&provider)?), provider }),
            Proof::AuthorityAndName => self.verifier(&provider)?,
        };
        let config = builder.dangerous().with_custom_certificate_verifier(verifier);
        Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
    }

    /// Checks authority, name and dates.
    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, OpenError> {
        let roots = Arc::new(self.roots()?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider)).build();
        verifier.map_err(|error| OpenError::TlsSetup(Error::General(error.to_string())))
    }

    /// Whom to trust.
    fn roots(&self) -> Result<RootCertStore, OpenError> {
        let mut store = RootCertStore::empty();
        let Some(path) = &self.roots else {
            // What cannot be read of them is as if it were not there; a server that needs it will be refused.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return if store.is_empty() { Err(OpenError::NoSystemRoots) } else { Ok(store) };
        };
        let unreadable = |cause: rustls::pki_types::pem::Error| OpenError::Roots {
            path: path.clone(),
            cause: cause.into(),
        };
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        for certificate in read.map_err(unreadable)? {
            let added = store.add(certificate);
            added.map_err(|cause| OpenError::Roots { path: path.clone(), cause: cause.into() })?;
        }
        if store.is_empty() {
            let cause = "there is no certificate in it".into();
            return Err(OpenError::Roots { path: path.clone(), cause });
        }
        Ok(store)
    }
}

/// Asks for less than rustls would: not for the name, or, without an inner verifier, for nothing but that the server has
/// the key of the certificate it shows.
#[derive(Debug)]
struct Lenient {
    inner: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last: everything else is as it should be.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What to do about a connection that TLS refused; `None` if the trouble is not TLS.
pub(super) fn advice(error: &tokio_postgres::Error) -> Option<&'static str> {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| (*cause).source());
    let mut causes = causes.flat_map(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        [cause.downcast_ref::<Error>(), io.and_then(|inner| inner.downcast_ref())]
    });
    match causes.find_map(|cause| cause) {
        Some(Error::InvalidCertificate(cause)) => Some(match cause {
            CertificateError::UnknownIssuer => {
                "its certificate is not from an authority that is trusted here; name the authority's PEM file in the \
                 URL with sslrootcert=/path/to/ca.pem"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another host name; write the name that the certificate has into the URL, or \
                 say sslmode=verify-ca if every server of that authority is trusted"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired; renew it, or set this machine's clock"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet; set this machine's clock"
            }
            _ => "its certificate is not accepted; the cause says why",
        }),
        Some(_) => Some("the TLS handshake failed; the cause says why"),
        // The driver has no type for it.
        None if told(error).contains("does not support TLS") => Some(
            "it offers no encryption; switch `ssl` on at the server, or say sslmode=disable if the network between is \
             trusted",
        ),
        None => None,
    }
}

/// The error and what caused it.
fn told(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}: {}", cause.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, rest: &str, mode: SslMode, proof: Proof, roots: Option<&str>) {
        let wish = Wish { mode, proof, roots: roots.map(PathBuf::from) };
        assert_eq!(take(url).unwrap(), (rest.to_owned(), wish));
    }

    #[test]
    fn the_words_of_the_url_decide() {
        check("postgres://a@h/d", "postgres://a@h/d", SslMode::Prefer, Proof::Nothing, None);
        check("postgres://h?sslmode=disable", "postgres://h", SslMode::Disable, Proof::Nothing, None);
        let full = Proof::AuthorityAndName;
        check("postgres://a@h/d?sslmode=require", "postgres://a@h/d", SslMode::Require, full, None);
        check(
            "postgres://a:b?c@h/d?connect_timeout=3&sslrootcert=/a%20b/ca.pem&sslmode=verify-full&options=x",
            "postgres://a:b?c@h/d?connect_timeout=3&options=x",
            SslMode::Require,
            full,
            Some("/a b/ca.pem"),
        );
        check(
            "postgres://a@h/d?sslmode=verify-ca&sslrootcert=system",
            "postgres://a@h/d",
            SslMode::Require,
            Proof::Authority,
            None,
        );
    }

    #[test]
    fn what_would_be_less_safe_than_it_looks_is_refused() {
        assert!(matches!(take("postgres://h/d?sslmode=allow"), Err(OpenError::SslMode)));
        assert!(matches!(take("postgres://h/d?sslrootcert=/ca.pem"), Err(OpenError::UselessRoots)));
        assert!(matches!(take("postgres://h/d?sslmode=require&sslcert=/me.pem"), Err(OpenError::Parameter)));
    }
}
