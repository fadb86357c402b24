use std::net::Ipv4Addr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::tally::ceil;
use super::*;
use governor::clock::FakeRelativeClock;
use proptest::prelude::*;
use schema::ApiKeyId;
use telemetry::metrics::Build;

const MINUTE: Duration = Duration::from_secs(60);
const MY_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
const ME: Who = Who::Address(MY_ADDRESS);

fn limits(rates: Rates) -> (Limits<FakeRelativeClock>, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    let table = || Table::new(clock.clone());
    (Limits { rates, own: table(), learned: table(), together: None }, clock)
}

fn rest(requests_per_minute: u32) -> Rates {
    Rates { requests_per_minute, ..Rates::NONE }
}

/// What is there at once: nobody waits where nobody is asked.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

fn asking(who: Who) -> Asking {
    Asking { who, user: None, surface: Surface::Rest, own: None, guessed_from: None }
}

async fn ask<C: Clock>(limits: &Limits<C>, asking: Asking) -> Option<Tally> {
    match limits.count(asking).await {
        Counted::Request(tally) => tally,
        Counted::Guessing(tally) => panic!("nobody guessed: {tally:?}"),
    }
}

fn count<C: Clock>(limits: &Limits<C>, who: Who) -> Tally {
    at_once(ask(limits, asking(who))).unwrap()
}

#[test]
fn a_minute_has_as_many_requests_as_it_says_and_then_they_come_back_one_by_one() {
    let (limits, clock) = limits(rest(3));
    let ask = || count(&limits, ME);
    assert_eq!([ask().remaining, ask().remaining, ask().remaining], [2, 1, 0]);
    let refused = ask();
    assert_eq!((refused.refused(), refused.retry_after(), ceil(refused.reset)), (true, 20, 60));
    clock.advance(Duration::from_secs(20));
    assert!(!ask().refused(), "a third of a minute brings one back");
    assert!(ask().refused());
    clock.advance(MINUTE);
    assert_eq!(ask().remaining, 2);
}

#[test]
fn whoever_has_not_asked_for_a_minute_is_forgotten() {
    let (limits, clock) = limits(rest(60));
    for i in 0..table::SWEEP_EVERY {
        if i == table::SWEEP_EVERY / 2 {
            clock.advance(MINUTE * 2);
        }
        let address = Ipv4Addr::from_bits(u32::try_from(i).unwrap());
        count(&limits, Who::Address(IpAddr::V4(address)));
    }
    assert!(limits.own.len() as u64 <= table::SWEEP_EVERY / 2 + 1, "{} are left", limits.own.len());
}

#[test]
fn whoever_guessed_too_often_may_try_again_after_a_minute() {
    let (limits, clock) = limits(Rates::NONE);
    let guess = Asking { guessed_from: Some(MY_ADDRESS), ..asking(ME) };
    for _ in 0..FAILURES {
        at_once(limits.count_failure(MY_ADDRESS));
    }
    assert!(matches!(at_once(limits.count(guess)), Counted::Guessing(_)));
    clock.advance(MINUTE);
    assert_eq!(at_once(limits.count(guess)), Counted::Request(None));
}

#[test]
fn a_key_counts_by_the_key_a_person_by_who_they_are_and_everybody_else_by_the_address() {
    let (key, user) = (ApiKeyId::NIL, UserId::NIL);
    assert_eq!(Who::of(Some(key), Some(user), MY_ADDRESS), Who::Key(key));
    assert_eq!(Who::of(None, Some(user), MY_ADDRESS), Who::User(user));
    assert_eq!(Who::of(None, None, MY_ADDRESS), ME);
}

#[test]
fn no_two_buckets_have_one_name() {
    let whos = [
        Who::Key(ApiKeyId::NIL),
        Who::User(UserId::NIL),
        Who::Address(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)),
        ME,
    ];
    let whats = [
        What::Requests(Surface::Model),
        What::Requests(Surface::Rest),
        What::Address,
        What::Person,
        What::Failures,
    ];
    let names = whos.iter().flat_map(|&who| whats.map(|what| Bucket { who, what }.name()));
    assert_eq!(names.collect::<std::collections::HashSet<_>>().len(), whos.len() * whats.len());
}

