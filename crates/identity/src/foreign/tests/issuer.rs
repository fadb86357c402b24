//! An issuer in memory: real keys of every type, a network that counts, and tokens with any header and claims.

use crate::foreign::{
    Algorithm, Bearer, Bearers, KeySource, Mapping, Organisation, Revocations, RevocationsAway, TokenIds,
    TrustedIssuer,
};
use crate::http::{Answer, Http, NoAnswer};
use crate::jose::Refused;
use crate::jose::compact::encode;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};
use crypto::{SecretString, SigningKey};
use schema::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use url::Url;

pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const ISSUER: &str = "https://id.example";
pub(crate) const KEYS_URL: &str = "https://id.example/keys";

pub(crate) fn at(second: u64) -> Timestamp {
    Timestamp::from_millis((NOW + second) * 1000).unwrap()
}

/// A private key of one type.
pub(crate) enum Signer {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(SigningKey),
}

impl Signer {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Rs256 | Algorithm::Ps256 => Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()),
            Algorithm::Es256 => Self::P256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()),
            Algorithm::Es384 => Self::P384(EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap()),
            Algorithm::EdDsa => Self::Ed25519(SigningKey::generate().unwrap()),
        }
    }

    /// The public half, without `kid`, `use` and `alg`.
    pub(crate) fn jwk(&self) -> Value {
        let point = |key: &EcdsaKeyPair, curve: &str| {
            let (x, y) = key.public_key().as_ref()[1..].split_at((key.public_key().as_ref().len() - 1) / 2);
            json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
        };
        match self {
            Self::Rsa(key) => {
                // PKCS #1: a sequence of two integers, of 2048 bits with a zero before them and of three bytes.
                let der = key.public_key().as_ref();
                let (n, e) = (&der[9..265], &der[267..270]);
                json!({ "kty": "RSA", "n": encode(n), "e": encode(e) })
            }
            Self::P256(key) => point(key, "P-256"),
            Self::P384(key) => point(key, "P-384"),
            Self::Ed25519(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(key.public().as_bytes()) })
            }
        }
    }

    pub(crate) fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let padding: &dyn aws_lc_rs::signature::RsaEncoding =
                    if algorithm == Algorithm::Ps256 { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::P256(key) | Self::P384(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
        }
    }
}

/// One key of each type, made once: an RSA key takes a while, so both paddings share it.
pub(crate) fn signer(algorithm: Algorithm) -> &'static Signer {
    let algorithm = if algorithm == Algorithm::Ps256 { Algorithm::Rs256 } else { algorithm };
    static SIGNERS: [OnceLock<Signer>; Algorithm::ALL.len()] =
        [const { OnceLock::new() }; Algorithm::ALL.len()];
    SIGNERS[algorithm as usize].get_or_init(|| Signer::new(algorithm))
}

/// The keys of [`signer`], each named by its algorithm.
pub(crate) fn published() -> Value {
    let keys = Algorithm::ALL.into_iter().map(|algorithm| {
        let mut jwk = signer(algorithm).jwk();
        jwk["kid"] = json!(algorithm.name());
        jwk
    });
    json!({ "keys": keys.collect::<Vec<_>>() })
}

pub(crate) fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": ["punk-api", "other"], "sub": "robot-7", "iat": NOW, "exp": NOW + 600, "jti": "one",
        "org": "acme", "groups": ["admins", "strangers"], "scope": "run:read run:write",
    })
}

/// A token with a header and claims as given.
pub(crate) fn signed(signer: &Signer, algorithm: Algorithm, header: &Value, claims: &str) -> String {
    let text = format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.as_bytes()));
    format!("{text}.{}", encode(&signer.sign(algorithm, text.as_bytes())))
}

pub(crate) fn token(algorithm: Algorithm, claims: &Value) -> String {
    let header = json!({ "alg": algorithm.name(), "kid": algorithm.name(), "typ": "JWT" });
    signed(signer(algorithm), algorithm, &header, &claims.to_string())
}

/// The network: what each address answers, and how often it was asked.
#[derive(Default)]
pub(crate) struct Network {
    pub(crate) answers: Mutex<HashMap<String, Answer>>,
    pub(crate) asked: Mutex<Vec<String>>,
    /// A fetch waits here until it is let through, when a test holds this.
    pub(crate) hold: tokio::sync::Mutex<()>,
}

impl Network {
    pub(crate) fn with(url: &str, body: &Value) -> Arc<Self> {
        let network = Self::default();
        network.set(url, body, None);
        Arc::new(network)
    }

    pub(crate) fn set(&self, url: &str, body: &Value, cache_control: Option<&str>) {
        let body = body.to_string().into_bytes();
        let answer = Answer { status: 200, cache_control: cache_control.map(str::to_owned), body };
        self.answers.lock().unwrap().insert(url.to_owned(), answer);
    }

    pub(crate) fn go_away(&self) {
        self.answers.lock().unwrap().clear();
    }

    pub(crate) fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    async fn answer(&self, what: String, url: &Url) -> Result<Answer, NoAnswer> {
        self.asked.lock().unwrap().push(what);
        drop(self.hold.lock().await);
        self.answers.lock().unwrap().get(url.as_str()).cloned().ok_or(NoAnswer("away".into()))
    }
}

#[async_trait::async_trait]
impl Http for Network {
    async fn get(&self, url: &Url) -> Result<Answer, NoAnswer> {
        self.answer(url.to_string(), url).await
    }

    async fn post_form(
        &self,
        url: &Url,
        form: SecretString,
        authorization: Option<SecretString>,
    ) -> Result<Answer, NoAnswer> {
        let authorization = authorization.map(|value| value.expose().clone()).unwrap_or_default();
        self.answer(format!("{url} {} {authorization}", form.expose()), url).await
    }
}

/// Revoked tokens; `None` is an outage.
pub(crate) struct Revoked(pub(crate) Mutex<Option<BTreeSet<String>>>);

#[async_trait::async_trait]
impl Revocations for Revoked {
    async fn is_revoked(&self, issuer: &str, jti: &str) -> Result<bool, RevocationsAway> {
        assert_eq!(issuer, ISSUER);
        self.0.lock().unwrap().as_ref().map(|revoked| revoked.contains(jti)).ok_or(RevocationsAway)
    }
}

pub(crate) fn trusted() -> TrustedIssuer {
    TrustedIssuer {
        issuer: ISSUER.into(),
        audiences: vec!["punk-api".into()],
        algorithms: Algorithm::ALL.to_vec(),
        keys: KeySource::Url(KEYS_URL.into()),
        mapping: Mapping {
            organisation: Organisation::Claim("org".into()),
            roles: Some("groups".into()),
            role_names: BTreeMap::from([("admins".into(), "admin".into())]),
            scopes: Some("scope".into()),
        },
        ids: TokenIds::Required,
        longest: Duration::from_secs(3600),
    }
}

/// A verifier that trusts the issuer, and the two things outside of it.
pub(crate) struct World {
    pub(crate) bearers: Bearers,
    pub(crate) network: Arc<Network>,
    pub(crate) revoked: Arc<Revoked>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::trusting(trusted())
    }

    pub(crate) fn trusting(trusted: TrustedIssuer) -> Self {
        let network = Network::with(KEYS_URL, &published());
        let revoked = Arc::new(Revoked(Mutex::new(Some(BTreeSet::new()))));
        let bearers = Bearers::new(vec![trusted], network.clone(), revoked.clone()).unwrap();
        Self { bearers, network, revoked }
    }

    pub(crate) async fn verify(&self, token: &str) -> Result<Bearer, Refused> {
        self.bearers.verify(token, at(0)).await
    }
}
