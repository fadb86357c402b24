//! Statements that every run needs, looked up once for many runs.
//!
//! SQLite's are kept by their texts, and to find one takes a hash over the text, there and back: for a row of a few bytes that
//! is a quarter of what it takes to write it. Whoever writes many commits holds them meanwhile.

use rusqlite::{CachedStatement, Connection};

/// A statement that every run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Often {
    InsertRun,
    InsertLeaf,
    InsertSegment,
    InsertEntry,
}

impl Often {
    const COUNT: usize = Self::InsertEntry as usize + 1;

    fn text(self) -> &'static str {
        match self {
            Self::InsertRun => super::run::INSERT,
            Self::InsertLeaf => super::log::INSERT,
            Self::InsertSegment => super::event::INSERT,
            Self::InsertEntry => super::cache::INSERT,
        }
    }
}

/// A connection that writes, with the statements that were needed so far.
pub(super) struct Statements<'c> {
    pub(super) connection: &'c Connection,
    held: [Option<CachedStatement<'c>>; Often::COUNT],
}

impl<'c> Statements<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, held: [const { None }; Often::COUNT] }
    }

    /// The statement.
    pub(super) fn get(&mut self, which: Often) -> rusqlite::Result<&mut CachedStatement<'c>> {
        let held = &mut self.held[which as usize];
        match held {
            Some(statement) => Ok(statement),
            None => Ok(held.insert(self.connection.prepare_cached(which.text())?)),
        }
    }
}
