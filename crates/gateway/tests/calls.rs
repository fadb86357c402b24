//! Model calls through a real server to real upstreams: what is passed on, what is told, and what is recorded.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use serde_json::{Value, json};
use wire::Wire;
use world::upstream::{Act, Seen, Then, Upstream, served_by};
use world::{OPERATOR, Reply, Setup, World};

const CHAT: &[Wire] = &[Wire::Chat];
const MESSAGES: &[Wire] = &[Wire::Messages];

/// An answer in OpenAI's shape.
fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-upstream", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 },
    })
}

fn says(text: &str) -> Act {
    Act::Say(200, vec![], completion(text))
}

fn fails(status: u16) -> Act {
    Act::Say(
        status,
        vec![],
        json!({ "error": { "message": "no", "type": "server_error", "code": null, "param": null } }),
    )
}

/// The frames of a stream in OpenAI's shape, usage and end included.
fn frames(words: &[&str]) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let chunk = json!({
            "id": "chatcmpl-upstream", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        });
        format!("data: {chunk}\n\n")
    };
    let mut frames = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    frames.extend(words.iter().map(|word| chunk(json!({ "content": word }), Value::Null)));
    frames.push(chunk(json!({}), json!("stop")));
    let usage = json!({
        "id": "chatcmpl-upstream", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o", "choices": [],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 },
    });
    frames.push(format!("data: {usage}\n\n"));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn ask(text: &str) -> Value {
    json!({ "model": "gpt-4o", "temperature": 0, "messages": [{ "role": "user", "content": text }] })
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

/// A gateway before one upstream of OpenAI's kind.
async fn before(upstream: &Upstream) -> World {
    let models = served_by(&[("openai", upstream, CHAT)]);
    Setup { models, ..Setup::open() }.start().await
}

impl World {
    async fn chat_with(&self, headers: &[(&str, &str)], body: &Value) -> Reply {
        self.send("POST", "/v1/chat/completions", headers, body).await
    }

    /// What is recorded of the run of an answer, once it is: hanging up is noticed, not awaited.
    async fn recorded(&self, run: &str) -> Value {
        for _ in 0..500 {
            let reply = self.send("GET", &format!("/api/v1/runs/{run}"), &[], &Value::Null).await;
            if reply.status == 200 {
                return reply.json();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("run {run} was never recorded");
    }

    async fn runs(&self) -> Vec<Value> {
        let reply = self.send("GET", "/api/v1/runs", &[], &Value::Null).await;
        reply.json()["runs"].as_array().unwrap().clone()
    }
}

fn run_of(reply: &Reply) -> &str {
    reply.header("x-punk-run-id").unwrap()
}

fn event<'d>(detail: &'d Value, r#type: &str) -> &'d Value {
    let events = detail["events"].as_array().unwrap();
    &events.iter().find(|event| event["type"] == r#type).unwrap_or_else(|| panic!("no {type}: {detail}"))["payload"]
}

#[tokio::test]
async fn what_is_not_understood_reaches_a_same_wire_upstream_untouched_and_in_order() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let body = r#"{ "zeta": 12345678901234567890123, "model":"openai:gpt-4o", "messages":[{"role":"user","content":"Hi","cache":{"b":1,"a":2.50}}],"beta_flag" : [1e3] }"#;
    let response = world.response("POST", "/v1/chat/completions", &[], Bytes::from(body)).await;
    assert_eq!(response.status(), 200);
    let seen = &upstream.seen()[0];
    assert_eq!(String::from_utf8_lossy(&seen.bytes), body.replace("openai:gpt-4o", "gpt-4o"));
    assert_eq!(seen.path, "/v1/chat/completions");
    // And the answer comes back as it was sent.
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(String::from_utf8_lossy(&answer), completion("Hello").to_string());
}

#[tokio::test]
async fn the_callers_own_credentials_never_reach_the_upstream() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let headers = [
        ("authorization", "Bearer sk-of-the-caller"),
        ("x-api-key", "sk-of-the-caller"),
        ("cookie", "session=sk-of-the-caller"),
        ("x-punk-subject", "user-7"),
    ];
    assert_eq!(world.chat_with(&headers, &ask("Hi")).await.status, 200);
    let Seen { headers, .. } = &upstream.seen()[0];
    assert_eq!(headers["authorization"], "Bearer key-of-openai");
    assert!(!format!("{headers:?}").contains("of-the-caller"), "{headers:?}");
    assert!(headers.keys().all(|name| !name.as_str().starts_with("x-punk")), "{headers:?}");
}

#[tokio::test]
async fn a_streams_usage_is_recorded_though_the_caller_did_not_ask_for_it() {
    let upstream = Upstream::start(|_, _| Act::Stream(frames(&["Hel", "lo"]), Then::End)).await;
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &with(ask("Hi"), "stream", json!(true))).await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(!text.contains("prompt_tokens"), "the caller did not ask for it: {text}");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    assert_eq!(upstream.seen()[0].body["stream_options"], json!({ "include_usage": true }));
    let detail = world.recorded(run_of(&reply)).await;
    let completed = event(&detail, "model.completed");
    assert_eq!((&completed["inputTokens"], &completed["usageEstimated"]), (&json!(1000), &json!(false)));
    // 1000 tokens at 2.50 and 100 at 10 dollars a million.
    assert_eq!(completed["costMicroUsd"], 3500);
    assert_eq!(event(&detail, "run.finished")["answer"]["choices"][0]["parts"][0]["text"], "Hello");
}

