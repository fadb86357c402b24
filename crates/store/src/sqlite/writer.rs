//! The one connection that writes, behind group commit.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use schema::{Digest, TenantId};

use super::ahead::{Ahead, not_refused};
use super::cache;
use super::checkpoint::Checkpointer;
use super::event::{self, Prepared};
use super::job;
use super::memory::Memory;
use super::meter::{self, AllMeters, Settled};
use super::often::Statements;
use super::request::{Reply, Request, WriteError};
use super::{KnownRows, PATIENCE, conduct, subject, sums, view};
use crate::cache::CacheKind;
use crate::error::StoreError;
use crate::group_commit::Writer;

/// So many queued commits are written while nothing is acknowledged, or by a caller on its own thread; more than that, and
/// others go on meanwhile. Should there always be more, it ends after a few rounds.
const FEW: usize = 8;
const ROUNDS: usize = 2;

/// What of the rows in memory a transaction changes.
#[derive(Default)]
struct Outdated {
    keys: bool,
    entries: Vec<(TenantId, CacheKind, Digest)>,
    all_entries: bool,
}

impl Outdated {
    /// Notes what a request changes. One that has nothing to do with them is most likely; one that might is taken to.
    fn by(&mut self, request: &Request) {
        match request {
            Request::Commit(prepared) => {
                self.keys |= prepared.changes_keys();
                self.all_entries |= prepared.gives_up();
                self.entries.extend(prepared.entries());
            }
            Request::Rebuild { .. } | Request::TakeOut { .. } | Request::MendCache { .. } => {
                self.all_entries = true;
            }
            _ => {}
        }
    }

    fn forget(self, known: &KnownRows) {
        if self.keys {
            known.keys.forget_all();
        }
        if self.all_entries {
            known.entries.forget_all();
        } else if !self.entries.is_empty() {
            known.entries.forget(&self.entries);
        }
    }
}

/// What the requests of a transaction want of it.
#[derive(Default)]
struct Wanted {
    /// That it is committed.
    commit: bool,
    /// That the lock is kept.
    hold: bool,
}

/// Owns the connection that writes.
pub(super) struct SqliteWriter {
    connection: Connection,
    checkpointer: Checkpointer,
    memory: Memory,
    meters: Arc<AllMeters>,
    known: Arc<KnownRows>,
    ahead: Arc<Ahead>,
    /// Whether the write lock is held, for what is queued and what comes: then a transaction is open.
    holds: bool,
    /// What the open transaction was begun for.
    wanted: Wanted,
    /// What the open transaction makes of what is known.
    outdated: Outdated,
    /// What the open transaction settles.
    settled: Vec<Settled>,
    /// Why the open transaction must not be committed.
    failed: Option<WriteError>,
}

impl SqliteWriter {
    pub(super) fn new(
        connection: Connection,
        checkpointer: Checkpointer,
        meters: Arc<AllMeters>,
        known: Arc<KnownRows>,
        ahead: Arc<Ahead>,
    ) -> Self {
        let (memory, settled) = (Memory::default(), Vec::new());
        Self {
            connection,
            checkpointer,
            memory,
            meters,
            known,
            ahead,
            holds: false,
            wanted: Wanted::default(),
            outdated: Outdated::default(),
            settled,
            failed: None,
        }
    }

    fn perform(&mut self, request: Request) -> Result<Reply, WriteError> {
        self.outdated.by(&request);
        if let Request::Hold = request {
            self.wanted.hold = true;
            return Ok(Reply::Done);
        }
        self.wanted.commit = true;
        let Self { connection, memory, .. } = self;
        if request.is_about_sums() {
            // It finds all that was added so far, and leaves something else than is known.
            memory.write(connection)?;
            memory.forget();
        }
        match request {
            Request::Nothing | Request::Hold => Ok(Reply::Done),
            Request::Commit(prepared) => {
                let settled = event::write(&mut Statements::new(connection), memory, &prepared)?;
                self.settled.extend(settled);
                Ok(Reply::Done)
            }
            Request::Subject { tenant, subject, new } => {
                Ok(Reply::Subject(subject::find_or_add(connection, tenant, &subject, new)?))
            }
            Request::Rebuild { tenant, after } => {
                view::rebuild(connection, tenant, after).map(|(part, last)| Reply::Rebuilt(part, last))
            }
            Request::Touch { tenant, kind, key } => {
                memory.touched.add(tenant, kind, key);
                Ok(Reply::Done)
            }
            Request::TakeOut { tenant, what } => {
                Ok(Reply::Count(cache::take_out(connection, tenant, &what)?))
            }
            Request::MendCache { tenant, wanted, now } => {
                Ok(Reply::Rebuilt(cache::mend(connection, &mut memory.eras, tenant, wanted, now)?, None))
            }
            Request::MendUsage { tenant, wanted } => {
                Ok(Reply::Rebuilt(sums::mend_usage(connection, tenant, wanted)?, None))
            }
            Request::MendAgents { tenant, wanted } => {
                Ok(Reply::Rebuilt(sums::mend_agents(connection, tenant, wanted)?, None))
            }
            Request::MendConduct { tenant, wanted } => {
                Ok(Reply::Rebuilt(conduct::mend(connection, tenant, wanted)?, None))
            }
            Request::ForgetMeters { before } => Ok(Reply::Count(meter::forget(connection, before)?)),
            Request::ForgetJobs { before, limit } => {
                Ok(Reply::Count(job::forget(connection, before, limit)?))
            }
            Request::Claim(claim) => Ok(Reply::Claimed(job::claim(connection, &claim)?)),
            Request::Extend { job, token, lease_until } => {
                Ok(Reply::Changed(job::extend(connection, job, token, lease_until)?))
            }
            Request::Complete { job, token } => Ok(Reply::Changed(job::complete(connection, job, token)?)),
            Request::Fail { job, token, error, retry } => {
                Ok(Reply::Changed(job::fail(connection, job, token, &error, &retry)?))
            }
            Request::Requeue { tenant, job, now } => {
                Ok(Reply::Changed(job::requeue(connection, tenant, job, now)?))
            }
        }
    }
}

