//! Logins and bearer tokens against a real, certified OpenID provider, which runs in Node beside the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod browser;
mod provider;

use browser::Browser;
use crypto::SecretString;
use identity::Refused;
use identity::foreign::{
    Algorithm, Bearer, Bearers, KeySource, Mapping, Organisation, Revocations, RevocationsAway, TokenIds,
    TrustedIssuer,
};
use identity::oidc::{Authentication, Client, Login, LoginError, Person, Provider as Discovered};
use provider::{Plain, Provider};
use schema::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the provider sends the browser back to. Nobody listens there: the browser stops at it.
const REDIRECT: &str = "http://127.0.0.1:9/callback";

#[expect(clippy::disallowed_methods, reason = "the provider goes by the clock of this machine")]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since.as_millis() as u64).unwrap()
}

fn later(time: Timestamp, seconds: u64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + seconds * 1000).unwrap()
}

/// The client of `server.mjs` that gets ID tokens of this algorithm.
fn client(algorithm: Algorithm) -> Client {
    let secret = || SecretString::new(format!("the secret: of {} & more", algorithm.name()));
    let authentication = match algorithm {
        Algorithm::Rs256 => Authentication::Basic(secret()),
        Algorithm::EdDsa => Authentication::Public,
        _ => Authentication::Post(secret()),
    };
    let id = format!("punk-{}", algorithm.name());
    Client::new(&id, authentication, REDIRECT, &["email", "profile"]).unwrap()
}

async fn login(provider: &Provider, algorithm: Algorithm) -> Login {
    Login::discover(Arc::new(Plain), &provider.url, client(algorithm)).await.unwrap()
}

/// Logs `name` in as a person would, and gives the query with which the browser comes back.
fn logged_in(login: &Login, name: &str) -> (identity::oidc::Pending, String) {
    let (pending, url) = login.begin(None, now()).unwrap();
    let back = Browser::default().log_in(&url, name, REDIRECT);
    (pending, back.query().unwrap().to_owned())
}

#[tokio::test]
async fn a_person_logs_in_with_every_kind_of_key_and_of_client() {
    let provider = Provider::start();
    for algorithm in [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa] {
        let login = login(&provider, algorithm).await;
        let (pending, query) = logged_in(&login, "jane");
        let person = login.finish(pending, &query, now()).await.unwrap();
        let expected = Person {
            issuer: provider.url.clone(),
            subject: "jane".into(),
            email: Some("jane@example.org".into()),
            email_verified: true,
            name: Some("The jane".into()),
        };
        assert_eq!(person, expected, "{algorithm:?}");
    }
    let login = login(&provider, Algorithm::Rs256).await;
    let (pending, query) = logged_in(&login, "unverified");
    assert!(!login.finish(pending, &query, now()).await.unwrap().email_verified);
}

#[tokio::test]
async fn a_login_goes_on_after_the_provider_has_rotated_its_keys() {
    let provider = Provider::start();
    let login = login(&provider, Algorithm::Es256).await;
    let (pending, query) = logged_in(&login, "jane");
    login.finish(pending, &query, now()).await.unwrap();
    provider.rotate();
    let (pending, query) = logged_in(&login, "jane");
    // Within half a minute of the last fetch nobody asks again; a token that is refused then is taken a moment later.
    let soon = later(now(), 31);
    login.finish(pending, &query, soon).await.unwrap();
}

