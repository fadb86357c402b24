//! The course of a call, told as stories: what is tried, in which order, and after which waits.

use super::*;
use proptest::prelude::*;

/// A call and its clock. Draws are the largest there are, so that waits are seen.
struct Story {
    course: Course,
    now: Instant,
    start: Instant,
}

impl Story {
    fn of(groups: &[usize]) -> Self {
        Self::until(groups, None)
    }

    fn until(groups: &[usize], deadline: Option<Duration>) -> Self {
        let targets: Vec<(usize, u32)> =
            groups.iter().enumerate().flat_map(|(group, &size)| vec![(group, 1); size]).collect();
        let start = Instant::now();
        let deadline = deadline.map(|deadline| start + deadline);
        Self { course: Course::new(Policy::default(), deadline, targets.into_iter()), now: start, start }
    }

    /// The next target, after whatever waits there are.
    fn next(&mut self) -> Option<usize> {
        loop {
            match self.course.step(self.now, |_| None, || 0) {
                Step::Try(place) => {
                    self.course.trying(place, 0);
                    return Some(place);
                }
                Step::Wait(wait) => self.now += wait,
                Step::Stop => return None,
            }
        }
    }

    fn fail(&mut self, place: usize, remedy: Remedy, told: Option<u64>) {
        let told = told.map(Duration::from_secs);
        self.course.failed(place, remedy, told, false, self.now, u64::MAX);
    }

    /// All that is tried when everything fails in the same way, with the milliseconds since the start.
    fn all(mut self, remedy: Remedy, told: Option<u64>) -> Vec<(usize, u128)> {
        let mut tried = Vec::new();
        while let Some(place) = self.next() {
            tried.push((place, (self.now - self.start).as_millis()));
            self.fail(place, remedy, told);
        }
        tried
    }
}

#[test]
fn a_lone_target_is_tried_twice_with_a_wait_between() {
    assert_eq!(Story::of(&[1]).all(Remedy::Time, None), [(0, 0), (0, 250)]);
}

#[test]
fn a_group_is_gone_through_before_anybody_is_waited_for_and_the_next_group_comes_last() {
    let tried = Story::of(&[2, 1]).all(Remedy::Time, None);
    assert_eq!(tried, [(0, 0), (1, 0), (0, 250), (1, 500), (2, 500), (2, 1_500)]);
}

#[test]
fn a_short_retry_after_is_waited_for() {
    assert_eq!(Story::of(&[1]).all(Remedy::OtherKeyOrTime, Some(2)), [(0, 0), (0, 2_250)]);
}

#[test]
fn a_long_retry_after_means_the_next_target_at_once() {
    assert_eq!(Story::of(&[1, 1]).all(Remedy::OtherKeyOrTime, Some(30)), [(0, 0), (1, 0)]);
    assert_eq!(Story::of(&[1]).all(Remedy::Time, Some(30)), [(0, 0)]);
}

#[test]
fn what_has_cost_much_time_is_tried_again_only_after_all_others() {
    let mut story = Story::of(&[1, 1]);
    let tried: Vec<usize> = std::iter::from_fn(|| {
        let place = story.next()?;
        story.fail(place, if place == 0 { Remedy::OtherTarget } else { Remedy::Time }, None);
        Some(place)
    })
    .collect();
    assert_eq!(tried, [0, 1, 1, 0]);
}

#[test]
fn a_final_fault_ends_the_call_whatever_is_left() {
    assert_eq!(Story::of(&[2, 2]).all(Remedy::Nothing, None), [(0, 0)]);
}

#[test]
fn who_refuses_all_our_keys_is_left_for_everybody_else_at_once() {
    assert_eq!(Story::of(&[2, 2]).all(Remedy::OtherKey, None), [(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(Story::of(&[1]).all(Remedy::OtherKey, None), [(0, 0)]);
}

#[test]
fn another_key_comes_before_another_target_and_costs_no_try() {
    let mut story = Story::of(&[1, 1]);
    assert_eq!(story.next(), Some(0));
    story.course.failed(0, Remedy::OtherKeyOrTime, Some(Duration::from_secs(60)), true, story.now, 0);
    assert_eq!(story.next(), Some(0));
    story.fail(0, Remedy::Time, None);
    assert_eq!(story.next(), Some(0), "its second try is still to come");
    story.fail(0, Remedy::Time, None);
    assert_eq!(story.next(), Some(1));
}

#[test]
fn no_wait_goes_past_the_deadline() {
    let story = Story::until(&[1, 1], Some(Duration::from_millis(200)));
    assert_eq!(story.all(Remedy::Time, None), [(0, 0), (1, 0)]);
}

#[test]
fn a_target_whose_keys_rest_is_tried_when_nothing_else_is_left() {
    let mut story = Story::of(&[1, 1]);
    story.course.defer(0);
    assert_eq!(story.next(), Some(1));
    story.fail(1, Remedy::Time, Some(60));
    assert_eq!(story.next(), Some(0));
    story.fail(0, Remedy::Time, Some(60));
    assert_eq!(story.next(), None);
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Fails(u8, Option<u64>, bool),
    Skipped,
    Rests,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => (0u8..5, prop::option::of(0u64..20), any::<bool>()).prop_map(|(kind, told, key)| Event::Fails(kind, told, key)),
        1 => Just(Event::Skipped),
        1 => Just(Event::Rests),
    ]
}

proptest! {
    /// Whatever happens, a call ends: within its tries, within its deadline, and never waits longer than allowed.
    #[test]
    fn every_call_ends(
        groups in prop::collection::vec(1usize..4, 0..4),
        events in prop::collection::vec(any_event(), 40),
        random: u64,
        deadline in prop::option::of(0u64..20_000),
    ) {
        let mut story = Story::until(&groups, deadline.map(Duration::from_millis));
        let policy = Policy::default();
        let (mut tries, mut steps, mut keys) = (0, 0, 0);
        let mut events = events.into_iter().cycle();
        loop {
            steps += 1;
            prop_assert!(steps < 200, "it does not end");
            match story.course.step(story.now, |_| None, || random) {
                Step::Stop => break,
                Step::Wait(wait) => {
                    prop_assert!(wait > Duration::ZERO && wait <= policy.longest_wait + Duration::from_millis(250));
                    story.now += wait;
                    prop_assert!(deadline.is_none_or(|deadline| story.now < story.start + Duration::from_millis(deadline)));
                }
                Step::Try(place) => match events.next().unwrap() {
                    Event::Skipped => story.course.skip(place),
                    Event::Rests if story.course.is_fresh(place) => story.course.defer(place),
                    Event::Rests => story.course.skip(place),
                    Event::Fails(kind, told, other_key) => {
                        tries += 1;
                        keys += 1;
                        story.course.trying(place, keys);
                        let remedy = [Remedy::Nothing, Remedy::OtherKey, Remedy::OtherKeyOrTime, Remedy::Time, Remedy::OtherTarget][usize::from(kind)];
                        story.course.failed(place, remedy, told.map(Duration::from_secs), other_key, story.now, random);
                    }
                },
            }
        }
        prop_assert!(tries <= policy.tries);
        prop_assert!(story.course.places.iter().all(|place| place.tries <= policy.tries_per_target));
    }
}
