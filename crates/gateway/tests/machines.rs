//! Machines: accounts, short-lived tokens, tokens for one run, tokens of others; and every way to come by one that is not
//! one's own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use crypto::{KeyRing, Purpose};
use hyper::body::Bytes;
use identity::token::{Authority, Grant, Issuer, Scopes};
use schema::{RunId, TenantId, Timestamp};
use serde_json::{Value, json};
use world::browser::Browser;
use world::{Reply, Setup, World, now};

const TOKEN: &str = "/api/v1/auth/token";

/// The name under which the gateways of the tests issue tokens.
const ISSUER: &str = "test";

/// An account, and how it proves itself.
struct Account {
    id: String,
    client_id: String,
    secret: String,
}

async fn account(world: &World, scopes: &[&str]) -> Account {
    let new = json!({ "name": "robot", "scopes": scopes });
    let made = world.operate("POST", "/api/v1/service-accounts", &new).await;
    assert_eq!(made.status, 201, "{made:?}");
    read(&made.json())
}

fn read(made: &Value) -> Account {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Account {
        id: text(&made["serviceAccount"]["id"]),
        client_id: text(&made["serviceAccount"]["clientId"]),
        secret: text(&made["clientSecret"]),
    }
}

async fn ask(world: &World, account: &Account) -> Reply {
    let body = json!({
        "grant_type": "client_credentials", "client_id": account.client_id, "client_secret": account.secret,
    });
    world.send("POST", TOKEN, &[], &body).await
}

async fn token(world: &World, account: &Account) -> String {
    let reply = ask(world, account).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["access_token"].as_str().unwrap().to_owned()
}

async fn get(world: &World, token: &str, path: &str) -> Reply {
    world.with(token, "GET", path, &Value::Null).await
}

#[tokio::test]
async fn an_account_gets_tokens_that_open_what_its_scopes_and_the_role_of_machines_have() {
    let world = Setup::protected().start().await;
    let robot = account(&world, &["gateway", "read"]).await;
    let answer = ask(&world, &robot).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let told = answer.json();
    assert_eq!((&told["token_type"], &told["expires_in"]), (&json!("Bearer"), &json!(3600)));
    assert_eq!(told["scope"], "gateway read");
    let token = told["access_token"].as_str().unwrap();
    for (path, status) in
        [("/v1/models", 200), ("/api/v1/runs", 200), ("/api/v1/settings", 403), ("/api/v1/keys", 403)]
    {
        let reply = get(&world, token, path).await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
    }
    assert_eq!(world.with(token, "POST", "/api/v1/runs", &json!({})).await.status, 403, "no `write`");
    world.chat(token, "hello").await;

    // As a form, and with HTTP Basic; for some of its scopes.
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&scope=read",
        robot.client_id, robot.secret
    );
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let reply = world.response("POST", TOKEN, &[kind], Bytes::from(form)).await;
    assert_eq!(reply.status(), 200);
    let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", robot.client_id, robot.secret)));
    let headers = [("authorization", basic.as_str()), kind];
    let reply =
        world.response("POST", TOKEN, &headers, Bytes::from_static(b"grant_type=client_credentials")).await;
    assert_eq!(reply.status(), 200);
    let more = json!({
        "grant_type": "client_credentials", "client_id": robot.client_id, "client_secret": robot.secret,
        "scope": "read approve",
    });
    let reply = world.send("POST", TOKEN, &[], &more).await;
    assert_eq!((reply.status, reply.json()["error"]["param"].as_str()), (400, Some("scope")));
    let approve = json!({ "name": "robot", "scopes": ["approve"] });
    assert_eq!(world.operate("POST", "/api/v1/service-accounts", &approve).await.status, 400);
}

#[tokio::test]
async fn a_wrong_secret_and_an_account_that_is_not_there_look_the_same() {
    let world = Setup::protected().start().await;
    let robot = account(&world, &["read"]).await;
    let other = account(&world, &["read"]).await;
    let mut bodies = Vec::new();
    for (what, id, secret) in [
        ("another's secret", &robot.client_id, &other.secret),
        ("no secret", &robot.client_id, &String::new()),
        ("nonsense", &robot.client_id, &"sv_x".to_owned()),
        ("nobody", &robot.client_id.replace(&robot.id, "sva_01k9zv3c8s7e5h2m4n6p8r0t2v"), &robot.secret),
        ("no id", &"x".to_owned(), &robot.secret),
    ] {
        let body = json!({ "grant_type": "client_credentials", "client_id": id, "client_secret": secret });
        let reply = world.send("POST", TOKEN, &[], &body).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "punk_client_refused"), "{what}: {reply:?}");
        bodies.push(reply.body);
    }
    assert!(bodies.iter().all(|body| body == &bodies[0]));
}

