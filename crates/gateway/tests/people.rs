//! People: logging in and out, sessions that cannot be stolen or fixed, and pages of others that get nowhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use schema::TenantId;
use serde_json::{Value, json};
use store::{Commit, Record, RecordBody, RecordChange, RecordFilter, RecordKind};
use world::browser::{Browser, PASSWORD};
use world::{OPERATOR, Setup, World};

const SESSION: &str = "/api/v1/auth/session";

async fn log_in_as(world: &World, email: &str, password: &str) -> world::Reply {
    world.send("POST", "/api/v1/auth/login", &[], &json!({ "email": email, "password": password })).await
}

/// The records of a kind in the default tenant.
async fn records(world: &World, kind: RecordKind) -> Vec<Record> {
    let all = std::num::NonZeroU32::new(200).unwrap();
    world.store.tenant(TenantId::NIL).records(&RecordFilter::of(kind), None, all).await.unwrap()
}

/// Changes what the store has of every session, as time would.
async fn age_sessions(world: &World, change: impl Fn(&mut Value)) {
    let changes = records(world, RecordKind::Session).await.into_iter().map(|record| {
        let Record { kind, id, version, group, key, mut body, created_at, due_at } = record;
        change(&mut body);
        RecordChange {
            kind,
            id,
            expected: version,
            to: Some(RecordBody { group, key, body, created_at, due_at }),
        }
    });
    let commit = Commit { records: changes.collect(), ..Commit::default() };
    world.store.tenant(TenantId::NIL).commit(commit).await.unwrap();
}

