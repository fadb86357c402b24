//! Who is let in, as whom, and what they may do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crypto::token::{Token, TokenKind};
use gateway::{Rates, Web};
use schema::{ApiKey, ApiKeyId, Digest, GatewayMode, Scope, TenantId, Timestamp};
use serde_json::{Value, json};
use store::{Commit, KeyChange};
use world::{OPERATOR, Setup, World};

/// A new key; its id and its token.
async fn key(world: &World, by: &str, body: Value) -> (String, String) {
    let made = world.with(by, "POST", "/api/v1/keys", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    (made["key"]["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
}

/// A key that ended long ago, as the store has it; its token.
async fn expired_key(world: &World) -> String {
    let token = Token::generate(TokenKind::ApiKey).unwrap();
    let key = ApiKey {
        id: ApiKeyId::new(1, [1; 10]),
        tenant: TenantId::NIL,
        name: "brief".to_owned(),
        scopes: Scope::OF_MACHINES.to_vec(),
        app: None,
        admin: false,
        gateway_mode: GatewayMode::Enforce,
        requests_per_minute: None,
        created_by: None,
        created_by_user: None,
        created_at: Timestamp::from_millis(1).unwrap(),
        expires_at: Some(Timestamp::from_millis(2).unwrap()),
        revoked_at: None,
    };
    let hash = Digest::from_bytes(*token.hash().as_bytes());
    let commit = Commit { keys: vec![KeyChange::Create { key, hash }], ..Commit::default() };
    world.store.tenant(TenantId::NIL).commit(commit).await.unwrap();
    token.expose().to_owned()
}

#[tokio::test]
async fn a_key_is_let_in_as_bearer_or_as_x_api_key_and_nothing_else_is() {
    let world = Setup::protected().start().await;
    let (_, token) = key(&world, OPERATOR, json!({ "name": "k" })).await;
    let get = |name: &'static str, value: String| {
        let world = &world;
        async move { world.send("GET", "/api/v1/runs", &[(name, &value)], &Value::Null).await.status }
    };
    for good in [&token, OPERATOR] {
        assert_eq!(get("authorization", format!("Bearer {good}")).await, 200);
        assert_eq!(get("authorization", format!("bearer  {good}")).await, 200);
        assert_eq!(get("x-api-key", good.to_owned()).await, 200);
    }
    for bad in ["", "pk_", "x", &token[..40], &format!("{token}x"), &OPERATOR[1..]] {
        assert_eq!(get("authorization", format!("Bearer {bad}")).await, 401, "{bad}");
        assert_eq!(get("x-api-key", bad.to_owned()).await, 401, "{bad}");
    }
    assert_eq!(get("authorization", format!("Basic {OPERATOR}")).await, 401);
}

#[tokio::test]
async fn an_open_gateway_lets_everybody_operate_and_still_knows_its_keys() {
    let world = Setup::open().start().await;
    assert_eq!(world.send("GET", "/api/v1/tenants", &[], &Value::Null).await.status, 200);
    assert_eq!(
        world.with("whatever a client insists on", "GET", "/api/v1/tenants", &Value::Null).await.status,
        200
    );
    let made =
        world.send("POST", "/api/v1/keys", &[], &json!({ "name": "k", "scopes": ["read"] })).await.json();
    let token = made["token"].as_str().unwrap();
    assert_eq!(world.with(token, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
    assert_eq!(world.with(token, "POST", "/api/v1/runs", &json!({})).await.code(), "punk_scope_missing");
    assert_eq!(
        world
            .with(&format!("{}0", &token[..token.len() - 1]), "GET", "/api/v1/runs", &Value::Null)
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn a_scope_opens_what_it_is_for_and_the_refusal_names_the_missing_one() {
    let world = Setup::protected().start().await;
    for scope in ["gateway", "read", "write"] {
        let (_, token) = key(&world, OPERATOR, json!({ "name": scope, "scopes": [scope] })).await;
        let chat = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "hi" }] });
        for (wanted, method, path, body) in [
            ("gateway", "POST", "/v1/chat/completions", &chat),
            ("read", "GET", "/api/v1/runs", &Value::Null),
            ("write", "POST", "/api/v1/runs", &json!({})),
        ] {
            let reply = world.with(&token, method, path, body).await;
            if wanted == scope {
                assert!(reply.status < 300, "{scope} at {path}: {reply:?}");
            } else {
                assert_eq!(
                    (reply.status, reply.code().as_str()),
                    (403, "punk_scope_missing"),
                    "{scope} at {path}"
                );
                assert!(reply.json()["error"]["message"].as_str().unwrap().contains(&format!("`{wanted}`")));
            }
        }
    }
}

#[tokio::test]
async fn operating_takes_an_admin_key_and_tenants_take_the_installation() {
    let world = Setup::protected().start().await;
    let (_, member) = key(&world, OPERATOR, json!({ "name": "member" })).await;
    let (_, admin) = key(&world, OPERATOR, json!({ "name": "admin", "admin": true, "scopes": [] })).await;
    for (method, path, body) in [
        ("GET", "/api/v1/keys", Value::Null),
        ("POST", "/api/v1/keys", json!({ "name": "x" })),
        ("PATCH", "/api/v1/settings", json!({})),
    ] {
        let refused = world.with(&member, method, path, &body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "punk_admin_required"),
            "{method} {path}"
        );
        assert!(world.with(&admin, method, path, &body).await.status < 300, "{method} {path}");
    }
    assert_eq!(
        world.with(&admin, "GET", "/api/v1/tenants", &Value::Null).await.code(),
        "punk_admin_required"
    );
    assert_eq!(
        world.with(&admin, "GET", "/api/v1/runs", &Value::Null).await.status,
        200,
        "an admin has every scope"
    );
    assert_eq!(world.operate("GET", "/api/v1/tenants", &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_key_that_was_taken_back_or_has_expired_is_told_so_at_once() {
    let world = Setup::protected().start().await;
    let (id, token) = key(&world, OPERATOR, json!({ "name": "k" })).await;
    assert_eq!(world.with(&token, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
    let revoked = world.operate("DELETE", &format!("/api/v1/keys/{id}"), &Value::Null).await;
    assert!(revoked.json()["key"]["revokedAt"].is_string());
    let refused = world.with(&token, "GET", "/api/v1/runs", &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (401, "punk_key_revoked"));
    let again = world.operate("DELETE", &format!("/api/v1/keys/{id}"), &Value::Null).await;
    assert_eq!(again.json(), revoked.json(), "once is enough");

    let ended = expired_key(&world).await;
    let refused = world.with(&ended, "GET", "/api/v1/runs", &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (401, "punk_key_expired"));
    let past = json!({ "name": "x", "expiresAt": "2020-01-01T00:00:00.000Z" });
    assert_eq!(world.operate("POST", "/api/v1/keys", &past).await.json()["error"]["param"], "expiresAt");
}

#[tokio::test]
async fn a_pinned_app_wins_over_the_header() {
    let world = Setup::protected().start().await;
    let (_, token) = key(&world, OPERATOR, json!({ "name": "k", "app": "support" })).await;
    let headers =
        [("authorization", &*format!("Bearer {token}")), ("x-punk-app", "billing"), ("x-punk-agent", "a1")];
    let run = world.send("POST", "/api/v1/runs", &headers, &json!({})).await.json()["runId"].clone();
    let shown =
        world.operate("GET", &format!("/api/v1/runs/{}", run.as_str().unwrap()), &Value::Null).await.json();
    assert_eq!((&shown["run"]["app"], &shown["run"]["agent"]), (&json!("support"), &json!("a1")));
}

#[tokio::test]
async fn every_change_is_on_record_with_who_made_it_and_no_token_is() {
    let world = Setup::protected().start().await;
    let (admin, token) = key(&world, OPERATOR, json!({ "name": "admin", "admin": true })).await;
    let (id, secret) = key(&world, &token, json!({ "name": "k" })).await;
    world.with(&token, "DELETE", &format!("/api/v1/keys/{id}"), &Value::Null).await;
    world.with(&token, "PATCH", "/api/v1/settings", &json!({ "cache": { "exactEnabled": false } })).await;
    world.operate("POST", "/api/v1/tenants", &json!({ "name": "Acme" })).await;
    let runs = world.operate("GET", "/api/v1/runs?limit=200", &Value::Null).await.json();
    let mut told = Vec::new();
    for run in runs["runs"].as_array().unwrap().iter().rev() {
        let id = run["id"].as_str().unwrap();
        let detail = world.operate("GET", &format!("/api/v1/runs/{id}"), &Value::Null).await;
        let text = String::from_utf8(detail.body.to_vec()).unwrap();
        assert!(!text.contains(&secret) && !text.contains(&token) && !text.contains(OPERATOR));
        let event = &detail.json()["events"][1];
        assert_eq!(detail.json()["run"]["kind"], "audit");
        told.push((
            event["type"].as_str().unwrap().to_owned(),
            event["payload"]["actor"].as_str().unwrap().to_owned(),
        ));
    }
    let expected = [
        ("audit.key_created", "installation"),
        ("audit.key_created", admin.as_str()),
        ("audit.key_revoked", admin.as_str()),
        ("audit.settings_changed", admin.as_str()),
        ("audit.tenant_created", "installation"),
    ];
    // Runs of the same millisecond are listed in any order.
    let mut expected = expected.map(|(what, who)| (what.to_owned(), who.to_owned()));
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
}

/// A store whose keys cannot be looked up while the switch is on.
struct Flaky {
    inner: store::memory::MemoryStore,
    away: AtomicBool,
}

#[async_trait::async_trait]
impl store::Store for Flaky {
    fn tenant(&self, tenant: schema::TenantId) -> Box<dyn store::TenantStore> {
        self.inner.tenant(tenant)
    }
    fn jobs(&self) -> Box<dyn store::JobQueue> {
        self.inner.jobs()
    }
    async fn key(&self, hash: schema::Digest) -> Result<Option<schema::ApiKey>, store::StoreError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(store::StoreError::unavailable("the database is away"));
        }
        self.inner.key(hash).await
    }
    async fn ready(&self) -> Result<(), store::StoreError> {
        self.inner.ready().await
    }
    fn seal_with(&self, masters: store::Masters) {
        self.inner.seal_with(masters);
    }
    async fn tenants(
        &self,
        after: Option<schema::TenantId>,
        limit: std::num::NonZeroU32,
    ) -> Result<Vec<schema::TenantId>, store::StoreError> {
        self.inner.tenants(after, limit).await
    }
    async fn tenant_rows(
        &self,
        after: Option<schema::TenantId>,
        limit: std::num::NonZeroU32,
    ) -> Result<Vec<schema::Tenant>, store::StoreError> {
        self.inner.tenant_rows(after, limit).await
    }
    async fn due_records(
        &self,
        kind: store::RecordKind,
        group: &str,
        until: Timestamp,
        limit: std::num::NonZeroU32,
    ) -> Result<Vec<(TenantId, store::Record)>, store::StoreError> {
        self.inner.due_records(kind, group, until, limit).await
    }
    async fn forget_meters(&self, before: i64) -> Result<u64, store::StoreError> {
        self.inner.forget_meters(before).await
    }
    async fn forget_jobs(
        &self,
        before: schema::Timestamp,
        limit: std::num::NonZeroU32,
    ) -> Result<u64, store::StoreError> {
        self.inner.forget_jobs(before, limit).await
    }
    fn changed(&self, tenant: schema::TenantId) -> tokio::sync::watch::Receiver<u64> {
        self.inner.changed(tenant)
    }
    fn views(&self) -> Vec<Box<dyn store::View>> {
        self.inner.views()
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_no_reason_to_call_a_key_wrong_and_it_recovers_without_a_restart() {
    let flaky = Arc::new(Flaky { inner: store::memory::MemoryStore::new(), away: AtomicBool::new(false) });
    let setup = Setup { store: Arc::clone(&flaky) as Arc<dyn store::Store>, ..Setup::protected() };
    let world = setup.start().await;
    let (_, token) = key(&world, OPERATOR, json!({ "name": "k" })).await;
    flaky.away.store(true, Ordering::SeqCst);
    let refused = world.with(&token, "GET", "/api/v1/runs", &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "punk_store_unavailable"));
    flaky.away.store(false, Ordering::SeqCst);
    assert_eq!(world.with(&token, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_web_page_cannot_drive_an_open_gateway() {
    let world =
        Setup { web: Web { base_url: None, origins: vec!["https://app.example".into()] }, ..Setup::open() };
    let world = world.start().await;
    let begin = |headers: Vec<(&'static str, String)>| {
        let world = &world;
        async move {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            world.send("POST", "/api/v1/runs", &headers, &json!({})).await
        }
    };
    // A page that has its own name point to this machine calls it by that name.
    for rebound in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.example:80"] {
        let reply = begin(vec![("host", rebound.to_owned())]).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "punk_foreign_host"), "{rebound}");
    }
    for foreign in ["https://evil.example", "null", "http://localhost:9"] {
        let reply = begin(vec![("origin", foreign.to_owned())]).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "punk_foreign_origin"), "{foreign}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    assert_eq!(
        begin(vec![("origin", format!("http://{}", world.address))]).await.status,
        201,
        "its own page may"
    );
    let listed = begin(vec![("origin", "https://app.example".to_owned())]).await;
    assert_eq!(
        (listed.status, listed.header("access-control-allow-origin")),
        (201, Some("https://app.example"))
    );
    let runs = world.send("GET", "/api/v1/runs", &[], &Value::Null).await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "what was refused left nothing behind");
}

#[tokio::test]
async fn the_name_in_the_host_header_opens_nothing_where_a_key_is_asked_for() {
    let world = Setup::protected().start().await;
    for host in ["localhost", "127.0.0.1", "evil.example"] {
        let reply = world.send("GET", "/api/v1/runs", &[("host", host)], &Value::Null).await;
        assert_eq!(reply.status, 401, "{host}");
    }
}

#[tokio::test]
async fn browsers_are_told_beforehand_what_pages_may_do() {
    let setup = Setup {
        web: Web { base_url: None, origins: vec!["https://app.example".into()] },
        ..Setup::protected()
    };
    let world = setup.start().await;
    let ask = |origin: &'static str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,x-stainless-os"),
        ];
        let world = &world;
        async move { world.send("OPTIONS", "/v1/chat/completions", &headers, &Value::Null).await }
    };
    let allowed = ask("https://app.example").await;
    assert_eq!(
        (allowed.status, allowed.header("access-control-allow-origin")),
        (204, Some("https://app.example"))
    );
    assert_eq!(allowed.header("access-control-allow-headers"), Some("authorization,x-stainless-os"));
    assert_eq!(ask("https://evil.example").await.status, 403);
    let answered = world.send("GET", "/health", &[("origin", "https://app.example")], &Value::Null).await;
    assert!(answered.header("access-control-expose-headers").unwrap().contains("x-punk-run-id"));
}

#[tokio::test]
async fn whoever_asks_too_often_is_told_when_to_come_back_and_leaves_nothing_behind() {
    let rates = Rates { requests_per_minute: 3, chat_requests_per_minute: 1, ..Rates::NONE };
    let world = Setup { rates, ..Setup::open() }.start().await;
    let chat = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "hi" }] });
    let first = world.send("POST", "/v1/chat/completions", &[], &chat).await;
    assert_eq!((first.status, first.header("x-ratelimit-remaining-requests")), (200, Some("0")));
    assert_eq!(first.header("ratelimit-policy"), Some("\"requests\";q=1;w=60"));
    let refused = world.send("POST", "/v1/chat/completions", &[], &chat).await;
    let error = refused.json()["error"].clone();
    assert_eq!(
        (refused.status, &error["code"], &error["type"]),
        (429, &json!("punk_rate_limited"), &json!("rate_limit_error"))
    );
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert!(refused.header("ratelimit").unwrap().starts_with("\"requests\";r=0;t="));
    let nothing = json!({});
    let begin = || world.send("POST", "/api/v1/runs", &[], &nothing);
    assert_eq!((begin().await.status, begin().await.status), (201, 201));
    let runs = world.send("GET", "/api/v1/runs", &[], &Value::Null).await;
    assert_eq!(runs.json()["runs"].as_array().unwrap().len(), 3, "a refused request makes no run");
    assert_eq!(begin().await.status, 429);
}

