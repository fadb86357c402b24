//! What the writer remembers, so that it need not ask the database, and what it has yet to write in the open transaction.
//!
//! One writer changes one database, so what it wrote is what is there. That ends with a transaction that fails, and where
//! something is made again from the events: then everything is forgotten, and read when it is next wanted.

use rusqlite::Connection;

use super::beyond::Beyond;
use super::cache::Touched;
use super::conduct::{self, DueConduct};
use super::eras::Eras;
use super::log::NextLeaf;
use super::meter::{self, DueMeters};
use super::slot::Slots;
use super::sums::{self, DueAgents, DueUsage};

/// The writer's memory.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) next_leaf: NextLeaf,
    pub(super) slots: Slots,
    pub(super) usage: DueUsage,
    pub(super) agents: DueAgents,
    pub(super) conduct: DueConduct,
    pub(super) meters: DueMeters,
    pub(super) touched: Touched,
    pub(super) beyond: Beyond,
    pub(super) eras: Eras,
}

impl Memory {
    /// Writes what is due.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let Self { usage, agents, conduct, meters, touched, beyond, .. } = self;
        usage.rows().try_for_each(|(place, row)| sums::put_usage(connection, *place, row))?;
        agents.rows().try_for_each(|((tenant, _), row)| sums::put_agent(connection, *tenant, row))?;
        conduct.rows().try_for_each(|((tenant, ..), row)| conduct::put(connection, *tenant, row))?;
        meters.rows().try_for_each(|((tenant, key), spent)| meter::put(connection, *tenant, *key, *spent))?;
        touched.write(connection)?;
        beyond.take_away(connection)
    }

    /// What was due is committed.
    pub(super) fn keep(&mut self) {
        self.usage.keep();
        self.agents.keep();
        self.conduct.keep();
        self.meters.keep();
    }

    /// What was due is not there, and what was known may not be.
    pub(super) fn forget(&mut self) {
        let Self { next_leaf, slots, usage, agents, conduct, meters, touched, beyond, eras } = self;
        next_leaf.forget();
        slots.forget();
        usage.forget();
        agents.forget();
        conduct.forget();
        meters.forget();
        touched.forget();
        beyond.forget();
        eras.forget();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ledger::{Recorder, Salt};
    use schema::{Digest, RunId, TenantId, Timestamp};
    use serde_json::{Value, json};

    use super::super::ahead::{Ahead, LINGER};
    use super::super::checkpoint::Checkpointer;
    use super::super::event::Prepared;
    use super::super::likeness::Likenesses;
    use super::super::request::{Request, WriteError};
    use super::super::writer::SqliteWriter;
    use super::super::{Durability, connect, migrate};
    use super::*;
    use crate::cache::{CacheHeld, CacheKind, CacheWrite};
    use crate::commit::{Append, Commit, Settle};
    use crate::error::StoreError;
    use crate::group_commit::Writer as _;
    use crate::meter::{MeterKey, Settlement};
    use crate::sums::Sums;

    const TENANT: TenantId = TenantId::NIL;
    const METER: MeterKey = MeterKey { meter: Digest::ZERO, window: 0 };

    struct World {
        writer: SqliteWriter,
        reader: Connection,
        _folder: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("punk.db");
            let mut connection = connect(&path, Durability::Commit).unwrap();
            migrate::run(&mut connection, &path).unwrap();
            let ahead = Arc::new(Ahead::begin(&connection, &path, Durability::Commit, LINGER).unwrap());
            let checkpointer = Checkpointer::start(&mut connection, &path).unwrap();
            let writer = SqliteWriter::new(connection, checkpointer, Arc::default(), Arc::default(), ahead);
            Self { writer, reader: Connection::open(&path).unwrap(), _folder: folder }
        }

        /// Several requests in one transaction, all of which are taken.
        fn write(&mut self, requests: impl IntoIterator<Item = Request>) {
            self.writer.begin().unwrap();
            for request in requests {
                assert!(self.writer.apply(request).is_ok());
            }
            self.writer.commit().unwrap();
        }

        /// Runs by the usage and by the agents, actions by the conduct, what is spent, and leaves.
        fn stands(&self) -> [i64; 5] {
            let sum = |path: &str, table: &str| {
                format!(
                    "SELECT coalesce(sum({path}), 0) FROM (SELECT substr(row, 1, length(row) - 9) AS row FROM {table})"
                )
            };
            [
                sum("row ->> 'runs'", "usage_daily"),
                sum("row ->> 'runs'", "agents"),
                sum("row ->> 'allowed'", "conduct_daily"),
                "SELECT coalesce(sum(spent), 0) FROM meters".to_owned(),
                "SELECT count(*) FROM leaves".to_owned(),
            ]
            .map(|text| self.reader.query_row(&text, [], |row| row.get(0)).unwrap())
        }

        fn hits(&self) -> i64 {
            self.reader.query_row("SELECT hits FROM cache_entries", [], |row| row.get(0)).unwrap()
        }
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    fn prepared(commit: &Commit) -> Request {
        let none = vec![None; commit.appends.len() + commit.cache.len()];
        Request::Commit(Arc::new(
            Prepared::new(TENANT, commit, &none, &none, &Likenesses::default()).unwrap(),
        ))
    }

    /// A whole run that spends 5.
    fn run(n: u64) -> Request {
        let id = RunId::new(n, [1; 10]);
        let mut recorder = Recorder::new(TENANT, id);
        for (r#type, fields) in [
            ("run.started", json!({ "kind": "chat", "agent": "helper", "model": "small" })),
            ("policy.decided", json!({ "verdict": { "effect": "allow" } })),
            ("run.finished", json!({ "status": "completed", "inputTokens": 3 })),
        ] {
            let Value::Object(fields) = fields else { continue };
            recorder.append(at(n), r#type, fields, || Salt::from_bytes([7; 16])).unwrap();
        }
        let append = Append { events: recorder.end(), settle: Settle::Leaf, subject: None };
        let settled = vec![Settlement { id: id.into(), spent: vec![(METER, 5)] }];
        prepared(&Commit { appends: vec![append], settled, ..Commit::default() })
    }

    fn entry(created_at: u64) -> Request {
        let write = CacheWrite {
            kind: CacheKind::ToolResult,
            key: Digest::ZERO,
            held: CacheHeld::Value(b"kept".to_vec()),
            subject: None,
            model: None,
            created_at: at(created_at),
            expires_at: at(1_000),
            bytes: 4,
            at_most: None,
        };
        prepared(&Commit { cache: vec![write], ..Commit::default() })
    }

    fn touch() -> Request {
        Request::Touch { tenant: TENANT, kind: CacheKind::ToolResult, key: Digest::ZERO }
    }

    #[test]
    fn what_many_commits_add_is_there_when_their_transaction_is() {
        let mut world = World::new();
        world.writer.begin().unwrap();
        assert!((1..=3).all(|n| world.writer.apply(run(n)).is_ok()));
        assert_eq!(world.stands(), [0; 5]);
        world.writer.commit().unwrap();
        assert_eq!(world.stands(), [3, 3, 3, 15, 3]);
        world.write([run(4)]);
        assert_eq!(world.stands(), [4, 4, 4, 20, 4]);
    }

    #[test]
    fn a_commit_that_is_refused_adds_nothing() {
        let mut world = World::new();
        world.writer.begin().unwrap();
        assert!(world.writer.apply(run(1)).is_ok());
        assert!(matches!(world.writer.apply(run(1)), Err(WriteError::Moved { .. })));
        world.writer.commit().unwrap();
        assert_eq!(world.stands(), [1, 1, 1, 5, 1]);
    }

    #[test]
    fn a_transaction_that_was_taken_back_leaves_nothing_in_memory() {
        let mut world = World::new();
        world.write([run(1)]);
        world.writer.begin().unwrap();
        assert!(world.writer.apply(run(2)).is_ok());
        world.writer.spoil(StoreError::Damaged("for the sake of it".to_owned()));
        assert!(world.writer.commit().is_err());
        assert_eq!(world.stands(), [1, 1, 1, 5, 1]);
        world.write([run(2)]);
        assert_eq!(world.stands(), [2, 2, 2, 10, 2]);
    }

    #[test]
    fn what_is_made_again_between_two_commits_is_what_the_second_adds_to() {
        let mut world = World::new();
        let mend = || Request::MendUsage { tenant: TENANT, wanted: Sums::default() };
        world.write([run(1), mend(), run(2)]);
        assert_eq!(world.stands(), [1, 2, 2, 10, 2]);
        world.write([mend()]);
        world.write([run(3), Request::ForgetMeters { before: 1 }]);
        assert_eq!(world.stands(), [1, 3, 3, 15, 3]);
    }

    #[test]
    fn an_entry_that_is_put_anew_has_the_hits_since_then() {
        let mut world = World::new();
        world.write([entry(1), touch(), touch()]);
        assert_eq!(world.hits(), 2);
        world.write([touch(), entry(2), touch()]);
        assert_eq!(world.hits(), 1);
        world.write([touch(), entry(1), touch()]);
        assert_eq!(world.hits(), 3, "the older one is not put");
    }
}
