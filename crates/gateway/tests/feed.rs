//! The feed: what happens, as it happens.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use serde_json::{Value, json};
use world::{OPERATOR, Setup, World};

/// Somebody who reads along.
struct Reader {
    body: Incoming,
    text: String,
}

/// One message: its id and its data.
type Message = (String, Value);

impl Reader {
    async fn open(world: &World, key: &str, query: &str, last: Option<&str>) -> Self {
        let bearer = format!("Bearer {key}");
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last.map(|id| ("last-event-id", id)));
        let response = world.response("GET", &format!("/api/v1/events{query}"), &headers, Bytes::new()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut reader = Self { body: response.into_body(), text: String::new() };
        assert_eq!(reader.block().await.as_deref(), Some(": hello"), "it is heard from now on");
        reader
    }

    /// The next block of lines; nothing at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            let frame = self.body.frame().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    async fn next(&mut self) -> Message {
        loop {
            let block = self.block().await.expect("there is a next message");
            if let Some((id, data)) = block.split_once("\ndata: ") {
                return (id.strip_prefix("id: ").unwrap().to_owned(), serde_json::from_str(data).unwrap());
            }
        }
    }

    async fn take(&mut self, count: usize) -> Vec<Message> {
        let mut messages = Vec::new();
        for _ in 0..count {
            messages.push(self.next().await);
        }
        messages
    }
}

fn types(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|(_, data)| data["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_happens_is_told_in_order_and_from_now_on() {
    let world = Setup::protected().start().await;
    world.chat(OPERATOR, "before").await;
    let mut reader = Reader::open(&world, OPERATOR, "", None).await;
    let run = world.chat(OPERATOR, "hello").await;
    let told = reader.take(4).await;
    assert_eq!(types(&told), ["run.started", "policy.decided", "model.completed", "run.finished"]);
    assert!(told.iter().all(|(_, data)| data["runId"] == json!(run)));
    let note = json!({ "runId": run, "type": "note", "payload": {} });
    assert_eq!(world.operate("POST", "/api/v1/trace", &note).await.status, 201);
    assert_eq!(types(&reader.take(1).await), ["note"], "what comes after the end is told at once");
}

#[tokio::test]
async fn whoever_comes_back_with_any_id_is_told_the_rest_once() {
    let world = Setup::protected().start().await;
    for i in 0..3 {
        let run = world.chat(OPERATOR, &format!("question {i}")).await;
        let note = json!({ "runId": run, "type": "note", "payload": { "i": i } });
        world.operate("POST", "/api/v1/trace", &note).await;
    }
    let all = Reader::open(&world, OPERATOR, "?after=0-0", None).await.take(15).await;
    for cut in 0..15 {
        let mut reader = Reader::open(&world, OPERATOR, "", Some(&all[cut].0)).await;
        assert_eq!(reader.take(14 - cut).await, all[cut + 1..], "after {}", all[cut].0);
        // The next thing it is told is the next thing that happens.
        if cut == 14 {
            let run = world.chat(OPERATOR, "one more").await;
            assert_eq!(reader.next().await.1["runId"], json!(run));
        }
    }
}

#[tokio::test]
async fn a_filter_tells_only_what_was_asked_for() {
    let world = Setup::protected().start().await;
    let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "hi" }] });
    let mut runs = Vec::new();
    for (app, agent) in [("one", "a"), ("two", "b")] {
        let bearer = format!("Bearer {OPERATOR}");
        let headers = [("authorization", bearer.as_str()), ("x-punk-app", app), ("x-punk-agent", agent)];
        let reply = world.send("POST", "/v1/chat/completions", &headers, &body).await;
        runs.push(reply.header("x-punk-run-id").unwrap().to_owned());
    }
    for (query, count, wanted) in [
        ("app=two".to_owned(), 4, &runs[1]),
        ("agent=a".to_owned(), 4, &runs[0]),
        (format!("run={}", runs[1]), 4, &runs[1]),
        ("app=one&type=model.completed".to_owned(), 1, &runs[0]),
        ("app=one&type=run.*".to_owned(), 2, &runs[0]),
        ("agent=b&route=live".to_owned(), 4, &runs[1]),
    ] {
        let told =
            Reader::open(&world, OPERATOR, &format!("?after=0-0&{query}"), None).await.take(count).await;
        assert!(told.iter().all(|(_, data)| data["runId"] == json!(wanted)), "{query}: {told:?}");
    }
    for bad in ["?type=", "?run=x", "?after=x", "?nonsense=1"] {
        assert_eq!(
            world.operate("GET", &format!("/api/v1/events{bad}"), &Value::Null).await.status,
            400,
            "{bad}"
        );
    }
}

#[tokio::test]
async fn a_run_that_goes_on_is_told_when_it_ends_and_not_before() {
    let world = Setup::protected().start().await;
    let mut reader = Reader::open(&world, OPERATOR, "", None).await;
    let open = world.operate("POST", "/api/v1/runs", &json!({})).await.json()["runId"].clone();
    world.operate("POST", "/api/v1/trace", &json!({ "runId": open, "type": "note" })).await;
    let run = world.chat(OPERATOR, "hello").await;
    assert_eq!(reader.next().await.1["runId"], json!(run));
}

#[tokio::test]
async fn a_feed_ends_when_the_process_does_and_when_its_key_is_taken_back() {
    let mut world = Setup::protected().start().await;
    let made =
        world.operate("POST", "/api/v1/keys", &json!({ "name": "k", "scopes": ["read"] })).await.json();
    let mut reader = Reader::open(&world, made["token"].as_str().unwrap(), "", None).await;
    world
        .operate("DELETE", &format!("/api/v1/keys/{}", made["key"]["id"].as_str().unwrap()), &Value::Null)
        .await;
    while reader.block().await.is_some() {}
    let mut reader = Reader::open(&world, OPERATOR, "", None).await;
    assert_eq!(world.stop().await, 0, "nothing had to be cut");
    assert_eq!(reader.block().await, None);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_hears_nothing_is_told_that_it_is_still_there() {
    let world = Setup::protected().start().await;
    let mut reader = Reader::open(&world, OPERATOR, "", None).await;
    assert!(reader.block().await.unwrap().starts_with(": still here\nid: "));
}
