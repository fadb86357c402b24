//! Runs over REST.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use serde_json::{Value, json};
use world::{OPERATOR, Setup};

const NOBODY: &str = "run_00000000000000000000000000";

#[tokio::test]
async fn a_run_tells_why_it_went_this_way_and_what_it_cost_in_dollars() {
    let world = Setup::protected().start().await;
    let run = world.chat(OPERATOR, "hello").await;
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    let shown = &detail["run"];
    assert_eq!(shown["routeExplanation"]["route"], "live");
    assert_eq!(shown["routeExplanation"]["verdict"]["effect"], "allow");
    assert!(
        shown["routeExplanation"]["reason"].is_string() && shown["routeExplanation"]["rejected"].is_array()
    );
    assert!(shown["savedUsd"].is_number() && shown.get("costMicroUsd").is_none(), "{shown}");
    assert_eq!(
        (&shown["status"], &shown["kind"], &shown["finished"]),
        (&json!("completed"), &json!("chat"), &json!(true))
    );
    assert_eq!(detail["sideEffects"], json!([]));
}

#[tokio::test]
async fn pages_end_and_have_every_run_once() {
    let world = Setup::protected().start().await;
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(world.operate("POST", "/api/v1/runs", &json!({})).await.json()["runId"].clone());
    }
    let (mut listed, mut path) = (Vec::new(), "/api/v1/runs?limit=3".to_owned());
    let pages = loop {
        let page = world.operate("GET", &path, &Value::Null).await.json();
        listed.extend(page["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/runs?limit=3&before={next}"),
            None => break listed.len().div_ceil(3),
        }
    };
    // Within a millisecond ids are in any order; lists have theirs.
    made.sort_by_key(|id| std::cmp::Reverse(id.as_str().unwrap().to_owned()));
    assert_eq!((listed, pages), (made, 3));
}

#[tokio::test]
async fn feedback_and_memory_are_recorded_with_the_run() {
    let world = Setup::protected().start().await;
    let run = world.chat(OPERATOR, "hello").await;
    let hash = "a".repeat(64);
    for (path, body) in [
        ("feedback", json!({ "type": "rating", "rating": -1, "correction": "It is in Berlin." })),
        ("memory", json!({ "source": "web:example.com", "trustLane": "untrusted", "contentHash": hash })),
    ] {
        let noted = world.operate("POST", &format!("/api/v1/runs/{run}/{path}"), &body).await;
        assert_eq!(noted.status, 201, "{noted:?}");
    }
    let events =
        world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json()["events"].clone();
    let last: Vec<(&Value, &Value)> = events
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .take(2)
        .map(|event| (&event["type"], &event["payload"]))
        .collect();
    assert_eq!(last[0].0, "memory.influenced");
    assert_eq!((&last[0].1["trustLane"], &last[0].1["contentHash"]), (&json!("untrusted"), &json!(hash)));
    assert_eq!((last[1].0, &last[1].1["rating"]), (&json!("feedback.recorded"), &json!(-1)));
    let packet =
        world.operate("GET", &format!("/api/v1/runs/{run}/evidence-packet"), &Value::Null).await.json();
    assert_eq!(packet["leaves"].as_array().unwrap().len(), 3, "each settled in the log");
}

