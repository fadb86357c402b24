//! Scopes: what a machine may do, as a set of words.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

const MOST: usize = 64;
const LONGEST: usize = 64;

/// A set of scopes. Written in order, with single spaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<String>);

/// A text is not a list of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// A word with a character that a scope has not, or with too many.
    #[error(
        "scope: each is 1 to 64 printable ASCII characters without quotes and backslashes, separated by one space"
    )]
    Word,
    /// More than anybody needs.
    #[error("scope: more than 64 of them")]
    Many,
}

impl Scopes {
    /// The scopes of these words.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeError> {
        let mut scopes = BTreeSet::new();
        for word in words {
            if !is_scope(word) {
                return Err(ScopeError::Word);
            }
            scopes.insert(word.to_owned());
            if scopes.len() > MOST {
                return Err(ScopeError::Many);
            }
        }
        Ok(Self(scopes))
    }

    /// Whether `scope` is among them.
    pub fn has(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    /// Whether all of these are among `others`: what is handed on is never more than what one has.
    pub fn is_within(&self, others: &Self) -> bool {
        self.0.is_subset(&others.0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The characters of RFC 6749, section 3.3.
fn is_scope(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(fits)
}

impl FromStr for Scopes {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        if text.is_empty() { Ok(Self::default()) } else { Self::new(text.split(' ')) }
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{scope}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_clean_lists_are_read() {
        let scopes: Scopes = "run:write run:read run:read".parse().unwrap();
        assert_eq!(scopes.to_string(), "run:read run:write");
        assert!(scopes.has("run:read") && !scopes.has("run"));
        assert!("run:read".parse::<Scopes>().unwrap().is_within(&scopes));
        assert!(!scopes.is_within(&Scopes::default()) && Scopes::default().is_within(&scopes));
        for bad in [" ", "a  b", "a ", "a\tb", "é", "a\"b", &"a".repeat(65)] {
            assert_eq!(bad.parse::<Scopes>(), Err(ScopeError::Word), "{bad:?}");
        }
        let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
        assert_eq!(many.join(" ").parse::<Scopes>(), Err(ScopeError::Many));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(words in proptest::collection::vec("[a-z:.*]{1,8}", 0..20)) {
            let scopes = Scopes::new(words.iter().map(String::as_str)).unwrap();
            prop_assert_eq!(scopes.to_string().parse::<Scopes>().unwrap(), scopes);
        }
    }
}
