//! Texts that are known to have nothing in them.
//!
//! Every run says the same short things again: the names of agents, models and policies, what was decided, how it ended. What
//! was looked at once need not be looked at again: what is found in a text depends on the text and on what is looked for, and
//! a [`super::Discretion`] that looks for something else starts with nothing known.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use redaction::Detectors;

/// Longer ones hardly ever come again.
const LONGEST: usize = 80;
/// How many are remembered; after that it begins anew.
const MOST: usize = 4_096;

/// Short texts in which nothing was found.
#[derive(Debug, Default)]
pub(super) struct Clean(RwLock<HashSet<Box<str>, RandomState>>);

impl Clean {
    pub(super) fn knows(&self, text: &str) -> bool {
        text.len() <= LONGEST && self.0.read().unwrap_or_else(PoisonError::into_inner).contains(text)
    }

    /// Notes that nothing was found in a text.
    pub(super) fn learn(&self, text: &str) {
        if text.len() > LONGEST {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(text.into());
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
    fn what_others_looked_at_is_looked_at_again() {
        let detectors = || Arc::new(Detectors::builder().build().unwrap());
        let (before, after) = (detectors(), detectors());
        let mut looked = Looked::default();
        looked.add(&before, "a text");
        assert!(looked.has(&before, "a text") && !looked.has(&before, "another"));
        assert!(!looked.has(&after, "a text"), "something was put into the vault meanwhile");
    }
}
