//! The two judgements of a worker: what becomes of a job, and how long to sleep.

use std::time::Duration;

use schema::Timestamp;
use store::Retry;

use crate::backoff::backoff;
use crate::handler::Failure;
use crate::moment::Moment;
use crate::options::Options;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Done,
    /// The handler said so.
    Failed(Failure),
    /// The handler panicked with this message.
    Panicked(String),
}

/// What the queue is told about an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// The job is done.
    Complete,
    /// The attempt failed.
    Fail {
        /// Why.
        error: String,
        /// Whether there is another attempt.
        retry: Retry,
    },
}

/// What becomes of a job whose attempt number `attempts` of `max_attempts` ended like this, at wall time `now`.
#[must_use]
pub fn settle(outcome: Outcome, attempts: u32, max_attempts: u32, now: Moment, random: u64) -> Settlement {
    let again = |at: Timestamp| if attempts < max_attempts { Retry::At(at) } else { Retry::Never };
    let backed_off = || again(now.wall_after(backoff(attempts, random)));
    let (error, retry) = match outcome {
        Outcome::Done => return Settlement::Complete,
        Outcome::Failed(Failure::Retry(reason)) => (reason, backed_off()),
        Outcome::Failed(Failure::RetryAt(at, reason)) => (reason, again(at)),
        Outcome::Failed(Failure::GiveUp(reason)) => (reason, Retry::Never),
        Outcome::Panicked(message) => (format!("the handler panicked: {message}"), backed_off()),
    };
    Settlement::Fail { error, retry }
}

/// How long to sleep when nothing could be claimed and the next job falls due at `next_due`.
///
/// A job that is due already and yet was not claimed is about to be somebody else's, or the clocks disagree: a short
/// sleep, not none. The upper bound holds whatever `next_due` says, because the clock may be put forward meanwhile.
#[must_use]
pub fn pause(next_due: Option<Timestamp>, now: Moment, options: &Options) -> Duration {
    next_due.map_or(options.poll_max, |due| now.until(due)).clamp(options.poll_min, options.poll_max)
}

/// How long to wait before asking a store again that failed to answer `failures` times in a row.
pub(crate) fn pause_after_failures(failures: u32, options: &Options) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    options.poll_min.saturating_mul(1 << doublings).min(options.poll_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    fn now() -> Moment {
        Moment { wall: at(100_000), elapsed: Duration::ZERO }
    }

    #[track_caller]
    fn check(outcome: Outcome, attempts: u32, max_attempts: u32, expected: &Expect) {
        let text = match settle(outcome, attempts, max_attempts, now(), u64::MAX / 2) {
            Settlement::Complete => "complete".to_owned(),
            Settlement::Fail { error, retry: Retry::At(at) } => {
                format!("{error}; again at {}", at.as_millis())
            }
            Settlement::Fail { error, retry: Retry::Never } => format!("{error}; dead"),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn a_done_job_is_complete_even_on_its_last_attempt() {
        check(Outcome::Done, 3, 3, &expect!["complete"]);
    }

    #[test]
    fn a_failed_attempt_is_tried_again_until_the_last() {
        let retry = || Outcome::Failed(Failure::Retry("no route".to_owned()));
        check(retry(), 1, 3, &expect!["no route; again at 100500"]);
        check(retry(), 2, 3, &expect!["no route; again at 101000"]);
        check(retry(), 3, 3, &expect!["no route; dead"]);
        check(retry(), 4, 3, &expect!["no route; dead"]);
    }

    #[test]
    fn a_named_time_is_kept_but_grants_no_further_attempt() {
        let retry = || Outcome::Failed(Failure::RetryAt(at(777_000), "429".to_owned()));
        check(retry(), 1, 3, &expect!["429; again at 777000"]);
        check(retry(), 3, 3, &expect!["429; dead"]);
    }

    #[test]
    fn giving_up_is_final_on_the_first_attempt() {
        check(Outcome::Failed(Failure::GiveUp("gone".to_owned())), 1, 3, &expect!["gone; dead"]);
    }

    #[test]
    fn a_panic_is_a_failed_attempt() {
        let panicked = || Outcome::Panicked("index out of bounds".to_owned());
        check(panicked(), 1, 3, &expect!["the handler panicked: index out of bounds; again at 100500"]);
        check(panicked(), 3, 3, &expect!["the handler panicked: index out of bounds; dead"]);
    }

    #[test]
    fn a_worker_sleeps_until_the_next_job_falls_due_within_its_bounds() {
        let options = Options {
            poll_min: Duration::from_millis(50),
            poll_max: Duration::from_millis(10_000),
            ..Options::default()
        };
        for (next_due, sleeps) in [
            (None, 10_000),
            (Some(0), 50),
            (Some(100_000), 50),
            (Some(100_049), 50),
            (Some(103_000), 3_000),
            (Some(110_000), 10_000),
            (Some(999_999), 10_000),
        ] {
            assert_eq!(
                pause(next_due.map(at), now(), &options),
                Duration::from_millis(sleeps),
                "{next_due:?}"
            );
        }
    }

    #[test]
    fn a_silent_store_is_asked_ever_more_rarely() {
        let options = Options { poll_min: Duration::from_millis(50), ..Options::default() };
        let waits = [1, 2, 3, 8, 9, u32::MAX].map(|n| pause_after_failures(n, &options).as_millis());
        assert_eq!(waits, [50, 100, 200, 6_400, 10_000, 10_000]);
    }
}
