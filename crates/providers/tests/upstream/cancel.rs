//! Callers that go away. The complaint: the upstream's call runs on, and bills.
//!
//! No time-out of the upstreams here is shorter than a minute: what closes a connection is the cancelling alone.

use std::time::Duration;

use providers::upstream::{BreakerRules, BreakerState, Next, Outcome};
use tokio::time::Instant;

use crate::server::{Act, Server};
use crate::world::{call, ms, next, upstream};

#[tokio::test]
async fn a_caller_who_leaves_before_the_first_byte_ends_the_upstreams_call() {
    let mut server = Server::start([Act::Silence]).await;
    let place = upstream("a", server.address, |_| {});
    let mut attempts = call(&[&place]);
    tokio::select! {
        _ = next(&mut attempts) => panic!("it never answers"),
        _ = server.arrived.recv() => {}
    }
    server.closed().await;
    assert_eq!(place.health().in_flight, 0);
    assert_eq!(attempts.records()[0].outcome, Outcome::Unfinished);
}

#[tokio::test]
async fn a_caller_who_leaves_in_the_middle_ends_the_upstreams_call() {
    let mut server = Server::start([Act::Stall("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |_| {});
    let Next::Answer(mut reply) = next(&mut call(&[&place])).await else { panic!("it answers") };
    assert!(reply.body.data().await.unwrap().is_ok());
    assert_eq!(place.health().in_flight, 1);
    drop(reply);
    server.closed().await;
    assert_eq!(place.health().in_flight, 0);
    assert_eq!(place.health().failures, 0, "a caller who leaves says nothing about the upstream");
}

#[tokio::test]
async fn a_caller_who_leaves_before_reading_ends_the_upstreams_call() {
    let mut server = Server::start([Act::Stall("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |_| {});
    drop(next(&mut call(&[&place])).await);
    server.closed().await;
}

#[tokio::test]
async fn a_probe_whose_caller_leaves_does_not_keep_the_breaker_shut() {
    let mut server = Server::start([Act::Answer(500, &[], ""), Act::Silence]).await;
    let place = upstream("a", server.address, |spec| {
        spec.breaker = BreakerRules { in_a_row: 1, open_for: ms(0), ..BreakerRules::default() };
    });
    for left in 0..3 {
        let mut attempts = call(&[&place]);
        tokio::select! {
            _ = next(&mut attempts) => panic!("it never answers"),
            // The first call is answered with a failure; its second try is the first probe.
            _ = async { for _ in 0..if left == 0 { 2 } else { 1 } { server.arrived.recv().await; } } => {}
        }
        drop(attempts);
        assert_eq!(place.health().breaker, BreakerState::HalfOpen);
        assert_eq!(place.health().in_flight, 0);
    }
}

#[tokio::test]
async fn an_upstreams_connection_is_closed_within_a_tenth_of_a_second() {
    let mut server = Server::start([Act::Stall("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |_| {});
    let mut fastest = Duration::MAX;
    // The machine may be busy elsewhere; the fastest of a few shows what we do.
    for _ in 0..5 {
        let Next::Answer(mut reply) = next(&mut call(&[&place])).await else { panic!("it answers") };
        assert!(reply.body.data().await.unwrap().is_ok());
        let left = Instant::now();
        drop(reply);
        server.closed().await;
        fastest = fastest.min(left.elapsed());
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}
