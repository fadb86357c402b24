//! Nobody gets more than they were given: along every edge of the table of permissions, and for every pair of roles.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use hyper::body::Bytes;
use identity::role::Granter;
use identity::{Permission, Role};
use serde_json::{Value, json};
use world::browser::{Browser, PASSWORD};
use world::{Setup, World};

/// The roles that people have.
fn of_people() -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| role.is_for_people())
}

/// Every endpoint that wants a permission: the permission, the method, the path.
fn guarded() -> Vec<(Permission, String, String)> {
    let document = gateway::openapi();
    let mut all = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let guard = operation["x-punk-guard"].as_str().unwrap();
            if let Some(permission) = Permission::ALL.iter().find(|each| each.as_str() == guard) {
                all.push((*permission, method.to_ascii_uppercase(), path.clone()));
            }
        }
    }
    assert!(all.len() > 60, "only {} endpoints want a permission", all.len());
    all
}

async fn as_role(world: &World, tenant: &str, role: Role) -> Browser {
    world.somebody(&format!("{role}@example.org"), role.as_str(), Some(tenant)).await
}

#[tokio::test]
async fn what_a_role_lacks_is_refused_at_every_endpoint_that_wants_it() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    let endpoints = guarded();
    let mut edges = 0;
    for role in of_people() {
        let browser = as_role(&world, &tenant, role).await;
        for (permission, method, path) in &endpoints {
            // A cookie is nothing on the model wires, whatever the role.
            if path.starts_with("/v1/") {
                continue;
            }
            let place = path.replace(['{', '}'], "");
            let headers = world.headers(&browser);
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let reply = world.response(method, &place, &headers, Bytes::from_static(b"?")).await;
            let status = reply.status().as_u16();
            if role.permissions().has(*permission) {
                assert!(
                    status != 401 && status != 403,
                    "{role} may {permission} at {method} {path}: {status}"
                );
            } else {
                edges += 1;
                assert_eq!(status, 403, "{role} may not {permission} at {method} {path}");
            }
        }
    }
    assert!(edges > 120, "only {edges} edges were tried");
}

#[tokio::test]
async fn nobody_grants_more_than_they_have() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    world.person("keeper@example.org", "owner", Some(&tenant)).await;
    let mut refused = 0;
    for granter in of_people() {
        let browser = as_role(&world, &tenant, granter).await;
        let by = Granter { may: granter.permissions(), is_owner: granter == Role::Owner };
        let may_manage = granter.permissions().has(Permission::MemberManage);
        for (number, before) in of_people().enumerate() {
            for after in Role::ALL {
                let email = format!("{granter}-{number}-{after}@example.org");
                let allowed = may_manage && by.may_turn(Some(before), Some(after)).is_ok();
                // A person for each pair would take a password each: one is turned back and forth by the operator instead.
                let subject = subject(&world, &tenant, before).await;
                let path = format!("/api/v1/members/{subject}");
                let reply = world.page(&browser, "PATCH", &path, &json!({ "role": after })).await;
                let told = format!("{granter} turns {before} into {after}: {reply:?}");
                assert_eq!(reply.status, if allowed { 200 } else { 403 }, "{told}");
                refused += usize::from(!allowed);
                let invite = json!({ "email": email, "role": after });
                let reply = world.page(&browser, "POST", "/api/v1/invitations", &invite).await;
                let invites = may_manage && by.may_turn(None, Some(after)).is_ok();
                assert_eq!(
                    reply.status,
                    if invites { 201 } else { 403 },
                    "{granter} invites {after}: {reply:?}"
                );
            }
        }
    }
    assert!(refused > 100, "only {refused} grants were refused");
}

/// Somebody who is `role` in the tenant, whatever they were before.
async fn subject(world: &World, tenant: &str, role: Role) -> String {
    let directory = gateway::Directory::new(world.store.clone());
    let email = gateway::Email::try_from("subject@example.org".to_owned()).unwrap();
    let id = match directory.by_email(&email).await.unwrap() {
        Some(known) => known.value.id,
        None => {
            let made = world.person(email.as_str(), "viewer", Some(tenant)).await;
            made["id"].as_str().unwrap().parse().unwrap()
        }
    };
    let at = schema::Timestamp::from_millis(1_800_000_000_000).unwrap();
    let by = gateway::By::installation("tests");
    directory.make(tenant.parse().unwrap(), id, Some(role), Vec::new(), &by, at).await.unwrap();
    id.to_string()
}

