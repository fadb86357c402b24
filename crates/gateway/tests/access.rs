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
use world::{OPERATOR, Setup};

#[tokio::test]
async fn the_golden_grid_of_callers_and_endpoints() {
    let world = Setup::protected().start().await;
    let mut callers = vec![("nobody", None), ("a wrong key", Some("pk_wrong".to_owned()))];
    for (name, key) in [
        ("gateway", json!({ "name": "g", "scopes": ["gateway"] })),
        ("read", json!({ "name": "r", "scopes": ["read"] })),
        ("write", json!({ "name": "w", "scopes": ["write"] })),
        ("read+approve", json!({ "name": "a", "scopes": ["read", "approve"] })),
        ("a plain key", json!({ "name": "p" })),
        ("admin", json!({ "name": "o", "admin": true })),
    ] {
        callers.push((name, Some(world.key(&key).await)));
    }
    callers.push(("installation", Some(OPERATOR.to_owned())));
    let mut grid = format!("{:52}", "");
    callers.iter().for_each(|(name, _)| grid += &format!(" {name:>13}"));
    grid.push('\n');
    let document = gateway::openapi();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = method.to_ascii_uppercase();
            grid += &format!("{:52}", format!("{method} {path}"));
            for (_, token) in &callers {
                let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
                let headers: Vec<_> =
                    bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
                // What it is asked is nothing anybody could do: only who may ask it shows.
                let place = path.replace(['{', '}'], "");
                let reply = world.response(&method, &place, &headers, Bytes::from_static(b"?")).await;
                let cell = match reply.status().as_u16() {
                    // Guessing is slowed down on top.
                    401 | 429 => "who?",
                    403 => "no",
                    _ => "yes",
                };
                grid += &format!(" {cell:>13}");
            }
            grid.push('\n');
        }
    }
    expect_file!["access.txt"].assert_eq(&grid);
}
