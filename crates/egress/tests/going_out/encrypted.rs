//! Encrypted connections: who is believed, and that no redirect gives encryption up.

use std::sync::Arc;

use egress::{Client, EgressError, Method, Reach, Redirects, Refusal, Request, Trust};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{Server, fine, redirect};
use crate::world::Names;

/// A server for `secure.example` and 127.0.0.1, whose certificate comes from an authority of its own.
struct Encrypted {
    port: u16,
    authority: CertificateDer<'static>,
}

impl Encrypted {
    async fn start(answer: String) -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
        let pair = KeyPair::generate().unwrap();
        let named =
            CertificateParams::new(vec!["secure.example".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let certificate = named.signed_by(&pair, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.serialize_der())),
            )
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust us ends here.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await.unwrap() > 0 {}
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.shutdown().await.ok();
            }
        });
        Self { port, authority: issuer.der().clone() }
    }

    /// A client that trusts the server and may reach this machine, where all names lead.
    fn client(&self) -> Client {
        let trust = Trust::only(std::slice::from_ref(&self.authority)).unwrap();
        Client::new(Reach::private(), trust).with_resolver(Names::leading_to(&["127.0.0.1"]))
    }
}

fn get(url: String) -> Request {
    Request::new(Method::Get, url).redirects(Redirects::Follow)
}

#[tokio::test]
async fn only_a_certificate_from_a_known_authority_for_the_very_name_is_believed() {
    let server = Encrypted::start(fine("hello")).await;
    let port = server.port;
    for known in [
        format!("https://secure.example:{port}/"),
        format!("https://SECURE.example.:{port}/"),
        format!("https://127.0.0.1:{port}/"),
    ] {
        assert_eq!(&server.client().send(&get(known)).await.unwrap().body[..], b"hello");
    }
    let error = server.client().send(&get(format!("https://other.example:{port}/"))).await.unwrap_err();
    assert!(matches!(error, EgressError::Tls { .. }), "{error}");
    let stranger = Client::new(Reach::private(), Trust::system(&[]).unwrap());
    let stranger = stranger.with_resolver(Names::leading_to(&["127.0.0.1"]));
    let error = stranger.send(&get(format!("https://secure.example:{port}/"))).await.unwrap_err();
    assert!(matches!(error, EgressError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn no_redirect_leads_from_https_to_http() {
    let plain = Server::start([fine("readable")]).await;
    for location in
        [format!("http://secure.example:{}/", plain.port), format!("http://127.0.0.1:{}/", plain.port)]
    {
        let server = Encrypted::start(redirect(302, &location)).await;
        let error =
            server.client().send(&get(format!("https://secure.example:{}/", server.port))).await.unwrap_err();
        assert!(matches!(error, EgressError::Redirected { refusal: Refusal::Downgrade, .. }), "{error}");
    }
    assert!(plain.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_from_http_to_https_is_followed() {
    let server = Encrypted::start(fine("hello")).await;
    let plain = Server::start([redirect(301, &format!("https://secure.example:{}/", server.port))]).await;
    let answer = server.client().send(&get(format!("http://secure.example:{}/", plain.port))).await.unwrap();
    assert_eq!(&answer.body[..], b"hello");
}
