use super::*;
use governor::clock::FakeRelativeClock;
use proptest::prelude::*;

const ME: Who = Who::Address(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7)));

fn limits(rates: Rates) -> (Limits<FakeRelativeClock>, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    (Limits::with_clock(rates, clock.clone()), clock)
}

#[test]
fn a_minute_has_as_many_requests_as_it_says_and_then_they_come_back_one_by_one() {
    let (limits, clock) =
        limits(Rates { requests_per_minute: 3, chat_requests_per_minute: 0, ..Rates::NONE });
    let ask = || limits.count(ME, Surface::Rest, None).unwrap();
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
fn zero_is_no_limit_and_the_number_of_a_key_wins() {
    let (limits, _) = limits(Rates { requests_per_minute: 1, chat_requests_per_minute: 0, ..Rates::NONE });
    let key = Who::Key(ApiKeyId::NIL);
    assert!((0..1_000).all(|_| limits.count(ME, Surface::Model, None).is_none()));
    assert!((0..1_000).all(|_| limits.count(key, Surface::Rest, Some(0)).is_none()));
    assert_eq!(limits.count(key, Surface::Rest, Some(9)).unwrap().remaining, 8);
}

#[test]
fn nobody_is_held_up_by_what_others_or_the_other_surface_ask() {
    let (limits, _) = limits(Rates { requests_per_minute: 1, chat_requests_per_minute: 1, ..Rates::NONE });
    let other = Who::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
    assert!(!limits.count(ME, Surface::Rest, None).unwrap().refused());
    assert!(!limits.count(ME, Surface::Model, None).unwrap().refused());
    assert!(!limits.count(other, Surface::Rest, None).unwrap().refused());
    assert!(limits.count(ME, Surface::Rest, None).unwrap().refused());
}

#[test]
fn whoever_has_not_asked_for_a_minute_is_forgotten() {
    let (limits, clock) =
        limits(Rates { requests_per_minute: 60, chat_requests_per_minute: 0, ..Rates::NONE });
    for i in 0..SWEEP_EVERY {
        if i == SWEEP_EVERY / 2 {
            clock.advance(MINUTE * 2);
        }
        let address = IpAddr::V4(std::net::Ipv4Addr::from_bits(u32::try_from(i).unwrap()));
        limits.count(Who::Address(address), Surface::Rest, None);
    }
    assert!(limits.buckets.len() as u64 <= SWEEP_EVERY / 2 + 1, "{} are left", limits.buckets.len());
}

#[test]
fn the_addresses_of_one_network_do_not_multiply_its_limit() {
    let (limits, _) = limits(Rates { requests_per_minute: 2, chat_requests_per_minute: 0, ..Rates::NONE });
    let ask =
        |address: &str| limits.count(Who::Address(address.parse().unwrap()), Surface::Rest, None).unwrap();
    assert_eq!(ask("2001:db8:1:2::1").remaining, 1);
    assert_eq!(ask("2001:db8:1:2:ffff::9").remaining, 0);
    assert_eq!(ask("2001:db8:1:3::1").remaining, 1);
}

#[test]
fn guessing_is_noticed_and_looking_costs_nothing() {
    let (limits, clock) = limits(Rates::NONE);
    let Who::Address(me) = ME else { unreachable!() };
    assert!((0..10_000).all(|_| limits.guessing(me).is_none()));
    let refused: Vec<bool> = (0..FAILURES + 1).map(|_| limits.count_failure(me).unwrap().refused()).collect();
    assert_eq!(
        refused.iter().filter(|refused| **refused).count(),
        1 + usize::from(refused[FAILURES as usize - 1])
    );
    assert!(limits.guessing(me).unwrap().refused());
    clock.advance(MINUTE);
    assert!(limits.guessing(me).is_none());
}

proptest! {
    #[test]
    fn exactly_the_limit_gets_through_at_once(limit in 1u32..20_000) {
        let (limits, _) = limits(Rates { requests_per_minute: limit, chat_requests_per_minute: 0, ..Rates::NONE });
        let through = (0..limit + 5).filter(|_| !limits.count(ME, Surface::Rest, None).unwrap().refused()).count();
        prop_assert_eq!(through as u32, limit);
    }

    #[test]
    fn waiting_as_told_is_enough(limit in 1u32..5_000) {
        let (limits, clock) = limits(Rates { requests_per_minute: limit, chat_requests_per_minute: 0, ..Rates::NONE });
        let ask = || limits.count(ME, Surface::Rest, None).unwrap();
        let refused = loop { let tally = ask(); if tally.refused() { break tally } };
        clock.advance(Duration::from_secs(refused.retry_after()));
        prop_assert!(!ask().refused());
    }
}