#[tokio::test]
async fn a_key_gives_nothing_that_its_maker_does_not_have() {
    let world = Setup::protected().start().await;
    let admin = world.key(&json!({ "name": "admin", "admin": true })).await;
    for (new, status) in [
        (json!({ "name": "reader", "scopes": ["read"] }), 201),
        (json!({ "name": "another admin", "admin": true }), 201),
        (json!({ "name": "approver", "scopes": ["approve"] }), 403),
        (json!({ "name": "both", "admin": true, "scopes": ["approve"] }), 403),
    ] {
        let reply = world.with(&admin, "POST", "/api/v1/keys", &new).await;
        assert_eq!(reply.status, status, "{new}: {reply:?}");
    }
    // A machine with an admin key makes nobody who could approve either.
    for (role, status) in
        [("viewer", 201), ("operator", 201), ("reviewer", 403), ("admin", 403), ("owner", 403)]
    {
        let invite = json!({ "email": format!("{role}@example.org"), "role": role });
        let reply = world.with(&admin, "POST", "/api/v1/invitations", &invite).await;
        assert_eq!(reply.status, status, "{role}: {reply:?}");
    }
}

#[tokio::test]
async fn the_last_owner_stays() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    let ada = world.somebody("ada@example.org", "owner", Some(&tenant)).await;
    let path = format!("/api/v1/members/{}", ada.user);
    for reply in [
        world.page(&ada, "PATCH", &path, &json!({ "role": "viewer" })).await,
        world.page(&ada, "DELETE", &path, &Value::Null).await,
    ] {
        assert_eq!((reply.status, reply.code().as_str()), (409, "punk_last_owner"), "{reply:?}");
    }
    let eve = world.somebody("eve@example.org", "owner", Some(&tenant)).await;
    let other = format!("/api/v1/members/{}", eve.user);
    // Both at once let one through: whoever goes proves that the other is still there.
    let (one, two) = tokio::join!(
        world.page(&ada, "DELETE", &other, &Value::Null),
        world.page(&eve, "DELETE", &path, &Value::Null),
    );
    let went = [one.status, two.status].iter().filter(|status| **status == 200).count();
    assert_eq!(went, 1, "{one:?} {two:?}");
}

#[tokio::test]
async fn whoever_is_let_go_has_nothing_left_at_once() {
    let world = Setup::protected().start().await;
    let (one, two) = (world.tenant("one").await, world.tenant("two").await);
    let owner = world.somebody("owner@example.org", "owner", Some(&one)).await;
    let ada = world.somebody("ada@example.org", "admin", Some(&one)).await;
    assert_eq!(world.page(&ada, "GET", "/api/v1/keys", &Value::Null).await.status, 200);
    let path = format!("/api/v1/members/{}", ada.user);
    assert_eq!(world.page(&owner, "PATCH", &path, &json!({ "role": "viewer" })).await.status, 200);
    assert_eq!(world.page(&ada, "GET", "/api/v1/keys", &Value::Null).await.status, 403);
    assert_eq!(world.page(&owner, "DELETE", &path, &Value::Null).await.status, 200);
    let stale = world.page(&ada, "GET", "/api/v1/runs", &Value::Null).await;
    assert_eq!((stale.status, stale.code().as_str()), (403, "punk_not_a_member"));
    // What is about themselves is still there, so that they can choose another organisation.
    let session = world.page(&ada, "GET", "/api/v1/auth/session", &Value::Null).await.json();
    assert_eq!((&session["organisation"], &session["organisations"]), (&Value::Null, &json!([])));
    for foreign in [&one, &two] {
        let choice = json!({ "organisation": foreign });
        let reply = world.page(&ada, "POST", "/api/v1/auth/organisation", &choice).await;
        assert_eq!(reply.status, 404, "{reply:?}");
    }
}

