//! A login against a provider in memory: every part of it that can be wrong, made wrong.

use super::*;
use crate::foreign::Algorithm;
use crate::foreign::tests::issuer::{ISSUER, KEYS_URL, NOW, Network, at, published, signed, signer};
use crate::http::Answer;
use crate::jose::Refused;
use crate::jose::compact::encode;
use crypto::{SealKey, SecretString};
use expect_test::expect;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

const TOKEN_URL: &str = "https://id.example/token";

pub(crate) fn document() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://id.example/authorize?tenant=1",
        "token_endpoint": TOKEN_URL,
        "jwks_uri": KEYS_URL,
        "response_types_supported": ["code", "id_token"],
        "code_challenge_methods_supported": ["S256"],
        "id_token_signing_alg_values_supported": ["HS256", "RS256", "ES256", "EdDSA"],
        "authorization_response_iss_parameter_supported": true,
    })
}

fn client(authentication: Authentication) -> Client {
    Client::new("punk", authentication, "https://punk.example/callback", &["email", "openid"]).unwrap()
}

struct World {
    login: Login,
    network: Arc<Network>,
}

impl World {
    fn new() -> Self {
        Self::of(&document(), Authentication::Post(SecretString::new("s3cret".into())))
    }

    fn of(document: &Value, authentication: Authentication) -> Self {
        let network = Network::with(KEYS_URL, &published());
        let provider = Provider::parse(document.to_string().as_bytes(), ISSUER).unwrap();
        Self { login: Login::new(network.clone(), provider, client(authentication)), network }
    }

    /// Begins, and gives the fields of the address that the browser is sent to.
    fn begin(&self) -> (Pending, HashMap<String, String>) {
        let (pending, url) = self.login.begin(Some("/runs".into()), at(0)).unwrap();
        (pending, url.query_pairs().into_owned().collect())
    }

    /// A login in which the provider changes the claims of the ID token.
    async fn with(&self, change: impl FnOnce(&mut Value)) -> Result<Person, LoginError> {
        let (pending, sent) = self.begin();
        let mut claims = claims(&sent["nonce"]);
        change(&mut claims);
        self.answer_with(&id_token(&claims));
        self.login.finish(pending, &query(&sent["state"]), at(1)).await
    }

    fn answer_with(&self, id_token: &str) {
        let body =
            json!({ "id_token": id_token, "access_token": "at-1", "token_type": "Bearer", "expires_in": 60 });
        self.network.set(TOKEN_URL, &body, None);
    }
}

fn query(state: &str) -> String {
    format!("code=c0de&state={state}&iss=https%3A%2F%2Fid.example")
}

fn claims(nonce: &str) -> Value {
    let half = encode(&Sha256::digest(b"at-1")[..16]);
    json!({
        "iss": ISSUER, "aud": "punk", "sub": "248289761001", "iat": NOW, "exp": NOW + 300, "nonce": nonce,
        "at_hash": half, "email": "jane@example.org", "email_verified": true, "name": "Jane",
    })
}

fn id_token(claims: &Value) -> String {
    let header = json!({ "alg": "ES256", "kid": "ES256" });
    signed(signer(Algorithm::Es256), Algorithm::Es256, &header, &claims.to_string())
}

