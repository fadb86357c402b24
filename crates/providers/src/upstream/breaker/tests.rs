//! The breaker, in stories and in all stories.

use super::*;
use proptest::prelude::*;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn breaker() -> (Breaker, Instant) {
    (Breaker::new(BreakerRules::default()), Instant::now())
}

fn report(breaker: &mut Breaker, pass: Pass, good: bool, now: Instant) {
    match good {
        true => breaker.succeeded(pass, now),
        false => breaker.failed(pass, now),
    }
}

/// Fails calls until it opens.
fn opened() -> (Breaker, Instant) {
    let (mut breaker, now) = breaker();
    for _ in 0..5 {
        let pass = breaker.admit(now).unwrap();
        breaker.failed(pass, now);
    }
    (breaker, now)
}

#[test]
fn five_failures_in_a_row_open_it_and_a_success_between_does_not() {
    let (mut breaker, now) = breaker();
    for outcome in [false, false, false, false, true, false, false, false, false] {
        let pass = breaker.admit(now).unwrap();
        report(&mut breaker, pass, outcome, now);
    }
    assert_eq!(breaker.state(now), BreakerState::Closed);
    let pass = breaker.admit(now).unwrap();
    breaker.failed(pass, now);
    assert_eq!(breaker.state(now), BreakerState::Open(seconds(5)));
    assert_eq!(breaker.admit(now + seconds(2)), Err(seconds(3)));
}

#[test]
fn every_other_call_failing_opens_it_at_twenty_calls() {
    let (mut breaker, now) = breaker();
    let mut calls = 0;
    while breaker.state(now) == BreakerState::Closed {
        let pass = breaker.admit(now).unwrap();
        report(&mut breaker, pass, calls % 2 == 0, now);
        calls += 1;
    }
    assert_eq!(calls, 20);
}

#[test]
fn failures_that_are_long_past_do_not_count() {
    let (mut breaker, start) = breaker();
    for call in 0..200u32 {
        let now = start + seconds(4) * call;
        let pass = breaker.admit(now).unwrap();
        report(&mut breaker, pass, call % 2 == 0, now);
    }
    assert_eq!(breaker.state(start + seconds(800)), BreakerState::Closed, "at most eight calls in any 30 s");
}

#[test]
fn answers_that_break_midway_open_it_too() {
    let (mut breaker, now) = breaker();
    for call in 0..20 {
        assert_eq!(breaker.state(now), BreakerState::Closed, "call {call}");
        let pass = breaker.admit(now).unwrap();
        breaker.succeeded(pass, now);
        breaker.failed_after_all(pass, now);
    }
    assert!(matches!(breaker.state(now), BreakerState::Open(_)));
}

#[test]
fn one_probe_at_a_time_and_its_success_closes() {
    let (mut breaker, now) = opened();
    let later = now + seconds(5);
    assert_eq!(breaker.state(later), BreakerState::HalfOpen);
    let probe = breaker.admit(later).unwrap();
    assert!(breaker.admit(later).is_err());
    breaker.succeeded(probe, later);
    assert_eq!(breaker.state(later), BreakerState::Closed);
    assert!(breaker.admit(later).is_ok() && breaker.admit(later).is_ok());
}

#[test]
fn a_probe_whose_caller_went_away_leaves_room_for_another() {
    let (mut breaker, now) = opened();
    let later = now + seconds(5);
    let probe = breaker.admit(later).unwrap();
    breaker.abandoned(probe);
    assert!(breaker.admit(later).is_ok());
}

#[test]
fn failed_probes_double_the_pause_up_to_a_minute() {
    let (mut breaker, mut now) = opened();
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let BreakerState::Open(pause) = breaker.state(now) else { panic!("it is open") };
        pauses.push(pause.as_secs());
        now += pause;
        let probe = breaker.admit(now).unwrap();
        breaker.failed(probe, now);
    }
    assert_eq!(pauses, [5, 10, 20, 40, 60, 60]);
}

#[test]
fn a_call_from_before_the_outage_says_nothing_about_now() {
    let (mut breaker, now) = breaker();
    let old = breaker.admit(now).unwrap();
    for _ in 0..5 {
        let pass = breaker.admit(now).unwrap();
        breaker.failed(pass, now);
    }
    breaker.succeeded(old, now);
    assert!(matches!(breaker.state(now), BreakerState::Open(_)));
    let later = now + seconds(5);
    let _probe = breaker.admit(later).unwrap();
    breaker.failed(old, later);
    breaker.abandoned(old);
    assert!(breaker.admit(later).is_err(), "the probe is still out");
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Wait(u64),
    Admit,
    Succeed(prop::sample::Index),
    Fail(prop::sample::Index),
    Break(prop::sample::Index),
    Abandon(prop::sample::Index),
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0u64..20_000).prop_map(Act::Wait),
        Just(Act::Admit),
        Just(Act::Admit),
        any::<prop::sample::Index>().prop_map(Act::Succeed),
        any::<prop::sample::Index>().prop_map(Act::Fail),
        any::<prop::sample::Index>().prop_map(Act::Fail),
        any::<prop::sample::Index>().prop_map(Act::Break),
        any::<prop::sample::Index>().prop_map(Act::Abandon),
    ]
}

proptest! {
    /// Whatever happens in whatever order: an open breaker keeps its word, a half-open one has one probe out, and no
    /// breaker stays shut once everybody who is out has reported.
    #[test]
    fn no_story_breaks_the_promises(acts in prop::collection::vec(any_act(), 0..200)) {
        let (mut breaker, mut now) = breaker();
        let mut out: Vec<Pass> = Vec::new();
        for act in acts {
            let before = breaker.state(now);
            match act {
                Act::Wait(millis) => now += Duration::from_millis(millis),
                Act::Admit => match (before, breaker.admit(now)) {
                    (BreakerState::Closed, admitted) => out.push(admitted.unwrap()),
                    (BreakerState::Open(left), admitted) => {
                        prop_assert_eq!(admitted, Err(left));
                        prop_assert!(left <= seconds(60));
                    }
                    (BreakerState::HalfOpen, Ok(pass)) => {
                        prop_assert!(!out.contains(&pass), "two probes at once");
                        out.push(pass);
                    }
                    (BreakerState::HalfOpen, Err(wait)) => prop_assert!(wait > Duration::ZERO),
                },
                Act::Succeed(_) | Act::Fail(_) | Act::Break(_) | Act::Abandon(_) if out.is_empty() => {}
                Act::Succeed(index) => { let pass = out.swap_remove(index.index(out.len())); breaker.succeeded(pass, now) }
                Act::Fail(index) => { let pass = out.swap_remove(index.index(out.len())); breaker.failed(pass, now) }
                Act::Abandon(index) => { let pass = out.swap_remove(index.index(out.len())); breaker.abandoned(pass) }
                Act::Break(index) => {
                    let pass = out.swap_remove(index.index(out.len()));
                    breaker.succeeded(pass, now);
                    breaker.failed_after_all(pass, now);
                }
            }
        }
        for pass in out {
            breaker.abandoned(pass);
        }
        prop_assert!(breaker.admit(now + seconds(60)).is_ok());
    }
}
