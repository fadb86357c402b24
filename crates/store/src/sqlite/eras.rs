//! Where an entry of the cache is: entries stand in the order in which they came, and are found by their keys, era by era.
//!
//! Keys are digests. In their order, each new entry would change a page of its own, and so would each that goes: half of what it
//! takes to bring a run into the database. So the table is in the order of time, and the index of keys is in pieces, an era each:
//! what comes changes the pages of the newest era alone. Whoever looks for a key asks all eras, and few keys are looked for:
//! `presence.rs` knows which are surely not there.
//!
//! - Eras grow with what there is, so there are never many more than [`ERAS`].

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{Digest, TenantId};

use super::row::Sql;
use crate::cache::CacheKind;

/// An era has at least so many entries, whose keys are some twenty pages.
const FEWEST: u64 = 4_096;
/// An era is as large as one in so many of all entries, if that is more.
const ERAS: u64 = 32;
/// So many of the newest keys are remembered, at most.
const LATELY: usize = 4_096;

/// Where the next entry goes.
#[derive(Default)]
pub(super) struct Eras {
    /// The newest era and how many entries came in it; unknown until it is read.
    newest: Option<(i64, u64)>,
    /// The beginnings of keys that came lately.
    lately: HashSet<[u8; 8]>,
}

impl Eras {
    /// The era of an entry that is about to be written.
    pub(super) fn next(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        let (era, entries) = match &mut self.newest {
            Some(newest) => newest,
            unknown => unknown.insert(newest(connection)?),
        };
        if *entries >= FEWEST && entries.is_multiple_of(FEWEST) && *entries >= all(connection)? / ERAS {
            (*era, *entries) = (*era + 1, 0);
        }
        *entries += 1;
        Ok(*era)
    }

    /// Whether no entry with this key is there, told that there surely was none before the commit that puts it. Of several that put it
    /// at once each was told so.
    pub(super) fn is_new(&mut self, key: &Digest, was_absent: bool) -> bool {
        if self.lately.len() >= LATELY {
            self.lately.clear();
        }
        let beginning = key.as_bytes().first_chunk().copied().unwrap_or_default();
        self.lately.insert(beginning) && was_absent
    }

    /// What was written may have been taken back.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn newest(connection: &Connection) -> rusqlite::Result<(i64, u64)> {
    connection
        .prepare_cached(
            "SELECT coalesce(max(era), 1), count(*) FROM cache_entries
             WHERE era = (SELECT max(era) FROM cache_entries)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get::<_, u32>(1)?.into())))
}

/// About how many entries there are.
fn all(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            "SELECT (SELECT max(id) FROM cache_entries) - (SELECT min(id) FROM cache_entries) + 1",
        )?
        .query_row([], |row| row.get::<_, Option<i64>>(0))
        .map(|all| all.unwrap_or(0).unsigned_abs())
}

/// The row of the entry with this key, if there is one. The newest eras are asked first.
pub(super) fn find(
    connection: &Connection,
    (tenant, kind, key): (TenantId, CacheKind, Digest),
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "WITH RECURSIVE eras (era) AS (
                 SELECT max(era) FROM cache_entries
                 UNION ALL
                 SELECT (SELECT max(era) FROM cache_entries WHERE era < eras.era) FROM eras WHERE era IS NOT NULL)
             SELECT c.id FROM eras CROSS JOIN cache_entries AS c INDEXED BY cache_entries_by_key
                 ON c.era = eras.era AND substr(c.key, 1, 8) = substr(?3, 1, 8)
             WHERE c.tenant = ?1 AND c.kind = ?2 AND c.key = ?3 LIMIT 1",
        )?
        .query_row(params![Sql(tenant), kind.as_str(), Sql(key)], |row| row.get(0))
        .optional()
}

#[cfg(test)]
mod tests {
    use super::super::{Durability, connect, migrate};
    use super::*;

    const KIND: CacheKind = CacheKind::ToolResult;

    fn database() -> (Connection, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        let mut connection = connect(&path, Durability::Commit).unwrap();
        migrate::run(&mut connection, &path).unwrap();
        (connection, folder)
    }

    fn key(number: u64) -> Digest {
        ledger::sha256(&number.to_le_bytes())
    }

    fn put(connection: &Connection, eras: &mut Eras, number: u64) -> i64 {
        let era = eras.next(connection).unwrap();
        let insert =
            "INSERT INTO cache_entries (era, tenant, kind, key, created_at, expires_at, bytes, hits, sum)
            VALUES (?, ?, ?, ?, 0, 9, 0, 0, 0)";
        let values = params![era, Sql(TenantId::NIL), KIND.as_str(), Sql(key(number))];
        connection.prepare_cached(insert).unwrap().execute(values).unwrap();
        era
    }

    #[test]
    fn eras_grow_with_what_there_is_and_every_entry_is_found() {
        let (connection, _folder) = database();
        let mut eras = Eras::default();
        let many = FEWEST * (ERAS + 40);
        connection.execute_batch("BEGIN").unwrap();
        let last = (0..many).map(|number| put(&connection, &mut eras, number)).last().unwrap();
        connection.execute_batch("COMMIT").unwrap();
        let eras = u64::try_from(last).unwrap();
        assert!((ERAS..=ERAS + 24).contains(&eras), "{eras} eras");
        for number in (0..many).step_by(977) {
            let found = find(&connection, (TenantId::NIL, KIND, key(number))).unwrap();
            assert_eq!(found, Some(number as i64 + 1));
        }
        assert_eq!(find(&connection, (TenantId::NIL, KIND, key(many))).unwrap(), None);
        assert_eq!(find(&connection, (TenantId::NIL, CacheKind::ExactResponse, key(1))).unwrap(), None);
    }

    #[test]
    fn whoever_comes_later_goes_on_with_the_newest_era() {
        let (connection, _folder) = database();
        connection.execute_batch("BEGIN").unwrap();
        let mut eras = Eras::default();
        (0..FEWEST - 1).for_each(|number| assert_eq!(put(&connection, &mut eras, number), 1));
        let mut eras = Eras::default();
        let after: Vec<i64> = (0..3).map(|number| put(&connection, &mut eras, FEWEST + number)).collect();
        assert_eq!(after, [1, 2, 2]);
        assert_eq!(
            find(&connection, (TenantId::NIL, KIND, key(FEWEST + 2))).unwrap(),
            Some(FEWEST as i64 + 2)
        );
    }

    #[test]
    fn of_two_that_put_a_key_at_once_one_looks_for_the_other() {
        let mut eras = Eras::default();
        assert!(eras.is_new(&key(1), true));
        assert!(!eras.is_new(&key(1), true), "the other one was told the same");
        assert!(!eras.is_new(&key(2), false));
        assert!(!eras.is_new(&key(2), true));
    }
}
