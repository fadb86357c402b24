//! Logging in elsewhere: a provider of our own making, and what it may not make us believe. A real one is asked in the tests
//! of `identity`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::SigningKey;
use gateway::{Federation, OidcProvider, Web};
use identity::Role;
use schema::TenantId;
use serde_json::{Value, json};
use world::browser::Browser;
use world::{Reply, Setup, World};

const BEGIN: &str = "/api/v1/auth/oidc/login";

/// A provider: what it says of whoever comes next.
#[derive(Clone)]
struct Provider {
    issuer: String,
    claims: Arc<Mutex<Value>>,
}

fn seconds() -> u64 {
    world::now().as_millis() / 1_000
}

impl Provider {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let claims = Arc::new(Mutex::new(Value::Null));
        let key = || SigningKey::from_seed(&[7; 32]);
        let json_of = |value: Value| ([("content-type", "application/json")], value.to_string());
        let document = json!({
            "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"], "code_challenge_methods_supported": ["S256"],
        });
        let x = URL_SAFE_NO_PAD.encode(key().public().as_bytes());
        let keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": "1", "x": x }] });
        let said = Arc::clone(&claims);
        let token = move || {
            let claims = said.lock().unwrap().clone();
            let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let header = json!({ "alg": "EdDSA", "typ": "JWT", "kid": "1" });
            let signed = format!("{}.{}", encode(&header), encode(&claims));
            let signature = URL_SAFE_NO_PAD.encode(key().sign(signed.as_bytes()).to_bytes());
            async move {
                json_of(
                    json!({ "token_type": "Bearer", "access_token": "a", "id_token": format!("{signed}.{signature}") }),
                )
            }
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(move || async move { json_of(document) }))
            .route("/keys", get(move || async move { json_of(keys) }))
            .route("/token", post(token));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { issuer, claims }
    }

    /// A gateway at which people log in here.
    async fn world(&self, role: Option<Role>, domains: &[&str]) -> World {
        let oidc = OidcProvider {
            issuer: self.issuer.clone(),
            client_id: "punk".to_owned(),
            client_secret: Some(crypto::Secret::new("s".to_owned())),
            domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
            tenant: TenantId::NIL,
            role,
        };
        let federation = Federation { issuers: Vec::new(), oidc: Some(oidc), allow_private: true };
        let web = Web { base_url: Some("http://127.0.0.1:1".to_owned()), origins: Vec::new() };
        Setup { federation, web, ..Setup::protected() }.start().await
    }

    /// Somebody goes there and comes back as who the provider says they are.
    async fn log_in(&self, world: &World, said: Value) -> (Browser, Reply) {
        let mut browser = Browser::default();
        let begun = world.send("GET", &format!("{BEGIN}?returnTo=/runs"), &[], &Value::Null).await;
        assert_eq!(begun.status, 303, "{begun:?}");
        browser.keep(&begun);
        let (state, nonce) = self.asked(begun.header("location").unwrap());
        self.say(&nonce, &said);
        let back = format!("/api/v1/auth/oidc/callback?code=c&state={state}");
        let cookie = browser.cookie();
        let reply = world.send("GET", &back, &[("cookie", &cookie)], &Value::Null).await;
        browser.keep(&reply);
        (browser, reply)
    }

    /// The state and the nonce of a browser that was sent here.
    fn asked(&self, location: &str) -> (String, String) {
        assert!(location.starts_with(&format!("{}/authorize?", self.issuer)), "{location}");
        let part = |name: &str| {
            let (_, rest) = location.split_once(&format!("{name}=")).unwrap();
            rest.split('&').next().unwrap().to_owned()
        };
        assert_eq!(part("code_challenge_method"), "S256");
        (part("state"), part("nonce"))
    }

    fn say(&self, nonce: &str, said: &Value) {
        let mut claims = json!({
            "iss": self.issuer, "aud": "punk", "sub": "1", "iat": seconds(), "exp": seconds() + 300, "nonce": nonce,
            "email": "ada@example.org", "email_verified": true, "name": "Ada",
        });
        for (name, value) in said.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        *self.claims.lock().unwrap() = claims;
    }
}

