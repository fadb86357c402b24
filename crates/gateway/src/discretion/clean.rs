//! Texts that are known to have nothing in them.
//!
//! Every run says the same short things again: the names of agents, models and policies, what was decided, how it ended. Every turn
//! of a conversation brings the turns before it, and a kept answer is told as it was. What was looked at once need not be looked at
//! again: what is found in a text depends on the text and on what is looked for, and a [`super::Discretion`] that looks for
//! something else starts with nothing known.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast;
use redaction::Detectors;

/// Short texts are remembered themselves, so many at most; after that it begins anew.
const SHORT: usize = 80;
const MOST_SHORT: usize = 4_096;
/// Longer ones by their marks, so many at most: the messages of a conversation come again with every turn, and so does what is kept.
const LONG: usize = 16 << 10;
const MOST_LONG: usize = 1_024;

/// Texts in which nothing was found.
#[derive(Debug, Default)]
pub(super) struct Clean {
    short: Known<Box<str>>,
    long: Known<Mark>,
    /// What marks are made by: two hashes with secret keys, so nobody can make a text with the mark of another.
    marks: [RandomState; 2],
}

/// What a longer text is remembered by.
type Mark = [u64; 2];

impl Clean {
    pub(super) fn knows(&self, text: &str) -> bool {
        if text.len() <= SHORT {
            return self.short.has(text);
        }
        text.len() <= LONG && self.long.has(&self.mark(text))
    }

    /// Notes that nothing was found in a text.
    pub(super) fn learn(&self, text: &str) {
        if text.len() <= SHORT {
            self.short.add(text.into(), MOST_SHORT);
        } else if text.len() <= LONG {
            self.long.add(self.mark(text), MOST_LONG);
        }
    }

    fn mark(&self, text: &str) -> Mark {
        self.marks.each_ref().map(|by| by.hash_one(text))
    }
}

/// A set that is read far more often than it grows.
#[derive(Debug)]
struct Known<T>(RwLock<HashSet<T, fast::RandomState>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Eq + Hash> Known<T> {
    fn has<Q: Eq + Hash + ?Sized>(&self, what: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(what)
    }

    fn add(&self, what: T, most: usize) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= most {
            known.clear();
        }
        known.insert(what);
    }
}

/// Texts of one run in which nothing was found when they were told, so that they can be recorded as they are: as long as
/// nothing else is looked for by then.
#[derive(Debug, Default)]
pub(crate) struct Looked(Vec<(Arc<Detectors>, String)>);

impl Looked {
    /// Notes that nothing was found in a text.
    pub(super) fn add(&mut self, by: &Arc<Detectors>, text: &str) {
        self.0.push((Arc::clone(by), text.to_owned()));
    }

    /// Whether nothing was found in this very text, by these very detectors.
    pub(super) fn has(&self, by: &Arc<Detectors>, text: &str) -> bool {
        self.0.iter().any(|(looked, known)| Arc::ptr_eq(looked, by) && known == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_known_once_they_were_learned_and_no_others_are() {
        let clean = Clean::default();
        let text = |length: usize, last: char| "a".repeat(length - 1) + &last.to_string();
        for length in [1, SHORT, SHORT + 1, 800, LONG] {
            clean.learn(&text(length, 'b'));
            assert!(clean.knows(&text(length, 'b')) && !clean.knows(&text(length, 'c')), "{length}");
        }
        clean.learn(&text(LONG + 1, 'b'));
        assert!(!clean.knows(&text(LONG + 1, 'b')), "what is longer is looked at each time");
    }

    #[test]
    fn no_more_is_remembered_than_may_be() {
        let clean = Clean::default();
        let text = |number: usize| format!("{number} {}", "long ".repeat(40));
        (0..MOST_LONG * 3).for_each(|number| clean.learn(&text(number)));
        let known = (0..MOST_LONG * 3).filter(|number| clean.knows(&text(*number))).count();
        assert!((1..=MOST_LONG).contains(&known), "{known}");
    }

    #[test]
    fn what_others_looked_at_is_looked_at_again() {
        let detectors = || Arc::new(Detectors::builder().build().unwrap());
        let (before, after) = (detectors(), detectors());
        let mut looked = Looked::default();
        looked.add(&before, "a text");
        assert!(looked.has(&before, "a text") && !looked.has(&before, "another"));
        assert!(!looked.has(&after, "a text"), "something was put into the vault meanwhile");
    }
}
