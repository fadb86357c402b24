//! Who may call what: every kind of caller against every endpoint of the document, drawn as text. An endpoint that is added
//! changes the grid, and so does a guard that is changed: nobody can forget to think about it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use expect_test::expect_file;
use hyper::body::Bytes;
use serde_json::json;
use world::{OPERATOR, Setup, World};

const PEOPLE: [&str; 6] = ["owner", "admin", "operator", "reviewer", "viewer", "auditor"];

type Headers = Vec<(String, String)>;

fn bearer(token: &str) -> Headers {
    vec![("authorization".to_owned(), format!("Bearer {token}"))]
}

/// Keys of every kind, and the token of a machine.
async fn machines(world: &World) -> Vec<(&'static str, Headers)> {
    let mut callers = Vec::new();
    for (name, key) in [
        ("gateway", json!({ "name": "g", "scopes": ["gateway"] })),
        ("read", json!({ "name": "r", "scopes": ["read"] })),
        ("write", json!({ "name": "w", "scopes": ["write"] })),
        ("read+approve", json!({ "name": "a", "scopes": ["read", "approve"] })),
        ("a plain key", json!({ "name": "p" })),
        ("admin key", json!({ "name": "o", "admin": true })),
    ] {
        callers.push((name, bearer(&world.key(&key).await)));
    }
    callers.push(("installation", bearer(OPERATOR)));
    let robot = json!({ "name": "robot" });
    let robot = world.operate("POST", "/api/v1/service-accounts", &robot).await.json();
    let ask = json!({
        "grant_type": "client_credentials", "client_id": robot["serviceAccount"]["clientId"],
        "client_secret": robot["clientSecret"],
    });
    let token = world.send("POST", "/api/v1/auth/token", &[], &ask).await.json();
    callers.push(("service", bearer(token["access_token"].as_str().unwrap())));
    callers
}

#[tokio::test]
async fn the_golden_grid_of_callers_and_endpoints() {
    let world = Setup::protected().start().await;
    // Guessing is slowed down, by address: whoever guesses does so on another node.
    let guessing = world.second_node().await;
    let mut callers = vec![("nobody", Vec::new()), ("a wrong key", bearer("pk_wrong"))];
    callers.extend(machines(&world).await);
    let tenant = world.tenant("engines").await;
    for role in PEOPLE {
        let browser = world.somebody(&format!("{role}@example.org"), role, Some(&tenant)).await;
        callers.push((role, world.headers(&browser)));
    }
    let mut grid = format!("{:46}", "");
    callers.iter().for_each(|(name, _)| grid += &format!(" {name:>12}"));
    grid.push('\n');
    let document = gateway::openapi();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let method = method.to_ascii_uppercase();
            grid += &format!("{:46}", format!("{method} {path}"));
            for (name, headers) in &mut callers {
                // What is about a person may end their session: everybody has one of their own for it.
                if operation["x-punk-guard"] == "person" && PEOPLE.contains(name) {
                    *headers = world.headers(&world.log_in(&format!("{name}@example.org")).await);
                }
                let node = if matches!(*name, "nobody" | "a wrong key") { &guessing } else { &world };
                let cell = cell(node, &method, path, headers).await;
                grid += &format!(" {cell:>12}");
                if operation["x-punk-guard"] == "person" && PEOPLE.contains(name) {
                    *headers = world.headers(&world.log_in(&format!("{name}@example.org")).await);
                }
            }
            grid.push('\n');
        }
    }
    expect_file!["access.txt"].assert_eq(&grid);
}

async fn cell(world: &World, method: &str, path: &str, headers: &Headers) -> &'static str {
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // What it is asked is nothing anybody could do: only who may ask it shows.
    let place = path.replace(['{', '}'], "");
    let reply = world.response(method, &place, &headers, Bytes::from_static(b"?")).await;
    match reply.status().as_u16() {
        // Guessing is slowed down on top.
        401 | 429 => "who?",
        403 => "no",
        _ => "yes",
    }
}
