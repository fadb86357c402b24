//! What holds for every course.

use artifact::text::mix;

use super::*;
use crate::proof::Means;

fn course(auto_promote: bool, side_effects: u8) -> Course {
    by(Means::Shadow, auto_promote, side_effects)
}

fn by(means: Means, auto_promote: bool, side_effects: u8) -> Course {
    Course::new(Terms { promise: Promise::default(), means, auto_promote, side_effects })
}

fn agree(course: &mut Course, times: usize) -> Option<Change> {
    (0..times).find_map(|at| {
        let _ = course.turn(1, &at.to_be_bytes());
        course.compared(true, 0.0)
    })
}

#[test]
fn nothing_is_served_before_it_is_proven() {
    let mut course = course(true, 0);
    for at in 0..320_u64 {
        assert_eq!(course.turn(1, &at.to_be_bytes()), Turn::Compare);
        assert_eq!(course.compared(true, 0.0), None);
    }
    assert_eq!(agree(&mut course, 100), Some(Change::Promoted));
}

#[test]
fn what_is_proven_waits_for_an_operator_unless_it_may_promote_itself() {
    let mut waiting = course(false, 0);
    assert_eq!(agree(&mut waiting, 500), Some(Change::Eligible));
    assert_eq!(waiting.promote(), Ok(Change::Promoted));
    assert_eq!(agree(&mut course(true, 1), 500), Some(Change::Eligible));
}

#[test]
fn what_turns_out_to_have_side_effects_serves_no_more_until_an_operator_says_so() {
    let mut course = course(true, 0);
    assert_eq!(agree(&mut course, 500), Some(Change::Promoted));
    assert_eq!(course.affects(3), Some(Change::Demoted));
    assert_eq!(agree(&mut course, 900), Some(Change::Eligible), "it does not promote itself any more");
    assert_eq!(course.promote(), Ok(Change::Promoted));
    assert_eq!(
        (course.affects(4), course.side_effects()),
        (None, 4),
        "who promoted it was told of the calls"
    );
}

#[test]
fn an_operator_is_refused_with_the_gates() {
    let refused = course(false, 0).promote().unwrap_err();
    assert!(refused.to_string().starts_with("proof not passed: 0 of 0 answers differed"), "{refused}");
}

#[test]
fn a_correction_quarantines_until_an_operator_releases() {
    let mut course = course(true, 0);
    agree(&mut course, 500);
    assert_eq!(course.corrected(), Change::Quarantined);
    assert_eq!(course.turn(1, b"x"), Turn::Live);
    course.release();
    assert_eq!((course.stage(), course.turn(1, b"x")), (Stage::Shadow, Turn::Compare));
}

#[test]
fn what_differs_after_promotion_is_demoted_and_has_to_be_proven_anew() {
    let mut course = course(true, 0);
    agree(&mut course, 500);
    let demoted = (0..40).find_map(|_| course.compared(false, 0.0));
    assert_eq!(demoted, Some(Change::Demoted));
    assert!(!course.gates().all_pass());
    assert_eq!(course.roll_back(), Change::Demoted);
}

#[test]
fn a_course_that_was_written_and_read_goes_on_as_before() {
    let mut course = course(true, 0);
    agree(&mut course, 450);
    let mut read: Course = serde_json::from_str(&serde_json::to_string(&course).unwrap()).unwrap();
    for at in 0..300_u64 {
        assert_eq!(course.turn(3, &at.to_be_bytes()), read.turn(3, &at.to_be_bytes()));
        assert_eq!(course.compared(at % 40 != 0, 0.0), read.compared(at % 40 != 0, 0.0));
    }
    assert_eq!(course, read);
}

#[test]
fn when_requests_become_strange_answers_are_compared_for_a_while() {
    let mut course = course(true, 0);
    agree(&mut course, 500);
    assert_eq!(course.stage(), Stage::Promoted);
    (0..400).for_each(|_| assert!(!course.met(0.1)));
    assert!((0..100).any(|_| course.met(0.9)));
    for at in 0..48_u64 {
        assert_eq!(course.turn(1, &at.to_be_bytes()), Turn::Compare);
        assert_eq!(course.compared(true, 0.0), None);
    }
    assert!((0..12_u64).any(|at| course.turn(1, &at.to_be_bytes()) == Turn::Serve));
}

#[test]
fn a_replay_proves_the_first_time_and_never_after_a_demotion() {
    let replay = Attempt::replay(std::iter::repeat_n((true, 0.0), 600), 0.01);
    assert_eq!(course(true, 0).replayed(replay), None, "that was not to be its proof");
    let mut course = by(Means::Replay, true, 0);
    assert_eq!(course.replayed(replay), Some(Change::Promoted));
    course.roll_back();
    assert_eq!(course.replayed(replay), None);
    assert_eq!(course.stage(), Stage::Shadow);
}

/// Everything but the first audits that differ is chance: 200 served answers of a young artifact come with 28 audits, and none of
/// them differs in 1 of 20,000 streams.
#[test]
fn a_jump_of_what_is_young_is_found_within_two_hundred_served_answers() {
    let draw = |seed: u64| (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
    for stream in 0..300_u64 {
        let mut course = course(true, 0);
        let mut since = 0;
        let demoted = (0..6000_u64).any(|at| {
            let chance = if course.served >= 2000 { 0.3 } else { 0.001 };
            match course.turn(stream, &at.to_be_bytes()) {
                Turn::Compare => {
                    let agreed = draw(mix(stream) ^ at) >= chance;
                    course.compared(agreed, 0.0) == Some(Change::Demoted)
                }
                _ => {
                    since += u32::from(chance > 0.1);
                    false
                }
            }
        });
        assert!(demoted && since <= 200, "stream {stream}: {since} served");
    }
}