#[tokio::test]
async fn a_key_has_its_own_limit_and_is_not_held_up_by_others() {
    let world = Setup::protected().start().await;
    let (_, two) = key(&world, OPERATOR, json!({ "name": "two", "requestsPerMinute": 2 })).await;
    let (_, other) = key(&world, OPERATOR, json!({ "name": "other", "requestsPerMinute": 2 })).await;
    let mut statuses = Vec::new();
    for token in [&two, &two, &two, &other] {
        statuses.push(world.with(token, "GET", "/api/v1/runs", &Value::Null).await.status);
    }
    assert_eq!(statuses, [200, 200, 429, 200]);
}

#[tokio::test]
async fn guessing_keys_is_slowed_down_by_address_and_keys_that_cannot_be_guessed_get_through() {
    let world = Setup::protected().start().await;
    let (_, token) = key(&world, OPERATOR, json!({ "name": "k" })).await;
    let mut guesses = 0;
    while world.with("a guess", "GET", "/api/v1/runs", &Value::Null).await.status == 401 {
        guesses += 1;
        assert!(guesses <= 31, "nobody minds");
    }
    assert_eq!(
        world.operate("GET", "/api/v1/runs", &Value::Null).await.status,
        429,
        "the right guess is not told"
    );
    assert_eq!(world.with(&token, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
}