/// What an invitation is, and the text to show.
async fn invite(world: &World, by: &Browser, email: &str, role: &str) -> (String, String) {
    let invite = json!({ "email": email, "role": role });
    let made = world.page(by, "POST", "/api/v1/invitations", &invite).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    (made["invitation"]["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_invitation_works_once_for_one_address() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    let owner = world.somebody("owner@example.org", "owner", Some(&tenant)).await;
    let accept = async |headers: &[(&str, &str)], body: &Value| {
        world.send("POST", "/api/v1/auth/accept", headers, body).await
    };
    let (_, token) = invite(&world, &owner, "ada@example.org", "reviewer").await;
    let weak = accept(&[], &json!({ "token": token, "password": "short" })).await;
    assert_eq!((weak.status, weak.json()["error"]["param"].as_str()), (400, Some("password")));
    let joined = accept(&[], &json!({ "token": token, "name": "Ada", "password": PASSWORD })).await;
    assert_eq!(joined.status, 200, "{joined:?}");
    assert_eq!(joined.json()["organisation"]["role"], "reviewer");
    let mut ada = Browser::default();
    ada.keep(&joined);

    let (revoked_id, revoked) = invite(&world, &owner, "bea@example.org", "viewer").await;
    let path = format!("/api/v1/invitations/{revoked_id}");
    assert_eq!(
        world.page(&owner, "DELETE", &path, &Value::Null).await.json()["invitation"]["status"],
        "revoked"
    );
    let (_, other) = invite(&world, &owner, "cleo@example.org", "owner").await;
    let own = world.headers(&ada);
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let fake = format!("{}0", &other[..other.len() - 1]);
    let elsewhere = other.replace(&tenant, "ten_00000000000000000000000000");
    let mut bodies = Vec::new();
    for (what, headers, token) in [
        ("one that was used", &[][..], &token),
        ("one that was taken back", &[], &revoked),
        ("one for somebody else", &own, &other),
        ("one that is none", &[], &fake),
        ("one of another organisation", &[], &elsewhere),
        ("nonsense", &[], &"x".to_owned()),
    ] {
        let reply = accept(headers, &json!({ "token": token, "password": PASSWORD })).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (403, "punk_invitation_refused"),
            "{what}: {reply:?}"
        );
        bodies.push(reply.body);
    }
    assert!(bodies.iter().all(|body| body == &bodies[0]), "all are told the same");

    // Somebody who is known joins a second organisation as who they are, with their session or with their password.
    let second = world.tenant("second").await;
    let other_owner = world.somebody("second@example.org", "owner", Some(&second)).await;
    let (_, token) = invite(&world, &other_owner, "ada@example.org", "viewer").await;
    let wrong = accept(&[], &json!({ "token": token, "password": "not the right one at all" })).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (401, "punk_login_refused"));
    let joined = accept(&own, &json!({ "token": token })).await;
    assert_eq!(joined.status, 200, "{joined:?}");
    assert_eq!(joined.json()["organisations"].as_array().unwrap().len(), 2);
    ada.keep(&joined);
    let choice = json!({ "organisation": tenant });
    let chosen = world.page(&ada, "POST", "/api/v1/auth/organisation", &choice).await.json();
    assert_eq!(chosen["organisation"]["role"], "reviewer");
}

#[tokio::test]
async fn a_person_does_not_approve_what_they_asked_for() {
    const OFFICE: &str = "name: office\nversion: '1'\ndefaultEffect: allow\nrules:\n  - effect: allow\n    actions: ['execute:ask_me']\n    requiresApproval: true\n";
    let world = Setup::protected().governed(&[("office.yaml", OFFICE)]).start().await;
    let tenant = world.tenant("engines").await;
    let ada = world.somebody("ada@example.org", "admin", Some(&tenant)).await;
    let eve = world.somebody("eve@example.org", "reviewer", Some(&tenant)).await;
    let run = world.page(&ada, "POST", "/api/v1/runs", &json!({})).await.json();
    let plan = json!({ "toolName": "ask_me", "level": 3, "payload": {} });
    let plan = json!({ "runId": run["runId"], "type": "side_effect.planned", "payload": plan });
    let planned = world.page(&ada, "POST", "/api/v1/trace", &plan).await.json();
    let path = format!("/api/v1/approvals/{}/decide", planned["approvalId"].as_str().unwrap());
    let own = world.page(&ada, "POST", &path, &json!({ "decision": "approve" })).await;
    assert_eq!((own.status, own.code().as_str()), (403, "punk_vote_refused"), "{own:?}");
    let decided = world.page(&eve, "POST", &path, &json!({ "decision": "approve" })).await;
    assert_eq!(
        (decided.status, &decided.json()["approval"]["status"]),
        (200, &json!("approved")),
        "{decided:?}"
    );
    assert_eq!(decided.json()["approval"]["votes"][0]["by"], json!(eve.user));

    // What a key of theirs asks for, they ask for.
    let made = world.page(&ada, "POST", "/api/v1/keys", &json!({ "name": "ada's robot" })).await.json();
    let robot = made["token"].as_str().unwrap();
    let plan = json!({ "toolName": "ask_me", "level": 3, "payload": { "by": "robot" } });
    let run = world.with(robot, "POST", "/api/v1/runs", &json!({})).await.json();
    let plan = json!({ "runId": run["runId"], "type": "side_effect.planned", "payload": plan });
    let planned = world.with(robot, "POST", "/api/v1/trace", &plan).await.json();
    let path = format!("/api/v1/approvals/{}/decide", planned["approvalId"].as_str().unwrap());
    let own = world.page(&ada, "POST", &path, &json!({ "decision": "approve" })).await;
    assert_eq!((own.status, own.code().as_str()), (403, "punk_vote_refused"), "{own:?}");
    assert_eq!(world.page(&eve, "POST", &path, &json!({ "decision": "approve" })).await.status, 200);
}