#[tokio::test]
async fn a_caller_that_hangs_up_in_the_middle_ends_the_upstreams_call_and_the_run_says_so() {
    let upstream = Upstream::start(|_, _| {
        let some = frames(&["This", " was", " paid", " for"]).into_iter().take(5).collect();
        Act::Stream(some, Then::Hang)
    })
    .await;
    let world = before(&upstream).await;
    let body = Bytes::from(with(ask("Tell me a story"), "stream", json!(true)).to_string());
    let mut response = world.response("POST", "/v1/chat/completions", &[], body).await;
    let run = response.headers()["x-punk-run-id"].to_str().unwrap().to_owned();
    response.body_mut().frame().await.unwrap().unwrap();
    drop(response);
    upstream.was_left(1).await;
    let detail = world.recorded(&run).await;
    assert_eq!(detail["run"]["status"], "cancelled");
    let completed = event(&detail, "model.completed");
    assert_eq!(completed["usageEstimated"], true);
    assert!(completed["outputTokens"].as_u64().unwrap() >= 1, "{completed}");
    assert!(completed["costMicroUsd"].as_i64().unwrap() > 0, "{completed}");
}

#[tokio::test]
async fn a_caller_that_hangs_up_before_the_first_word_ends_the_upstreams_call_too() {
    let upstream = Upstream::start(|_, _| Act::Hang).await;
    let world = before(&upstream).await;
    for stream in [false, true] {
        let asked = upstream.seen().len();
        let body = Bytes::from(with(ask("Hi"), "stream", json!(stream)).to_string());
        let response = world.response("POST", "/v1/chat/completions", &[("cache-control", "no-store")], body);
        tokio::select! {
            _ = response => panic!("nothing answers here"),
            () = upstream.was_asked(asked + 1) => {}
        }
        upstream.was_left(asked + 1).await;
    }
    for _ in 0..500 {
        if world.runs().await.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let runs = world.runs().await;
    assert_eq!(runs.iter().map(|run| run["status"].as_str().unwrap()).collect::<Vec<_>>(), ["cancelled"; 2]);
    assert!(runs.iter().all(|run| run["usage"]["inputTokens"].as_u64().unwrap_or(1) > 0), "{runs:?}");
}

#[tokio::test]
async fn a_stream_that_breaks_midway_ends_with_an_error_and_without_an_end() {
    for then in [Then::Break, Then::End] {
        let upstream = Upstream::start(move |_, _| {
            Act::Stream(frames(&["Half", " an"]).into_iter().take(3).collect(), then)
        })
        .await;
        let world = before(&upstream).await;
        let reply = world.chat_with(&[], &with(ask("Hi"), "stream", json!(true))).await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(text.contains("Half") && text.contains("punk_upstream_cut"), "{text}");
        assert!(!text.contains("[DONE]"), "a cut must not look like an end: {text}");
        assert_eq!(text.matches("Half").count(), 1, "nothing is said twice: {text}");
        let detail = world.recorded(run_of(&reply)).await;
        assert_eq!(detail["run"]["status"], "failed");
        assert_eq!(event(&detail, "run.finished")["errorCode"], "punk_upstream_cut");
        // And nobody gets that half an answer again.
        world.chat_with(&[], &ask("Hi")).await;
        assert!(upstream.seen().len() > 1, "the upstream is asked anew");
    }
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_word_is_answered_by_the_fallback() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}"#;
    let first = Upstream::start(move |_, _| {
        Act::Stream(
            vec![format!("event: message_start\ndata: {start}\n\n"), overloaded.to_owned()],
            Then::End,
        )
    })
    .await;
    let second = Upstream::start(|_, _| Act::Stream(frames(&["Here", " I am"]), Then::End)).await;
    let mut models = served_by(&[("first", &first, MESSAGES), ("second", &second, CHAT)]);
    models.catalogue.models.push(providers::model::ModelRule {
        name: "best".into(),
        upstreams: vec!["first".into()],
        fallbacks: vec!["second:gpt-4o".into()],
        ..Default::default()
    });
    let world = Setup { models, ..Setup::open() }.start().await;
    let body = with(with(ask("Hi"), "stream", json!(true)), "model", json!("best"));
    let reply = world.chat_with(&[], &body).await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(text.contains("Here") && text.ends_with("data: [DONE]\n\n"), "{text}");
    assert!(!text.contains("busy"), "{text}");
    let detail = world.recorded(run_of(&reply)).await;
    let fallback = detail["run"]["routeExplanation"]["fallback"].as_str().unwrap();
    assert!(fallback.starts_with("second/gpt-4o"), "{fallback}");
}

