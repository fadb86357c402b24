//! A day of the calendar, in UTC.

use std::fmt;
use std::str::FromStr;

use crate::{Timestamp, TimestampError};

const MILLIS: u64 = 86_400_000;

/// Days since 1970-01-01, up to the end of the year 9999. Written as `2026-11-15`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// The first day there is.
    pub const FIRST: Self = Self(0);
    /// The last day there is.
    pub const LAST: Self = Self::of(Timestamp::LAST);

    /// The day of a moment.
    #[must_use]
    pub const fn of(moment: Timestamp) -> Self {
        // Three million days at most.
        #[expect(clippy::cast_possible_truncation, reason = "the last moment is far below 2^32 days")]
        Self((moment.as_millis() / MILLIS) as u32)
    }

    /// The day this many days after the first.
    ///
    /// # Errors
    /// Beyond the year 9999.
    pub fn from_number(number: u32) -> Result<Self, TimestampError> {
        if number <= Self::LAST.0 { Ok(Self(number)) } else { Err(TimestampError) }
    }

    /// How many days after the first it is.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let midnight = Timestamp::from_millis(u64::from(self.0) * MILLIS).map_err(|_| fmt::Error)?;
        f.write_str(&midnight.to_string()[..10])
    }
}
impl FromStr for Day {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        format!("{text}T00:00:00.000Z").parse().map(Self::of)
    }
}

crate::serde_as_text!(Day);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_day_reads_as_it_is_written_and_holds_its_moments(millis in 0..=Timestamp::LAST.as_millis()) {
            let moment = Timestamp::from_millis(millis).unwrap();
            let day = Day::of(moment);
            prop_assert_eq!(day.to_string().parse::<Day>(), Ok(day));
            prop_assert!(moment.to_string().starts_with(&day.to_string()));
            prop_assert_eq!(Day::from_number(day.number()), Ok(day));
        }
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for bad in ["2026-02-30", "2026-11-15T00", "1969-12-31", ""] {
            assert_eq!(bad.parse::<Day>(), Err(TimestampError), "{bad}");
        }
        assert_eq!(Day::from_number(Day::LAST.number() + 1), Err(TimestampError));
    }
}
