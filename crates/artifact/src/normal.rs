//! Typed reading: numbers, money and dates as people write them, into one form each.
//!
//! What could be read in two ways is not read: `03/04/2024` has no answer, `13/04/2024` has one.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a piece of text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Read {
    /// As it is, without blanks around it.
    Text,
    /// Lower case.
    Lower,
    /// Upper case.
    Upper,
    /// A number.
    Number,
    /// The amount of a sum of money.
    Amount,
    /// The currency of a sum of money, as its three letters.
    Currency,
    /// A date as `2024-03-05`.
    Date,
}

impl Read {
    /// All of them, the plainest first.
    pub const ALL: [Self; 7] =
        [Self::Text, Self::Number, Self::Amount, Self::Currency, Self::Date, Self::Lower, Self::Upper];

    /// The value of `text`, or `None` when it is not of the kind or could be read in two ways.
    #[must_use]
    pub fn apply(self, text: &str) -> Option<Value> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        match self {
            Self::Text => Some(Value::from(text)),
            Self::Lower => Some(Value::from(text.to_lowercase())),
            Self::Upper => Some(Value::from(text.to_uppercase())),
            Self::Number => as_value(number(text)?),
            Self::Amount => as_value(money(text)?.0),
            Self::Currency => Some(Value::from(money(text)?.1)),
            Self::Date => Some(Value::from(date(text)?.to_string())),
        }
    }
}

/// A number as JSON has it: whole if it is whole.
#[must_use]
pub fn as_value(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Value::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(Value::Number)
}

/// A number in digits, with `.` or `,` between whole and part, and the other one or blanks between thousands.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    if !digits.starts_with(|letter: char| letter.is_ascii_digit()) || digits.len() > 24 {
        return None;
    }
    let last = digits.rfind(['.', ',']);
    let grouped = |text: &str, mark: char| {
        let mut groups = text.split(mark);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3)
    };
    let plain: String = match last {
        None => digits.to_owned(),
        Some(at) => {
            let mark = if digits[at..].starts_with('.') { '.' } else { ',' };
            let (whole, part) = (&digits[..at], &digits[at + 1..]);
            let other = if mark == '.' { ',' } else { '.' };
            if whole.contains(mark) {
                // The same mark twice can only be between thousands.
                if !grouped(digits, mark) {
                    return None;
                }
                digits.replace(mark, "")
            } else if part.len() == 3 && !whole.contains(other) && mark == ',' {
                // `1,234` is a thousand wherever the mark for parts is a point; `1.234` is read as a part.
                format!("{whole}{part}")
            } else {
                if whole.contains(other) && !grouped(whole, other) {
                    return None;
                }
                format!("{}.{part}", whole.replace(other, ""))
            }
        }
    };
    plain
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter == '.')
        .then(|| plain.parse::<f64>().ok())
        .flatten()
        .map(|value| sign * value)
}

const CURRENCIES: [(&str, &str); 10] = [
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("jpy", "JPY"),
    ("chf", "CHF"),
    ("dollars", "USD"),
];

/// A sum of money: the amount and the currency, whichever comes first.
#[must_use]
pub fn money(text: &str) -> Option<(f64, &'static str)> {
    if text.len() > 40 {
        return None;
    }
    let lower = text.to_lowercase();
    CURRENCIES.iter().find_map(|(mark, name)| {
        let rest = lower.strip_prefix(mark).or_else(|| lower.strip_suffix(mark))?;
        Some((number(rest.trim())?, *name))
    })
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A date, if it can be read in one way only.
#[must_use]
pub fn date(text: &str) -> Option<Date> {
    if text.len() > 40 {
        return None;
    }
    let lower = text.to_lowercase();
    let parts: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let month = |name: &str| {
        (name.len() >= 3)
            .then(|| MONTHS.iter().position(|month| month.starts_with(name)))
            .flatten()
            .map(|at| at as i8 + 1)
    };
    let day =
        |text: &str| text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).parse::<i8>().ok();
    let year = |text: &str| (text.len() == 4).then(|| text.parse::<i16>().ok()).flatten();
    if let Some(first) = year(a) {
        return Date::new(first, b.parse().ok()?, day(c)?).ok();
    }
    let last = year(c)?;
    if let Some(named) = month(b) {
        return Date::new(last, named, day(a)?).ok();
    }
    if let Some(named) = month(a) {
        return Date::new(last, named, day(b)?).ok();
    }
    let (one, two): (i8, i8) = (a.parse().ok()?, b.parse().ok()?);
    match (one > 12, two > 12, lower.contains('.')) {
        (true, ..) | (_, _, true) => Date::new(last, two, one).ok(),
        (_, true, _) => Date::new(last, one, two).ok(),
        _ if one == two => Date::new(last, one, two).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_both_notations_are_read() {
        let read: Vec<Option<f64>> = ["12", "-3.5", "1,234.50", "1.234,50", "12,5", "1,234", "1.2.3", "12a"]
            .into_iter()
            .map(number)
            .collect();
        assert_eq!(
            read,
            [Some(12.0), Some(-3.5), Some(1234.5), Some(1234.5), Some(12.5), Some(1234.0), None, None]
        );
    }

    #[test]
    fn money_has_an_amount_and_a_currency_on_either_side() {
        assert_eq!(money("$1,200.50"), Some((1200.5, "USD")));
        assert_eq!(money("12,50 €"), Some((12.5, "EUR")));
        assert_eq!(money("EUR 7"), Some((7.0, "EUR")));
        assert_eq!(money("7"), None);
    }

    #[test]
    fn a_date_that_could_be_two_days_is_not_read() {
        assert_eq!(Read::Date.apply("5 March 2024"), Some(Value::from("2024-03-05")));
        assert_eq!(Read::Date.apply("Mar 5th, 2024"), Some(Value::from("2024-03-05")));
        assert_eq!(Read::Date.apply("25/03/2024"), Some(Value::from("2024-03-25")));
        assert_eq!(Read::Date.apply("05.03.2024"), Some(Value::from("2024-03-05")));
        assert_eq!(Read::Date.apply("03/04/2024"), None);
        assert_eq!(Read::Date.apply("2024-02-30"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_fail(text in "\\PC{0,40}") {
            for read in Read::ALL {
                prop_assert_eq!(read.apply(&text), read.apply(&text));
            }
        }
    }
}
