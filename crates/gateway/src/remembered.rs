//! What was read a moment ago. Every model call asks for the same few things, so what was read is good for a moment: a
//! change through this process is seen at once, one through another within seconds.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use crate::clock::Stopwatch;

/// How long what was read is good for.
const GOOD_FOR_MS: u64 = 2_000;
/// How much is remembered.
const MOST: usize = 10_000;

/// Values by what they are of, as they were last read.
pub(crate) struct Remembered<K, V>(RwLock<HashMap<K, (Stopwatch, V)>>);

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Self(RwLock::new(HashMap::new()))
    }
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    /// What was read, if that was a moment ago.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(read, _)| read.millis() < GOOD_FOR_MS).map(|(_, value)| value.clone())
    }

    /// Remembers what was read just now.
    pub(crate) fn learn(&self, key: K, value: V) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, (Stopwatch::start(), value));
    }

    /// Forgets what was read, because it has changed.
    pub(crate) fn forget(&self, key: &K) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