#[cfg(test)]
impl SqliteWriter {
    /// As if something had gone wrong in the middle of writing.
    pub(super) fn spoil(&mut self, error: StoreError) {
        self.failed = Some(error.into());
    }
}

impl SqliteWriter {
    fn commit_due(&mut self) -> rusqlite::Result<()> {
        self.memory.write(&self.connection)?;
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// Takes the write lock now, and not in the middle of a transaction.
    fn begin_now(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop)
    }

    /// The same if nobody else has the lock; otherwise says no.
    fn begin_if_free(&self) -> rusqlite::Result<bool> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let begun = self.begin_now();
        self.connection.busy_timeout(PATIENCE)?;
        match begun {
            Ok(()) => Ok(true),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Commits what is queued, and lets the lock go.
    pub(super) fn settle(&mut self) -> Result<(), WriteError> {
        let mut settled = self.try_to_settle();
        if let Err(WriteError::Store(error)) = &settled
            && let StoreError::Full(_) = **error
        {
            self.take_back();
            if self.ahead.give_room() {
                settled = self.try_to_settle();
            }
        }
        settled.inspect_err(|_| self.take_back())
    }

    /// The same, and then what there is to tidy. With much to do the lock is taken again at once.
    pub(super) fn settle_and_tidy(&mut self) -> Result<(), WriteError> {
        let is_busy = self.ahead.is_due();
        self.settle()?;
        if self.wants_tidying() {
            self.tidy();
        }
        if is_busy && self.begin_if_free()? {
            self.hold();
        }
        Ok(())
    }

    /// Keeps the open transaction, and with it the write lock.
    fn hold(&mut self) {
        self.holds = true;
        self.ahead.hold();
    }

    fn try_to_settle(&mut self) -> Result<(), WriteError> {
        let ahead = self.ahead.clone();
        if !self.holds {
            if ahead.waiting().is_none() {
                return Ok(());
            }
            // The transaction before this one was taken back.
            self.begin_now()?;
            self.holds = true;
        }
        let mut done = 0;
        for _ in 0..ROUNDS {
            let more = ahead.queued(done);
            if more.len() <= FEW {
                break;
            }
            self.bring(&more)?;
            done += more.len();
        }
        let closing = ahead.closing();
        self.bring(closing.queued(done))?;
        closing.write_mark(&self.connection)?;
        self.commit_due()?;
        self.holds = false;
        closing.committed();
        self.memory.keep();
        Ok(())
    }

    /// Writes what was acknowledged. Whoever settles was told before.
    fn bring(&mut self, commits: &[Arc<Prepared>]) -> Result<(), WriteError> {
        let mut statements = Statements::new(&self.connection);
        // By `claims.rs`, before they were acknowledged.
        statements.claimed = true;
        for commit in commits {
            event::write(&mut statements, &mut self.memory, commit).map_err(not_refused)?;
        }
        Ok(())
    }

    /// Takes the open transaction back. What was queued stays so.
    fn take_back(&mut self) {
        self.memory.forget();
        self.holds = false;
        self.ahead.let_go();
        if !self.connection.is_autocommit() {
            // A commit that failed for want of space leaves its transaction open.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Writer for SqliteWriter {
    type Request = Request;
    type Reply = Reply;
    type Error = WriteError;

    fn begin(&mut self) -> Result<(), WriteError> {
        self.settle()?;
        Ok(self.begin_now()?)
    }

    fn begin_at_once(&mut self) -> Result<bool, WriteError> {
        if self.ahead.len() > FEW || (!self.holds && self.ahead.waiting().is_some()) {
            return Ok(false);
        }
        self.settle()?;
        Ok(self.begin_if_free()?)
    }

    fn apply(&mut self, request: Request) -> Result<Reply, WriteError> {
        let performed = self.perform(request);
        if let Err(error @ WriteError::Store(_)) = &performed {
            // What is refused is refused before it writes; this one was in the middle, so the others cannot stand either.
            self.failed = Some(error.clone());
        }
        performed
    }

    fn is_spoilt(&self) -> bool {
        self.failed.is_some()
    }

    fn commit(&mut self) -> Result<(), WriteError> {
        let wanted = std::mem::take(&mut self.wanted);
        let committed = match self.failed.take() {
            Some(error) => Err(error),
            None if wanted.hold && !wanted.commit => Ok(()),
            None => self.commit_due().map_err(Into::into),
        };
        // Whether or not it succeeded: what is read again is right.
        std::mem::take(&mut self.outdated).forget(&self.known);
        if committed.is_err() {
            self.settled.clear();
            self.take_back();
            return committed;
        }
        self.memory.keep();
        // Before anybody is told: whoever is told finds it so.
        self.meters.settle(&mut self.settled);
        // Who wants it and does not get it asks again.
        if wanted.hold && (!wanted.commit || matches!(self.begin_if_free(), Ok(true))) {
            self.hold();
        }
        Ok(())
    }

    fn wants_tidying(&self) -> bool {
        // Not while a transaction is open.
        !self.holds && self.checkpointer.is_due()
    }

    fn tidy(&mut self) {
        self.checkpointer.step(&self.connection);
    }
}
