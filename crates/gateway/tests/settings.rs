//! What a tenant sets.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

mod world;

use serde_json::{Value, json};
use world::Setup;

#[tokio::test]
async fn a_patch_changes_what_it_names_and_null_puts_it_back() {
    let world = Setup::protected().start().await;
    let patch = |body: Value| {
        let world = &world;
        async move { world.operate("PATCH", "/api/v1/settings", &body).await }
    };
    let defaults = world.operate("GET", "/api/v1/settings", &Value::Null).await.json();
    assert_eq!(defaults["settings"]["cache"]["exactEnabled"], true);
    let changed = patch(json!({ "cache": { "exactTtlSeconds": 60 } })).await.json();
    assert_eq!(
        changed["settings"]["cache"],
        json!({ "exactEnabled": true, "exactTtlSeconds": 60, "deterministicOnly": true })
    );
    let both = patch(json!({ "memory_quarantine": { "enabled": true, "threshold": 3 } })).await.json();
    assert_eq!(both["settings"]["cache"]["exactTtlSeconds"], 60, "what is left out stays");
    assert_eq!(world.operate("GET", "/api/v1/settings", &Value::Null).await.json(), both);
    assert_eq!(patch(json!({ "cache": null, "memory_quarantine": null })).await.json(), defaults);
}

#[tokio::test]
async fn what_is_not_a_setting_is_refused_by_its_place_and_changes_nothing() {
    let world = Setup::protected().start().await;
    let before = world.operate("GET", "/api/v1/settings", &Value::Null).await.json();
    for (patch, param) in [
        (json!({ "cash": {} }), "cash"),
        (json!({ "cache": { "exactTtl": 1 } }), "cache.exactTtl"),
        (json!({ "cache": { "exactTtlSeconds": "1" } }), "cache.exactTtlSeconds"),
        (json!({ "cache": { "exactTtlSeconds": 0 } }), "cache.exactTtlSeconds"),
        (json!({ "cache": { "exactTtlSeconds": 9e9 } }), "cache.exactTtlSeconds"),
        (json!({ "memory_quarantine": { "threshold": 5 } }), "memory_quarantine.threshold"),
        (json!({ "memory_quarantine": true }), "memory_quarantine"),
    ] {
        let refused = world.operate("PATCH", "/api/v1/settings", &patch).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(param)),
            "{patch}: {refused:?}"
        );
    }
    assert_eq!(world.operate("PATCH", "/api/v1/settings", &json!([])).await.status, 400);
    assert_eq!(world.operate("GET", "/api/v1/settings", &Value::Null).await.json(), before);
    let runs = world.operate("GET", "/api/v1/runs", &Value::Null).await.json();
    assert_eq!(runs["runs"], json!([]), "nothing was recorded");
}