#[track_caller]
fn refused(result: Result<Person, LoginError>) -> Refused {
    match result {
        Err(LoginError::Token(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_login_gives_a_person() {
    let world = World::new();
    let person = world.with(|_| {}).await.unwrap();
    let expected = Person {
        issuer: ISSUER.into(),
        subject: "248289761001".into(),
        email: Some("jane@example.org".into()),
        email_verified: true,
        name: Some("Jane".into()),
    };
    assert_eq!(person, expected);
}

#[test]
fn the_browser_is_sent_with_all_that_binds_the_answer_to_it() {
    let world = World::new();
    let (pending, sent) = world.begin();
    assert_eq!(sent["response_type"], "code");
    assert_eq!(sent["client_id"], "punk");
    assert_eq!(sent["redirect_uri"], "https://punk.example/callback");
    assert_eq!(sent["scope"], "openid email");
    assert_eq!(sent["tenant"], "1", "what the provider's address had stays");
    assert_eq!(sent["code_challenge_method"], "S256");
    assert_eq!(sent["code_challenge"], encode(&Sha256::digest(pending.verifier().as_bytes())));
    assert_eq!((pending.issuer(), pending.return_to()), (ISSUER, Some("/runs")));
    let (_, again) = world.begin();
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(sent[name].len(), 43);
        assert_ne!(sent[name], again[name], "{name}");
    }
}

/// RFC 7636, appendix B.
#[test]
fn the_challenge_is_the_one_of_the_rfc() {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    assert_eq!(encode(&Sha256::digest(verifier.as_bytes())), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

#[tokio::test]
async fn the_code_is_sent_with_the_verifier_and_as_the_client_was_registered() {
    let secret = || SecretString::new("s3cret:&".into());
    for (authentication, expected) in [
        (
            Authentication::Post(secret()),
            expect![
                "https://id.example/token grant_type=authorization_code&code=c0de&redirect_uri=https%3A%2F%2Fpunk.example%2Fcallback&code_verifier=V&client_id=punk&client_secret=s3cret%3A%26 "
            ],
        ),
        (
            Authentication::Basic(secret()),
            expect![
                "https://id.example/token grant_type=authorization_code&code=c0de&redirect_uri=https%3A%2F%2Fpunk.example%2Fcallback&code_verifier=V Basic cHVuazpzM2NyZXQlM0ElMjY="
            ],
        ),
        (
            Authentication::Public,
            expect![
                "https://id.example/token grant_type=authorization_code&code=c0de&redirect_uri=https%3A%2F%2Fpunk.example%2Fcallback&code_verifier=V&client_id=punk "
            ],
        ),
    ] {
        let world = World::of(&document(), authentication);
        let (pending, sent) = world.begin();
        let verifier = pending.verifier().to_owned();
        let _ = world.login.finish(pending, &query(&sent["state"]), at(1)).await;
        expected.assert_eq(&world.network.asked.lock().unwrap()[0].replace(&verifier, "V"));
    }
}

#[tokio::test]
async fn an_answer_that_belongs_to_no_login_of_this_browser_is_refused_unasked() {
    let world = World::new();
    let finish = |second: u64, query: String| {
        let (pending, sent) = world.begin();
        let query = query.replace("STATE", &sent["state"]);
        let login = &world.login;
        async move { login.finish(pending, &query, at(second)).await.unwrap_err() }
    };
    assert!(matches!(finish(1, query("another")).await, LoginError::State));
    assert!(matches!(finish(1, "code=c0de&iss=https%3A%2F%2Fid.example".into()).await, LoginError::State));
    assert!(matches!(finish(600, query("STATE")).await, LoginError::State));
    assert!(matches!(finish(1, query("STATE") + "&state=x").await, LoginError::Query));
    assert!(matches!(finish(1, query("STATE") + "&code=x").await, LoginError::Query));
    assert!(matches!(
        finish(1, query("STATE").replace("id.example", "evil.example")).await,
        LoginError::Issuer
    ));
    assert!(matches!(finish(1, "code=c0de&state=STATE".into()).await, LoginError::Issuer), "RFC 9207");
    assert!(matches!(finish(1, query("STATE").replace("c0de", "")).await, LoginError::Query));
    assert!(matches!(finish(1, query("STATE") + "&error=x").await, LoginError::Query));
    assert!(matches!(finish(1, query("STATE") + &"x".repeat(9000)).await, LoginError::Query));
    let denied =
        finish(1, "error=access_denied%3Cscript%3E&state=STATE&iss=https%3A%2F%2Fid.example".into()).await;
    assert_eq!(denied.to_string(), "the provider refused: access_deniedscript");
    assert_eq!(world.network.times_asked(), 0, "no code is traded");
}

#[tokio::test]
async fn a_pending_login_of_another_provider_is_refused() {
    let mut other = document();
    other["issuer"] = json!("https://other.example");
    let network = Network::with(KEYS_URL, &published());
    let provider = Provider::parse(other.to_string().as_bytes(), "https://other.example").unwrap();
    let login = Login::new(network, provider, client(Authentication::Public));
    let (pending, sent) = World::new().begin();
    let query = format!("code=c0de&state={}&iss=https%3A%2F%2Fother.example", sent["state"]);
    assert!(matches!(login.finish(pending, &query, at(1)).await, Err(LoginError::State)));
}

#[tokio::test]
async fn an_id_token_that_is_not_for_this_login_is_refused() {
    let world = World::new();
    let wrong = async |name: &str, value: Value| refused(world.with(|claims| claims[name] = value).await);
    assert_eq!(wrong("nonce", json!("another")).await, Refused::Nonce);
    assert_eq!(wrong("nonce", json!(null)).await, Refused::Nonce);
    assert_eq!(wrong("iss", json!("https://other.example")).await, Refused::Issuer);
    assert_eq!(wrong("aud", json!("another")).await, Refused::Audience);
    assert_eq!(wrong("aud", json!(["punk", "another"])).await, Refused::AuthorizedParty);
    assert_eq!(wrong("azp", json!("another")).await, Refused::AuthorizedParty);
    assert_eq!(wrong("exp", json!(NOW - 60)).await, Refused::Expired);
    assert_eq!(wrong("iat", json!(NOW + 60)).await, Refused::FromTheFuture);
    assert_eq!(wrong("at_hash", json!("another")).await, Refused::AccessTokenHash);
    assert_eq!(wrong("at_hash", json!(7)).await, Refused::AccessTokenHash);
    assert_eq!(wrong("sub", json!("")).await, Refused::Claim("sub"));
    let person = world.with(|claims| claims["email_verified"] = json!("true")).await.unwrap();
    assert!(!person.email_verified, "only a plain true counts");
    let several = |claims: &mut Value| {
        claims["aud"] = json!(["punk", "another"]);
        claims["azp"] = json!("punk");
    };
    assert!(world.with(several).await.is_ok());
}

#[tokio::test]
async fn an_id_token_of_an_algorithm_that_the_provider_does_not_announce_is_refused() {
    let world = World::new();
    let (pending, sent) = world.begin();
    let header = json!({ "alg": "PS256", "kid": "PS256" });
    let text = claims(&sent["nonce"]).to_string();
    world.answer_with(&signed(signer(Algorithm::Ps256), Algorithm::Ps256, &header, &text));
    let result = world.login.finish(pending, &query(&sent["state"]), at(1)).await;
    assert_eq!(refused(result), Refused::Algorithm);
}

#[tokio::test]
async fn an_answer_of_the_token_endpoint_that_cannot_be_used_is_refused() {
    let world = World::new();
    let answered = async |status: u16, body: &str| {
        let answer = Answer { status, cache_control: None, body: body.as_bytes().to_vec() };
        world.network.answers.lock().unwrap().insert(TOKEN_URL.into(), answer);
        let (pending, sent) = world.begin();
        world.login.finish(pending, &query(&sent["state"]), at(1)).await.unwrap_err().to_string()
    };
    expect!["the provider refused: invalid_grant"]
        .assert_eq(&answered(400, r#"{"error":"invalid_grant"}"#).await);
    expect!["the provider's answer is not JSON"].assert_eq(&answered(200, "<html>").await);
    expect!["the provider's answer has another token type than Bearer"]
        .assert_eq(&answered(200, r#"{"access_token":"x","id_token":"y","token_type":"DPoP"}"#).await);
    expect!["the provider's answer has no ID token; is `openid` among the scopes?"]
        .assert_eq(&answered(200, r#"{"access_token":"x","token_type":"bearer"}"#).await);
    world.network.go_away();
    let (pending, sent) = world.begin();
    let away = world.login.finish(pending, &query(&sent["state"]), at(1)).await;
    assert!(matches!(away, Err(LoginError::Away(_))));
}

#[test]
fn a_pending_login_survives_in_a_cookie_that_nobody_else_can_read() {
    let (pending, _) = World::new().begin();
    let [key, other] = [[1; 32], [2; 32]].map(SealKey::from_bytes);
    let cookie = pending.seal(&key).unwrap();
    let again = Pending::open([&other, &key], cookie.expose(), at(599)).unwrap();
    assert!(again.is_state(pending.state()) && again.is_nonce(pending.nonce()));
    assert_eq!((again.verifier(), again.return_to()), (pending.verifier(), pending.return_to()));
    assert_eq!(Pending::open([&key], cookie.expose(), at(600)).unwrap_err(), NotPending);
    assert_eq!(Pending::open([&other], cookie.expose(), at(0)).unwrap_err(), NotPending);
    let mut changed = cookie.expose().clone();
    changed.replace_range(10..11, if changed.as_bytes()[10] == b'A' { "B" } else { "A" });
    assert_eq!(Pending::open([&key], &changed, at(0)).unwrap_err(), NotPending);
    let printed = format!("{pending:?}");
    assert!(
        [pending.state(), pending.nonce(), pending.verifier()].iter().all(|secret| !printed.contains(secret))
    );
}

#[test]
fn a_discovery_document_is_checked_field_by_field() {
    let with = |name: &str, value: Value| {
        let mut document = document();
        document[name] = value;
        Provider::parse(document.to_string().as_bytes(), ISSUER).map(|_| ())
    };
    assert_eq!(with("anything", json!(1)), Ok(()));
    assert_eq!(
        with("issuer", json!("https://id.example/")),
        Err(ProviderError::Issuer { found: "https://id.example/".into() })
    );
    for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
        for value in [json!("http://id.example/x"), json!("https://u:p@id.example"), json!(7), json!(null)] {
            assert_eq!(with(name, value), Err(ProviderError::Field(name)));
        }
    }
    assert!(matches!(with("response_types_supported", json!(["token"])), Err(ProviderError::NotOffered(_))));
    assert!(matches!(
        with("code_challenge_methods_supported", json!(["plain"])),
        Err(ProviderError::NotOffered(_))
    ));
    for algorithms in [json!(["HS256", "none"]), json!([]), json!("RS256")] {
        let refused = with("id_token_signing_alg_values_supported", algorithms);
        assert!(matches!(refused, Err(ProviderError::NotOffered(_))));
    }
    let doubled = document().to_string().replacen('{', r#"{"issuer":"https://evil.example","#, 1);
    assert_eq!(Provider::parse(doubled.as_bytes(), ISSUER).unwrap_err(), ProviderError::Form);
}

#[tokio::test]
async fn an_issuer_that_may_not_be_trusted_is_not_asked() {
    let network = Network::default();
    for issuer in ["http://id.example", "https://id.example?x=1", "https://u@id.example", "nonsense"] {
        let refused = Provider::discover(&network, issuer).await.unwrap_err();
        assert!(matches!(refused, ProviderError::Address(_)), "{issuer}");
    }
    assert_eq!(network.times_asked(), 0);
}

#[test]
fn a_client_that_cannot_be_is_refused_by_field() {
    let new = |id: &str, uri: &str| Client::new(id, Authentication::Public, uri, &[]).map(|_| ());
    assert_eq!(new("", "https://punk.example/"), Err(ClientError::Id));
    assert!(matches!(new("punk", "http://punk.example/"), Err(ClientError::RedirectUri(_))));
    let printed = format!("{:?}", client(Authentication::Basic(SecretString::new("s3cret".into()))));
    assert!(!printed.contains("s3cret"));
}
