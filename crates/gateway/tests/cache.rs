//! What is kept to be answered again, and what it saved, over REST.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

mod world;

use serde_json::{Value, json};
use world::{OPERATOR, Setup};

#[tokio::test]
async fn a_result_of_a_tool_is_found_by_whoever_asks_the_same_about_the_same_person() {
    let world = Setup::protected().start().await;
    let stored = json!({
        "toolName": "crm", "subject": "user-7", "args": { "id": 7, "deep": { "a": 1, "b": 2 } },
        "result": { "name": "Ada" }, "ttlSeconds": 600, "sideEffectLevel": 1,
    });
    assert_eq!(
        world.operate("POST", "/api/v1/tool-cache/store", &stored).await.json(),
        json!({ "stored": true })
    );
    let check = |body: Value| {
        let world = &world;
        async move { world.operate("POST", "/api/v1/tool-cache/check", &body).await.json() }
    };
    let hit = json!({ "hit": true, "result": { "name": "Ada" } });
    let args = json!({ "deep": { "b": 2, "a": 1 }, "id": 7 });
    assert_eq!(check(json!({ "toolName": "crm", "subject": "user-7", "args": args })).await, hit);
    let bearer = format!("Bearer {OPERATOR}");
    let headers = [("authorization", bearer.as_str()), ("x-punk-subject", "user-7")];
    let by_header = json!({ "toolName": "crm", "args": args });
    assert_eq!(world.send("POST", "/api/v1/tool-cache/check", &headers, &by_header).await.json(), hit);
    for miss in [
        json!({ "toolName": "crm", "args": args }),
        json!({ "toolName": "crm", "subject": "user-8", "args": args }),
        json!({ "toolName": "crm2", "subject": "user-7", "args": args }),
        json!({ "toolName": "crm", "subject": "user-7", "args": { "id": 8 } }),
    ] {
        assert_eq!(check(miss.clone()).await, json!({ "hit": false }), "{miss}");
    }
    let stats = world.operate("GET", "/api/v1/cache/stats", &Value::Null).await.json();
    let tools =
        stats["stats"].as_array().unwrap().iter().find(|kind| kind["cacheType"] == "tool_result").unwrap();
    assert_eq!((&tools["entries"], &tools["hits"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_by_its_place() {
    let world = Setup::protected().start().await;
    let good = json!({ "toolName": "crm", "args": {}, "result": 1, "ttlSeconds": 60 });
    for (member, value) in [
        ("ttlSeconds", json!(0)),
        ("ttlSeconds", json!(86_401)),
        ("ttlSeconds", json!(-1)),
        ("sideEffectLevel", json!(2)),
        ("sideEffectLevel", json!(5)),
        ("toolName", json!("x".repeat(121))),
        ("toolName", json!("")),
        ("subject", json!("x".repeat(121))),
        ("args", json!(9_007_199_254_740_993u64)),
        ("result", json!("x".repeat(1 << 20))),
        ("results", json!(1)),
    ] {
        let mut bad = good.clone();
        bad[member] = value;
        let refused = world.operate("POST", "/api/v1/tool-cache/store", &bad).await;
        let is_too_long = refused.status == 413 && member == "result";
        let param = refused.json()["error"]["param"].clone();
        assert!(is_too_long || (refused.status == 400 && param == json!(member)), "{member}: {refused:?}");
    }
    let mut secret = good.clone();
    secret["result"] = json!({ "token": "sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0iXb" });
    assert_eq!(world.operate("POST", "/api/v1/tool-cache/store", &secret).await.json()["stored"], false);
    assert_eq!(
        world
            .operate("POST", "/api/v1/tool-cache/check", &json!({ "toolName": "crm", "args": {} }))
            .await
            .json(),
        json!({ "hit": false })
    );
}

#[tokio::test]
async fn what_is_taken_out_is_gone_and_on_record() {
    let world = Setup::protected().start().await;
    let store = |tool: &'static str, subject: Value| {
        let world = &world;
        let body = json!({ "toolName": tool, "subject": subject, "args": {}, "result": 1, "ttlSeconds": 60 });
        async move { assert_eq!(world.operate("POST", "/api/v1/tool-cache/store", &body).await.status, 200) }
    };
    store("a", json!(null)).await;
    store("b", json!("user-7")).await;
    let remove = |query: &'static str| {
        let world = &world;
        async move {
            world.operate("DELETE", &format!("/api/v1/cache{query}"), &Value::Null).await.json()["removed"]
                .clone()
        }
    };
    assert_eq!(remove("?subject=nobody").await, 0);
    assert_eq!(remove("?model=gpt-4o").await, 0);
    assert_eq!(remove("?olderThan=2000-01-01T00:00:00.000Z").await, 0);
    assert_eq!(remove("?subject=user-7&cacheType=tool_result").await, 1);
    assert_eq!(remove("").await, 1);
    let audits = world.operate("GET", "/api/v1/runs?kind=audit", &Value::Null).await.json();
    assert_eq!(audits["runs"].as_array().unwrap().len(), 4, "each that may have taken something out");
    assert_eq!(world.operate("DELETE", "/api/v1/cache?cacheType=x", &Value::Null).await.status, 400);
}

#[tokio::test]
async fn savings_tell_served_and_observed_runs_apart_and_days_bound_them() {
    let world = Setup::protected().start().await;
    let ask =
        json!({ "model": "gpt-4o", "temperature": 0, "messages": [{ "role": "user", "content": "same" }] });
    for _ in 0..2 {
        assert_eq!(world.operate("POST", "/v1/chat/completions", &ask).await.status, 200);
    }
    world.operate("POST", "/api/v1/ingest/prompt", &json!({ "source": "x", "prompt": "y" })).await;
    let sum = world.operate("GET", "/api/v1/savings", &Value::Null).await.json();
    let numbers = ["totalRuns", "liveRuns", "optimizedRuns", "blockedRuns", "failedRuns", "observedRuns"];
    assert_eq!(numbers.map(|name| sum[name].as_u64().unwrap()), [2, 1, 1, 0, 0, 1], "{sum}");
    assert_eq!(sum["cacheHitRate"], 0.5);
    let none =
        world.operate("GET", "/api/v1/savings?from=2000-01-01&to=2000-12-31", &Value::Null).await.json();
    assert_eq!((&none["totalRuns"], &none["cacheHitRate"]), (&json!(0), &json!(0.0)));
    for bad in ["?from=yesterday", "?from=2000-02-30", "?day=1"] {
        assert_eq!(
            world.operate("GET", &format!("/api/v1/savings{bad}"), &Value::Null).await.status,
            400,
            "{bad}"
        );
    }
    let agents = world.operate("GET", "/api/v1/agents", &Value::Null).await.json();
    assert_eq!(
        (&agents["agents"][0]["name"], &agents["agents"][0]["runs"]),
        (&json!("anonymous"), &json!(3))
    );
}