proptest! {
    #[test]
    fn exactly_the_limit_gets_through_at_once(limit in 1u32..20_000) {
        let (limits, _) = limits(rest(limit));
        let through = (0..limit + 5).filter(|_| !count(&limits, ME).refused()).count();
        prop_assert_eq!(through as u32, limit);
    }

    #[test]
    fn waiting_as_told_is_enough(limit in 1u32..5_000) {
        let (limits, clock) = limits(rest(limit));
        let refused = loop { let tally = count(&limits, ME); if tally.refused() { break tally } };
        clock.advance(Duration::from_secs(refused.retry_after()));
        prop_assert!(!count(&limits, ME).refused());
    }

    /// In any span of time no more get through than a full bucket and what flows in meanwhile.
    #[test]
    fn no_span_of_time_has_more_than_a_bucket_and_what_flows_in(
        limit in 1u32..200,
        pauses in prop::collection::vec(prop_oneof![Just(0u64), 0u64..1_000, 0u64..90_000], 1..400),
    ) {
        let (limits, clock) = limits(rest(limit));
        let (mut now, mut through) = (0, Vec::new());
        for pause in pauses {
            clock.advance(Duration::from_millis(pause));
            now += pause;
            if !count(&limits, ME).refused() {
                through.push(now);
            }
        }
        for (first, from) in through.iter().enumerate() {
            for (last, to) in through.iter().enumerate().skip(first) {
                let most = u64::from(limit) + (to - from) * u64::from(limit) / 60_000 + 1;
                prop_assert!((last - first + 1) as u64 <= most);
            }
        }
    }

    /// What is learned makes a bucket emptier and never fuller, in whatever order it comes.
    #[test]
    fn what_is_learned_never_lets_more_through(
        limit in 1u32..50,
        learned in prop::collection::vec(0u64..60_000_000_000, 0..10),
    ) {
        let (limits, _) = limits(rest(limit));
        let draw = limits.wanted(ME, What::Requests(Surface::Rest), limit).unwrap();
        for missing in &learned {
            limits.own.learn(&draw.bucket, limits.own.now(), *missing);
        }
        let most = learned.into_iter().max().unwrap_or(0);
        prop_assert_eq!(limits.own.draw(&Draw { how: How::Look, ..draw }).missing, most);
        let through = (0..=limit).filter(|_| !count(&limits, ME).refused()).count();
        prop_assert_eq!(through as u32, draw.rate.fits(most));
        // What is given back can be had again, and nothing more.
        limits.own.give_back(&draw);
        let again = (0..2).filter(|_| !count(&limits, ME).refused()).count();
        prop_assert_eq!(again, 1);
    }
}