#[tokio::test]
async fn a_secret_is_rotated_and_the_one_before_is_good_for_a_while() {
    let world = Setup::protected().start().await;
    let first = account(&world, &["read"]).await;
    let path = format!("/api/v1/service-accounts/{}/rotate", first.id);
    let second = read(&world.operate("POST", &path, &json!({})).await.json());
    assert_eq!((ask(&world, &first).await.status, ask(&world, &second).await.status), (200, 200));
    let third = read(&world.operate("POST", &path, &json!({ "graceSeconds": 0 })).await.json());
    let statuses = [
        ask(&world, &first).await.status,
        ask(&world, &second).await.status,
        ask(&world, &third).await.status,
    ];
    assert_eq!(statuses, [401, 401, 200]);
    let listed = get(&world, world::OPERATOR, "/api/v1/service-accounts").await;
    let text = String::from_utf8(listed.body.to_vec()).unwrap();
    assert!(text.contains(&first.id) && !text.contains("sv_"), "{text}");
}

#[tokio::test]
async fn what_is_taken_back_is_so_on_every_node_at_once() {
    let one = Setup::protected().start().await;
    let other = one.second_node().await;
    let sees = async |token: &str| {
        [get(&one, token, "/api/v1/runs").await.status, get(&other, token, "/api/v1/runs").await.status]
    };
    // Given up by whoever has it; and shown again.
    let robot = account(&one, &["read"]).await;
    let given_up = token(&one, &robot).await;
    assert_eq!(sees(&given_up).await, [200, 200]);
    let reply = other.send("POST", "/api/v1/auth/revoke", &[], &json!({ "token": given_up })).await;
    assert_eq!((reply.status, &reply.json()["revoked"]), (200, &json!(true)));
    assert_eq!(sees(&given_up).await, [401, 401]);
    // By its name, by whoever may.
    let named = token(&one, &robot).await;
    let claims = URL_SAFE_NO_PAD.decode(named.split('.').nth(1).unwrap()).unwrap();
    let jti = serde_json::from_slice::<Value>(&claims).unwrap()["jti"].clone();
    let revoke = json!({ "jti": jti });
    assert_eq!(one.send("POST", "/api/v1/auth/revoke", &[], &revoke).await.status, 401, "nobody");
    assert_eq!(one.with(&named, "POST", "/api/v1/auth/revoke", &revoke).await.status, 403, "a machine");
    assert_eq!(sees(&named).await, [200, 200]);
    assert_eq!(one.operate("POST", "/api/v1/auth/revoke", &revoke).await.status, 200);
    assert_eq!(sees(&named).await, [401, 401]);
    // With its account.
    let last = token(&one, &robot).await;
    assert_eq!(sees(&last).await, [200, 200]);
    one.operate("DELETE", &format!("/api/v1/service-accounts/{}", robot.id), &Value::Null).await;
    assert_eq!(sees(&last).await, [401, 401]);
    assert_eq!(ask(&one, &robot).await.status, 401);
}

#[tokio::test]
async fn a_session_is_swapped_for_a_token_that_ends_with_it() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    let swap = async |browser: &Browser| world.page(browser, "POST", TOKEN, &Value::Null).await;
    let told = swap(&ada).await.json();
    let bearer = told["access_token"].as_str().unwrap();
    world.chat(bearer, "hello").await;
    assert_eq!(get(&world, bearer, "/api/v1/keys").await.status, 200);
    // Its person is asked about now, not when it was made.
    let path = format!("/api/v1/members/{}", ada.user);
    world.person("second@example.org", "owner", None).await;
    assert_eq!(world.operate("PATCH", &path, &json!({ "role": "viewer" })).await.status, 200);
    assert_eq!(get(&world, bearer, "/api/v1/keys").await.status, 403);
    // A page of somebody else's gets none, and neither does nobody.
    let cookie = ada.cookie();
    let foreign =
        [("cookie", cookie.as_str()), ("origin", "https://evil.example"), ("x-punk-csrf", &ada.csrf)];
    assert_eq!(world.send("POST", TOKEN, &foreign, &Value::Null).await.code(), "punk_csrf");
    let bare = [("cookie", cookie.as_str())];
    assert_eq!(world.send("POST", TOKEN, &bare, &Value::Null).await.code(), "punk_csrf");
    assert_eq!(world.send("POST", TOKEN, &[], &Value::Null).await.code(), "punk_not_logged_in");
    world.page(&ada, "POST", "/api/v1/auth/logout", &Value::Null).await;
    assert_eq!(get(&world, bearer, "/api/v1/runs").await.status, 401);
}

