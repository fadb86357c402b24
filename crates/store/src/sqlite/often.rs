//! Statements that every run needs, looked up once for many runs.
//!
//! SQLite's are kept by their texts, and to find one takes a hash over the text, there and back: for a row of a few bytes that
//! is a quarter of what it takes to write it. Whoever writes many commits holds them meanwhile.

use rusqlite::{CachedStatement, Connection};

/// What a statement inserts that every run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Often {
    Run,
    /// One that has surely not begun before.
    NewRun,
    Leaf,
    Segment,
    Entry,
}

impl Often {
    const COUNT: usize = Self::Entry as usize + 1;

    fn text(self) -> &'static str {
        match self {
            Self::Run => super::run::INSERT,
            Self::NewRun => super::run::INSERT_NEW,
            Self::Leaf => super::log::INSERT,
            Self::Segment => super::event::INSERT,
            Self::Entry => super::cache::INSERT,
        }
    }
}

/// A connection that writes, with the statements that were needed so far.
pub(super) struct Statements<'c> {
    pub(super) connection: &'c Connection,
    /// Whether the runs that begin are known to do so for the first time.
    pub(super) claimed: bool,
    held: [Option<CachedStatement<'c>>; Often::COUNT],
}

impl<'c> Statements<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, claimed: false, held: [const { None }; Often::COUNT] }
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
