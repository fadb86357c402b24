//! Entries of the cache beyond the bound of their kind, taken away a few at a time.
//!
//! One put in so many looks where the bound is, and finds as many entries beyond it as were put since the one before. To
//! take them away at once would change hundreds of pages, with a copy of each in memory in case it had to be undone, and everybody
//! would wait for it. So each transaction takes away a few more than it puts.

use std::collections::HashMap;
use std::num::NonZeroU32;

use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{TenantId, Timestamp};

use super::row::Sql;
use crate::cache::CacheKind;

/// So many are taken away by one statement; it holds a copy of each page that it changes.
const AT_ONCE: u32 = 64;

/// Whose entries of which kind.
type Whose = (TenantId, CacheKind);

/// What is to be taken away.
#[derive(Default)]
pub(super) struct Beyond {
    /// The newest entry that is beyond the bound, by when it was made and its row.
    newest: HashMap<Whose, (Timestamp, i64)>,
    /// How many entries the open transaction puts.
    pub(super) puts: u32,
}

impl Beyond {
    /// Looks where the bound is.
    pub(super) fn look(
        &mut self,
        connection: &Connection,
        whose: Whose,
        bound: NonZeroU32,
    ) -> rusqlite::Result<()> {
        let newest = connection
            .prepare_cached(
                "SELECT created_at, id FROM cache_entries WHERE tenant = ? AND kind = ?
                 ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?",
            )?
            .query_row(params![Sql(whose.0), whose.1.as_str(), bound.get()], |row| {
                let Sql(created_at) = row.get(0)?;
                Ok((created_at, row.get(1)?))
            })
            .optional()?;
        if let Some(newest) = newest {
            self.newest.insert(whose, newest);
        }
        Ok(())
    }

    /// Takes away some. Before the transaction ends.
    pub(super) fn take_away(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let rounds = 1 + std::mem::take(&mut self.puts) * 2 / AT_ONCE;
        let whose: Vec<Whose> = self.newest.keys().copied().collect();
        for whose in whose {
            for _ in 0..rounds {
                let Some(newest) = self.newest.get(&whose) else { break };
                if take_oldest(connection, whose, *newest)? < AT_ONCE as usize {
                    self.newest.remove(&whose);
                }
            }
        }
        Ok(())
    }

    /// The transaction was taken back. Whoever looks next finds what is left.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn take_oldest(
    connection: &Connection,
    (tenant, kind): Whose,
    (created_at, entry): (Timestamp, i64),
) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM cache_entries WHERE id IN (
                 SELECT id FROM cache_entries INDEXED BY cache_entries_by_age
                 WHERE tenant = ?1 AND kind = ?2 AND created_at <= ?3 AND (created_at, id) <= (?3, ?4)
                 ORDER BY created_at, id LIMIT ?5)",
        )?
        .execute(params![Sql(tenant), kind.as_str(), Sql(created_at), entry, AT_ONCE])
}

#[cfg(test)]
mod tests {
    use super::super::{Durability, connect, migrate};
    use super::*;

    #[test]
    fn what_is_beyond_the_bound_goes_a_few_at_a_time_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        let mut connection = connect(&path, Durability::Commit).unwrap();
        migrate::run(&mut connection, &path).unwrap();
        let whose = (TenantId::NIL, CacheKind::ToolResult);
        let insert =
            "INSERT INTO cache_entries (era, tenant, kind, key, created_at, expires_at, bytes, hits, sum)
            VALUES (1, ?, ?, ?, ?, 9, 0, 0, 0)";
        for number in 0..300_i64 {
            let key = ledger::sha256(&number.to_le_bytes());
            let values = params![Sql(whose.0), whose.1.as_str(), Sql(key), number / 3];
            connection.execute(insert, values).unwrap();
        }
        let left = || -> (i64, i64) {
            let text = "SELECT count(*), min(created_at) FROM cache_entries";
            connection.query_row(text, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        let mut beyond = Beyond::default();
        beyond.take_away(&connection).unwrap();
        assert_eq!(left().0, 300, "nobody looked");
        beyond.look(&connection, whose, NonZeroU32::new(150).unwrap()).unwrap();
        beyond.take_away(&connection).unwrap();
        assert_eq!(left(), (236, 21));
        beyond.puts = 40;
        beyond.take_away(&connection).unwrap();
        assert_eq!(left(), (150, 50), "no more than was beyond it");
        beyond.take_away(&connection).unwrap();
        assert_eq!((left().0, beyond.newest.len()), (150, 0));
    }
}
