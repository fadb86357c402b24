//! Which keys the cache may have: what it surely has not need not be looked for.
//!
//! Most questions to a cache are answered with no, and a look into the file for each would cost more than the answer. So the
//! keys are marked in a field of bits of a fixed size (a Bloom filter). A bit too many costs a look; one too few would hide an
//! entry, so bits are set before an entry is written and never taken back, and nothing is concluded before all are known.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use schema::Digest;

use super::pool::read_only;
use super::row::Sql;

/// Bits there are: one MiB. With a million entries some two looks in a hundred are for nothing.
const BITS: usize = 8 * 1024 * 1024;

/// Marks of all keys.
pub(super) struct Presence {
    marks: Box<[AtomicU64]>,
    /// Whether every entry of the file is marked.
    complete: AtomicBool,
}

impl Default for Presence {
    fn default() -> Self {
        let marks = std::iter::repeat_with(|| AtomicU64::new(0)).take(BITS / 64).collect();
        Self { marks, complete: AtomicBool::new(false) }
    }
}

impl Presence {
    /// Marks what is in the file, in a thread of its own; until then everything may be there.
    pub(super) fn learn(presence: &Arc<Self>, path: &Path) {
        let (presence, path) = (presence.clone(), path.to_owned());
        let read = move || -> rusqlite::Result<()> {
            let connection = read_only(&path)?;
            let mut select = connection.prepare("SELECT key FROM cache_entries")?;
            for key in select.query_map([], |row| row.get(0))? {
                let Sql(key) = key?;
                presence.note(&key);
            }
            presence.complete.store(true, Ordering::Release);
            Ok(())
        };
        // What cannot be read, or without a thread, is asked for each time.
        let _ = thread::Builder::new().name("punk-presence".into()).spawn(read);
    }

    /// Marks a key that is about to be written. Whether there surely was no entry with it; of several who mark it at once, each may
    /// be told so.
    pub(super) fn note(&self, key: &Digest) -> bool {
        let absent = !self.may_have(key);
        for (word, bit) in places(key) {
            self.marks[word].fetch_or(bit, Ordering::Relaxed);
        }
        absent
    }

    /// Whether there may be an entry with this key.
    pub(super) fn may_have(&self, key: &Digest) -> bool {
        !self.complete.load(Ordering::Acquire)
            || places(key).all(|(word, bit)| self.marks[word].load(Ordering::Relaxed) & bit != 0)
    }
}

/// Where a key is marked. Keys are digests, so any part of one is as good as a hash.
fn places(key: &Digest) -> impl Iterator<Item = (usize, u64)> {
    let (parts, _) = key.as_bytes().as_chunks::<4>();
    parts.iter().take(4).map(|part| {
        let place = u32::from_le_bytes(*part) as usize % BITS;
        (place / 64, 1 << (place % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::sha256;

    #[test]
    fn what_was_marked_may_be_there_and_hardly_anything_else() {
        let presence = Presence::default();
        let key = |number: u32| sha256(&number.to_le_bytes());
        assert!(presence.may_have(&key(0)), "nothing is known yet");
        presence.complete.store(true, Ordering::Release);
        let absent = (0..100_000).filter(|number| presence.note(&key(*number))).count();
        assert!(absent > 99_900, "{absent} of 100,000 were known to be new");
        assert!(!presence.note(&key(0)));
        assert!((0..100_000).all(|number| presence.may_have(&key(number))));
        let wrong = (100_000..200_000).filter(|number| presence.may_have(&key(*number))).count();
        assert!(wrong < 100, "{wrong} of 100,000");
    }
}