#[tokio::test]
async fn a_side_effect_is_planned_then_executed_and_never_the_other_way_round() {
    let world = Setup::protected().start().await;
    let run = world.chat(OPERATOR, "hello").await;
    let tell = |r#type: &'static str, payload: Value| {
        let (world, run) = (&world, run.clone());
        async move {
            world
                .operate(
                    "POST",
                    "/api/v1/trace",
                    &json!({ "runId": run, "type": r#type, "payload": payload }),
                )
                .await
        }
    };
    let mail = json!({ "toolName": "mail", "level": 3, "payload": { "to": "user-7" } });
    let planned = tell("side_effect.planned", mail.clone()).await.json();
    let id = planned["sideEffectId"].as_str().unwrap().to_owned();
    let executed = tell("side_effect.executed", mail.clone()).await;
    assert_eq!(executed.json()["sideEffectId"], json!(id), "the oldest that is still planned");
    let by_id = json!({ "toolName": "mail", "level": 3, "sideEffectId": id });
    let twice = tell("side_effect.executed", by_id).await;
    assert_eq!((twice.status, &twice.json()["error"]["param"]), (400, &json!("payload.sideEffectId")));
    let unannounced = tell("side_effect.executed", json!({ "toolName": "ticket", "level": 2 })).await;
    assert_eq!(unannounced.status, 201);
    for (bad, param) in [
        (json!({ "toolName": "mail", "level": 5 }), "payload.level"),
        (json!({ "toolName": "", "level": 1 }), "payload.toolName"),
        (json!({ "level": 1 }), "payload.toolName"),
        (json!({ "toolName": "mail", "level": 1, "x": 1 }), "payload.x"),
    ] {
        let refused = tell("side_effect.planned", bad.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(param)),
            "{bad}: {refused:?}"
        );
    }
    for reserved in [
        "side_effect.suppressed",
        "side_effect.blocked",
        "run.finished",
        "policy.decided",
        "feedback.recorded",
    ] {
        assert_eq!(tell(reserved, json!({})).await.json()["error"]["param"], "type", "{reserved}");
    }
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    let effects: Vec<(&Value, &Value, &Value)> = detail["sideEffects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| (&effect["toolName"], &effect["level"], &effect["status"]))
        .collect();
    assert_eq!(
        effects,
        [(&json!("mail"), &json!(3), &json!("executed")), (&json!("ticket"), &json!(2), &json!("executed"))]
    );
    assert_eq!(detail["sideEffects"][0]["payload"], json!({ "to": "user-7" }));
    let packet = world.operate("GET", &format!("/api/v1/runs/{run}/evidence-packet"), &Value::Null).await;
    assert_eq!(packet.status, 200, "the ledger agrees: {packet:?}");
}

#[tokio::test]
async fn an_ingested_prompt_is_a_completed_run_that_cost_nothing_here() {
    let world = Setup::protected().start().await;
    let body = json!({ "source": "claude-code", "prompt": "Fix it, key sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0iXb", "sessionId": "s-1", "metadata": { "cwd": "/x" } });
    let made = world.operate("POST", "/api/v1/ingest/prompt", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let run = made.json()["runId"].as_str().unwrap().to_owned();
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    assert_eq!(
        (&detail["run"]["kind"], &detail["run"]["status"], &detail["run"]["costUsd"]),
        (&json!("ingest"), &json!("completed"), &json!(0.0))
    );
    assert_eq!(detail["events"][0]["payload"]["prompt"], "Fix it, key ⟨secret:1⟩");
}

#[tokio::test]
async fn what_is_not_understood_is_refused_by_its_place_and_nothing_is_recorded() {
    let world = Setup::protected().start().await;
    let run =
        world.operate("POST", "/api/v1/runs", &json!({})).await.json()["runId"].as_str().unwrap().to_owned();
    let (feedback, memory) = (format!("/api/v1/runs/{run}/feedback"), format!("/api/v1/runs/{run}/memory"));
    for (path, body, param) in [
        (&*feedback, json!({ "type": "rating", "rating": 2 }), "rating"),
        (&*feedback, json!({ "type": "rating", "rating": "1" }), "rating"),
        (&*feedback, json!({ "type": "stars", "rating": 1 }), "type"),
        (&*feedback, json!({ "rating": 1 }), "type"),
        (&*feedback, json!({ "type": "rating", "rating": 1, "note": "x" }), "note"),
        (&*memory, json!({ "source": "x", "trustLane": "gold" }), "trustLane"),
        (&*memory, json!({ "source": "", "trustLane": "observed" }), "source"),
        (&*memory, json!({ "source": "x", "trustLane": "observed", "contentHash": "abc" }), "contentHash"),
        ("/api/v1/ingest/prompt", json!({ "source": "x" }), "prompt"),
        ("/api/v1/ingest/prompt", json!({ "source": "x", "prompt": "" }), "prompt"),
        ("/api/v1/ingest/prompt", json!({ "source": "x", "prompt": "y", "metadata": [] }), "metadata"),
        ("/api/v1/ingest/prompt", json!({ "source": "x", "prompt": "y", "metadata": { "": 1 } }), "metadata"),
        ("/api/v1/runs", json!({ "modle": "x" }), "modle"),
        ("/api/v1/trace", json!({ "runId": run, "type": "note", "payload": 1 }), "payload"),
    ] {
        let refused = world.operate("POST", path, &body).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(param)),
            "{path} {body}: {refused:?}"
        );
    }
    for query in ["limit=0", "limit=201", "limit=x", "before=nonsense", "nonsense=1", "limit=1&limit=2"] {
        assert_eq!(
            world.operate("GET", &format!("/api/v1/runs?{query}"), &Value::Null).await.status,
            400,
            "{query}"
        );
    }
    assert_eq!(
        world
            .operate(
                "POST",
                &format!("/api/v1/runs/{NOBODY}/feedback"),
                &json!({ "type": "rating", "rating": 1 })
            )
            .await
            .status,
        404
    );
    let detail = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    assert_eq!(detail["events"].as_array().unwrap().len(), 1);
    assert_eq!(
        world.operate("GET", "/api/v1/runs", &Value::Null).await.json()["runs"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn a_filter_lists_the_runs_that_fit_it_and_no_others() {
    let world = Setup::protected().start().await;
    let made = world.operate("POST", "/api/v1/keys", &json!({ "name": "k" })).await.json();
    let (key, token) = (made["key"]["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "hi" }] });
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("x-punk-app", "shop"),
        ("x-punk-agent", "ada"),
        ("x-punk-subject", "user-7"),
    ];
    let chat = world.send("POST", "/v1/chat/completions", &headers, &body).await;
    let chat = chat.header("x-punk-run-id").unwrap().to_owned();
    let open = world.operate("POST", "/api/v1/runs", &json!({ "model": "other" })).await.json();
    let open = open["runId"].as_str().unwrap().to_owned();
    let list = |query: String| {
        let world = &world;
        async move {
            let page = world.operate("GET", &format!("/api/v1/runs?{query}"), &Value::Null).await.json();
            let runs = page["runs"].as_array().unwrap_or_else(|| panic!("{query}: {page}")).clone();
            runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    for query in [
        "app=shop",
        "agent=ada",
        "subject=user-7",
        "route=live",
        "kind=chat",
        "model=gpt-4o&status=completed",
    ] {
        assert_eq!(list(query.to_owned()).await, [chat.as_str()], "{query}");
    }
    assert_eq!(list(format!("key={key}")).await, [chat.as_str()]);
    assert_eq!(list("status=running".to_owned()).await, [open.as_str()]);
    assert_eq!(list("model=other&kind=ingest".to_owned()).await, [open.as_str()]);
    for none in [
        "app=shop&agent=eve",
        "since=9000-01-01T00:00:00.000Z",
        "until=2000-01-01T00:00:00.000Z",
        "status=failed",
    ] {
        assert_eq!(list(none.to_owned()).await, Vec::<String>::new(), "{none}");
    }
    for (bad, param) in
        [("status=done", "status"), ("route=x", "route"), ("since=yesterday", "since"), ("key=k", "key")]
    {
        let refused = world.operate("GET", &format!("/api/v1/runs?{bad}"), &Value::Null).await;
        assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!(param)), "{bad}");
    }
}
