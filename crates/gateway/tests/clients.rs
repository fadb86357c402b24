//! Clients that keep to no rules: slow, silent, endless, and too many. None of them keeps a place for nothing, and everybody
//! else is served.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;
use std::time::Duration;

use gateway::Bounds;
use serde_json::{Value, json};
use tokio::sync::Notify;
use wire::Wire;
use world::raw::{RawClient, RawUpstream, Step, say};
use world::upstream::served_at;
use world::{Setup, World};

/// Soon enough for a test, and long enough that a request in one piece is there.
const SHORT: Duration = Duration::from_millis(300);

/// Bounds that no test meets by accident.
fn patient() -> Bounds {
    let hour = Duration::from_secs(3600);
    Bounds { header: hour, idle: hour, body: hour, stalled: hour, ..Bounds::default() }
}

async fn bounded(bounds: Bounds) -> World {
    Setup { bounds, ..Setup::open() }.start().await
}

fn head(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}\r\n")
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("nothing")
}

/// The body of an answer that has one.
#[track_caller]
fn body(answer: &str) -> Value {
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer}"))
}

async fn runs(world: &World) -> Vec<Value> {
    world.send("GET", "/api/v1/runs", &[], &Value::Null).await.json()["runs"].as_array().unwrap().clone()
}

/// Whether somebody who behaves is served.
async fn assert_serves(world: &World) {
    let body = json!({ "model": "punk-mock", "messages": [{ "role": "user", "content": "Hi" }] });
    let reply = world.send("POST", "/v1/chat/completions", &[], &body).await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_not_waited_for() {
    let world = bounded(Bounds { header: SHORT, ..patient() }).await;
    let mut client = RawClient::connect(&world.address).await;
    for byte in head("/v1/chat/completions", &"x-slow: loris\r\n".repeat(90)).bytes() {
        if !client.say([byte]).await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut halfway = RawClient::connect(&world.address).await;
    halfway.say("POST /v1/chat/completions HTTP/1.1\r\nhost: loc").await;
    let answer = halfway.rest().await;
    assert_eq!(status(&answer), "408", "{answer}");
    assert_eq!(body(&answer)["error"]["code"], "punk_request_late");
    client.rest().await;
    assert!(runs(&world).await.is_empty());
    assert_serves(&world).await;
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed_without_a_word() {
    let world = bounded(Bounds { header: SHORT, ..patient() }).await;
    assert_eq!(RawClient::connect(&world.address).await.rest().await, "");
    assert_serves(&world).await;
}

#[tokio::test]
async fn a_connection_is_kept_between_requests_only_for_so_long() {
    let world = bounded(Bounds { idle: SHORT, ..patient() }).await;
    let mut client = RawClient::connect(&world.address).await;
    for _ in 0..2 {
        client.say("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert_eq!(status(&client.until("\r\n\r\n{").await), "200");
    }
    let rest = client.rest().await;
    assert!(!rest.contains("HTTP/1.1"), "{rest}");
}

#[tokio::test]
async fn a_stream_may_be_silent_for_as_long_as_it_likes() {
    let word = Arc::new(Notify::new());
    let upstream = RawUpstream::start({
        let word = Arc::clone(&word);
        move |_| {
            vec![say(STREAM), say(frame("Hel")), Step::Wait(Arc::clone(&word)), say(frame("lo")), say(END)]
        }
    })
    .await;
    let bounds = Bounds { header: SHORT, idle: SHORT, body: SHORT, stalled: SHORT, ..patient() };
    let models = served_at(&[("openai", &upstream.url, &[Wire::Chat])], |_| {});
    let world = Setup { bounds, models, ..Setup::open() }.start().await;
    let mut client = RawClient::connect(&world.address).await;
    client.say(streamed()).await;
    client.until("Hel").await;
    // All the clocks there are would have rung by then.
    tokio::time::sleep(SHORT * 3).await;
    word.notify_one();
    client.until("[DONE]").await;
}

#[tokio::test]
async fn too_large_a_head_and_too_long_an_address_are_refused_by_name() {
    let world = bounded(Bounds { header_bytes: 16 * 1024, ..patient() }).await;
    let ask = async |request: String| {
        let mut client = RawClient::connect(&world.address).await;
        client.say(request).await;
        client.rest().await
    };
    let large = ask(head("/v1/chat/completions", &format!("x-large: {}\r\n", "a".repeat(17 * 1024)))).await;
    assert_eq!(status(&large), "431", "{large}");
    let many = ask(head("/v1/chat/completions", &"x-many: a\r\n".repeat(101))).await;
    assert_eq!(status(&many), "431", "{many}");
    let long = ask(head(&format!("/v1/messages?{}", "a".repeat(9000)), "content-length: 0\r\n")).await;
    assert_eq!(status(&long), "414", "{long}");
    let error = body(&long);
    assert_eq!((&error["type"], &error["error"]["code"]), (&json!("error"), &json!("punk_url_too_long")));
    assert_serves(&world).await;
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_before_it_is_sent() {
    let world = bounded(patient()).await;
    for (path, code) in [("/v1/chat/completions", "punk_invalid_body"), ("/v1/messages", "punk_invalid_body")]
    {
        let mut client = RawClient::connect(&world.address).await;
        client.say(head(path, "content-length: 20000000\r\nexpect: 100-continue\r\n")).await;
        let answer = client.rest().await;
        assert_eq!(status(&answer), "413", "nobody asked for the body: {answer}");
        assert_eq!(body(&answer)["error"]["code"], code);
        assert_eq!(body(&answer)["type"] == "error", path == "/v1/messages");
    }
    assert!(runs(&world).await.is_empty());
    assert_serves(&world).await;
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused_at_the_limit() {
    let world = bounded(patient()).await;
    let mut client = RawClient::connect(&world.address).await;
    client.say(head("/v1/chat/completions", "transfer-encoding: chunked\r\n")).await;
    let chunk = format!("4000\r\n{}\r\n", "a".repeat(0x4000));
    // A limit of 1 MiB; whoever would read on is found out by the count.
    let mut chunks = 0;
    while chunks < 4096 && client.say(&chunk).await {
        chunks += 1;
    }
    assert!(chunks < 4096, "somebody takes all of it");
    assert_serves(&world).await;
    assert!(runs(&world).await.len() == 1, "the endless one is none");

    // Whoever looks is told.
    let mut client = RawClient::connect(&world.address).await;
    let whole = head("/v1/messages", "transfer-encoding: chunked\r\n") + &chunk.repeat(65);
    client.say(whole).await;
    let answer = client.until("}").await;
    assert_eq!(status(&answer), "413", "{answer}");
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_not_waited_for() {
    let world = bounded(Bounds { body: SHORT, ..patient() }).await;
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/v1/runs"] {
        let mut client = RawClient::connect(&world.address).await;
        client.say(head(path, "content-length: 1000\r\n")).await;
        client.say("{\"model\": \"punk").await;
        let answer = client.rest().await;
        assert_eq!(status(&answer), "408", "{path}: {answer}");
        assert_eq!(body(&answer)["error"]["code"], "punk_request_late", "{path}");
        assert_eq!(body(&answer)["type"] == "error", path == "/v1/messages");
    }
    assert!(runs(&world).await.is_empty(), "a refused input creates nothing");
    assert_serves(&world).await;
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_what_it_asks_leaves_nothing_behind() {
    let world = bounded(patient()).await;
    let whole = head("/v1/chat/completions", "content-length: 1000\r\n") + "{\"model\":";
    for end in [5, whole.len() / 2, whole.len()] {
        RawClient::connect(&world.address).await.say(&whole[..end]).await;
    }
    assert_serves(&world).await;
    assert_eq!(runs(&world).await.len(), 1);
}

#[tokio::test]
async fn a_client_that_does_not_take_its_stream_holds_it_back_and_is_cut_off() {
    // Comments are passed on as they are, so they fill the buffers soon.
    let comment = format!(": {}\n\n", "word ".repeat(4000));
    let upstream = RawUpstream::start(move |_| vec![say(STREAM), Step::Repeat(comment.clone().into())]).await;
    let models = served_at(&[("openai", &upstream.url, &[Wire::Chat])], |_| {});
    let bounds = Bounds { stalled: Duration::from_secs(3), ..patient() };
    let world = Setup { bounds, models, ..Setup::open() }.start().await;
    let mut client = RawClient::narrow(&world.address).await;
    client.say(streamed()).await;
    client.until("word").await;
    // Nothing is read from here on: soon nothing is written either, until the client is cut off.
    upstream.was_left(1).await;
    // What is on its way is in the buffers of four sockets; an upstream that is not held back sends hundreds of megabytes.
    assert!(upstream.sent() < 24 << 20, "{} bytes were taken from it", upstream.sent());
    let recorded = async {
        loop {
            if let [run] = runs(&world).await.as_slice() {
                return run["status"].clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let recorded = tokio::time::timeout(Duration::from_secs(30), recorded).await.expect("the run ends");
    assert_eq!(recorded, "cancelled");
}

#[tokio::test]
async fn a_client_that_takes_its_answer_slowly_gets_all_of_it() {
    let text = "word ".repeat(700_000);
    let answer = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
    });
    let answer = answer.to_string();
    let whole =
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
    let upstream = RawUpstream::start(move |_| vec![say(&whole)]).await;
    let models = served_at(&[("openai", &upstream.url, &[Wire::Chat])], |_| {});
    let bounds = Bounds { idle: SHORT / 15, ..patient() };
    let world = Setup { bounds, models, ..Setup::open() }.start().await;
    let mut client = RawClient::narrow(&world.address).await;
    client.say(asking(false)).await;
    let mut heard = client.until("\r\n\r\n").await.split_once("\r\n\r\n").unwrap().1.len();
    while heard < answer.len() {
        tokio::time::sleep(SHORT / 10).await;
        let sip = client.sip((128 << 10).min(answer.len() - heard)).await.len();
        assert!(sip > 0, "cut off after {heard} of {} bytes", answer.len());
        heard += sip;
    }
}

#[tokio::test]
async fn more_connections_than_may_be_are_told_to_come_again() {
    let world = bounded(Bounds { connections: 2, ..patient() }).await;
    let hello = async || {
        let mut client = RawClient::connect(&world.address).await;
        client.say("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        let answer = client.until("}").await;
        (client, answer)
    };
    let (first, one) = hello().await;
    let (_second, two) = hello().await;
    assert_eq!((status(&one), status(&two)), ("200", "200"));
    let (mut third, refused) = hello().await;
    let refused = refused + &third.rest().await;
    assert_eq!(status(&refused), "503", "{refused}");
    assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
    assert_eq!(body(&refused)["error"]["code"], "punk_connections_full");
    drop(first);
    // Its place is free when the server has seen it leave.
    let served = async { while status(&hello().await.1) != "200" {} };
    tokio::time::timeout(Duration::from_secs(30), served).await.expect("there is room again");
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const END: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o\",\
    \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn frame(word: &str) -> String {
    let chunk = json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "delta": { "content": word }, "finish_reason": null }],
    });
    format!("data: {chunk}\n\n")
}

/// A request for a stream.
fn streamed() -> String {
    asking(true)
}

fn asking(stream: bool) -> String {
    let body =
        json!({ "model": "gpt-4o", "stream": stream, "messages": [{ "role": "user", "content": "Hi" }] });
    let body = body.to_string();
    head("/v1/chat/completions", &format!("content-length: {}\r\n", body.len())) + &body
}
