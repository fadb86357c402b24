//! A place in a body, which can say where it is.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::request::Refused;

/// A value and the way to it. The way is spelled out only when something is refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    above: Option<&'a At<'a>>,
    step: Step<'a>,
    /// What is there.
    pub(crate) value: &'a Value,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The body itself, which must be an object.
    pub(crate) fn body(value: &'a Value) -> Result<Self, Refused> {
        let at = Self { above: None, step: Step::Key(""), value };
        at.object().map(|_| at)
    }

    /// A member of this object; `null` is as good as absent.
    pub(crate) fn get(&'a self, name: &'a str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { above: Some(self), step: Step::Key(name), value })
    }

    /// A member that must be there.
    pub(crate) fn need(&'a self, name: &'a str, expected: &str) -> Result<Self, Refused> {
        let absent = Self { above: Some(self), step: Step::Key(name), value: &Value::Null };
        self.get(name).ok_or_else(|| absent.expected(expected))
    }

    /// The items of this list.
    pub(crate) fn items(&'a self) -> Result<impl Iterator<Item = Self>, Refused> {
        let items = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let at = |(index, value)| Self { above: Some(self), step: Step::Index(index), value };
        Ok(items.iter().enumerate().map(at))
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, Refused> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    pub(crate) fn text(&self) -> Result<&'a str, Refused> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// A string of so many characters.
    pub(crate) fn text_of(&self, length: RangeInclusive<usize>) -> Result<&'a str, Refused> {
        let text = self.text()?;
        // Counting characters is for the rare text that has more bytes than that.
        let fits = length.contains(&text.len()) || length.contains(&text.chars().count());
        fits.then_some(text).ok_or_else(|| {
            self.expected(&format!("a string of {} to {} characters", length.start(), length.end()))
        })
    }

    pub(crate) fn boolean(&self) -> Result<bool, Refused> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(crate) fn number(&self, range: RangeInclusive<f64>) -> Result<f64, Refused> {
        let number = self.value.as_f64().filter(|number| range.contains(number));
        number.ok_or_else(|| self.expected(&format!("a number from {} to {}", range.start(), range.end())))
    }

    pub(crate) fn integer(&self, range: RangeInclusive<u64>) -> Result<u64, Refused> {
        let number = self.value.as_u64().filter(|number| range.contains(number));
        number.ok_or_else(|| match *range.end() {
            u64::MAX => self.expected(&format!("an integer of at least {}", range.start())),
            end => self.expected(&format!("an integer from {} to {end}", range.start())),
        })
    }

    /// The name of a tool, in the letters that every vendor takes.
    pub(crate) fn tool_name(&self, longest: usize) -> Result<&'a str, Refused> {
        let name = self.text()?;
        let letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
        let fits = (1..=longest).contains(&name.len()) && name.bytes().all(letter);
        fits.then_some(name)
            .ok_or_else(|| self.expected(&format!("1 to {longest} letters, digits, `_` or `-`")))
    }

    /// Adds to `left_out` the members that are not among `known`.
    pub(crate) fn name_unknown(&self, known: &[&str], below: &str, left_out: &mut Vec<String>) {
        for (name, value) in self.value.as_object().into_iter().flatten() {
            if !value.is_null() && !known.contains(&name.as_str()) {
                left_out.push(format!("{below}.{name}"));
            }
        }
    }

    /// Refuses what is there.
    pub(crate) fn expected(&self, expected: &str) -> Refused {
        let found = match self.value {
            Value::Null => return self.refused(&format!("is required: expected {expected}")),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
            Value::String(_) => "a longer string".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.refused(&format!("expected {expected}, found {found}"))
    }

    /// Refuses what is there, in other words.
    pub(crate) fn refused(&self, message: &str) -> Refused {
        Refused::new(self.path(), message)
    }

    /// The way here, such as `messages[2].role`.
    pub(crate) fn path(&self) -> String {
        let mut path = self.above.map_or_else(String::new, Self::path);
        match self.step {
            Step::Key(name) if path.is_empty() => path.push_str(name),
            Step::Key(name) => {
                let _ = write!(path, ".{name}");
            }
            Step::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
        }
        path
    }
}
