//! When a small model is left alone: asking one that comes to nothing costs the caller time and somebody money, each time anew.

use std::sync::{Mutex, PoisonError};

use schema::Timestamp;

/// So many times in a row it may come to nothing, before it is left alone for so long.
const MOST_FAILURES: u32 = 3;
const RESTS_MS: u64 = 60_000;

/// How asking for the open fields of one artifact went of late.
#[derive(Debug, Default)]
pub(crate) struct Rest(Mutex<(u32, Option<Timestamp>)>);

impl Rest {
    /// Whether nobody is to be asked now.
    pub(crate) fn is_on(&self, now: Timestamp) -> bool {
        let (_, until) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }

    /// Somebody was asked, and it came to an answer or not.
    pub(crate) fn note(&self, is_answer: bool, now: Timestamp) {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = if is_answer { 0 } else { rest.0 + 1 };
        let until = now.as_millis().saturating_add(RESTS_MS);
        let until =
            (failures >= MOST_FAILURES).then(|| Timestamp::from_millis(until).unwrap_or(Timestamp::LAST));
        // After the rest, one more failure is enough.
        *rest = (failures.min(MOST_FAILURES - 1), until);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    #[test]
    fn what_comes_to_nothing_again_and_again_is_left_alone_and_tried_once_after_that() {
        let rest = Rest::default();
        rest.note(false, at(0));
        rest.note(false, at(1));
        assert!(!rest.is_on(at(1)));
        rest.note(true, at(2));
        (3..6).for_each(|millis| rest.note(false, at(millis)));
        assert!(rest.is_on(at(6)) && rest.is_on(at(60_004)) && !rest.is_on(at(60_005)));
        rest.note(false, at(60_005));
        assert!(rest.is_on(at(60_006)));
        rest.note(true, at(200_000));
        rest.note(false, at(200_001));
        assert!(!rest.is_on(at(200_002)));
    }
}