/// How many passwords were compared so far.
async fn compared(world: &World) -> u64 {
    let text = world.send("GET", "/metrics", &[], &Value::Null).await.body;
    let text = String::from_utf8(text.to_vec()).unwrap();
    let line = text.lines().find(|line| line.starts_with("punk_passwords_hashed_total{what=\"compared\"}"));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn somebody_logs_in_acts_as_their_role_and_logs_out() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    let user = world.person("Ada@Example.org", "viewer", Some(&tenant)).await;
    assert_eq!(user["email"], "ada@example.org");
    let reply = log_in_as(&world, " ADA@example.ORG", PASSWORD).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.starts_with("punk_session=ps_"), "{cookie}");
    assert!(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"), "{cookie}");
    let told = reply.json();
    assert_eq!(told["organisation"]["id"], json!(tenant));
    assert_eq!(told["organisation"]["role"], "viewer");
    assert!(!String::from_utf8_lossy(&reply.body).contains("argon2"), "{reply:?}");

    let mut browser = Browser::default();
    browser.keep(&reply);
    assert_eq!(world.page(&browser, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
    let refused = world.page(&browser, "GET", "/api/v1/keys", &Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "punk_permission_missing"));
    let left = world.page(&browser, "POST", "/api/v1/auth/logout", &Value::Null).await;
    assert_eq!(left.status, 200, "{left:?}");
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"));
    let gone = world.page(&browser, "GET", SESSION, &Value::Null).await;
    assert_eq!((gone.status, gone.code().as_str()), (401, "punk_session_ended"));
}

#[tokio::test]
async fn nobody_can_tell_who_exists() {
    let world = Setup::protected().start().await;
    world.person("ada@example.org", "owner", None).await;
    let disabled = world.person("eve@example.org", "viewer", None).await;
    let path = format!("/api/v1/users/{}", disabled["id"].as_str().unwrap());
    assert_eq!(world.operate("PATCH", &path, &json!({ "disabled": true })).await.status, 200);
    let mut seen = Vec::new();
    for (who, email, password) in [
        ("a wrong password", "ada@example.org", "not the right one at all"),
        ("nobody", "nobody@example.org", PASSWORD),
        ("no address", "what is this", PASSWORD),
        ("somebody who is kept out", "eve@example.org", PASSWORD),
    ] {
        let before = compared(&world).await;
        let reply = log_in_as(&world, email, password).await;
        assert_eq!(compared(&world).await - before, 1, "{who} costs one comparison");
        assert!(reply.header("set-cookie").is_none(), "{who}");
        seen.push((who, reply.status, reply.body));
    }
    for (who, status, body) in &seen {
        assert_eq!((*status, body), (401, &seen[0].2), "{who}");
    }
}

#[tokio::test]
async fn guessing_is_slowed_down_and_the_owner_gets_in_all_the_same() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    let mut refused = None;
    for _ in 0..40 {
        let reply = log_in_as(&world, "ada@example.org", "a guess that is wrong").await;
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
        assert_eq!(reply.status, 401, "{reply:?}");
    }
    let refused = refused.expect("a guesser is held up");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // The browser that was in before is known by its cookie, though the guesses came from the same address.
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let cookie = ada.cookie();
    let reply = world.send("POST", "/api/v1/auth/login", &[("cookie", &cookie)], &login).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    // Whoever does not exist is held up just the same.
    let statuses: Vec<u16> = {
        let mut all = Vec::new();
        for _ in 0..40 {
            all.push(log_in_as(&world, "nobody@example.org", "a guess that is wrong").await.status);
        }
        all
    };
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn pages_of_others_change_nothing() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    let eve = world.somebody("eve@example.org", "owner", None).await;
    let (cookie, own) = (ada.cookie(), world.origin());
    let new = json!({ "name": "mine" });
    let good = [("cookie", cookie.as_str()), ("origin", &own), ("x-punk-csrf", &ada.csrf)];
    assert_eq!(world.send("POST", "/api/v1/keys", &good, &new).await.status, 201);
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("no token", &[("cookie", &cookie), ("origin", &own)]),
        ("an empty token", &[("cookie", &cookie), ("origin", &own), ("x-punk-csrf", "")]),
        ("a wrong token", &[("cookie", &cookie), ("origin", &own), ("x-punk-csrf", "0123")]),
        ("another session's token", &[("cookie", &cookie), ("origin", &own), ("x-punk-csrf", &eve.csrf)]),
        (
            "another origin",
            &[("cookie", &cookie), ("origin", "https://evil.example"), ("x-punk-csrf", &ada.csrf)],
        ),
        ("a hidden origin", &[("cookie", &cookie), ("origin", "null"), ("x-punk-csrf", &ada.csrf)]),
        (
            "a neighbouring site",
            &[
                ("cookie", &cookie),
                ("origin", &own),
                ("sec-fetch-site", "same-site"),
                ("x-punk-csrf", &ada.csrf),
            ],
        ),
        (
            "another site",
            &[("cookie", &cookie), ("sec-fetch-site", "cross-site"), ("x-punk-csrf", &ada.csrf)],
        ),
        ("no word of where it comes from", &[("cookie", &cookie), ("x-punk-csrf", &ada.csrf)]),
    ];
    for (what, headers) in cases {
        for (method, path, body) in [
            ("POST", "/api/v1/keys", &new),
            ("PATCH", "/api/v1/settings", &json!({})),
            ("DELETE", "/api/v1/cache", &Value::Null),
            ("POST", "/api/v1/auth/logout", &Value::Null),
        ] {
            let reply = world.send(method, path, headers, body).await;
            assert_eq!((reply.status, reply.code().as_str()), (403, "punk_csrf"), "{what}: {reply:?}");
        }
    }
    let keys = world.operate("GET", "/api/v1/keys", &Value::Null).await.json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1, "nothing was made");
    // A page of somebody else's cannot log a visitor in as its author either.
    let login = json!({ "email": "eve@example.org", "password": PASSWORD });
    let foreign = [("origin", "https://evil.example")];
    let reply = world.send("POST", "/api/v1/auth/login", &foreign, &login).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "punk_csrf"));
}

#[tokio::test]
async fn a_cookie_from_before_a_login_is_never_good_after_it() {
    let world = Setup::protected().start().await;
    let eve = world.somebody("eve@example.org", "owner", None).await;
    world.person("ada@example.org", "owner", None).await;
    for planted in [eve.token().to_owned(), format!("ps_{}", "A".repeat(49)), "anything".to_owned()] {
        let cookie = format!("punk_session={planted}");
        let login = json!({ "email": "ada@example.org", "password": PASSWORD });
        let reply = world.send("POST", "/api/v1/auth/login", &[("cookie", &cookie)], &login).await;
        assert_eq!(reply.status, 200);
        let mut ada = Browser::default();
        ada.keep(&reply);
        assert_ne!(ada.token(), planted);
        let planted = [("cookie", cookie.as_str())];
        let seen = world.send("GET", SESSION, &planted, &Value::Null).await;
        assert_ne!(seen.json()["user"]["email"], "ada@example.org", "{seen:?}");
    }
}

