//! Which runs may have begun, and whose keys may be gone, without asking the database.
//!
//! The ids of runs grow with time. What begins past the highest id that the database had, and has not begun since, begins for
//! the first time. Where that is not sure, the database is asked: being wrong in that direction costs a little time.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};

use schema::{RunId, SubjectId, TenantId};

/// So many runs are remembered, twice: some seconds at full load, minutes of a busy hour, and half a megabyte each.
const MOST: usize = 28_672;

/// What has begun, and what is erased.
pub(super) struct Claims {
    hasher: RandomState,
    /// Up to here anything may have begun.
    floor: Option<RunId>,
    recent: Generation,
    older: Generation,
    erased: HashSet<SubjectId>,
}

#[derive(Default)]
struct Generation {
    /// Hashes of runs. Two that are the same cost a question.
    begun: HashSet<u64, BuildHasherDefault<Same>>,
    highest: Option<RunId>,
}

/// What is a hash already needs no other.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Claims {
    /// Of a database whose highest run is this.
    pub(super) fn new(floor: Option<RunId>) -> Self {
        let (recent, older) = (Generation::default(), Generation::default());
        Self { hasher: RandomState::new(), floor, recent, older, erased: HashSet::new() }
    }

    /// Whether the run surely has not begun. From now on it has.
    pub(super) fn begin(&mut self, tenant: TenantId, run: RunId) -> bool {
        let hash = self.hasher.hash_one((tenant, run));
        if self.recent.begun.len() >= MOST {
            self.floor = self.floor.max(self.older.highest);
            // In the memory of the one before it: a table that grows anew each time is hashed anew each time.
            std::mem::swap(&mut self.older, &mut self.recent);
            self.recent.begun.clear();
            self.recent.highest = None;
        }
        let is_new = Some(run) > self.floor && !self.older.begun.contains(&hash);
        self.recent.highest = self.recent.highest.max(Some(run));
        self.recent.begun.insert(hash) && is_new
    }

    /// It has not after all: nothing of it was written.
    pub(super) fn take_back(&mut self, tenant: TenantId, run: RunId) {
        let hash = self.hasher.hash_one((tenant, run));
        self.recent.begun.remove(&hash);
        self.older.begun.remove(&hash);
    }

    /// The subject's key may be gone from now on.
    pub(super) fn erase(&mut self, subject: SubjectId) {
        self.erased.insert(subject);
    }

    /// Whether the subject's key is there, as far as this process has not erased it.
    pub(super) fn has_key(&self, subject: SubjectId) -> bool {
        !self.erased.contains(&subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANT: TenantId = TenantId::NIL;

    fn run(number: u64) -> RunId {
        RunId::new(number, [1; 10])
    }

    #[test]
    fn a_run_begins_once_and_what_is_not_known_is_not_said_to_be_new() {
        let mut claims = Claims::new(Some(run(10)));
        assert!(!claims.begin(TENANT, run(10)) && !claims.begin(TENANT, run(3)));
        assert!(claims.begin(TENANT, run(11)) && !claims.begin(TENANT, run(11)));
        assert!(claims.begin(TenantId::from_bytes([1; 16]), run(11)), "another tenant's");
        claims.take_back(TENANT, run(11));
        assert!(claims.begin(TENANT, run(11)));
    }

    #[test]
    fn what_was_forgotten_may_have_begun() {
        let mut claims = Claims::new(None);
        let count = MOST as u64 * 3;
        assert!((0..count).all(|number| claims.begin(TENANT, run(number))));
        assert!((0..count).all(|number| !claims.begin(TENANT, run(number))), "each has begun before");
        assert!(claims.recent.begun.len() + claims.older.begun.len() <= 2 * MOST);
    }
}
