//! Upstreams that keep to no rules, one fault after the other, through a real gateway.
//!
//! Whatever an upstream does: its caller gets a clear error in the words of its own wire and never an end that hides a cut;
//! the run is in the ledger, finished and failed, and its chain verifies; nothing of the budget stays set aside; and the next
//! request is answered.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use wire::Wire;
use world::raw::{RawClient, RawUpstream, Step, say};
use world::upstream::served_at;
use world::{Reply, Setup, World};

/// How long an upstream may stand still here.
const PATIENCE: Duration = Duration::from_millis(600);

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";

const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// An answer in OpenAI's shape.
fn completion(text: &str) -> String {
    json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    })
    .to_string()
}

/// A frame in OpenAI's shape.
fn frame(delta: &Value, finish: &Value) -> String {
    let chunk = json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

fn word(text: &str) -> String {
    frame(&json!({ "content": text }), &Value::Null)
}

fn end() -> String {
    frame(&json!({}), &json!("stop")) + "data: [DONE]\n\n"
}

/// A head that says how long its body is.
fn long(length: usize, body: &str) -> Step {
    say(format!("{JSON}content-length: {length}\r\n\r\n{body}"))
}

fn whole(body: &str) -> Step {
    long(body.len(), body)
}

/// What a well upstream says, whole or as a stream.
fn well(stream: bool) -> Vec<Step> {
    if stream { vec![say(STREAM), say(word("Well")), say(end())] } else { vec![whole(&completion("Well"))] }
}

/// A gateway before an upstream that has a fault until it is well, and a budget that everything is counted in.
struct Ward {
    world: World,
    upstream: RawUpstream,
    is_well: Arc<AtomicBool>,
    stream: bool,
}

impl Ward {
    /// Patience is short with what hangs, and with nothing else: a busy machine must not decide what a fault looks like.
    async fn open(stream: bool, name: &str, fault: impl Fn() -> Vec<Step> + Send + Sync + 'static) -> Self {
        let hangs = ["hangs", "promises for ever"].iter().any(|begin| name.starts_with(begin));
        Self::tuned(stream, fault, |spec| {
            if hangs {
                (spec.timeouts.first_byte, spec.timeouts.idle) = (PATIENCE, PATIENCE);
            }
        })
        .await
    }

    async fn tuned(
        stream: bool,
        fault: impl Fn() -> Vec<Step> + Send + Sync + 'static,
        tune: impl Fn(&mut providers::upstream::Spec),
    ) -> Self {
        let is_well = Arc::new(AtomicBool::new(false));
        let healed = Arc::clone(&is_well);
        let script = move |_| if healed.load(Ordering::SeqCst) { well(stream) } else { fault() };
        let upstream = RawUpstream::start(script).await;
        let models = served_at(&[("openai", &upstream.url, &[Wire::Chat])], tune);
        let world = Setup { models, ..Setup::protected() }.start().await;
        let budget = json!({ "name": "b", "limitUsd": 100, "per": "tenant", "window": "total" });
        assert_eq!(world.operate("POST", "/api/v1/budgets", &budget).await.status, 201);
        Self { world, upstream, is_well, stream }
    }

    async fn ask(&self, path: &str) -> Reply {
        let mut body = json!({ "model": "gpt-4o", "temperature": 0, "stream": self.stream });
        match path {
            RESPONSES => body["input"] = json!("Hi"),
            _ => body["messages"] = json!([{ "role": "user", "content": "Hi" }]),
        }
        if path == MESSAGES {
            body["max_tokens"] = json!(50);
        }
        self.world.operate("POST", path, &body).await
    }

    /// Everything that must hold after a fault: `code` is what the run says of it.
    async fn assert_settled(&self, reply: &Reply, code: &str) {
        let run = reply.header("x-punk-run-id").unwrap_or_else(|| panic!("no run: {reply:?}"));
        let detail = self.world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
        assert_eq!(detail["run"]["status"], "failed", "{detail}");
        let events = detail["events"].as_array().unwrap();
        let finished = events.iter().find(|event| event["type"] == "run.finished").unwrap();
        assert_eq!(finished["payload"]["errorCode"], code, "{finished}");
        let packet = format!("/api/v1/runs/{run}/evidence-packet");
        let packet = self.world.operate("GET", &packet, &Value::Null).await;
        ledger::packet::verify_chain(&packet.body).unwrap_or_else(|broken| panic!("{broken:?}: {packet:?}"));
        let budgets = self.world.operate("GET", "/api/v1/budgets", &Value::Null).await.json();
        assert_eq!(budgets["budgets"][0]["reservedUsd"], 0.0, "{budgets}");
    }

    /// Whoever comes next is answered, and with nothing of what was before.
    async fn assert_serves(&self) {
        self.is_well.store(true, Ordering::SeqCst);
        let reply = self.ask(CHAT).await;
        let text = String::from_utf8_lossy(&reply.body);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(text.contains("Well"), "{text}");
        assert!(!self.stream || text.ends_with("data: [DONE]\n\n"), "{text}");
        assert_eq!(reply.header("x-punk-route"), Some("live"), "nothing of a fault is kept");
    }
}

/// An error before anything was said: a status, and the shape of the caller's wire.
#[track_caller]
fn assert_refused(reply: &Reply, path: &str, status: u16, code: &str, fault: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (status, code), "{fault}, {path}: {reply:?}");
    let error = reply.json();
    assert_eq!(error["type"] == "error", path == MESSAGES, "{error}");
    assert!(error["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
}

/// An error after something was said: the stream says that it is not complete, in the caller's wire, and does not end.
#[track_caller]
fn assert_cut(reply: &Reply, path: &str, code: &str, fault: &str) {
    let text = String::from_utf8_lossy(&reply.body);
    assert_eq!(reply.status, 200, "{fault}, {path}: {reply:?}");
    assert!(text.contains(code), "{fault}, {path}: {text}");
    for end in ["[DONE]", "message_stop", "response.completed"] {
        assert!(!text.contains(end), "{fault}, {path}: a cut must not look like an end: {text}");
    }
    let last = text.trim_end().rsplit("\n\n").next().unwrap();
    match path {
        CHAT => assert!(last.starts_with("data: {\"error\":"), "{last}"),
        MESSAGES => assert!(last.starts_with("event: error\ndata: {"), "{last}"),
        _ => assert!(last.starts_with("event: "), "{last}"),
    }
}

type Script = fn() -> Vec<Step>;

#[tokio::test]
async fn an_answer_that_does_not_come_or_makes_no_sense_is_a_clear_error() {
    let (late, away, broken) =
        ((504, "punk_upstream_timeout"), (502, "punk_upstream_unreachable"), (502, "punk_upstream_broken"));
    let faults: [(&str, (u16, &str), Script); 17] = [
        ("hangs before its head", late, || vec![Step::Hang]),
        ("hangs in its head", late, || vec![say("HTTP/1.1 200 OK\r\ncontent-ty"), Step::Hang]),
        ("hangs before its body", late, || vec![long(100, ""), Step::Hang]),
        ("hangs in its body", late, || vec![long(100, "{\"id\":"), Step::Hang]),
        ("promises for ever", late, || vec![Step::Repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec())]),
        ("resets before its head", away, || vec![Step::Reset]),
        ("closes before its head", away, || vec![]),
        ("resets in its body", away, || vec![long(100, "{\"id\":"), Step::Reset]),
        ("says less than it promised", away, || vec![long(100_000, &completion("Half"))]),
        ("speaks no HTTP", away, || vec![say("Good morning, this is no HTTP.\r\n\r\n")]),
        ("never ends its head", away, || {
            vec![say("HTTP/1.1 200 OK\r\n"), Step::Repeat(b"x-more: and more\r\n".to_vec())]
        }),
        ("sends a chunk of no length", away, || {
            vec![say(format!("{JSON}transfer-encoding: chunked\r\n\r\nzz\r\n{{}}\r\n"))]
        }),
        ("says more than it promised", broken, || vec![long(20, &completion("Cut"))]),
        ("sends half a JSON", broken, || vec![whole(completion("Half").split_at(60).0)]),
        ("sends no answer at all", broken, || {
            vec![say("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")]
        }),
        ("sends us elsewhere", broken, || {
            let elsewhere = "location: http://127.0.0.1:1/\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
            vec![say(format!("HTTP/1.1 302 Found\r\n{elsewhere}"))]
        }),
        ("changes the protocol", broken, || {
            vec![
                say("HTTP/1.1 101 Switching Protocols\r\nupgrade: punk\r\nconnection: upgrade\r\n\r\n"),
                Step::Hang,
            ]
        }),
    ];
    for (fault, (status, code), script) in faults {
        let ward = Ward::open(false, fault, script).await;
        for path in [CHAT, MESSAGES] {
            let reply = ward.ask(path).await;
            assert_refused(&reply, path, status, code, fault);
            ward.assert_settled(&reply, code).await;
        }
        assert!(ward.upstream.asked() <= 4, "{fault}: asked {} times for two calls", ward.upstream.asked());
        ward.assert_serves().await;
    }
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_word_is_an_error_with_a_status() {
    let (late, away) = ((504, "punk_upstream_timeout"), (502, "punk_upstream_unreachable"));
    let faults: [(&str, (u16, &str), Script); 5] = [
        ("hangs before its head", late, || vec![Step::Hang]),
        ("hangs before its first frame", late, || vec![say(STREAM), Step::Hang]),
        ("hangs in its first frame", late, || vec![say(STREAM), say("data: {\"id\":"), Step::Hang]),
        ("resets before its head", away, || vec![Step::Reset]),
        ("closes before its head", away, || vec![]),
    ];
    for (fault, (status, code), script) in faults {
        let ward = Ward::open(true, fault, script).await;
        for path in [CHAT, MESSAGES] {
            let reply = ward.ask(path).await;
            assert_refused(&reply, path, status, code, fault);
            ward.assert_settled(&reply, code).await;
        }
        ward.assert_serves().await;
    }
}

#[tokio::test]
async fn a_stream_that_fails_in_the_middle_says_so_and_does_not_end() {
    let (cut, broken) = ("punk_upstream_cut", "punk_upstream_broken");
    let faults: [(&str, &str, Script); 9] = [
        ("hangs", cut, || vec![Step::Hang]),
        ("hangs in a frame", cut, || vec![say("data: {\"id\":\"c\",\"obj"), Step::Hang]),
        ("closes", cut, || vec![]),
        ("closes in a frame", broken, || vec![say("data: {\"id\":\"c\",\"obj")]),
        ("says what is no JSON", broken, || vec![say("data: good morning\n\n"), say(end())]),
        ("says what is no UTF-8", broken, || vec![say(b"data: {\"id\":\"\xff\xfe\n\n"), say(end())]),
        ("never ends a line", broken, || vec![say("data: "), Step::Repeat(vec![b'a'; 1 << 16])]),
        ("never ends a word", broken, || {
            let nothing = format!(": {}\n\n", "and so on ".repeat(5000));
            vec![say(word(" sk-proj-")), Step::Repeat(nothing.into())]
        }),
        ("never ends a frame", broken, || vec![Step::Repeat(b"data: a\n".repeat(1 << 13))]),
    ];
    for (fault, code, script) in faults {
        let ward =
            Ward::open(true, fault, move || [vec![say(STREAM), say(word("Half"))], script()].concat()).await;
        // What has no end takes a while to be given up, and one caller will do.
        let paths: &[&str] = if fault.starts_with("never") { &[CHAT] } else { &[CHAT, MESSAGES, RESPONSES] };
        for &path in paths {
            let reply = ward.ask(path).await;
            assert_cut(&reply, path, code, fault);
            assert!(String::from_utf8_lossy(&reply.body).contains("Half"), "{fault}");
            ward.assert_settled(&reply, code).await;
        }
        assert_eq!(
            ward.upstream.asked(),
            paths.len(),
            "{fault}: nothing is asked twice that was told in part"
        );
        ward.assert_serves().await;
    }
}

#[tokio::test]
async fn an_upstream_of_anthropics_kind_that_stops_is_told_of_in_every_wire() {
    let event = |data: Value| say(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()));
    let upstream = RawUpstream::start(move |_| {
        let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
            "usage": { "input_tokens": 3, "output_tokens": 1 } });
        vec![
            say(STREAM),
            event(json!({ "type": "message_start", "message": message })),
            event(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } })),
            event(json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Half" } })),
            Step::Hang,
        ]
    })
    .await;
    let models = served_at(&[("vendor", &upstream.url, &[Wire::Messages])], |spec| {
        (spec.timeouts.first_byte, spec.timeouts.idle) = (PATIENCE, PATIENCE);
    });
    let world = Setup { models, ..Setup::protected() }.start().await;
    for path in [CHAT, MESSAGES] {
        let body = json!({ "model": "vendor:claude", "max_tokens": 50, "stream": true,
            "messages": [{ "role": "user", "content": "Hi" }] });
        let reply = world.operate("POST", path, &body).await;
        assert_cut(&reply, path, "punk_upstream_cut", "hangs");
        let run = reply.header("x-punk-run-id").unwrap();
        let run = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
        assert_eq!(run["run"]["status"], "failed", "{run}");
    }
    // An upstream that stood still is not waited for any longer.
    upstream.was_left(2).await;
}