#[tokio::test]
async fn an_error_keeps_its_status_and_wears_the_callers_shape() {
    let upstream = Upstream::start(|_, _| {
        let error = json!({ "error": { "message": "Too long", "type": "invalid_request_error", "code": "context_length_exceeded", "param": "messages" } });
        Act::Say(400, vec![("x-request-id", "req_1")], error)
    })
    .await;
    let world = before(&upstream).await;
    let same = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!((same.status, same.code().as_str()), (400, "context_length_exceeded"));
    let body =
        json!({ "model": "gpt-4o", "max_tokens": 5, "messages": [{ "role": "user", "content": "Hi" }] });
    let other = world.send("POST", "/v1/messages", &[], &body).await;
    assert_eq!((other.status, &other.json()["type"]), (400, &json!("error")));
    assert_eq!(other.json()["error"]["type"], "invalid_request_error");
    assert_eq!(other.json()["error"]["message"], "Too long");
    assert_eq!(world.recorded(run_of(&other)).await["run"]["status"], "failed");
    assert_eq!(upstream.seen().len(), 2, "nothing is tried again that would end the same");
}

#[tokio::test]
async fn an_error_with_a_success_for_a_status_is_an_error() {
    let upstream = Upstream::start(|_, _| {
        Act::Say(200, vec![], json!({ "error": { "message": "boom", "type": "server_error" } }))
    })
    .await;
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!(reply.status, 500, "{reply:?}");
    assert_eq!(world.recorded(run_of(&reply)).await["run"]["status"], "failed");
}

