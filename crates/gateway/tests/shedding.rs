//! Load beyond what there is room for: turned away at once with a time to come back, while whoever looks after the process
//! still gets an answer; and the signs by which others are sent elsewhere before the end.

mod world;

use std::time::Duration;

use gateway::Capacity;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use wire::Wire;
use world::upstream::{Act, Upstream, served_by};
use world::{Setup, World};

/// A question of about so many bytes.
fn question(bytes: usize) -> Value {
    json!({ "model": "up:gpt-4o", "messages": [{ "role": "user", "content": "x".repeat(bytes) }] })
}

/// Never answers the first `hangs`, and then answers.
async fn upstream(hangs: usize) -> Upstream {
    Upstream::start(move |asked, _| if asked < hangs { Act::Hang } else { Act::Say(200, vec![], answer()) })
        .await
}

fn answer() -> Value {
    let message = json!({ "role": "assistant", "content": "yes" });
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    let choices = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
    json!({ "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": choices, "usage": usage })
}

/// A gateway with these bounds before that upstream.
async fn world(capacity: Capacity, upstream: &Upstream) -> World {
    let models = served_by(&[("up", upstream, &[Wire::Chat])]);
    Setup { capacity, models, ..Setup::open() }.start().await
}

#[tokio::test]
async fn beyond_the_bound_requests_are_refused_at_once_and_whoever_looks_after_it_is_answered() {
    let upstream = upstream(2).await;
    let world = world(Capacity { requests: 2, ..Capacity::default() }, &upstream).await;
    {
        let question = question(10);
        let mut hanging = [
            Box::pin(world.send("POST", "/v1/chat/completions", &[], &question)),
            Box::pin(world.send("POST", "/v1/chat/completions", &[], &question)),
        ];
        let [one, other] = &mut hanging;
        tokio::select! {
            _ = one => panic!("the upstream does not answer"),
            _ = other => panic!("the upstream does not answer"),
            () = upstream.was_asked(2) => {}
        }
        let refused = world.send("POST", "/v1/chat/completions", &[], &question).await;
        assert_eq!((refused.status, refused.code().as_str()), (503, "punk_overloaded"), "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        let refused = world.send("GET", "/api/v1/runs", &[], &Value::Null).await;
        assert_eq!(refused.code(), "punk_overloaded");
        for path in ["/health", "/ready", "/metrics"] {
            assert_eq!(world.send("GET", path, &[], &Value::Null).await.status, 200, "{path}");
        }
        let metrics = world.send("GET", "/metrics", &[], &Value::Null).await;
        let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
        assert!(metrics.contains("punk_shed_total{what=\"requests\"} 2"), "{metrics}");
        // Both hang up here.
    }
    upstream.was_left(2).await;
    // Their places are free when their runs are recorded.
    let mut reply = world.send("POST", "/v1/chat/completions", &[], &question(11)).await;
    while reply.status == 503 {
        tokio::task::yield_now().await;
        reply = world.send("POST", "/v1/chat/completions", &[], &question(11)).await;
    }
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[tokio::test]
async fn bodies_that_take_up_more_than_there_is_are_refused_and_small_ones_go_on() {
    let upstream = upstream(1).await;
    // At least the longest body finds room, which is a MiB here.
    let world = world(Capacity { body_bytes: 1, ..Capacity::default() }, &upstream).await;
    let large = question(700_000);
    let mut hanging = Box::pin(world.send("POST", "/v1/chat/completions", &[], &large));
    tokio::select! {
        _ = &mut hanging => panic!("the upstream does not answer"),
        () = upstream.was_asked(1) => {}
    }
    let refused = world.send("POST", "/v1/chat/completions", &[], &question(600_000)).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "punk_overloaded"), "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let small = world.send("POST", "/v1/chat/completions", &[], &question(1_000)).await;
    assert_eq!(small.status, 200, "{small:?}");
    drop(hanging);
    upstream.was_left(1).await;
    let mut reply = world.send("POST", "/v1/chat/completions", &[], &question(900_000)).await;
    while reply.status == 503 {
        tokio::task::yield_now().await;
        reply = world.send("POST", "/v1/chat/completions", &[], &question(900_000)).await;
    }
    assert_eq!(reply.status, 200, "all of the room is there again: {reply:?}");
}

#[tokio::test]
async fn a_burst_is_answered_as_far_as_there_is_room_and_the_rest_is_told_so() {
    let upstream = upstream(0).await;
    let world = std::sync::Arc::new(world(Capacity { requests: 8, ..Capacity::default() }, &upstream).await);
    let mut all = JoinSet::new();
    for number in 0..200 {
        let world = world.clone();
        all.spawn(async move {
            let reply = world.send("POST", "/v1/chat/completions", &[], &question(number)).await;
            match reply.status {
                200 => assert!(reply.header("x-punk-run-id").is_some()),
                503 => assert_eq!(reply.code(), "punk_overloaded"),
                other => panic!("{other}: {reply:?}"),
            }
            usize::from(reply.status == 200)
        });
    }
    let answered: usize = all.join_all().await.into_iter().sum();
    assert!(answered > 0);
    let runs = world.send("GET", "/api/v1/runs?limit=200", &[], &Value::Null).await.json();
    let recorded = runs["runs"].as_array().map_or(0, Vec::len);
    assert_eq!(recorded, answered, "what was refused left nothing behind: {runs}");
}

#[tokio::test]
async fn after_the_signal_it_is_no_longer_ready_and_still_answers_while_others_look_elsewhere() {
    let setup = Setup { drain_delay: Duration::from_secs(3_600), ..Setup::open() };
    let mut world = setup.start().await;
    assert_eq!(world.send("GET", "/ready", &[], &Value::Null).await.status, 200);
    world.ask_to_stop();
    let mut ready = world.send("GET", "/ready", &[], &Value::Null).await;
    while ready.status == 200 {
        tokio::task::yield_now().await;
        ready = world.send("GET", "/ready", &[], &Value::Null).await;
    }
    assert_eq!((ready.status, ready.code().as_str()), (503, "punk_leaving"));
    assert_eq!(ready.header("retry-after"), Some("1"));
    assert_eq!(world.send("GET", "/health", &[], &Value::Null).await.status, 200);
    let question = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": "still there?" }] });
    let reply = world.send("POST", "/v1/chat/completions", &[], &question).await;
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")), "{reply:?}");
}
