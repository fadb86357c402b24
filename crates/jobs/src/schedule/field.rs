//! One of the five fields: its bounds, its names, and the set of values that a text stands for.

use super::ScheduleError;

pub(super) const MINUTE: Field = Field { name: "minute", allowed: "0-59", min: 0, max: 59, names: &[] };
pub(super) const HOUR: Field = Field { name: "hour", allowed: "0-23", min: 0, max: 23, names: &[] };
pub(super) const DAY_OF_MONTH: Field =
    Field { name: "day of month", allowed: "1-31", min: 1, max: 31, names: &[] };
pub(super) const MONTH: Field = Field {
    name: "month",
    allowed: "1-12 or jan-dec",
    min: 1,
    max: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/// Sunday is 0 and 7, so that `fri-sun` is a range.
pub(super) const DAY_OF_WEEK: Field = Field {
    name: "day of week",
    allowed: "0-7 or sun-sat (0 and 7 are Sunday)",
    min: 0,
    max: 7,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};
const SUNDAY_AGAIN: u8 = 7;

/// What a field may hold.
pub(super) struct Field {
    name: &'static str,
    allowed: &'static str,
    min: u8,
    max: u8,
    /// From `min` on.
    names: &'static [&'static str],
}

/// The values a text stands for, as bits; the highest bit is not a value but says that the text starts with `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set(u64);

const STAR: u64 = 1 << 63;

impl Set {
    pub(super) fn has(self, value: i8) -> bool {
        self.first_from(value) == Some(value)
    }

    /// The smallest value that is at least `from`.
    pub(super) fn first_from(self, from: i8) -> Option<i8> {
        let from = u32::try_from(from).ok()?;
        let rest = (self.0 & !STAR).checked_shr(from)?;
        if rest == 0 { None } else { i8::try_from(from + rest.trailing_zeros()).ok() }
    }

    pub(super) fn starts_with_star(self) -> bool {
        self.0 & STAR != 0
    }
}

impl Field {
    pub(super) fn parse(&self, text: &str) -> Result<Set, ScheduleError> {
        let mut bits = if text.starts_with('*') { STAR } else { 0 };
        for item in text.split(',') {
            let (from, to, step) = self.item(item).ok_or_else(|| ScheduleError::Field {
                field: self.name,
                text: item.to_owned(),
                allowed: self.allowed,
            })?;
            for value in (from..=to).step_by(step) {
                let sunday = self.max == SUNDAY_AGAIN && value == SUNDAY_AGAIN;
                bits |= 1 << if sunday { 0 } else { value };
            }
        }
        Ok(Set(bits))
    }

    pub(super) fn is_all(&self, set: Set) -> bool {
        (self.min..=self.max).all(|value| set.has(value as i8))
    }

    /// First value, last value and step of `*`, `a`, `a-b`, `*/s`, `a/s` (from `a` on) or `a-b/s`.
    fn item(&self, text: &str) -> Option<(u8, u8, usize)> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(number(step).filter(|step| (1..=self.max).contains(step))?)),
            None => (text, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (self.min, self.max),
            Some((from, to)) => (self.value(from)?, self.range_end(to)?),
            None => {
                let from = self.value(range)?;
                (from, if step.is_some() { self.max } else { from })
            }
        };
        (from <= to).then_some((from, to, usize::from(step.unwrap_or(1))))
    }

    fn value(&self, text: &str) -> Option<u8> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match named {
            Some(index) => self.min + u8::try_from(index).ok()?,
            None => number(text)?,
        };
        (self.min..=self.max).contains(&value).then_some(value)
    }

    /// As [`Self::value`], but Sunday by name is the end of a week and not its beginning.
    fn range_end(&self, text: &str) -> Option<u8> {
        if text.eq_ignore_ascii_case("sun") && self.max == SUNDAY_AGAIN {
            Some(SUNDAY_AGAIN)
        } else {
            self.value(text)
        }
    }
}

/// One or two digits; `u8::from_str` alone would take a sign.
fn number(text: &str) -> Option<u8> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}
