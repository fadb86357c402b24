//! Encrypted connections to a real server, and the ones that are refused.
#![cfg(all(feature = "postgres", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod server;

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use server::cluster::{Cluster, PASSWORD};
use server::{Database, server_url, url};
use store::conformance::Corner;
use store::postgres::{OpenError, PostgresStore};
use tokio::time::timeout;

/// A server with a certificate for `localhost`, in which plain text is refused.
struct Encrypted {
    cluster: Cluster,
}

impl Encrypted {
    fn start() -> Self {
        let authority = authority("the authority");
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &authority).unwrap();
        let mut cluster = Cluster::start();
        cluster.write("data/server.crt", &certificate.pem());
        cluster.write("data/server.key", &key.serialize_pem());
        cluster.write("data/pg_hba.conf", "hostssl all all 127.0.0.1/32 scram-sha-256\n");
        cluster.write("ca.pem", &authority.pem());
        cluster.write("stranger.pem", &self::authority("a stranger").pem());
        cluster.write("empty.pem", "no certificate\n");
        cluster.ask("ALTER SYSTEM SET ssl = on").unwrap();
        cluster.stop_at_once();
        cluster.start_again();
        Self { cluster }
    }

    /// The URL for `host`, with the authority in `file` if there is one.
    fn url(&self, host: &str, mode: &str, file: Option<&str>) -> String {
        let roots = file.map(|file| format!("&sslrootcert={}", self.cluster.file(file).display()));
        self.cluster.url(host, &format!("postgres?sslmode={mode}{}", roots.unwrap_or_default()))
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// Why `url` was refused, without the password in any of it.
async fn refusal(url: &str) -> (OpenError, String) {
    let error = PostgresStore::connect(url).await.expect_err("it is refused");
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let said: String = causes.map(|error| format!("{error} {error:?}\n")).collect();
    assert!(!said.contains(PASSWORD), "{said}");
    let text = error.to_string();
    (error, text)
}

/// The connections of every kind that Punk has open, by name, and whether they are encrypted.
const CONNECTIONS: &str =
    "SELECT string_agg(DISTINCT application_name || ' ' || ssl, ', ' ORDER BY application_name || ' ' || ssl)
    FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE application_name LIKE 'punk%'";

async fn look_until(server: &Encrypted, expected: &str) {
    let looking = async {
        while server.cluster.ask(CONNECTIONS).unwrap() != expected {
            tokio::task::yield_now().await;
        }
    };
    let found = timeout(Duration::from_secs(20), looking).await;
    assert!(found.is_ok(), "{:?}", server.cluster.ask(CONNECTIONS));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_connection_to_a_server_that_proves_itself_is_encrypted() {
    let server = Encrypted::start();
    for (host, mode, roots) in [
        ("localhost", "require", Some("ca.pem")),
        ("localhost", "verify-full", Some("ca.pem")),
        // Any name will do.
        ("127.0.0.1", "verify-ca", Some("ca.pem")),
        // Nothing is checked, but what the server offers is taken.
        ("127.0.0.1", "prefer", None),
    ] {
        let store = PostgresStore::connect(&server.url(host, mode, roots)).await.unwrap();
        let corner = Corner::of(&store);
        corner.append([corner.story().finish()]).await.unwrap();
        let _ = timeout(Duration::from_millis(1), corner.queue.changed()).await;
        look_until(&server, "punk listener true, punk true").await;
        drop((corner, store));
        look_until(&server, "").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_prove_itself_is_refused_with_the_cause_and_what_to_do() {
    let server = Encrypted::start();
    for mode in ["require", "verify-ca", "verify-full"] {
        let (error, text) = refusal(&server.url("localhost", mode, Some("stranger.pem"))).await;
        assert!(matches!(error, OpenError::Untrusted { .. }), "{error:?}");
        assert!(text.contains("not from an authority") && text.contains("sslrootcert="), "{text}");
    }
    // The system's authorities, if it has any, know nothing of ours.
    let (_, text) = refusal(&server.url("localhost", "require", None)).await;
    assert!(text.contains("authorit") && text.contains("sslrootcert="), "{text}");
    for mode in ["require", "verify-full"] {
        let (error, text) = refusal(&server.url("127.0.0.1", mode, Some("ca.pem"))).await;
        assert!(matches!(error, OpenError::Untrusted { .. }), "{error:?}");
        assert!(text.contains("another host name") && text.contains("verify-ca"), "{text}");
    }
    for file in ["empty.pem", "missing.pem"] {
        let (error, text) = refusal(&server.url("localhost", "require", Some(file))).await;
        assert!(matches!(error, OpenError::Roots { .. }), "{error:?}");
        assert!(text.contains(file) && text.contains("PEM"), "{text}");
    }
    // Not TLS's fault, and not told as if it were.
    let wrong = server.url("localhost", "require", Some("ca.pem")).replace(PASSWORD, "wrong");
    let (error, _) = refusal(&wrong).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
    // The server takes no plain text, so whoever got in was encrypted.
    let (error, _) = refusal(&server.url("localhost", "disable", None)).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_without_encryption_is_refused_when_it_is_required_and_taken_when_it_is_preferred() {
    let roots = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(roots.path(), authority("nobody").pem()).unwrap();
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{}?sslmode={mode}&sslrootcert={}", server_url(), roots.path().display());
        let (error, text) = refusal(&url).await;
        assert!(matches!(error, OpenError::Untrusted { .. }), "{error:?}");
        assert!(text.contains("offers no encryption") && text.contains("sslmode=disable"), "{text}");
    }
    let database = Database::new().await;
    for mode in ["prefer", "disable"] {
        PostgresStore::connect(&format!("{}?sslmode={mode}", url(&database.name))).await.unwrap();
    }
    database.drop().await;
}