#[tokio::test]
async fn an_identical_request_is_answered_from_the_cache_however_it_is_delivered() {
    let upstream = Upstream::start(|_, seen| match seen.body["stream"].as_bool() {
        Some(true) => Act::Stream(frames(&["Hel", "lo"]), Then::End),
        _ => says("Hello"),
    })
    .await;
    let world = before(&upstream).await;
    let first = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!(first.header("x-punk-route"), Some("live"));
    let again = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!(again.header("x-punk-route"), Some("exact_cache"));
    let (first, again) = (first.json(), (again.json(), again));
    assert_eq!(first["choices"][0]["message"]["content"], again.0["choices"][0]["message"]["content"]);
    assert_ne!(first["id"], again.0["id"], "the ids are fresh");
    assert_eq!(first["usage"]["prompt_tokens"], again.0["usage"]["prompt_tokens"]);
    let detail = world.recorded(run_of(&again.1)).await;
    let run = &detail["run"];
    assert_eq!((&run["costUsd"], &run["savedUsd"]), (&json!(0.0), &json!(0.0035)));
    assert_eq!(run["routeExplanation"]["cache"]["sourceRun"].as_str().unwrap().len(), run_of(&again.1).len());

    let streamed = world.chat_with(&[], &with(ask("Hi"), "stream", json!(true))).await;
    assert_eq!(streamed.header("x-punk-route"), Some("exact_cache"));
    let text = String::from_utf8_lossy(&streamed.body).into_owned();
    assert!(text.ends_with("data: [DONE]\n\n") && !text.contains("prompt_tokens"), "{text}");
    assert_eq!(upstream.seen().len(), 1);

    // What was streamed first is there for whoever wants it whole.
    world.chat_with(&[], &with(ask("Ho"), "stream", json!(true))).await;
    let whole = world.chat_with(&[], &ask("Ho")).await;
    assert_eq!(whole.header("x-punk-route"), Some("exact_cache"));
    assert_eq!(whole.json()["choices"][0]["message"]["content"], "Hello");
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn the_callers_wishes_about_the_cache_are_honoured() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let route = async |headers: &[(&str, &str)], body: &Value| {
        let reply = world.chat_with(headers, body).await;
        reply.header("x-punk-route").map_or_else(|| reply.code(), str::to_owned)
    };
    assert_eq!(
        world.chat_with(&[("cache-control", "only-if-cached")], &ask("Hi")).await.code(),
        "punk_not_kept"
    );
    assert_eq!(route(&[("cache-control", "no-store")], &ask("Hi")).await, "live");
    assert_eq!(route(&[], &ask("Hi")).await, "live", "what must not be kept was not");
    assert_eq!(route(&[], &ask("Hi")).await, "exact_cache");
    assert_eq!(route(&[("cache-control", "no-cache")], &ask("Hi")).await, "live");
    assert_eq!(route(&[("cache-control", "max-age=600")], &ask("Hi")).await, "exact_cache");
    let chance = with(ask("Hi"), "temperature", json!(0.7));
    assert_eq!(route(&[], &chance).await, "live");
    assert_eq!(route(&[], &chance).await, "live", "chance is not cached");
    assert_eq!(route(&[("x-punk-cache", "on")], &chance).await, "live");
    assert_eq!(route(&[("x-punk-cache", "on")], &chance).await, "exact_cache", "unless asked");
    assert_eq!(world.chat_with(&[("x-punk-cache", "maybe")], &chance).await.status, 400);
}

#[tokio::test]
async fn concurrent_identical_requests_make_one_call_and_all_are_served() {
    let upstream = Upstream::start(|_, _| Act::Stream(frames(&["Hel", "lo"]), Then::End)).await;
    let world = std::sync::Arc::new(before(&upstream).await);
    let body = with(ask("Hi"), "stream", json!(true));
    let all = (0..20).map(|_| {
        let (world, body) = (world.clone(), body.clone());
        tokio::spawn(async move { world.chat_with(&[], &body).await })
    });
    let mut routes = Vec::new();
    for one in all.collect::<Vec<_>>() {
        let reply = one.await.unwrap();
        assert!(String::from_utf8_lossy(&reply.body).ends_with("data: [DONE]\n\n"), "{reply:?}");
        routes.push(reply.header("x-punk-route").unwrap().to_owned());
    }
    assert_eq!(upstream.seen().len(), 1, "{routes:?}");
    assert_eq!(routes.iter().filter(|route| *route == "live").count(), 1, "{routes:?}");
}