async fn session(world: &World, browser: &Browser) -> Value {
    let cookie = browser.cookie();
    let reply = world.send("GET", "/api/v1/auth/session", &[("cookie", &cookie)], &Value::Null).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

#[tokio::test]
async fn somebody_logs_in_elsewhere_and_is_known_by_their_subject_from_then_on() {
    let provider = Provider::start().await;
    let world = provider.world(Some(Role::Viewer), &["example.org"]).await;
    let (ada, back) = provider.log_in(&world, json!({})).await;
    assert_eq!((back.status, back.header("location")), (303, Some("/runs")), "{back:?}");
    let told = session(&world, &ada).await;
    assert_eq!(
        (&told["organisation"]["role"], &told["user"]["hasPassword"]),
        (&json!("viewer"), &json!(false))
    );
    // The address changes there; the person does not.
    let (again, _) =
        provider.log_in(&world, json!({ "email": "ada@new.example", "email_verified": false })).await;
    assert_eq!(session(&world, &again).await["user"]["id"], told["user"]["id"]);
    // Without a password there is none to guess.
    let login = json!({ "email": "ada@example.org", "password": "seven parrots and a kettle" });
    assert_eq!(world.send("POST", "/api/v1/auth/login", &[], &login).await.status, 401);
}

#[tokio::test]
async fn what_a_provider_says_is_not_believed_beyond_what_it_may_say() {
    let provider = Provider::start().await;
    let world = provider.world(Some(Role::Viewer), &["example.org"]).await;
    for (what, said) in [
        ("an address that is not verified", json!({ "email_verified": false })),
        ("another domain", json!({ "email": "ada@example.com" })),
        ("no address", json!({ "email": null })),
        ("another audience", json!({ "aud": "others" })),
        ("another issuer", json!({ "iss": "https://elsewhere.example" })),
        ("an old token", json!({ "exp": seconds() - 3600, "iat": seconds() - 7200 })),
        ("another login", json!({ "nonce": "x" })),
    ] {
        let (browser, reply) = provider.log_in(&world, said).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (403, "punk_provider_refused"),
            "{what}: {reply:?}"
        );
        assert!(browser.token().is_empty(), "{what}");
    }
    // An answer to a login that another browser began, that is played again, or that nobody began.
    let begun = world.send("GET", BEGIN, &[], &Value::Null).await;
    let (state, nonce) = provider.asked(begun.header("location").unwrap());
    provider.say(&nonce, &json!({}));
    let back = format!("/api/v1/auth/oidc/callback?code=c&state={state}");
    assert_eq!(
        world.send("GET", &back, &[], &Value::Null).await.code(),
        "punk_provider_refused",
        "no cookie"
    );
    let mut other = Browser::default();
    other.keep(&world.send("GET", BEGIN, &[], &Value::Null).await);
    let cookie = other.cookie();
    let reply = world.send("GET", &back, &[("cookie", &cookie)], &Value::Null).await;
    assert_eq!(reply.code(), "punk_provider_refused", "another browser's");
    for foreign in ["https://evil.example", "//evil.example", "/%5Cevil.example"] {
        let begun = world.send("GET", &format!("{BEGIN}?returnTo={foreign}"), &[], &Value::Null).await;
        assert_eq!(begun.status, 303);
        let mut browser = Browser::default();
        browser.keep(&begun);
        let (state, nonce) = provider.asked(begun.header("location").unwrap());
        provider.say(&nonce, &json!({}));
        let back = format!("/api/v1/auth/oidc/callback?code=c&state={state}");
        let cookie = browser.cookie();
        let reply = world.send("GET", &back, &[("cookie", &cookie)], &Value::Null).await;
        assert_eq!(reply.header("location"), Some("/"), "{foreign}");
    }
}

#[tokio::test]
async fn without_an_invitation_nobody_new_gets_in_and_an_account_of_others_is_not_taken_over() {
    let provider = Provider::start().await;
    let world = provider.world(None, &[]).await;
    let (_, reply) = provider.log_in(&world, json!({})).await;
    assert_eq!(reply.code(), "punk_provider_refused", "nobody was invited");
    let invite = json!({ "email": "ada@example.org", "role": "operator" });
    assert_eq!(world.operate("POST", "/api/v1/invitations", &invite).await.status, 201);
    let (ada, _) = provider.log_in(&world, json!({})).await;
    assert_eq!(session(&world, &ada).await["organisation"]["role"], "operator");
    let invitations = world.operate("GET", "/api/v1/invitations", &Value::Null).await.json();
    assert_eq!(invitations["invitations"][0]["status"], "accepted");
    // Whoever is known here, by an operator's word, is linked.
    world.person("bea@example.org", "reviewer", None).await;
    let (bea, _) = provider.log_in(&world, json!({ "sub": "2", "email": "bea@example.org" })).await;
    assert_eq!(session(&world, &bea).await["organisation"]["role"], "reviewer");
    // Whoever took an address with somebody's invitation may not be its owner.
    let invite = json!({ "email": "cleo@example.org", "role": "viewer" });
    let token = world.operate("POST", "/api/v1/invitations", &invite).await.json()["token"].clone();
    let accept = json!({ "token": token, "password": world::browser::PASSWORD });
    assert_eq!(world.send("POST", "/api/v1/auth/accept", &[], &accept).await.status, 200);
    let (_, reply) = provider.log_in(&world, json!({ "sub": "3", "email": "cleo@example.org" })).await;
    assert_eq!(reply.code(), "punk_provider_refused", "{reply:?}");
}