#[tokio::test]
async fn a_token_for_a_run_opens_that_run_and_nothing_else() {
    let world = Setup::protected().start().await;
    let key = world.key(&json!({ "name": "agent" })).await;
    let run = async || {
        let begun = world.with(&key, "POST", "/api/v1/runs", &json!({})).await.json();
        begun["runId"].as_str().unwrap().to_owned()
    };
    let (own, other) = (run().await, run().await);
    let make =
        async |body: &Value| world.with(&key, "POST", &format!("/api/v1/runs/{own}/tokens"), body).await;
    let made = make(&json!({ "scopes": ["read", "write"], "ttlSeconds": 60 })).await;
    assert_eq!(made.status, 201, "{made:?}");
    let capability = made.json()["token"].as_str().unwrap().to_owned();
    for (what, bad) in [
        ("too long", json!({ "scopes": ["read"], "ttlSeconds": 901 })),
        ("no time", json!({ "scopes": ["read"], "ttlSeconds": 0 })),
        ("models", json!({ "scopes": ["gateway"] })),
        ("approvals", json!({ "scopes": ["approve"] })),
        ("nothing", json!({ "scopes": [] })),
    ] {
        assert_eq!(make(&bad).await.status, 400, "{what}");
    }
    let feedback = json!({ "type": "rating", "rating": 1 });
    let memory = json!({ "source": "web", "trustLane": "untrusted" });
    let trace = |run: &str| json!({ "runId": run, "type": "tool.called", "payload": {} });
    for (run, wanted) in [(&own, true), (&other, false)] {
        for (method, path, body) in [
            ("GET", format!("/api/v1/runs/{run}"), Value::Null),
            ("POST", format!("/api/v1/runs/{run}/feedback"), feedback.clone()),
            ("POST", format!("/api/v1/runs/{run}/memory"), memory.clone()),
            ("POST", "/api/v1/trace".to_owned(), trace(run)),
        ] {
            let reply = world.with(&capability, method, &path, &body).await;
            assert_eq!(reply.status < 300, wanted, "{method} {path}: {reply:?}");
            assert!(wanted || reply.code() == "punk_out_of_reach", "{method} {path}: {reply:?}");
        }
    }
    // Every other endpoint of the document.
    let document = gateway::openapi();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let guard = operation["x-punk-guard"].as_str().unwrap();
            let is_of_run = path.starts_with("/api/v1/runs/{id}") && !path.ends_with("/tokens")
                || path == "/api/v1/trace";
            if ["public", "anyone"].contains(&guard) || is_of_run {
                continue;
            }
            let place = path.replace("{id}", &own).replace(['{', '}'], "");
            let method = method.to_ascii_uppercase();
            let headers = [("authorization", &*format!("Bearer {capability}"))];
            let reply = world.response(&method, &place, &headers, Bytes::from_static(b"?")).await;
            let status = reply.status().as_u16();
            assert!(status == 403 || status == 401, "{method} {path}: {status}");
        }
    }
    // It does not outlive the key that it was made with.
    let keys = world.operate("GET", "/api/v1/keys", &Value::Null).await.json();
    let id = keys["keys"][0]["id"].as_str().unwrap().to_owned();
    world.operate("DELETE", &format!("/api/v1/keys/{id}"), &Value::Null).await;
    assert_eq!(get(&world, &capability, &format!("/api/v1/runs/{own}")).await.status, 401);
}

/// A token with another header, other claims, or another signature.
fn forged(token: &str, header: impl Fn(&mut Value), claims: impl Fn(&mut Value)) -> String {
    let mut parts = token.split('.');
    let mut part = |change: &dyn Fn(&mut Value)| {
        let bytes = URL_SAFE_NO_PAD.decode(parts.next().unwrap()).unwrap();
        let mut value: Value = serde_json::from_slice(&bytes).unwrap();
        change(&mut value);
        URL_SAFE_NO_PAD.encode(value.to_string())
    };
    let signed = format!("{}.{}", part(&header), part(&claims));
    format!("{signed}.{}", parts.next().unwrap())
}