#[tokio::test]
async fn those_who_wait_for_a_call_that_fails_ask_for_themselves() {
    let upstream = Upstream::start(|before, _| if before < 2 { fails(400) } else { says("Hello") }).await;
    let world = std::sync::Arc::new(before(&upstream).await);
    let all = (0..4).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { world.chat_with(&[], &ask("Hi")).await.status })
    });
    let mut statuses = Vec::new();
    for one in all.collect::<Vec<_>>() {
        statuses.push(one.await.unwrap());
    }
    statuses.sort_unstable();
    assert!(statuses.contains(&200), "errors are not shared or kept: {statuses:?}");
}

#[tokio::test]
async fn an_answer_reaches_nobody_but_its_own_subject_and_tenant() {
    let upstream = Upstream::start(|_, _| says("Your parcel is in Berlin")).await;
    let models = served_by(&[("openai", &upstream, CHAT)]);
    let world = Setup { models, ..Setup::protected() }.start().await;
    let key = |tenant: &Value| {
        let body = json!({ "name": "k", "tenant": tenant });
        let world = &world;
        async move {
            let made = world.operate("POST", "/api/v1/keys", &body).await;
            format!("Bearer {}", made.json()["token"].as_str().unwrap_or_else(|| panic!("{made:?}")))
        }
    };
    let tenant = world.operate("POST", "/api/v1/tenants", &json!({ "name": "Other" })).await.json();
    let tenant =
        tenant["tenant"]["id"].as_str().or(tenant["id"].as_str()).unwrap_or_else(|| panic!("{tenant}"));
    let (ours, theirs) = (format!("Bearer {OPERATOR}"), key(&json!(tenant)).await);
    let route = async |key: &str, subject: &str| {
        let headers = [("authorization", key), ("x-punk-subject", subject)];
        world
            .chat_with(&headers, &ask("Where is my parcel?"))
            .await
            .header("x-punk-route")
            .unwrap()
            .to_owned()
    };
    assert_eq!(route(&ours, "alice").await, "live");
    assert_eq!(route(&ours, "alice").await, "exact_cache");
    assert_eq!(route(&ours, "bob").await, "live");
    assert_eq!(route(&theirs, "alice").await, "live");
    assert_eq!(route(&theirs, "alice").await, "exact_cache");
}

#[tokio::test]
async fn an_observing_key_is_answered_live_and_what_would_have_answered_is_counted() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let models = served_by(&[("openai", &upstream, CHAT)]);
    let world = Setup { models, ..Setup::protected() }.start().await;
    let made = world.operate("POST", "/api/v1/keys", &json!({ "name": "o", "gatewayMode": "observe" })).await;
    let key = made.json()["token"].as_str().unwrap().to_owned();
    world.with(OPERATOR, "POST", "/v1/chat/completions", &ask("Hi")).await;
    let reply = world.with(&key, "POST", "/v1/chat/completions", &ask("Hi")).await;
    assert_eq!(reply.header("x-punk-route"), Some("live"));
    assert_eq!(upstream.seen().len(), 2);
    let path = format!("/api/v1/runs/{}", run_of(&reply));
    let detail = world.operate("GET", &path, &Value::Null).await.json();
    assert_eq!(detail["run"]["routeExplanation"]["ghost"]["route"], "exact_cache");
    let finished = event(&detail, "run.finished");
    assert_eq!((&finished["ghostSavedMicroUsd"], &finished["savedMicroUsd"]), (&json!(3500), &json!(0)));
}

