//! The conditions of a rule, over what is known of an action. What is not known is never a reason to allow.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Glob;
use crate::Facts;

/// When a rule covers what it names. All that is said must hold; a list holds if one of its members does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct When {
    /// What it is expected to cost, in dollars: `> 0.50`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Comparison<6>>,
    /// How much it changes, from 0 to 4: `>= 3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_effect_level: Option<Comparison<0>>,
    /// How the agent has behaved, from 0 to 1: `< 0.4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_score: Option<Comparison<3>>,
    /// The model that is asked, or was asked for the action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model: Vec<Glob>,
    /// The tool that would act.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<Glob>,
    /// The application.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub app: Vec<Glob>,
    /// The hour of the day in UTC: `22-6`, the first included, the last not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hour: Option<Hours>,
    /// The day of the week in UTC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weekday: Vec<Weekday>,
    /// Tags of the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What the data is known to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// Whether conditions hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// They do.
    Yes,
    /// They do not.
    No,
    /// Something that they ask for is not known.
    Unknown,
}

impl When {
    pub(super) fn is_always(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all of it holds.
    #[must_use]
    pub fn holds(&self, facts: &Facts) -> Holds {
        let one_of = |globs: &[Glob], text: &str| globs.iter().any(|glob| glob.matches(text));
        let known = [
            self.app.is_empty() || one_of(&self.app, &facts.app),
            self.hour.is_none_or(|hours| hours.has(facts.hour)),
            self.weekday.is_empty() || self.weekday.contains(&facts.weekday),
            self.tags.is_empty() || self.tags.iter().any(|tag| facts.tags.contains(tag)),
            self.labels.is_empty() || self.labels.iter().any(|label| facts.labels.contains(label)),
            self.side_effect_level.is_none_or(|wanted| wanted.holds(i64::from(u8::from(facts.level)))),
            self.trust_score.is_none_or(|wanted| wanted.holds(i64::from(facts.trust_score_milli))),
        ];
        if known.contains(&false) {
            return Holds::No;
        }
        let mut holds = Holds::Yes;
        let mut ask = |said: bool, answer: Option<bool>| match answer {
            _ if !said => {}
            Some(true) => {}
            Some(false) => holds = Holds::No,
            None if holds == Holds::Yes => holds = Holds::Unknown,
            None => {}
        };
        ask(
            self.cost_usd.is_some(),
            facts.cost_micro_usd.and_then(|cost| self.cost_usd.map(|wanted| wanted.holds(cost))),
        );
        ask(!self.model.is_empty(), facts.model.as_deref().map(|model| one_of(&self.model, model)));
        ask(!self.tool.is_empty(), facts.tool.as_deref().map(|tool| one_of(&self.tool, tool)));
        holds
    }
}

/// A comparison with a number of at most `DIGITS` digits after the point, such as `>= 0.5`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Comparison<const DIGITS: u32> {
    operator: Operator,
    /// In units of the last digit.
    number: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
}

const OPERATORS: [(&str, Operator); 5] = [
    // The longer ones first: `<=` begins with `<`.
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::More),
];

impl<const DIGITS: u32> Comparison<DIGITS> {
    /// Whether it holds of a number in units of the last digit.
    #[must_use]
    pub fn holds(self, number: i64) -> bool {
        match self.operator {
            Operator::Less => number < self.number,
            Operator::AtMost => number <= self.number,
            Operator::More => number > self.number,
            Operator::AtLeast => number >= self.number,
            Operator::Equal => number == self.number,
        }
    }
}

impl<const DIGITS: u32> FromStr for Comparison<DIGITS> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected a comparison such as `>= {}`", if DIGITS == 0 { "3" } else { "0.5" });
        let parts = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
        let (operator, number) = parts.ok_or_else(expected)?;
        let number = units(number.trim_start_matches(' '), DIGITS).ok_or_else(expected)?;
        Ok(Self { operator, number })
    }
}

/// A plain decimal number in units of its `digits`-th digit after the point.
fn units(text: &str, digits: u32) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_point = text.contains('.');
    if whole.is_empty() || whole.len() > 9 || !plain(whole) || !plain(part) || (has_point && part.is_empty())
    {
        return None;
    }
    let missing = digits.checked_sub(u32::try_from(part.len()).ok()?)?;
    let part: i64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let whole: i64 = whole.parse().ok()?;
    Some(whole * 10i64.pow(digits) + part * 10i64.pow(missing))
}

impl<const DIGITS: u32> fmt::Display for Comparison<DIGITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign =
            OPERATORS.iter().find(|(_, operator)| *operator == self.operator).map_or("==", |(sign, _)| sign);
        let unit = 10i64.pow(DIGITS);
        write!(f, "{sign} {}", self.number / unit)?;
        let part = self.number % unit;
        if part == 0 {
            return Ok(());
        }
        let digits = format!("{part:0width$}", width = DIGITS as usize);
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}
impl<const DIGITS: u32> fmt::Debug for Comparison<DIGITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Hours of a day, over midnight if the first is later than the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: u8,
    to: u8,
}

impl Hours {
    /// Whether an hour is one of them.
    #[must_use]
    pub fn has(self, hour: u8) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&hour)
        } else {
            hour >= self.from || hour < self.to
        }
    }
}
impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hour = |text: &str| {
            let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|hour| plain && *hour <= 24u8)
        };
        let hours = text.split_once('-').and_then(|(from, to)| Some((hour(from)?, hour(to)?)));
        match hours {
            Some((from, to)) if from < 24 && from != to => Ok(Self { from, to }),
            _ => Err("expected hours of the day such as `22-6`".to_owned()),
        }
    }
}
impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from, self.to)
    }
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

macro_rules! serde_as_text {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
serde_as_text!([const DIGITS: u32] Comparison<DIGITS>);
serde_as_text!([] Hours);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_comparison_reads_as_it_is_written() {
        for (text, written) in [(">= 0.50", ">= 0.5"), ("<1", "< 1"), ("== 0.000001", "== 0.000001")] {
            assert_eq!(text.parse::<Comparison<6>>().unwrap().to_string(), written);
        }
        for bad in ["", "0.5", "=> 1", "> ", "> -1", "> 1e3", "> .5", "> 5.", "> 0.0000001", "> 1 ", "!= 1"] {
            assert!(bad.parse::<Comparison<6>>().is_err(), "{bad}");
        }
        assert!("> 0.5".parse::<Comparison<0>>().is_err(), "a level has no parts");
    }

    #[test]
    fn hours_go_over_midnight() {
        let night: Hours = "22-6".parse().unwrap();
        let of_the_day: Vec<u8> = (0..24).filter(|hour| night.has(*hour)).collect();
        assert_eq!(of_the_day, [0, 1, 2, 3, 4, 5, 22, 23]);
        assert!("9-24".parse::<Hours>().unwrap().has(23));
        for bad in ["", "9", "9-9", "24-3", "9-25", "a-b", "009-10", "+9-10"] {
            assert!(bad.parse::<Hours>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_comparison_is_that_of_numbers(left in 0i64..3_000_000, right in 0i64..3_000_000) {
            let text = format!("{}.{:06}", right / 1_000_000, right % 1_000_000);
            let holds = |sign: &str| format!("{sign} {text}").parse::<Comparison<6>>().unwrap().holds(left);
            prop_assert_eq!(holds("<"), left < right);
            prop_assert_eq!(holds("<="), left <= right);
            prop_assert_eq!(holds(">"), left > right);
            prop_assert_eq!(holds(">="), left >= right);
            prop_assert_eq!(holds("=="), left == right);
        }
    }
}
