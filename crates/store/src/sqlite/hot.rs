//! What is asked for again and again, kept in memory: API keys, which every request shows, and entries of the cache.
//!
//! One process owns the database, and all of its changes go through one writer. Whatever changes something forgets it here,
//! after its commit and before anybody is told of it: a key that is taken back is good for nobody from then on.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// How much is remembered of one kind.
const MOST: usize = 2_048;

/// Rows by what they are found by. What is not there is not remembered: anybody can ask for as much of that as they like.
pub(super) struct Hot<K, V>(RwLock<Known<K, V>>);

struct Known<K, V> {
    rows: HashMap<K, V>,
    /// How often something was forgotten.
    generation: u64,
}

impl<K, V> Default for Hot<K, V> {
    fn default() -> Self {
        Self(RwLock::new(Known { rows: HashMap::new(), generation: 0 }))
    }
}

impl<K: Eq + Hash, V: Clone> Hot<K, V> {
    /// The row, if it is known, and otherwise what [`Hot::learn`] wants to see.
    pub(super) fn get(&self, key: &K) -> Result<V, u64> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.rows.get(key).cloned().ok_or(known.generation)
    }

    /// Remembers what was read, unless something was forgotten since it was asked for: it may be what was there before.
    pub(super) fn learn(&self, key: K, row: &V, asked_in: u64) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.generation != asked_in {
            return;
        }
        if known.rows.len() >= MOST {
            known.rows.clear();
        }
        known.rows.insert(key, row.clone());
    }

    /// Forgets some of them.
    pub(super) fn forget<'k>(&self, keys: impl IntoIterator<Item = &'k K>)
    where
        K: 'k,
    {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            known.rows.remove(key);
        }
        known.generation += 1;
    }

    /// Forgets all of them.
    pub(super) fn forget_all(&self) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.rows.clear();
        known.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let hot = Hot::<u8, &str>::default();
        let asked_in = hot.get(&1).unwrap_err();
        hot.learn(1, &"one", asked_in);
        assert_eq!(hot.get(&1), Ok("one"));
        let asked_in = hot.get(&2).unwrap_err();
        hot.forget([&1]);
        hot.learn(2, &"what was there before", asked_in);
        assert!(hot.get(&1).is_err() && hot.get(&2).is_err());
    }
}