#[tokio::test]
async fn a_cookie_is_nothing_on_the_model_wires_and_a_key_comes_before_it() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    let chat = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "hi" }] });
    let reply = world.page(&ada, "POST", "/v1/chat/completions", &chat).await;
    assert_eq!(reply.status, 401, "{reply:?}");
    assert_eq!(world.page(&ada, "GET", "/v1/models", &Value::Null).await.status, 401);
    let token = world.key(&json!({ "name": "reader", "scopes": ["read"] })).await;
    let (cookie, bearer) = (ada.cookie(), format!("Bearer {token}"));
    let both = [("cookie", cookie.as_str()), ("authorization", &bearer)];
    assert_eq!(world.send("GET", "/api/v1/runs", &both, &Value::Null).await.status, 200);
    let refused = world.send("GET", "/api/v1/keys", &both, &Value::Null).await;
    assert_eq!(refused.code(), "punk_admin_required", "the key is who asks");
    let wrong = [("cookie", cookie.as_str()), ("authorization", "Bearer pk_wrong")];
    assert_eq!(world.send("GET", "/api/v1/runs", &wrong, &Value::Null).await.status, 401);
    // The token of a session is no key.
    assert_eq!(world.with(ada.token(), "GET", "/api/v1/runs", &Value::Null).await.status, 401);
}

#[tokio::test]
async fn a_token_is_replaced_and_showing_the_old_one_again_ends_the_session() {
    let world = Setup::protected().start().await;
    let thief = world.somebody("ada@example.org", "owner", None).await;
    let mut ada = thief.clone();
    // Twenty minutes pass.
    let passes = |minutes: u64| {
        move |body: &mut Value| {
            for member in ["issuedAt", "replacedAt"] {
                if let Some(at) = body[member].as_str() {
                    let at: schema::Timestamp = at.parse().unwrap();
                    let earlier = schema::Timestamp::from_millis(at.as_millis() - minutes * 60_000).unwrap();
                    body[member] = json!(earlier);
                }
            }
        }
    };
    age_sessions(&world, passes(20)).await;
    let renewed = world.page(&ada, "GET", SESSION, &Value::Null).await;
    assert_eq!(renewed.status, 200);
    ada.keep(&renewed);
    assert_ne!(ada.token(), thief.token());
    assert_eq!(ada.csrf, thief.csrf, "pages that are open go on");
    assert_eq!(
        world.page(&thief, "GET", SESSION, &Value::Null).await.status,
        200,
        "for a moment both are good"
    );
    assert!(world.page(&ada, "GET", SESSION, &Value::Null).await.header("set-cookie").is_none());
    age_sessions(&world, passes(1)).await;
    assert_eq!(world.page(&ada, "GET", SESSION, &Value::Null).await.status, 200);
    let stolen = world.page(&thief, "GET", SESSION, &Value::Null).await;
    assert_eq!((stolen.status, stolen.code().as_str()), (401, "punk_session_ended"));
    assert_eq!(world.page(&ada, "GET", SESSION, &Value::Null).await.status, 401, "nobody keeps it");
}

#[tokio::test]
async fn a_session_ends_by_itself() {
    let world = Setup::protected().start().await;
    for member in ["issuedAt", "since"] {
        let ada = match member {
            "issuedAt" => world.somebody("ada@example.org", "owner", None).await,
            _ => world.log_in("ada@example.org").await,
        };
        assert_eq!(world.page(&ada, "GET", SESSION, &Value::Null).await.status, 200);
        age_sessions(&world, |body| body[member] = json!("2020-01-01T00:00:00.000Z")).await;
        assert_eq!(
            world.page(&ada, "GET", SESSION, &Value::Null).await.code(),
            "punk_session_ended",
            "{member}"
        );
    }
}

