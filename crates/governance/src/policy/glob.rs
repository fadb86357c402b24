//! Names with a star: `gpt-4*`, `*-mini`, `crm.*`.

use serde::{Deserialize, Serialize};

/// A name in which `*` stands for anything, and may stand anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    /// The glob of this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether it names `text`. Linear in both: a star is never tried twice.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == text };
        let Some(mut text) = text.strip_prefix(first) else { return false };
        let mut parts = rest.split('*').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return text.ends_with(part);
            }
            match text.find(part) {
                Some(at) => text = &text[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (glob, text, named) in [
            ("gpt-4*", "gpt-4o", true),
            ("gpt-4*", "gpt-3", false),
            ("*-mini", "gpt-4o-mini", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(Glob::new(glob).matches(text), named, "{glob} on {text}");
        }
    }

    proptest! {
        #[test]
        fn it_says_what_trying_everything_says(glob in "[ab*]{0,6}", text in "[ab]{0,8}") {
            fn tried(glob: &[u8], text: &[u8]) -> bool {
                match glob.split_first() {
                    None => text.is_empty(),
                    Some((b'*', rest)) => (0..=text.len()).any(|at| tried(rest, &text[at..])),
                    Some((letter, rest)) => text.first() == Some(letter) && tried(rest, &text[1..]),
                }
            }
            prop_assert_eq!(Glob::new(&glob).matches(&text), tried(glob.as_bytes(), text.as_bytes()));
        }
    }
}
