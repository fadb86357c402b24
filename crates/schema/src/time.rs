//! A moment: UTC, to the millisecond, in exactly one spelling.

use std::fmt;
use std::str::FromStr;

/// Milliseconds since 1970-01-01T00:00:00Z, up to the end of the year 9999.
///
/// Written as `2026-11-15T23:15:24.123Z` and in no other way: what is hashed must have one spelling.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// The text is not a moment in our one spelling, or the number is beyond the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampError;

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a UTC time such as 2026-11-15T23:15:24.123Z, from 1970 to 9999")
    }
}
impl std::error::Error for TimestampError {}

const DAY: u64 = 86_400_000;
/// 10000-01-01T00:00:00.000Z, the first moment that no longer fits.
const END: u64 = 253_402_300_800_000;

impl Timestamp {
    /// The first moment there is.
    pub const EPOCH: Self = Self(0);
    /// The last moment there is.
    pub const LAST: Self = Self(END - 1);

    /// The moment this many milliseconds after the epoch.
    ///
    /// # Errors
    /// Beyond the year 9999.
    pub fn from_millis(millis: u64) -> Result<Self, TimestampError> {
        if millis < END { Ok(Self(millis)) } else { Err(TimestampError) }
    }

    /// Milliseconds after the epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

/// Year, month and day of a day number, and back: the civil calendar by eras of 400 years, counted from 1 March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era_day = shifted % 146_097;
    let era_year = (era_day - era_day / 1_460 + era_day / 36_524 - era_day / 146_096) / 365;
    let year_day = era_day - (365 * era_year + era_year / 4 - era_year / 100);
    let march_month = (5 * year_day + 2) / 153;
    let day = year_day - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (shifted / 146_097 * 400 + era_year + u64::from(month <= 2), month, day)
}

fn day_number(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let era_year = year % 400;
    let march_month = (month + 9) % 12;
    let year_day = (153 * march_month + 2) / 5 + day - 1;
    year / 400 * 146_097 + era_year * 365 + era_year / 4 - era_year / 100 + year_day - 719_468
}

impl Timestamp {
    /// The one spelling, as bytes: every recorded event hashes it, so no formatting machinery is in the way.
    #[must_use]
    pub fn to_text(self) -> [u8; 24] {
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let (year, month, day) = civil(self.0 / DAY);
        let millis = self.0 % DAY;
        let mut put = |range: std::ops::Range<usize>, mut number: u64| {
            for digit in text[range].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(0..4, year);
        put(5..7, month);
        put(8..10, day);
        put(11..13, millis / 3_600_000);
        put(14..16, millis / 60_000 % 60);
        put(17..19, millis / 1_000 % 60);
        put(20..23, millis % 1_000);
        text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_text()).map_err(|_| fmt::Error)?)
    }
}
impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
        let bytes: &[u8; 24] = text.as_bytes().try_into().map_err(|_| TimestampError)?;
        let fits =
            |(&byte, &shape): (&u8, &u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
        if !bytes.iter().zip(SHAPE).all(fits) {
            return Err(TimestampError);
        }
        let number =
            |from: usize, to: usize| bytes[from..to].iter().fold(0, |n, &d| n * 10 + u64::from(d - b'0'));
        let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
        let (hour, minute, second) = (number(11, 13), number(14, 16), number(17, 19));
        if year < 1970 || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
            return Err(TimestampError);
        }
        let days = day_number(year, month, day.max(1));
        // A day the month does not have lands in the next one, and then no longer reads as it was written.
        if civil(days) != (year, month, day) {
            return Err(TimestampError);
        }
        Self::from_millis(days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + number(20, 23))
    }
}

crate::serde_as_text!(Timestamp);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_one_spelling_of_a_real_moment_is_read() {
        for good in ["1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "9999-12-31T23:59:59.999Z"] {
            assert_eq!(good.parse::<Timestamp>().unwrap().to_string(), good);
        }
        for bad in [
            "2023-02-29T00:00:00.000Z",
            "2026-04-31T00:00:00.000Z",
            "2026-00-10T00:00:00.000Z",
            "2026-01-00T00:00:00.000Z",
            "2026-11-15T23:59:60.000Z",
            "2026-11-15T24:00:00.000Z",
            "2026-11-15T23:15:24Z",
            "2026-11-15T23:15:24.123+00:00",
            "1969-12-31T23:59:59.999Z",
        ] {
            assert_eq!(bad.parse::<Timestamp>(), Err(TimestampError), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn the_calendar_agrees_with_jiff(millis in 0..END) {
            let ours = Timestamp(millis).to_string();
            let theirs = jiff::Timestamp::from_millisecond(millis as i64).unwrap();
            prop_assert_eq!(&ours, &format!("{theirs:.3}"));
            prop_assert_eq!(ours.parse::<Timestamp>().unwrap().as_millis(), millis);
        }
    }
}