#[tokio::test]
async fn a_malformed_request_creates_no_run_and_calls_nobody() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let messages = json!([{ "role": "user", "content": "Hi" }]);
    for (path, body, param) in [
        ("/v1/chat/completions", with(ask("Hi"), "stream", json!("yes")), "stream"),
        (
            "/v1/chat/completions",
            with(ask("Hi"), "messages", json!([{ "role": "king", "content": "x" }])),
            "messages[0].role",
        ),
        (
            "/v1/chat/completions",
            with(ask("Hi"), "tools", json!([{ "type": "function" }])),
            "tools[0].function",
        ),
        ("/v1/chat/completions", with(ask("Hi"), "temperature", json!("hot")), "temperature"),
        ("/v1/messages", json!({ "model": "gpt-4o", "messages": messages }), "max_tokens"),
        (
            "/v1/messages",
            json!({ "model": "gpt-4o", "max_tokens": 5, "messages": messages, "thinking": { "type": "loud" } }),
            "thinking.type",
        ),
        ("/v1/responses", json!({ "model": "gpt-4o", "input": "Hi", "stream": 1 }), "stream"),
        ("/v1/embeddings", json!({ "model": "gpt-4o", "input": [] }), "input"),
    ] {
        let reply = world.send("POST", path, &[], &body).await;
        assert_eq!(
            (reply.status, reply.json()["error"]["param"].as_str()),
            (400, Some(param)),
            "{path} {body}: {reply:?}"
        );
        let anthropic = reply.json()["type"] == "error";
        assert_eq!(anthropic, path == "/v1/messages", "each wire has its own shape");
    }
    assert!(upstream.seen().is_empty() && world.runs().await.is_empty());
}

#[tokio::test]
async fn tool_calls_from_the_cache_have_ids_of_their_own() {
    let upstream = Upstream::start(|_, _| {
        let mut body = completion("");
        body["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_1", "type": "function", "function": { "name": "lookup", "arguments": "{\"id\":7}" } } ] });
        body["choices"][0]["finish_reason"] = json!("tool_calls");
        Act::Say(200, vec![], body)
    })
    .await;
    let world = before(&upstream).await;
    let call = |reply: &Reply| reply.json()["choices"][0]["message"]["tool_calls"][0].clone();
    let mut ids = std::collections::HashSet::new();
    for _ in 0..3 {
        let call = call(&world.chat_with(&[], &ask("Look up 7")).await);
        assert_eq!(call["function"], json!({ "name": "lookup", "arguments": "{\"id\":7}" }));
        assert!(ids.insert(call["id"].as_str().unwrap().to_owned()), "{ids:?}");
    }
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn an_alias_shares_the_answers_and_the_price_of_its_model() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    world.chat_with(&[], &ask("Hi")).await;
    let aliased = world.chat_with(&[], &with(ask("Hi"), "model", json!("openai:gpt-4o"))).await;
    assert_eq!(aliased.header("x-punk-route"), Some("exact_cache"));
    let live = world.chat_with(&[], &with(ask("Ho"), "model", json!("openai:gpt-4o"))).await;
    assert_eq!(upstream.seen()[1].body["model"], "gpt-4o");
    assert_eq!(world.recorded(run_of(&live)).await["run"]["costUsd"], 0.0035);
}

#[tokio::test]
async fn a_model_without_a_price_costs_what_nobody_knows() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &with(ask("Hi"), "model", json!("our-own-finetune"))).await;
    assert_eq!(world.recorded(run_of(&reply)).await["run"]["costUsd"], Value::Null);
}

#[tokio::test]
async fn secrets_in_requests_and_answers_are_taken_out_before_they_are_recorded() {
    let secret = "sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0iXb";
    let upstream = Upstream::start(move |_, _| says(&format!("Your key is {secret}"))).await;
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &ask(&format!("My key is {secret}"))).await;
    assert!(String::from_utf8_lossy(&reply.body).contains(secret), "the caller gets what was said");
    assert!(!world.recorded(run_of(&reply)).await.to_string().contains(secret));
    // What stands for the caller's own secret is put back for whoever asks the same.
    let again = world.chat_with(&[], &ask(&format!("My key is {secret}"))).await;
    assert!(String::from_utf8_lossy(&again.body).contains(secret));
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn an_upstream_that_cannot_be_reached_is_told_apart_from_one_that_says_no() {
    let upstream = Upstream::nowhere();
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!((reply.status, reply.code().as_str()), (502, "punk_upstream_unreachable"));
    let detail = world.recorded(run_of(&reply)).await;
    assert_eq!(event(&detail, "model.attempted")["fault"], "connect");
}

