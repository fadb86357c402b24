//! The lexicon of a run: which placeholder stands for which value.
//!
//! A value has one placeholder, such as `⟨email:1⟩`, however often it occurs, and the numbers of a class go by the order in
//! which its values were met. Whoever holds the lexicon can put the values back; what is stored has the placeholders alone.
//!
//! - A placeholder that is in the text already is itself a value ([`Class::Placeholder`]), so nobody can write one and get
//!   another's value for it.
//! - The values are wiped when the lexicon is dropped, and it prints none of them.

use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;

use zeroize::Zeroize as _;

use crate::detector::Class;

/// What a placeholder begins and ends with.
const OPEN: char = '⟨';
const CLOSE: char = '⟩';

impl Class {
    /// The names of all classes.
    pub const NAMES: [&'static str; 15] = [
        "secret",
        "private-key",
        "connection-string",
        "email",
        "phone",
        "card",
        "iban",
        "national-id",
        "ip",
        "address",
        "person",
        "custom",
        "known",
        "canary",
        "placeholder",
    ];

    /// Whether it is about a person.
    #[must_use]
    pub fn is_personal(self) -> bool {
        matches!(
            self,
            Self::Email
                | Self::Phone
                | Self::Card
                | Self::Iban
                | Self::NationalId
                | Self::IpAddress
                | Self::PostalAddress
                | Self::Person
        )
    }
}

/// The values of one run.
#[derive(Default)]
pub struct Lexicon {
    entries: Vec<Entry>,
    by_value: HashMap<String, usize>,
    by_name: HashMap<(&'static str, u32), usize>,
    /// How many there are of each class.
    counts: HashMap<&'static str, u32>,
    /// How many of the entries came from the caller.
    sent: usize,
}

struct Entry {
    class: Class,
    number: u32,
    /// Whether the model was told the value itself.
    told: bool,
    value: String,
}

impl Lexicon {
    /// The placeholder of a value, the same each time.
    pub fn placeholder(&mut self, class: Class, value: &str) -> String {
        let index = self.by_value.get(value).copied().unwrap_or_else(|| self.add(class, value));
        self.entries[index].placeholder()
    }

    /// The same, and notes that the model is told the value itself.
    pub fn placeholder_of_told(&mut self, class: Class, value: &str) -> String {
        let placeholder = self.placeholder(class, value);
        if let Some(index) = self.by_value.get(value) {
            self.entries[*index].told = true;
        }
        placeholder
    }

    fn add(&mut self, class: Class, value: &str) -> usize {
        let index = self.entries.len();
        let count = self.counts.entry(class.name()).or_default();
        *count += 1;
        let number = *count;
        self.entries.push(Entry { class, number, told: false, value: value.to_owned() });
        self.by_value.insert(value.to_owned(), index);
        self.by_name.insert((class.name(), number), index);
        index
    }

    /// The value that a placeholder stands for, if it is one of those that the caller sent.
    #[must_use]
    pub fn value(&self, placeholder: &str) -> Option<&str> {
        let (name, number) = parse(placeholder)?;
        let index = *self.by_name.get(&(name, number))?;
        (index < self.sent).then(|| self.entries[index].value.as_str())
    }

    /// Whether the caller sent this value.
    #[must_use]
    pub fn was_sent(&self, value: &str) -> bool {
        self.by_value.get(value).is_some_and(|index| *index < self.sent)
    }

    /// From here on, what is added did not come from the caller.
    pub fn seal(&mut self) {
        self.sent = self.entries.len();
    }

    /// Whether something was added that the caller did not send.
    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.entries.len() > self.sent
    }

    /// The values that the model was told as they are, with their placeholders: two requests that differ in them are not
    /// the same, though what is stored of them may be.
    pub fn told(&self) -> impl Iterator<Item = (String, &str)> {
        let told = self.entries[..self.sent].iter().filter(|entry| entry.told);
        told.map(|entry| (entry.placeholder(), entry.value.as_str()))
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Entry {
    fn placeholder(&self) -> String {
        let mut text = String::with_capacity(24);
        // Writing to a string cannot fail.
        let _ = write!(text, "{OPEN}{}:{}{CLOSE}", self.class.name(), self.number);
        text
    }
}

/// The class and the number that a placeholder names.
fn parse(placeholder: &str) -> Option<(&'static str, u32)> {
    let (name, number) = placeholder.strip_prefix(OPEN)?.strip_suffix(CLOSE)?.split_once(':')?;
    let number = number.parse().ok().filter(|_| !number.starts_with(['+', '0']))?;
    Some((Class::NAMES.iter().find(|known| **known == name)?, number))
}

impl Drop for Lexicon {
    fn drop(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.value.zeroize());
        for (mut value, _) in self.by_value.drain() {
            value.zeroize();
        }
    }
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(Entry::placeholder)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_placeholder_and_gets_back_from_it() {
        let mut lexicon = Lexicon::default();
        assert_eq!(lexicon.placeholder(Class::Email, "a@example.org"), "⟨email:1⟩");
        assert_eq!(lexicon.placeholder(Class::Email, "b@example.org"), "⟨email:2⟩");
        assert_eq!(lexicon.placeholder(Class::Card, "4111111111111111"), "⟨card:1⟩");
        assert_eq!(lexicon.placeholder(Class::Email, "a@example.org"), "⟨email:1⟩");
        lexicon.seal();
        assert_eq!(lexicon.value("⟨email:2⟩"), Some("b@example.org"));
        assert!(lexicon.was_sent("4111111111111111") && !lexicon.was_sent("4111"));
        for unknown in ["⟨email:3⟩", "⟨email:+1⟩", "⟨email:01⟩", "⟨mail:1⟩", "email:1", "⟨email⟩", ""]
        {
            assert_eq!(lexicon.value(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn what_the_caller_did_not_send_is_never_given_back() {
        let mut lexicon = Lexicon::default();
        lexicon.placeholder(Class::Secret, "theirs");
        lexicon.seal();
        assert!(!lexicon.has_grown());
        assert_eq!(lexicon.placeholder(Class::Secret, "the model's"), "⟨secret:2⟩");
        assert!(lexicon.has_grown() && !lexicon.was_sent("the model's"));
        assert_eq!(lexicon.value("⟨secret:2⟩"), None);
    }

    #[test]
    fn it_knows_what_the_model_was_told() {
        let mut lexicon = Lexicon::default();
        lexicon.placeholder(Class::Email, "a@example.org");
        lexicon.placeholder_of_told(Class::Phone, "+49 30 123456");
        lexicon.seal();
        let told: Vec<_> = lexicon.told().collect();
        assert_eq!(told, [("⟨phone:1⟩".to_owned(), "+49 30 123456")]);
    }

    #[test]
    fn it_prints_no_value() {
        let mut lexicon = Lexicon::default();
        lexicon.placeholder(Class::Secret, "hunter2");
        assert_eq!(format!("{lexicon:?}"), "[\"⟨secret:1⟩\"]");
    }
}
