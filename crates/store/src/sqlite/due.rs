//! Rows that commits add to: changed in memory while a transaction is open, and written once, at its end.
//!
//! Many commits of one transaction add to the same few rows. Only the writer changes them, so it also remembers the ones that
//! it wrote last: it need not read what it knows.
//!
//! - What is known is in the database. What is due is not, until the transaction ends well; otherwise it is dropped.
//! - A row is read before the first thing is added to it, so that damage is met by whoever adds.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// So many rows of a kind are remembered. It starts afresh when there are more: every row can be read again.
const KNOWN: usize = 1_024;

/// Rows of one kind, by their places.
pub(super) struct Due<K, V> {
    /// As the database has them.
    known: HashMap<K, V>,
    /// As the open transaction leaves them, in the order in which they are written.
    due: BTreeMap<K, V>,
}

impl<K, V> Default for Due<K, V> {
    fn default() -> Self {
        Self { known: HashMap::new(), due: BTreeMap::new() }
    }
}

impl<K: Ord + Eq + Hash, V> Due<K, V> {
    /// Changes a row by `join`, or makes it by `new` if there is none. `read` finds it in the database.
    pub(super) fn add(
        &mut self,
        place: K,
        join: impl FnOnce(&mut V),
        new: impl FnOnce() -> V,
        read: impl FnOnce(&K) -> rusqlite::Result<Option<V>>,
    ) -> rusqlite::Result<&V> {
        match self.due.entry(place) {
            Entry::Occupied(due) => {
                let row = due.into_mut();
                join(row);
                Ok(row)
            }
            Entry::Vacant(free) => {
                let known = self.known.remove(free.key());
                let before = if known.is_some() { known } else { read(free.key())? };
                let after = match before {
                    Some(mut row) => {
                        join(&mut row);
                        row
                    }
                    None => new(),
                };
                Ok(free.insert(after))
            }
        }
    }

    /// What is to be written.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&K, &V)> {
        self.due.iter()
    }

    /// The transaction was committed: what was due is known.
    pub(super) fn keep(&mut self) {
        if self.known.len() + self.due.len() > KNOWN {
            self.known.clear();
        }
        while let Some((place, row)) = self.due.pop_first() {
            self.known.insert(place, row);
        }
    }

    /// The transaction was taken back, or somebody else changes the rows.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.due.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds 1 to a row that the database has as it says.
    fn add(
        rows: &mut Due<u32, u64>,
        place: u32,
        kept: rusqlite::Result<Option<u64>>,
    ) -> rusqlite::Result<u64> {
        rows.add(place, |row| *row += 1, || 1, |_| kept).copied()
    }
    fn not_asked() -> rusqlite::Result<Option<u64>> {
        Err(rusqlite::Error::InvalidQuery)
    }

    #[test]
    fn a_row_is_read_once_and_written_once() {
        let mut rows = Due::default();
        assert_eq!(add(&mut rows, 1, Ok(Some(41))).unwrap(), 42);
        assert_eq!(add(&mut rows, 1, not_asked()).unwrap(), 43);
        assert_eq!(add(&mut rows, 2, Ok(None)).unwrap(), 1);
        assert_eq!(rows.rows().collect::<Vec<_>>(), [(&1, &43), (&2, &1)]);
        rows.keep();
        assert_eq!(rows.rows().count(), 0);
        assert_eq!(add(&mut rows, 1, not_asked()).unwrap(), 44);
    }

    #[test]
    fn what_was_taken_back_or_cannot_be_read_leaves_nothing_behind() {
        let mut rows = Due::default();
        add(&mut rows, 1, Ok(Some(41))).unwrap();
        rows.forget();
        assert_eq!(rows.rows().count(), 0);
        assert!(add(&mut rows, 1, not_asked()).is_err(), "it is read again");
        assert_eq!(rows.rows().count(), 0);
        assert_eq!(add(&mut rows, 1, Ok(Some(41))).unwrap(), 42);
    }

    #[test]
    fn it_remembers_no_more_than_it_may() {
        let mut rows = Due::default();
        for place in 0..10_000 {
            add(&mut rows, place, Ok(None)).unwrap();
            rows.keep();
            assert!(rows.known.len() <= KNOWN);
        }
    }
}