#[tokio::test]
async fn a_run_belongs_to_the_trace_of_its_caller() {
    let upstream = Upstream::start(|_, _| says("Hello")).await;
    let world = before(&upstream).await;
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let traced = world.chat_with(&[("traceparent", parent)], &ask("Hi")).await;
    let detail = world.recorded(run_of(&traced)).await;
    assert_eq!(event(&detail, "run.started")["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    let untraced = world.chat_with(&[("traceparent", "00-nonsense")], &ask("Ho")).await;
    assert_eq!(event(&world.recorded(run_of(&untraced)).await, "run.started").get("traceId"), None);
}

#[tokio::test]
async fn whoever_goes_on_from_a_cached_response_goes_on_from_the_vendors() {
    let upstream = Upstream::start(|before, _| {
        let said = json!({ "type": "output_text", "text": "Hello", "annotations": [] });
        let output = json!([{ "id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [said] }]);
        let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
        let body = json!({
            "id": format!("resp_of_the_vendor_{before}"), "object": "response", "created_at": 1, "status": "completed",
            "model": "gpt-4o", "output": output, "usage": usage,
        });
        Act::Say(200, vec![], body)
    })
    .await;
    let models = served_by(&[("openai", &upstream, &[Wire::Chat, Wire::Responses])]);
    let world = Setup { models, ..Setup::open() }.start().await;
    let respond = async |body: Value| world.send("POST", "/v1/responses", &[], &body).await;
    let first = json!({ "model": "gpt-4o", "temperature": 0, "input": "Hi" });
    assert_eq!(respond(first.clone()).await.json()["id"], "resp_of_the_vendor_0");
    let again = respond(first).await;
    assert_eq!(again.header("x-punk-route"), Some("exact_cache"));
    let id = again.json()["id"].clone();
    assert_ne!(id, "resp_of_the_vendor_0");
    let next = json!({ "model": "gpt-4o", "temperature": 0, "input": "And?", "previous_response_id": id });
    assert_eq!(respond(next).await.header("x-punk-route"), Some("live"));
    assert_eq!(upstream.seen()[1].body["previous_response_id"], "resp_of_the_vendor_0");
    let own = json!({ "model": "gpt-4o", "input": "And?", "previous_response_id": "resp_of_the_vendor_1" });
    respond(own).await;
    assert_eq!(upstream.seen()[2].body["previous_response_id"], "resp_of_the_vendor_1");
}

#[tokio::test]
async fn an_answer_that_breaks_off_before_anybody_heard_of_it_is_asked_for_again() {
    let upstream = Upstream::start(|before, _| match before {
        0 => Act::Broken(completion("Half").to_string().split_off(20)),
        _ => says("Whole"),
    })
    .await;
    let world = before(&upstream).await;
    let reply = world.chat_with(&[], &ask("Hi")).await;
    assert_eq!((reply.status, upstream.seen().len()), (200, 2), "{reply:?}");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "Whole");
}

#[tokio::test]
async fn an_upstream_that_refuses_our_key_is_left_for_the_fallback() {
    let first = Upstream::start(|_, _| fails(401)).await;
    let second = Upstream::start(|_, _| says("Here I am")).await;
    let mut models = served_by(&[("first", &first, CHAT), ("second", &second, CHAT)]);
    models.catalogue.models.push(providers::model::ModelRule {
        name: "best".into(),
        upstreams: vec!["first".into()],
        fallbacks: vec!["second:gpt-4o".into()],
        ..Default::default()
    });
    let world = Setup { models, ..Setup::open() }.start().await;
    let reply = world.chat_with(&[], &with(ask("Hi"), "model", json!("best"))).await;
    assert_eq!((reply.status, first.seen().len(), second.seen().len()), (200, 1, 1), "{reply:?}");
}