#[tokio::test]
async fn no_forged_token_is_taken() {
    let world = Setup::protected().start().await;
    let robot = account(&world, &["read"]).await;
    let good = token(&world, &robot).await;
    assert_eq!(get(&world, &good, "/api/v1/runs").await.status, 200);
    let ring = KeyRing::open(&world.folder).unwrap();
    let grant = || Grant {
        subject: robot.id.clone(),
        organisation: TenantId::NIL,
        authority: Authority::Service { scopes: "read".parse::<Scopes>().unwrap() },
    };
    let hour = Duration::from_secs(3600);
    let issue = |ring: &KeyRing, name: &str, audience: &str, grant: Grant, at: Timestamp| {
        let issued = Issuer::new(ring, name, audience).unwrap().issue(grant, hour, at).unwrap();
        issued.token.expose().clone()
    };
    let long_ago = Timestamp::from_millis(now().as_millis() - 2 * 3600 * 1000).unwrap();
    let later = Timestamp::from_millis(now().as_millis() + 2 * 3600 * 1000).unwrap();
    // A thief's own key, under the name of ours.
    let folder = tempfile::tempdir().unwrap();
    let mut theirs = KeyRing::open(folder.path()).unwrap();
    theirs.generate(Purpose::Token, jiff::Timestamp::from_millisecond(1).unwrap()).unwrap();
    let stolen_name = issue(&theirs, ISSUER, "punk", grant(), now());
    let own_kid =
        serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(good.split('.').next().unwrap()).unwrap())
            .unwrap()["kid"]
            .clone();
    let public = serde_json::from_slice::<Value>(
        &world.send("GET", "/.well-known/jwks.json", &[], &Value::Null).await.body,
    )
    .unwrap()["keys"][0]["x"]
        .as_str()
        .unwrap()
        .to_owned();
    // Key confusion: the public key as the secret of an HMAC.
    let confused = {
        let unsigned = forged(&good, |header| header["alg"] = json!("HS256"), |_| {});
        let (signed, _) = unsigned.rsplit_once('.').unwrap();
        let key = URL_SAFE_NO_PAD.decode(&public).unwrap();
        let mac = crypto::hmac_sha256(&key, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac))
    };
    let none = {
        let unsigned = forged(&good, |header| header["alg"] = json!("none"), |_| {});
        format!("{}.", unsigned.rsplit_once('.').unwrap().0)
    };
    let elsewhere = TenantId::new(1, [1; 10]);
    let cases = [
        ("expired", issue(&ring, ISSUER, "punk", grant(), long_ago)),
        ("from the future", issue(&ring, ISSUER, "punk", grant(), later)),
        ("for another audience", issue(&ring, ISSUER, "others", grant(), now())),
        ("of another issuer", issue(&ring, "https://elsewhere.example", "punk", grant(), now())),
        ("signed by another key", stolen_name.clone()),
        (
            "signed by another key, by the name of ours",
            forged(&stolen_name, |header| header["kid"] = own_kid.clone(), |_| {}),
        ),
        ("without a signature", none),
        ("with a public key as a secret", confused),
        ("with more scopes", forged(&good, |_| {}, |claims| claims["scope"] = json!("read write"))),
        ("for longer", forged(&good, |_| {}, |claims| claims["exp"] = json!(9_999_999_999u64))),
        ("with a key of its own", forged(&good, |header| header["jwk"] = json!({ "kty": "OKP" }), |_| {})),
        (
            "for an account that is in another tenant",
            issue(&ring, ISSUER, "punk", Grant { organisation: elsewhere, ..grant() }, now()),
        ),
        (
            "for nobody",
            issue(
                &ring,
                ISSUER,
                "punk",
                Grant { subject: "sva_01k9zv3c8s7e5h2m4n6p8r0t2v".to_owned(), ..grant() },
                now(),
            ),
        ),
        (
            "for a session that is none",
            issue(
                &ring,
                ISSUER,
                "punk",
                Grant {
                    subject: robot.id.clone(),
                    organisation: TenantId::NIL,
                    authority: Authority::Capability { run: RunId::NIL, scopes: "approve".parse().unwrap() },
                },
                now(),
            ),
        ),
        ("cut short", good[..good.len() - 4].to_owned()),
    ];
    for (what, token) in &cases {
        for path in ["/api/v1/runs", "/v1/models"] {
            let reply = get(&world, token, path).await;
            assert!(matches!(reply.status, 401 | 403 | 429), "{what} at {path}: {reply:?}");
            assert!(reply.status != 403 || what.contains("session"), "{what} at {path}: {reply:?}");
        }
    }
    assert_eq!(get(&world, &good, "/api/v1/runs").await.status, 200, "the good one is still good");
}