#[tokio::test]
async fn an_answer_is_good_once_in_its_own_browser_and_in_time() {
    let provider = Provider::start();
    let login = login(&provider, Algorithm::EdDsa).await;
    // The state of one browser, the code of another.
    let (mine, my_query) = logged_in(&login, "jane");
    let (theirs, their_query) = logged_in(&login, "eve");
    assert!(matches!(login.finish(theirs, &my_query, now()).await, Err(LoginError::State)));
    // Even with the right state, the code of another login is bound to another verifier.
    let field = |query: &str, name: &str| {
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.into_owned().find(|(found, _)| found == name).unwrap().1
    };
    let code = field(&their_query, "code");
    let injected = my_query.replace(&field(&my_query, "code"), &code);
    assert_ne!(injected, my_query);
    let refused = login.finish(mine, &injected, now()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider refused: invalid_grant");

    let (pending, query) = logged_in(&login, "jane");
    assert!(matches!(login.finish(pending, &query, later(now(), 600)).await, Err(LoginError::State)));
    let (pending, query) = logged_in(&login, "jane");
    let elsewhere = query.replace("127.0.0.1", "127.0.0.2");
    assert!(matches!(login.finish(pending, &elsewhere, now()).await, Err(LoginError::Issuer)));
}

#[tokio::test]
async fn who_cancels_is_not_logged_in_and_a_wrong_secret_gets_nothing() {
    let provider = Provider::start();
    let login = login(&provider, Algorithm::Rs256).await;
    let (pending, url) = login.begin(None, now()).unwrap();
    let back = Browser::default().cancel(&url, REDIRECT);
    let refused = login.finish(pending, back.query().unwrap(), now()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider refused: access_denied");

    let wrong = Authentication::Basic(SecretString::new("wrong".into()));
    let client = Client::new("punk-RS256", wrong, REDIRECT, &[]).unwrap();
    let login = Login::discover(Arc::new(Plain), &provider.url, client).await.unwrap();
    let (pending, query) = logged_in(&login, "jane");
    let refused = login.finish(pending, &query, now()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider refused: invalid_client");
}

#[tokio::test]
async fn a_document_of_another_name_is_refused() {
    let provider = Provider::start();
    let other = provider.url.replace("127.0.0.1", "localhost");
    let refused = Discovered::discover(&Plain, &other).await.unwrap_err().to_string();
    assert!(refused.starts_with("discovery document is of \"http://127.0.0.1:"), "{refused}");
}

/// The tokens that somebody has revoked.
#[derive(Default)]
struct Revoked(Mutex<BTreeSet<String>>);

#[async_trait::async_trait]
impl Revocations for Revoked {
    async fn is_revoked(&self, _: &str, jti: &str) -> Result<bool, RevocationsAway> {
        Ok(self.0.lock().unwrap().contains(jti))
    }
}

fn bearers(provider: &Provider, audiences: &[&str], revoked: &Arc<Revoked>) -> Bearers {
    let trusted = TrustedIssuer {
        issuer: provider.url.clone(),
        audiences: audiences.iter().map(|audience| (*audience).to_owned()).collect(),
        algorithms: Algorithm::ALL.to_vec(),
        keys: KeySource::Discovery,
        mapping: Mapping {
            organisation: Organisation::Claim("org".into()),
            roles: Some("groups".into()),
            role_names: BTreeMap::from([("admins".into(), "admin".into())]),
            scopes: Some("scope".into()),
        },
        ids: TokenIds::Required,
        longest: Duration::from_secs(3600),
    };
    Bearers::new(vec![trusted], Arc::new(Plain), revoked.clone()).unwrap()
}

#[tokio::test]
async fn a_machine_with_a_token_of_every_kind_of_key_is_known() {
    let provider = Provider::start();
    let revoked = Arc::new(Revoked::default());
    for algorithm in ["RS256", "PS256", "ES256", "EdDSA"] {
        let resource = format!("https://api.example/{algorithm}");
        let bearers = bearers(&provider, &[&resource], &revoked);
        let begun = now();
        let token = provider.machine_token(&resource);
        let bearer: Bearer = bearers.verify(&token, now()).await.unwrap();
        assert_eq!((bearer.issuer.as_str(), bearer.subject.as_str()), (provider.url.as_str(), "robot"));
        assert_eq!((bearer.organisation.as_str(), bearer.scopes.to_string()), ("acme", "run:read".into()));
        assert_eq!(bearer.roles, BTreeSet::from(["admin".to_owned()]));

        assert_eq!(bearers.verify(&token, later(now(), 700)).await, Err(Refused::Expired));
        let early = Timestamp::from_millis(begun.as_millis() - 60_000).unwrap();
        assert_eq!(bearers.verify(&token, early).await, Err(Refused::FromTheFuture));
        for position in (0..token.len()).step_by(7) {
            let mut bytes = token.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(bearers.verify(&changed, now()).await.is_err(), "{algorithm} {position}");
        }
        revoked.0.lock().unwrap().insert(bearer.id.unwrap());
        assert_eq!(bearers.verify(&token, now()).await, Err(Refused::Revoked));
    }
}

#[tokio::test]
async fn a_token_for_somebody_else_or_of_somebody_else_is_refused() {
    let provider = Provider::start();
    let revoked = Arc::new(Revoked::default());
    let ours = bearers(&provider, &["https://api.example/RS256"], &revoked);
    let theirs = provider.machine_token("https://api.example/ES256");
    assert_eq!(ours.verify(&theirs, now()).await, Err(Refused::Audience));

    let stranger = Provider::start();
    let token = stranger.machine_token("https://api.example/RS256");
    assert_eq!(ours.verify(&token, now()).await, Err(Refused::Issuer));
}

#[tokio::test]
async fn a_rotation_is_followed_and_the_old_key_is_worth_nothing_after_it() {
    let provider = Provider::start();
    let resource = "https://api.example/ES256";
    let bearers = bearers(&provider, &[resource], &Arc::default());
    let old = provider.machine_token(resource);
    let asked = now();
    bearers.verify(&old, asked).await.unwrap();
    provider.rotate();
    let new = provider.machine_token(resource);
    assert_eq!(bearers.verify(&new, asked).await, Err(Refused::UnknownKey), "asked a moment ago");
    bearers.verify(&new, later(now(), 31)).await.unwrap();
    assert_eq!(bearers.verify(&old, later(now(), 31)).await, Err(Refused::UnknownKey));
    // The provider goes, its keys stay for a while.
    drop(provider);
    bearers.verify(&new, later(now(), 120)).await.unwrap();
}
