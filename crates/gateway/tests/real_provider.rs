//! People log in to a whole gateway at a real, certified OpenID provider, which runs in Node beside the test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a helper of tests may fail as a test does, and no test uses all of it"
)]

// The provider and the browser of the tests of `identity`.
#[path = "../../identity/tests/oidc/browser.rs"]
mod browser;
#[path = "../../identity/tests/oidc/provider.rs"]
mod provider;
mod world;

use gateway::{Federation, OidcProvider, Web};
use identity::Role;
use provider::Provider;
use schema::TenantId;
use serde_json::{Value, json};
use url::Url;
use world::{Reply, Setup, World};

/// Where the provider sends people back to. Nobody listens there: the browser stops, and the test goes on for it.
const BASE: &str = "http://127.0.0.1:9";

async fn gateway_of(provider: &Provider) -> World {
    let oidc = OidcProvider {
        issuer: provider.url.clone(),
        client_id: "punk-RS256".to_owned(),
        client_secret: Some(crypto::Secret::new("the secret: of RS256 & more".to_owned())),
        domains: Vec::new(),
        tenant: TenantId::NIL,
        role: Some(Role::Operator),
    };
    let federation = Federation { issuers: Vec::new(), oidc: Some(oidc), allow_private: true };
    let web = Web { base_url: Some(BASE.to_owned()), origins: Vec::new() };
    Setup { federation, web, ..Setup::protected() }.start().await
}

/// Somebody goes there, logs in, and comes back.
async fn log_in(world: &World, name: &str) -> (world::browser::Browser, Reply) {
    let mut ours = world::browser::Browser::default();
    let begun = world.send("GET", "/api/v1/auth/oidc/login", &[], &Value::Null).await;
    assert_eq!(begun.status, 303, "{begun:?}");
    ours.keep(&begun);
    let there = Url::parse(begun.header("location").unwrap()).unwrap();
    let back = browser::Browser::default().log_in(&there, name, &format!("{BASE}/api/v1/auth/oidc/callback"));
    let path = format!("{}?{}", back.path(), back.query().unwrap());
    let cookie = ours.cookie();
    let reply = world.send("GET", &path, &[("cookie", &cookie)], &Value::Null).await;
    ours.keep(&reply);
    (ours, reply)
}

async fn session(world: &World, browser: &world::browser::Browser) -> Value {
    let cookie = browser.cookie();
    world.send("GET", "/api/v1/auth/session", &[("cookie", &cookie)], &Value::Null).await.json()
}

#[tokio::test]
async fn a_person_of_a_real_provider_is_logged_in_and_known_again() {
    let provider = Provider::start();
    let world = gateway_of(&provider).await;
    let (ada, back) = log_in(&world, "ada").await;
    assert_eq!((back.status, back.header("location")), (303, Some("/")), "{back:?}");
    let told = session(&world, &ada).await;
    assert_eq!(told["user"]["email"], "ada@example.org");
    assert_eq!(told["organisation"]["role"], json!("operator"));
    let (again, _) = log_in(&world, "ada").await;
    assert_eq!(session(&world, &again).await["user"]["id"], told["user"]["id"]);
    let (nobody, refused) = log_in(&world, "unverified").await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "punk_provider_refused"), "{refused:?}");
    assert!(nobody.token().is_empty());
}