#[tokio::test]
async fn a_stream_that_is_reset_in_the_middle_says_so_and_does_not_end() {
    // The reset must not overtake the words before it.
    let heard = Arc::new(Notify::new());
    let word_of_test = Arc::clone(&heard);
    let ward = Ward::open(true, "", move || {
        vec![say(STREAM), say(word("Half")), Step::Wait(Arc::clone(&word_of_test)), Step::Reset]
    })
    .await;
    let body =
        json!({ "model": "gpt-4o", "stream": true, "messages": [{ "role": "user", "content": "Hi" }] });
    let body = body.to_string();
    let mut client = RawClient::connect(&ward.world.address).await;
    let head =
        format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n", world::OPERATOR);
    client.say(format!("{head}connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await;
    let told = client.until("Half").await;
    heard.notify_one();
    let told = told + &client.rest().await;
    assert!(told.contains("punk_upstream_cut") && !told.contains("[DONE]"), "{told}");
    assert!(told.ends_with("0\r\n\r\n"), "the gateway itself ends as it should: {told}");
    ward.assert_serves().await;
}

#[tokio::test]
async fn what_is_odd_in_a_stream_and_harmless_passes() {
    let odd: [(&str, Script); 6] = [
        ("comments and fields that nobody knows", || {
            vec![say(": hello\n\nid: 7\nretry: 10\nnonsense\n\n"), say(word("Well")), say(end())]
        }),
        ("JSON of no shape", || vec![say(word("Well")), say("data: [1,2,3]\n\n"), say(end())]),
        ("no empty line at the end", || vec![say(word("Well")), say(end().trim_end())]),
        ("lines that end as they like", || {
            vec![say(word("Well").replace('\n', "\r\n")), say(end().replace('\n', "\r"))]
        }),
        ("a mark at the beginning", || vec![say("\u{feff}"), say(word("Well")), say(end())]),
        ("bytes one by one", || (word("Well") + &end()).bytes().map(|byte| say([byte])).collect()),
    ];
    for (what, script) in odd {
        let ward = Ward::open(true, what, move || [vec![say(STREAM)], script()].concat()).await;
        for path in [CHAT, MESSAGES, RESPONSES] {
            let reply = ward.ask(path).await;
            let text = String::from_utf8_lossy(&reply.body);
            assert!(text.contains("Well") && !text.contains("\"error\":{"), "{what}, {path}: {text}");
        }
    }
}

#[tokio::test]
async fn news_before_the_answer_is_not_the_answer() {
    let ward = Ward::open(false, "", || {
        let news = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
        vec![say(news), whole(&completion("After the news"))]
    })
    .await;
    let reply = ward.ask(CHAT).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(String::from_utf8_lossy(&reply.body).contains("After the news"));
}

#[tokio::test]
async fn a_whole_answer_to_somebody_who_wants_a_stream_is_told_as_one() {
    let ward = Ward::open(true, "", || vec![whole(&completion("In one piece"))]).await;
    for (path, end) in [(CHAT, "data: [DONE]"), (MESSAGES, "message_stop"), (RESPONSES, "response.completed")]
    {
        let reply = ward.ask(path).await;
        let text = String::from_utf8_lossy(&reply.body);
        assert!(reply.header("content-type").unwrap().starts_with("text/event-stream"), "{reply:?}");
        assert!(text.contains(end) && text.contains("piece"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_large_answer_passes_and_an_endless_one_is_given_up() {
    let text = "All work and no play. ".repeat(20_000_000 / 22);
    let large = completion(&text);
    assert!(large.len() > 19_000_000);
    let ward = Ward::tuned(false, move || vec![whole(&large)], |_| {}).await;
    let reply = ward.ask(CHAT).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["choices"][0]["message"]["content"].as_str().unwrap().len(), text.len());

    let endless = || vec![say(format!("{JSON}\r\n")), Step::Repeat(vec![b' '; 1 << 20])];
    let ward = Ward::tuned(false, endless, |_| {}).await;
    let reply = ward.ask(MESSAGES).await;
    assert_refused(&reply, MESSAGES, 502, "punk_upstream_broken", "endless");
    ward.assert_settled(&reply, "punk_upstream_broken").await;
    ward.upstream.was_left(1).await;
    assert_eq!(ward.upstream.asked(), 1, "it would be as long again");
    ward.assert_serves().await;
}

#[tokio::test]
async fn a_storm_of_429_is_told_to_every_caller_and_made_no_worse() {
    let limited = || {
        let error = json!({ "error": { "message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded" } });
        let (error, retry) = (error.to_string(), "retry-after: 7\r\n");
        let head =
            "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nconnection: close\r\n";
        vec![say(format!("{head}{retry}content-length: {}\r\n\r\n{error}", error.len()))]
    };
    for stream in [false, true] {
        let ward = Arc::new(Ward::open(stream, "", limited).await);
        let storm: Vec<_> = (0..20)
            .map(|number| {
                let (ward, path) = (Arc::clone(&ward), if number % 2 == 0 { CHAT } else { MESSAGES });
                tokio::spawn(async move { (path, ward.ask(path).await) })
            })
            .collect();
        for one in storm {
            let (path, reply) = one.await.unwrap();
            assert_eq!((reply.status, reply.header("retry-after")), (429, Some("7")), "{reply:?}");
            let error = reply.json();
            assert_eq!(error["error"]["type"], "rate_limit_error", "{error}");
            assert_eq!(error["type"] == "error", path == MESSAGES);
            ward.assert_settled(&reply, "punk_upstream_error").await;
        }
        assert!(ward.upstream.asked() <= 20, "asked {} times for 20 calls", ward.upstream.asked());
        ward.assert_serves().await;
    }
}

#[tokio::test]
async fn an_upstream_that_keeps_failing_is_left_alone_and_callers_are_told_for_how_long() {
    let down = || vec![say("HTTP/1.1 503 Down\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")];
    let ward = Ward::open(false, "", down).await;
    let mut last = ward.ask(CHAT).await;
    while last.code() != "punk_upstream_unavailable" {
        assert_eq!(last.status, 503, "{last:?}");
        assert!(ward.upstream.asked() < 50, "nobody leaves it alone");
        last = ward.ask(CHAT).await;
    }
    let asked = ward.upstream.asked();
    for path in [CHAT, MESSAGES] {
        let reply = ward.ask(path).await;
        assert_refused(&reply, path, 503, "punk_upstream_unavailable", "rests");
        let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=5).contains(&wait), "{wait}");
        ward.assert_settled(&reply, "punk_upstream_unavailable").await;
    }
    assert_eq!(ward.upstream.asked(), asked, "nobody asks it meanwhile");
}