#[tokio::test]
async fn an_end_is_one_on_every_node_at_once() {
    let one = Setup::protected().start().await;
    let other = one.second_node().await;
    let tenant = one.tenant("engines").await;
    one.person("owner@example.org", "owner", Some(&tenant)).await;
    let owner = one.log_in("owner@example.org").await;
    let user = one.person("ada@example.org", "operator", Some(&tenant)).await;
    let id = user["id"].as_str().unwrap();
    let sees = async |world: &World, browser: &Browser| {
        world.page(browser, "GET", SESSION, &Value::Null).await.status
    };
    // Logged out here, an admin's word, another password, kept out: each ends what the other node has seen a moment ago.
    for how in ["log out", "admin", "password", "end others", "kept out"] {
        let ada = one.log_in("ada@example.org").await;
        assert_eq!((sees(&one, &ada).await, sees(&other, &ada).await), (200, 200), "{how}");
        let done = match how {
            "log out" => one.page(&ada, "POST", "/api/v1/auth/logout", &Value::Null).await,
            "admin" => {
                one.page(&owner, "DELETE", &format!("/api/v1/members/{id}/sessions"), &Value::Null).await
            }
            "password" => {
                let second = one.log_in("ada@example.org").await;
                let change = json!({ "currentPassword": PASSWORD, "newPassword": PASSWORD });
                one.page(&second, "POST", "/api/v1/auth/password", &change).await
            }
            "end others" => {
                let second = one.log_in("ada@example.org").await;
                one.page(&second, "DELETE", "/api/v1/auth/sessions", &Value::Null).await
            }
            _ => one.operate("PATCH", &format!("/api/v1/users/{id}"), &json!({ "disabled": true })).await,
        };
        assert_eq!(done.status, 200, "{how}: {done:?}");
        assert_eq!((sees(&one, &ada).await, sees(&other, &ada).await), (401, 401), "{how}");
    }
    // Keys likewise.
    let made = one.operate("POST", "/api/v1/keys", &json!({ "name": "k" })).await.json();
    let token = made["token"].as_str().unwrap();
    assert_eq!(other.with(token, "GET", "/api/v1/runs", &Value::Null).await.status, 200);
    one.operate("DELETE", &format!("/api/v1/keys/{}", made["key"]["id"].as_str().unwrap()), &Value::Null)
        .await;
    assert_eq!(other.with(token, "GET", "/api/v1/runs", &Value::Null).await.code(), "punk_key_revoked");
}

#[tokio::test]
async fn a_feed_ends_with_the_session_that_opened_it() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    let cookie = ada.cookie();
    let response =
        world.response("GET", "/api/v1/events", &[("cookie", &cookie)], hyper::body::Bytes::new()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(world.page(&ada, "POST", "/api/v1/auth/logout", &Value::Null).await.status, 200);
    // It would go on for ever; that it ends is the test.
    let mut body = response.into_body();
    while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
        frame.unwrap();
    }
}