/// An issuer somewhere else: what it publishes, on a port of its own.
async fn publish(jwks: String) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let keys = axum::routing::get(move || async move { ([("content-type", "application/json")], jwks) });
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/keys", keys)).await });
    address
}

#[tokio::test]
async fn tokens_of_a_trusted_issuer_are_taken_as_they_are_mapped() {
    use identity::foreign::{Algorithm, KeySource, Mapping, Organisation, TokenIds, TrustedIssuer};
    let folder = tempfile::tempdir().unwrap();
    let mut ring = KeyRing::open(folder.path()).unwrap();
    ring.generate(Purpose::Token, jiff::Timestamp::from_millisecond(1).unwrap()).unwrap();
    let jwks = Issuer::new(&ring, "x", "x").unwrap().jwks(now());
    let name = format!("http://{}", publish(jwks).await);
    let trusted = TrustedIssuer {
        issuer: name.clone(),
        audiences: vec!["punk-at-work".to_owned()],
        algorithms: vec![Algorithm::EdDsa],
        keys: KeySource::Url(format!("{name}/keys")),
        mapping: Mapping {
            organisation: Organisation::Always(TenantId::NIL.to_string()),
            roles: Some("role".to_owned()),
            role_names: [("sre".to_owned(), "operator".to_owned())].into(),
            scopes: None,
        },
        ids: TokenIds::Required,
        longest: Duration::from_secs(3600),
    };
    let federation = gateway::Federation { issuers: vec![trusted], oidc: None, allow_private: true };
    let world = Setup { federation, ..Setup::protected() }.start().await;
    let issue = |name: &str, audience: &str, role: &str| {
        let grant = Grant {
            subject: "grace".to_owned(),
            organisation: TenantId::NIL,
            authority: Authority::Session { session: schema::SessionId::NIL, role: role.to_owned() },
        };
        let issued =
            Issuer::new(&ring, name, audience).unwrap().issue(grant, Duration::from_secs(600), now());
        issued.unwrap().token.expose().clone()
    };
    let good = issue(&name, "punk-at-work", "sre");
    assert_eq!(get(&world, &good, "/api/v1/jobs").await.status, 200);
    assert_eq!(get(&world, &good, "/api/v1/keys").await.status, 403, "an operator");
    let unmapped = issue(&name, "punk-at-work", "owner");
    assert_eq!(
        get(&world, &unmapped, "/api/v1/runs").await.status,
        403,
        "a role that nobody mapped means nothing"
    );
    assert_eq!(
        get(&world, &issue(&name, "punk", "sre"), "/api/v1/runs").await.status,
        401,
        "another audience"
    );
    assert_eq!(
        get(&world, &issue("http://127.0.0.1:1", "punk-at-work", "sre"), "/api/v1/runs").await.status,
        401
    );
    // Taken back here, whatever its issuer says.
    let claims = URL_SAFE_NO_PAD.decode(good.split('.').nth(1).unwrap()).unwrap();
    let jti = serde_json::from_slice::<Value>(&claims).unwrap()["jti"].clone();
    let revoke = json!({ "jti": jti, "issuer": name });
    assert_eq!(world.operate("POST", "/api/v1/auth/revoke", &revoke).await.status, 200);
    assert_eq!(get(&world, &good, "/api/v1/jobs").await.status, 401);
}

/// There is no secret to fall back on.
#[tokio::test]
async fn without_a_key_for_tokens_nothing_starts() {
    let refused = Setup::protected().start_with(&[Purpose::Log, Purpose::Seal]).await.err();
    assert!(refused.is_some_and(|error| error.to_string().contains("no key for tokens")));
}

/// Keys and secrets are compared by types that take the same time whatever the values are; nothing else compares them.
#[test]
fn what_is_secret_is_compared_in_constant_time() {
    let source =
        |path: &str| std::fs::read_to_string(format!("{}/src/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let identity = source("identity.rs");
    assert!(
        identity.contains("let given: SecretString = Secret::new(token.to_owned());"),
        "the bootstrap key"
    );
    assert!(
        source("people/client.rs").contains("given == crypto::Secret::new(word"),
        "the word of a session"
    );
    assert!(
        source("machines/service_account.rs")
            .contains("TokenHash::from_bytes(*kept.hash.as_bytes()) == shown")
    );
    // The types themselves.
    for (type_, path) in [("secret", "../crypto/src/secret.rs"), ("token", "../crypto/src/token.rs")] {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read_to_string(path).unwrap().contains("ct_eq"), "{type_}");
    }
}