/// The promises that hold wherever requests are counted.
mod conformance {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Somebody whom nobody else is, also on a Redis that others use.
    fn somebody() -> ([u8; 16], Who) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = tempfile::tempdir().unwrap();
        let name = ledger::sha256(format!("{count} {}", place.path().display()).as_bytes());
        let bytes = name.as_bytes()[..16].try_into().unwrap();
        (bytes, Who::Key(ApiKeyId::from_bytes(bytes)))
    }

    /// An address of a network that nobody else is in.
    fn address(network: [u8; 16], host: u16) -> IpAddr {
        let mut bytes = network;
        // Never one that is really an IPv4 address.
        bytes[0] = 0x20;
        bytes[14..].copy_from_slice(&host.to_be_bytes());
        IpAddr::from(bytes)
    }

    /// Two nodes with the same limits; in memory they are one.
    struct Nodes(Vec<Limits>);

    impl Nodes {
        fn in_memory(rates: Rates) -> Self {
            Self(vec![Limits::new(rates, None, &metrics())])
        }

        fn on_redis(rates: Rates) -> Self {
            let url = std::env::var("PUNK_TEST_REDIS_URL")
                .expect("PUNK_TEST_REDIS_URL is set: `cargo xtask test` does");
            let node = || {
                let redis = RedisLimits::new(&url, Duration::from_secs(10)).unwrap();
                Limits::new(rates, Some(redis), &metrics())
            };
            Self(vec![node(), node()])
        }

        fn turn(&self, request: u32) -> &Limits {
            &self.0[request as usize % self.0.len()]
        }
    }

    fn metrics() -> Metrics {
        Metrics::new(Build { version: "0", commit: None, target: "test" }, 0.0)
    }

    async fn as_many_as_the_limit_get_through_and_the_rest_is_told_when(nodes: fn(Rates) -> Nodes) {
        let (nodes, (_, me)) = (nodes(rest(5)), somebody());
        let mut remaining = Vec::new();
        for request in 0..5 {
            let tally = ask(nodes.turn(request), asking(me)).await.unwrap();
            assert!(!tally.refused());
            remaining.push(tally.remaining);
        }
        assert_eq!(remaining, [4, 3, 2, 1, 0]);
        for request in 0..4 {
            let refused = ask(nodes.turn(request), asking(me)).await.unwrap();
            assert!(refused.refused() && (1..=12).contains(&refused.retry_after()), "{refused:?}");
            assert!((48..=60).contains(&ceil(refused.reset)), "{refused:?}");
        }
    }

    async fn zero_is_no_limit_and_the_number_of_a_key_wins(nodes: fn(Rates) -> Nodes) {
        let (nodes, (_, me)) = (nodes(rest(1)), somebody());
        for request in 0..100 {
            assert_eq!(ask(nodes.turn(request), Asking { own: Some(0), ..asking(me) }).await, None);
            assert_eq!(
                ask(nodes.turn(request), Asking { surface: Surface::Model, ..asking(me) }).await,
                None
            );
        }
        let tally = ask(nodes.turn(0), Asking { own: Some(9), ..asking(me) }).await;
        assert_eq!(tally.unwrap().remaining, 8);
    }

    async fn nobody_is_held_up_by_what_others_or_the_other_surface_ask(nodes: fn(Rates) -> Nodes) {
        let nodes = nodes(Rates { chat_requests_per_minute: 1, ..rest(1) });
        let ((_, me), (_, other)) = (somebody(), somebody());
        let refused =
            [asking(me), Asking { surface: Surface::Model, ..asking(me) }, asking(other), asking(me)];
        let mut answers = Vec::new();
        for (request, asking) in (0..).zip(refused) {
            answers.push(ask(nodes.turn(request), asking).await.unwrap().refused());
        }
        assert_eq!(answers, [false, false, false, true]);
    }

    async fn the_addresses_of_one_network_do_not_multiply_its_limit(nodes: fn(Rates) -> Nodes) {
        let nodes = nodes(Rates { ip_requests_per_minute: 2, ..rest(2) });
        let ((one, _), (other, _)) = (somebody(), somebody());
        let mut remaining = Vec::new();
        for (request, address) in (0..).zip([address(one, 1), address(one, 99), address(other, 1)]) {
            let counted = ask(nodes.turn(request), asking(Who::Address(address))).await.unwrap();
            let from_there = nodes.turn(request).count_address(address).await.unwrap();
            remaining.push((counted.remaining, from_there.remaining));
        }
        assert_eq!(remaining, [(1, 1), (0, 0), (1, 1)]);
    }

    async fn a_person_has_one_limit_for_all_that_they_show(nodes: fn(Rates) -> Nodes) {
        let nodes = nodes(Rates { user_requests_per_minute: 3, ..rest(2) });
        let ((person, key), (_, other_key)) = (somebody(), somebody());
        let user = UserId::from_bytes(person);
        let by = |who| Asking { user: Some(user), ..asking(who) };
        let mut answers = Vec::new();
        for (request, asking) in (0..).zip([by(key), by(key), by(key), by(Who::User(user)), by(other_key)]) {
            let tally = ask(nodes.turn(request), asking).await.unwrap();
            answers.push((tally.refused(), tally.limit));
        }
        assert_eq!(answers[..3], [(false, 2), (false, 2), (true, 2)], "a key has its own limit");
        assert_eq!(answers[3..], [(false, 3), (true, 3)], "what the key was refused the person has still");
    }

    async fn wrong_credentials_are_counted_and_looking_costs_nothing(nodes: fn(Rates) -> Nodes) {
        let (nodes, (network, _)) = (nodes(Rates::NONE), somebody());
        let me = address(network, 1);
        let guess = Asking { guessed_from: Some(me), ..asking(Who::Address(me)) };
        for request in 0..100 {
            assert_eq!(nodes.turn(request).count(guess).await, Counted::Request(None));
        }
        for request in 0..FAILURES {
            assert!(!nodes.turn(request).count_failure(me).await.unwrap().refused());
        }
        for request in 0..2 {
            assert!(nodes.turn(request).count_failure(me).await.unwrap().refused());
            assert!(
                matches!(nodes.turn(request).count(guess).await, Counted::Guessing(tally) if tally.refused())
            );
        }
    }

    macro_rules! suite {
        ($($promise:ident),* $(,)?) => {
            mod in_memory {
                $(#[tokio::test] async fn $promise() { super::$promise(super::Nodes::in_memory).await; })*
            }
            mod on_redis {
                $(#[tokio::test] async fn $promise() { super::$promise(super::Nodes::on_redis).await; })*
            }
        };
    }

    suite!(
        as_many_as_the_limit_get_through_and_the_rest_is_told_when,
        zero_is_no_limit_and_the_number_of_a_key_wins,
        nobody_is_held_up_by_what_others_or_the_other_surface_ask,
        the_addresses_of_one_network_do_not_multiply_its_limit,
        a_person_has_one_limit_for_all_that_they_show,
        wrong_credentials_are_counted_and_looking_costs_nothing,
    );
}
