//! What was read a moment ago. Every model call asks for the same few things, so what was read is good for a moment: a
//! change through this process is seen at once, one through another within seconds.
//!
//! When that moment is over, one caller reads again, and the others go on for a little with what was read: as many as ask at
//! once would otherwise all read the same.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use crate::clock::Stopwatch;

/// How long what was read is good for.
const GOOD_FOR_MS: u64 = 2_000;
/// How long others go on with it while one reads again.
const GOOD_MEANWHILE_MS: u64 = 500;
/// How much is remembered.
const MOST: usize = 10_000;

/// Values by what they are of, as they were last read.
pub(crate) struct Remembered<K, V>(RwLock<HashMap<K, Read<V>>>);

struct Read<V> {
    since: Stopwatch,
    /// How long it is good for, by then.
    good_for_ms: u64,
    value: V,
}

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Self(RwLock::new(HashMap::new()))
    }
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    /// What was read, if that was a moment ago. Whoever gets nothing reads it, and tells.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let good = |read: &Read<V>| read.since.millis() < read.good_for_ms;
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            let read = known.get(key)?;
            if good(read) {
                return Some(read.value.clone());
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let read = known.get_mut(key)?;
        if good(read) {
            return Some(read.value.clone());
        }
        // Once: should this caller fail, the next who asks reads it.
        let meanwhile = GOOD_FOR_MS + GOOD_MEANWHILE_MS;
        if read.good_for_ms == GOOD_FOR_MS && read.since.millis() < meanwhile {
            read.good_for_ms = meanwhile;
        }
        None
    }

    /// Remembers what was read just now.
    pub(crate) fn learn(&self, key: K, value: V) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Read { since: Stopwatch::start(), good_for_ms: GOOD_FOR_MS, value });
    }

    /// Forgets what was read, because it has changed.
    pub(crate) fn forget(&self, key: &K) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