#[tokio::test]
async fn people_see_and_end_their_own_sessions_and_no_others() {
    let world = Setup::protected().start().await;
    let first = world.somebody("ada@example.org", "owner", None).await;
    let second = world.log_in("ada@example.org").await;
    let eve = world.somebody("eve@example.org", "owner", None).await;
    let list = world.page(&first, "GET", "/api/v1/auth/sessions", &Value::Null).await.json();
    let list = list["sessions"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    let other = list.iter().find(|session| session["current"] == false).unwrap();
    let path = format!("/api/v1/auth/sessions/{}", other["id"].as_str().unwrap());
    assert_eq!(world.page(&eve, "DELETE", &path, &Value::Null).await.status, 404, "not eve's");
    assert_eq!(world.page(&second, "GET", SESSION, &Value::Null).await.status, 200);
    assert_eq!(world.page(&first, "DELETE", &path, &Value::Null).await.status, 200);
    assert_eq!(world.page(&second, "GET", SESSION, &Value::Null).await.status, 401);
    assert_eq!(world.page(&first, "GET", SESSION, &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_gateway_is_no_longer_open_once_somebody_is_there() {
    let world = Setup::open().start().await;
    let runs = async |headers: &[(&str, &str)]| {
        world.send("GET", "/api/v1/runs", headers, &Value::Null).await.status
    };
    assert_eq!(runs(&[]).await, 200);
    let viewer = json!({ "email": "ada@example.org", "password": PASSWORD, "role": "viewer" });
    let refused = world.send("POST", "/api/v1/users", &[], &viewer).await;
    assert_eq!(refused.status, 400, "nobody would be left who could do anything: {refused:?}");
    let new = json!({ "email": "ada@example.org", "password": PASSWORD, "role": "owner" });
    assert_eq!(world.send("POST", "/api/v1/users", &[], &new).await.status, 201);
    assert_eq!(runs(&[]).await, 401, "at once, where it was done");
    assert_eq!(runs(&[("authorization", "Bearer whatever")]).await, 401);
    assert_eq!(world.send("GET", "/v1/models", &[], &Value::Null).await.status, 401);
    let ada = world.log_in("ada@example.org").await;
    let tenants = world.page(&ada, "GET", "/api/v1/tenants", &Value::Null).await;
    assert_eq!(tenants.status, 200, "an owner of the default organisation runs the installation");
    let key = json!({ "name": "k", "scopes": ["gateway"] });
    let made = world.page(&ada, "POST", "/api/v1/keys", &key).await.json();
    assert_eq!(
        world.with(made["token"].as_str().unwrap(), "GET", "/v1/models", &Value::Null).await.status,
        200
    );
}

#[tokio::test]
async fn a_gateway_that_requires_a_login_is_never_open() {
    let login = gateway::Login { required: true, ..gateway::Login::default() };
    let world = Setup { login, ..Setup::open() }.start().await;
    assert_eq!(world.send("GET", "/api/v1/runs", &[], &Value::Null).await.status, 401);
    assert_eq!(world.send("GET", "/v1/models", &[], &Value::Null).await.status, 401);
    assert_eq!(world.send("GET", "/health", &[], &Value::Null).await.status, 200);
}

#[tokio::test]
async fn the_first_administrator_is_made_once_and_keeps_a_changed_password() {
    let world = Setup::protected().start().await;
    let directory = gateway::Directory::new(world.store.clone());
    let at = schema::Timestamp::from_millis(1_800_000_000_000).unwrap();
    let admin = || gateway::Admin {
        email: gateway::Email::try_from("Root@Example.org".to_owned()).unwrap(),
        password: crypto::Secret::new(PASSWORD.to_owned()),
    };
    assert!(gateway::bootstrap(&directory, admin(), at).await.unwrap());
    assert!(!gateway::bootstrap(&directory, admin(), at).await.unwrap());
    let root = world.log_in("root@example.org").await;
    let other = "another seven parrots entirely";
    let change = json!({ "currentPassword": PASSWORD, "newPassword": other });
    assert_eq!(world.page(&root, "POST", "/api/v1/auth/password", &change).await.status, 200);
    assert!(!gateway::bootstrap(&directory, admin(), at).await.unwrap());
    assert_eq!(log_in_as(&world, "root@example.org", PASSWORD).await.status, 401);
    assert_eq!(log_in_as(&world, "root@example.org", other).await.status, 200);
    let weak = gateway::Admin { password: crypto::Secret::new("short".to_owned()), ..admin() };
    let email = gateway::Email::try_from("second@example.org".to_owned()).unwrap();
    let weak = gateway::Admin { email, ..weak };
    assert!(gateway::bootstrap(&directory, weak, at).await.is_err());
}

#[tokio::test]
async fn one_address_is_one_person_however_many_try_at_once() {
    let world = Setup::protected().start().await;
    let tries = (0..4).map(|_| async {
        let new = json!({ "email": "ada@example.org", "password": PASSWORD, "role": "viewer" });
        world.with(OPERATOR, "POST", "/api/v1/users", &new).await.status
    });
    let mut statuses = Vec::new();
    let tasks: Vec<_> = tries.collect();
    for status in futures_join(tasks).await {
        statuses.push(status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    let users = world.operate("GET", "/api/v1/users", &Value::Null).await.json();
    assert_eq!(users["users"].as_array().unwrap().len(), 1, "{users}");
}

/// All of them, side by side.
async fn futures_join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, output) in &mut running {
            if output.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        let is_done = running.iter().all(|(_, output)| output.is_some());
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn what_is_stored_of_people_holds_neither_passwords_nor_tokens() {
    let world = Setup::protected().start().await;
    let ada = world.somebody("ada@example.org", "owner", None).await;
    for kind in RecordKind::ALL {
        for record in records(&world, kind).await {
            let text = record.body.to_string() + &record.id;
            assert!(!text.contains(PASSWORD) && !text.contains(ada.token()), "{kind}: {text}");
        }
    }
    let trail = world.operate("GET", "/api/v1/audit", &Value::Null).await;
    let text = String::from_utf8(trail.body.to_vec()).unwrap();
    assert!(text.contains("audit.logged_in") && text.contains("audit.user_created"), "{text}");
    assert!(
        !text.contains("ada@example.org") && !text.contains(PASSWORD),
        "the ledger forgets nothing: {text}"
    );
}
