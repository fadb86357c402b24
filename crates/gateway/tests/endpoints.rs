//! The table of endpoints, against a real server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use hyper::body::Bytes;
use serde_json::{Value, json};
use world::Setup;

/// Every operation of the document: its method and its path.
fn operations() -> Vec<(String, String, Value)> {
    let document = gateway::openapi();
    let mut all = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            all.push((method.to_ascii_uppercase(), path.clone(), operation.clone()));
        }
    }
    all
}

#[tokio::test]
async fn what_is_documented_is_there_and_nothing_else_is() {
    let world = Setup::open().start().await;
    let paths: std::collections::BTreeSet<String> =
        operations().into_iter().map(|(_, path, _)| path).collect();
    for path in paths {
        let documented: Vec<String> = operations()
            .into_iter()
            .filter(|(_, other, _)| *other == path)
            .map(|(method, ..)| method)
            .collect();
        let place: String = path
            .split('/')
            .map(|part| if part.starts_with('{') { "/x".to_owned() } else { format!("/{part}") })
            .collect();
        let place = place.trim_start_matches('/');
        let place = format!("/{place}");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            // Only how it begins: one of them never ends.
            let reply = world.response(method, &place, &[], Bytes::new()).await;
            assert_eq!(
                reply.status() != 405,
                documented.contains(&method.to_owned()),
                "{method} {path}: {reply:?}"
            );
        }
    }
    for path in ["/api", "/assets", "/api/v1", "/api/v1/run", "/v1", "/v1/completions"] {
        assert_eq!(world.send("GET", path, &[], &Value::Null).await.code(), "punk_no_such_path", "{path}");
    }
}

#[tokio::test]
async fn what_is_not_public_is_closed_to_whoever_has_no_key() {
    let world = Setup::protected().start().await;
    for (method, path, operation) in operations() {
        // Where somebody says who they are, it is for the handler to say who it is not.
        if operation["x-punk-guard"] == "anyone" {
            continue;
        }
        let reply = world.send(&method, &path.replace(['{', '}'], ""), &[], &json!({})).await;
        let public = operation["x-punk-guard"] == "public";
        assert_eq!(reply.status == 401, !public, "{method} {path}: {reply:?}");
    }
}

#[tokio::test]
async fn every_wire_says_no_in_its_own_shape() {
    let world = Setup::protected().start().await;
    let refused = |path: &'static str| world.send("POST", path, &[], &Value::Null);
    assert_eq!(refused("/api/v1/runs").await.json()["error"]["code"], "punk_unauthorised");
    let openai = refused("/v1/chat/completions").await.json();
    let error = &openai["error"];
    assert_eq!((&error["type"], &error["param"]), (&json!("authentication_error"), &Value::Null), "{openai}");
    let anthropic = refused("/v1/messages").await.json();
    assert_eq!(
        (&anthropic["type"], &anthropic["error"]["type"]),
        (&json!("error"), &json!("authentication_error")),
        "{anthropic}"
    );
}

#[tokio::test]
async fn the_docs_page_is_whole_and_asks_nobody_else() {
    let world = Setup::protected().start().await;
    let page = world.send("GET", "/docs/api", &[], &Value::Null).await;
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let mut text = String::from_utf8(page.body.to_vec()).unwrap();
    for file in ["docs.css", "docs.js"] {
        assert!(text.contains(&format!("/docs/{file}")), "the page does not use {file}");
        let part = world.send("GET", &format!("/docs/{file}"), &[], &Value::Null).await;
        assert_eq!((part.status, part.header("content-security-policy")), (200, Some(policy.as_str())));
        text.push_str(std::str::from_utf8(&part.body).unwrap());
    }
    for elsewhere in ["http://", "https://", "src=\"//"] {
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains(elsewhere), "{elsewhere}");
    }
    assert_eq!(world.send("GET", "/docs/../lib.rs", &[], &Value::Null).await.status, 404);
    let document = world.send("GET", "/api/v1/openapi.json", &[], &Value::Null).await;
    assert_eq!(document.json(), gateway::openapi());
}
