//! Trying again: when, where, with which key, and how often at most.

use std::sync::Arc;

use providers::upstream::{BreakerRules, BreakerState, BudgetRules, Fault, Next, Outcome, Target, Upstream};

use crate::server::{Act, FINE, Server};
use crate::world::{MODEL, call, dispatcher, key, ms, next, run, upstream};

const DOWN: Act = Act::Answer(503, &[], "down");
const LIMITED: Act = Act::Answer(429, &[("retry-after", "0")], "slow down");
const OK: &str = "200 {\"ok\":true}";

/// An address where nobody listens.
async fn nowhere() -> std::net::SocketAddr {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// A breaker that never opens.
fn without_breaker(spec: &mut providers::upstream::Spec) {
    spec.breaker = BreakerRules { in_a_row: u32::MAX, of_at_least: u32::MAX, ..BreakerRules::default() };
}

#[tokio::test]
async fn a_limit_is_waited_for_and_the_call_succeeds() {
    let server = Server::start([LIMITED, FINE]).await;
    let (said, tried) = run(&[&upstream("a", server.address, |_| {})]).await;
    assert_eq!(said, OK);
    assert_eq!(tried, ["a/model-1: status 429", "a/model-1: status 200"]);
}

#[tokio::test]
async fn an_upstream_that_is_down_is_replaced_by_the_next_group() {
    let (bad, good) = (Server::start([DOWN]).await, Server::start([FINE]).await);
    let (a, b) = (upstream("a", bad.address, |_| {}), upstream("b", good.address, |_| {}));
    let (said, tried) = run(&[&a, &b]).await;
    assert_eq!(said, OK);
    assert_eq!(tried, ["a/model-1: status 503", "a/model-1: status 503", "b/model-1: status 200"]);
    assert_eq!((bad.seen().len(), good.seen().len()), (2, 1));
}

#[tokio::test]
async fn nobody_listening_is_tried_again_and_then_elsewhere() {
    let good = Server::start([FINE]).await;
    let (a, b) = (upstream("a", nowhere().await, |_| {}), upstream("b", good.address, |_| {}));
    let (said, tried) = run(&[&a, &b]).await;
    assert_eq!(said, OK);
    assert_eq!(tried, ["a/model-1: connect", "a/model-1: connect", "b/model-1: status 200"]);
}

#[tokio::test]
async fn an_upstream_that_does_not_begin_to_answer_is_left_for_another() {
    let (slow, good) = (Server::start([Act::Silence]).await, Server::start([FINE]).await);
    let a = upstream("a", slow.address, |spec| spec.timeouts.first_byte = ms(50));
    let b = upstream("b", good.address, |_| {});
    let (said, tried) = run(&[&a, &b]).await;
    assert_eq!(said, OK);
    assert_eq!(tried, ["a/model-1: first_byte", "b/model-1: status 200"]);
}

#[tokio::test]
async fn a_long_retry_after_is_not_waited_for_and_comes_back_to_the_caller() {
    let server = Server::start([Act::Answer(429, &[("retry-after", "300")], "tomorrow"), FINE]).await;
    let a = upstream("a", server.address, |_| {});
    let mut attempts = call(&[&a]);
    let Next::Last(reply) = next(&mut attempts).await else { panic!("there is nothing else to try") };
    assert_eq!(reply.status, 429);
    assert_eq!(reply.headers["retry-after"], "300");
    assert_eq!(reply.retry_after, Some(std::time::Duration::from_secs(300)));
    assert_eq!(attempts.records()[0].fault, Some(Fault::Status(429)));
}

#[tokio::test]
async fn what_the_caller_did_wrong_is_final_and_comes_back_as_it_is() {
    for status in [400, 404, 413, 422] {
        let (bad, good) =
            (Server::start([Act::Answer(status, &[], "your fault")]).await, Server::start([FINE]).await);
        let (a, b) = (upstream("a", bad.address, |_| {}), upstream("b", good.address, |_| {}));
        let (said, tried) = run(&[&a, &b]).await;
        assert_eq!(said, format!("{status} your fault"));
        assert_eq!(tried.len(), 1);
        assert!(good.seen().is_empty());
    }
}

#[tokio::test]
async fn an_upstream_that_says_not_to_try_again_is_believed() {
    let server = Server::start([Act::Answer(500, &[("x-should-retry", "false")], "no use"), FINE]).await;
    let (said, _) = run(&[&upstream("a", server.address, |_| {})]).await;
    assert_eq!(said, "500 no use");
}

#[tokio::test]
async fn when_everything_fails_the_last_answer_comes_back_whole() {
    let server = Server::start([DOWN]).await;
    let (said, tried) = run(&[&upstream("a", server.address, |_| {})]).await;
    assert_eq!(said, "503 down");
    assert_eq!(tried.len(), 2);
}

#[tokio::test]
async fn a_refused_key_is_replaced_by_the_next_and_a_lone_one_is_final() {
    let server = Server::start([Act::Answer(401, &[], "who?"), FINE]).await;
    let two = upstream("two", server.address, |spec| spec.keys = vec![key("sk-old"), key("sk-new")]);
    assert_eq!(run(&[&two]).await.0, OK);
    let sent: Vec<String> =
        server.seen().iter().map(|seen| seen.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(sent, ["Bearer sk-old", "Bearer sk-new"]);
    assert_eq!(two.health().keys_resting, 1);

    let server = Server::start([Act::Answer(403, &[], "not you"), FINE]).await;
    let one = upstream("one", server.address, |_| {});
    let (said, tried) = run(&[&one]).await;
    assert_eq!((said.as_str(), tried.len()), ("403 not you", 1));
}

#[tokio::test]
async fn a_key_at_its_limit_rests_while_the_others_go_on() {
    let limited = Act::Answer(429, &[("retry-after", "600")], "");
    let server = Server::start([limited, FINE]).await;
    let place = upstream("a", server.address, |spec| spec.keys = vec![key("sk-0"), key("sk-1"), key("sk-2")]);
    for _ in 0..5 {
        assert_eq!(run(&[&place]).await.0, OK);
    }
    let sent: Vec<String> =
        server.seen().iter().map(|seen| seen.header("authorization").unwrap()[10..].to_owned()).collect();
    assert_eq!(sent[0], "0");
    assert_eq!(sent.len(), 6);
    assert!(!sent[1..].contains(&"0".to_owned()), "{sent:?}");
}

#[tokio::test]
async fn a_resting_upstream_is_passed_over_for_another_and_used_when_there_is_none() {
    let limited = Act::Answer(429, &[("retry-after", "600")], "limit");
    let (a_server, b_server) = (Server::start([limited, FINE]).await, Server::start([FINE]).await);
    let (a, b) = (upstream("a", a_server.address, |_| {}), upstream("b", b_server.address, |_| {}));
    assert_eq!(run(&[&a]).await.0, "429 limit");
    assert_eq!(run(&[&a, &b]).await.1, ["b/model-1: status 200"]);
    assert_eq!(run(&[&a]).await.1, ["a/model-1: status 200"]);
}

#[tokio::test]
async fn an_open_breaker_keeps_calls_away_and_says_for_how_long() {
    let server = Server::start([DOWN]).await;
    let place = upstream("a", server.address, |_| {});
    while place.health().breaker == BreakerState::Closed {
        run(&[&place]).await;
    }
    let before = server.seen().len();
    assert_eq!(before, 5);
    let (said, tried) = run(&[&place]).await;
    assert_eq!(said, "unavailable for 5 s");
    assert_eq!(tried, ["a/model-1: skipped: open"]);
    assert_eq!(server.seen().len(), before);

    let good = Server::start([FINE]).await;
    let (said, tried) = run(&[&place, &upstream("b", good.address, |_| {})]).await;
    assert_eq!(said, OK);
    assert_eq!(tried, ["a/model-1: skipped: open", "b/model-1: status 200"]);
}

#[tokio::test]
async fn a_probe_that_succeeds_closes_the_breaker() {
    let server = Server::start([DOWN, DOWN, DOWN, DOWN, DOWN, FINE]).await;
    let place = upstream("a", server.address, |spec| spec.breaker.open_for = ms(0));
    for _ in 0..2 {
        run(&[&place]).await;
    }
    // The fifth failure opens it; being open for no time at all, it lets the same call's second try through as a probe.
    let (said, tried) = run(&[&place]).await;
    assert_eq!(said, OK);
    assert_eq!(tried.len(), 2);
    assert_eq!(place.health().breaker, BreakerState::Closed);
}

#[tokio::test]
async fn an_outage_is_not_made_worse_by_repetitions() {
    let server = Server::start([DOWN]).await;
    let place = upstream("a", server.address, |spec| {
        without_breaker(spec);
        spec.budget = BudgetRules { per_second: 0, ..BudgetRules::default() };
    });
    let mut over_budget = 0;
    for _ in 0..100 {
        let (said, tried) = run(&[&place]).await;
        assert_eq!(said, "503 down");
        over_budget += usize::from(tried.iter().any(|tried| tried == "a/model-1: skipped: retry budget"));
    }
    let asked = server.seen().len();
    assert!((120..=130).contains(&asked), "100 calls, 10 saved repetitions and a fifth: {asked}");
    assert_eq!(over_budget, 200 - asked);
    assert_eq!(place.health().repetitions, (asked - 100) as u64);
}

#[tokio::test]
async fn the_targets_of_a_group_share_the_load_and_cover_for_each_other() {
    let (one, two) = (Server::start([FINE]).await, Server::start([FINE]).await);
    let (a, b) = (upstream("a", one.address, |_| {}), upstream("b", two.address, |spec| spec.weight = 3));
    let group =
        |a: &Arc<Upstream>, b: &Arc<Upstream>| vec![vec![Target::new(a, MODEL), Target::new(b, MODEL)]];
    let draws = std::sync::atomic::AtomicU64::new(0);
    let even = move || draws.fetch_add(1, std::sync::atomic::Ordering::Relaxed).wrapping_mul(u64::MAX / 40);
    let dispatcher_of_even =
        providers::upstream::Dispatcher::new(providers::upstream::Policy::default(), even);
    for _ in 0..40 {
        let answer = next(&mut dispatcher_of_even.begin(group(&a, &b), None)).await;
        assert!(matches!(answer, Next::Answer(_)));
    }
    // How fast this machine is decides about the rest; both are asked, and together for every call.
    assert!(!one.seen().is_empty() && !two.seen().is_empty());
    assert_eq!(one.seen().len() + two.seen().len(), 40);

    let down = upstream("down", nowhere().await, |_| {});
    let mut attempts = dispatcher().begin(group(&down, &a), None);
    assert!(matches!(next(&mut attempts).await, Next::Answer(_)));
    let tried: Vec<String> = attempts.records().iter().map(ToString::to_string).collect();
    assert_eq!(tried, ["down/model-1: connect", "a/model-1: status 200"], "without waiting for the first");
}

#[tokio::test]
async fn a_target_the_request_does_not_fit_is_passed_over_with_the_reason() {
    let server = Server::start([FINE]).await;
    let (a, b) = (upstream("a", server.address, |_| {}), upstream("b", server.address, |_| {}));
    let mut attempts = call(&[&a, &b]);
    let caller = http::HeaderMap::new();
    let answer = attempts
        .next(|target| match target.upstream.name() {
            "a" => Err("it hears no audio".to_owned()),
            _ => Ok(providers::upstream::Prepared::post("/chat/completions", bytes::Bytes::new(), &caller)),
        })
        .await;
    assert!(matches!(answer, Next::Answer(_)));
    let tried: Vec<String> = attempts.records().iter().map(ToString::to_string).collect();
    assert_eq!(tried, ["a/model-1: skipped: it hears no audio", "b/model-1: status 200"]);
    assert_eq!(a.health().in_flight, 0);
}

#[tokio::test]
async fn a_call_without_targets_or_past_its_deadline_asks_nobody() {
    let server = Server::start([FINE]).await;
    let place = upstream("a", server.address, |_| {});
    assert!(matches!(next(&mut dispatcher().begin(Vec::new(), None)).await, Next::Unfit));
    let late = tokio::time::Instant::now();
    let mut attempts = dispatcher().begin(vec![vec![Target::new(&place, MODEL)]], Some(late));
    assert!(matches!(next(&mut attempts).await, Next::Unfit));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn one_connection_serves_many_calls() {
    let server = Server::start([FINE]).await;
    let place = upstream("a", server.address, |_| {});
    for _ in 0..10 {
        assert_eq!(run(&[&place]).await.0, OK);
    }
    assert_eq!((server.seen().len(), server.connections()), (10, 1));
}

#[tokio::test]
async fn a_connection_that_was_closed_while_nobody_used_it_loses_no_call() {
    let mut server = Server::start([Act::Leave("{\"ok\":true}")]).await;
    let place = upstream("a", server.address, |_| {});
    for _ in 0..3 {
        let (said, tried) = run(&[&place]).await;
        assert_eq!((said.as_str(), tried.len()), (OK, 1), "{tried:?}");
        server.left.recv().await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (3, 3));
}

#[tokio::test]
async fn a_connection_that_nobody_uses_is_given_up_after_a_while() {
    let mut server = Server::start([FINE]).await;
    let place = upstream("a", server.address, |_| {});
    assert_eq!(run(&[&place]).await.0, OK);
    tokio::time::pause();
    tokio::time::advance(ms(56_000)).await;
    tokio::time::resume();
    server.closed().await;
    assert_eq!(run(&[&place]).await.0, OK);
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn records_tell_the_key_the_fault_and_the_times() {
    let server = Server::start([LIMITED, FINE]).await;
    let place = upstream("a", server.address, |spec| spec.keys = vec![key("sk-0"), key("sk-1")]);
    let mut attempts = call(&[&place]);
    assert!(matches!(next(&mut attempts).await, Next::Answer(_)));
    let [first, second] = attempts.records() else { panic!("two tries") };
    assert_eq!((first.key, first.fault), (Some(0), Some(Fault::Status(429))));
    assert_eq!((second.key, second.fault, &second.outcome), (Some(1), None, &Outcome::Status(200)));
    assert!(second.started_ms >= first.started_ms + first.took_ms);
}

#[tokio::test]
async fn the_time_an_upstream_asks_for_is_given_to_it() {
    let server = Server::start([Act::Answer(429, &[("retry-after-ms", "30")], ""), FINE]).await;
    let place = upstream("a", server.address, |_| {});
    let mut attempts = call(&[&place]);
    assert!(matches!(next(&mut attempts).await, Next::Answer(_)));
    let [first, second] = attempts.records() else { panic!("two tries") };
    assert!(second.started_ms >= first.started_ms + first.took_ms + 29, "{first:?} {second:?}");
}

#[tokio::test]
async fn a_local_model_is_asked_without_a_key() {
    let server = Server::start([FINE]).await;
    let place = upstream("ollama", server.address, |spec| spec.keys = Vec::new());
    let mut attempts = call(&[&place]);
    assert!(matches!(next(&mut attempts).await, Next::Answer(_)));
    assert_eq!(server.seen()[0].header("authorization"), None);
    assert_eq!(attempts.records()[0].key, None);
}
