//! The one connection that writes, behind group commit.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use schema::{ApiKeyId, Digest, JobId, RunId, Seq, Subject, SubjectId, TenantId, Timestamp};

use super::ahead::{Ahead, not_refused};
use super::cache::{self, TakeOut};
use super::checkpoint::Checkpointer;
use super::event::{self, Prepared};
use super::job as jobs;
use super::job::{self, ClaimRequest};
use super::memory::Memory;
use super::meter::{self, AllMeters, Settled};
use super::often::Statements;
use super::row::unavailable;
use super::{KnownRows, PATIENCE, conduct, subject, sums, view};
use crate::cache::{CacheKind, CacheRow};
use crate::commit::CommitError;
use crate::error::StoreError;
use crate::group_commit::Writer;
use crate::job::{Claimed, LeaseToken, Retry};
use crate::record::RecordKind;
use crate::sealing::SubjectRow;
use crate::sums::Sums;
use crate::view::Rebuilt;

/// So many queued commits are written while nothing is acknowledged, or by a caller on its own thread; more than that, and
/// others go on meanwhile. Should there always be more, it ends after a few rounds.
const FEW: usize = 8;
const ROUNDS: usize = 2;

/// Everything that writes.
pub(super) enum Request {
    /// Nothing, to see whether a write would go through.
    Nothing,
    /// The write lock, for what comes by way of the journal.
    Hold,
    Commit(Arc<Prepared>),
    /// The row of a subject: the one that is there, or else this one.
    Subject {
        tenant: TenantId,
        subject: Subject,
        new: SubjectRow,
    },
    /// The rows of some runs, made again.
    Rebuild {
        tenant: TenantId,
        after: Option<RunId>,
    },
    /// An entry of the cache served.
    Touch {
        tenant: TenantId,
        kind: CacheKind,
        key: Digest,
    },
    /// Some of the cache's entries, taken out.
    TakeOut {
        tenant: TenantId,
        what: TakeOut,
    },
    /// The cache's entries that point to runs, made again.
    MendCache {
        tenant: TenantId,
        wanted: BTreeMap<Digest, CacheRow>,
        now: Timestamp,
    },
    /// The usage, made again.
    MendUsage {
        tenant: TenantId,
        wanted: Sums,
    },
    /// The agents, made again.
    MendAgents {
        tenant: TenantId,
        wanted: Sums,
    },
    /// What agents did, made again.
    MendConduct {
        tenant: TenantId,
        wanted: Sums,
    },
    /// The windows of meters that began before then, deleted.
    ForgetMeters {
        before: i64,
    },
    /// Jobs that are done and were made before then, deleted.
    ForgetJobs {
        before: Timestamp,
        limit: NonZeroU32,
    },
    Claim(ClaimRequest),
    Extend {
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    },
    Complete {
        job: JobId,
        token: LeaseToken,
    },
    Fail {
        job: JobId,
        token: LeaseToken,
        error: String,
        retry: Retry,
    },
    Requeue {
        tenant: TenantId,
        job: JobId,
        now: Timestamp,
    },
}

impl Request {
    /// Whether it changes rows that commits add to.
    fn is_about_sums(&self) -> bool {
        use Request::{ForgetMeters, MendAgents, MendCache, MendConduct, MendUsage, Rebuild};
        matches!(
            self,
            Rebuild { .. }
                | MendCache { .. }
                | MendUsage { .. }
                | MendAgents { .. }
                | MendConduct { .. }
                | ForgetMeters { .. }
        )
    }
}

/// What a writer answers.
pub(super) enum Reply {
    Done,
    Subject(SubjectRow),
    Rebuilt(Rebuilt, Option<RunId>),
    /// How many rows it came to.
    Count(u64),
    Claimed(Vec<Claimed>),
    /// Whether a row was there to be changed.
    Changed(bool),
}

/// Why something was not written; cloned when a failed commit is told to many.
#[derive(Debug, Clone)]
pub(super) enum WriteError {
    Moved {
        run: RunId,
        expected: Seq,
        actual: Seq,
    },
    Refused {
        run: RunId,
        cause: ledger::ChainError,
    },
    NoSubject(SubjectId),
    NoKey(ApiKeyId),
    KeyTaken(ApiKeyId),
    RecordMoved {
        kind: RecordKind,
        id: String,
    },
    /// The key that an append was sealed with is no longer there.
    KeyGone(SubjectId),
    Store(Arc<StoreError>),
    Gone,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(Arc::new(unavailable(error)))
    }
}
impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
impl From<WriteError> for StoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Store(error) => match Arc::try_unwrap(error) {
                Ok(error) => error,
                Err(shared) => match &*shared {
                    Self::Damaged(what) => Self::Damaged(what.clone()),
                    Self::Full(_) => Self::Full(cause(&shared).into()),
                    Self::Unavailable(_) => Self::unavailable(shared.to_string() + ": " + &cause(&shared)),
                },
            },
            WriteError::Gone => Self::unavailable("the writer has stopped"),
            WriteError::Moved { .. }
            | WriteError::Refused { .. }
            | WriteError::NoSubject(_)
            | WriteError::NoKey(_)
            | WriteError::KeyTaken(_)
            | WriteError::RecordMoved { .. }
            | WriteError::KeyGone(_) => Self::unavailable("only a commit can be refused"),
        }
    }
}
impl From<WriteError> for CommitError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Moved { run, expected, actual } => Self::Moved { run, expected, actual },
            WriteError::Refused { run, cause } => Self::Refused { run, cause },
            WriteError::NoSubject(subject) => Self::NoSubject(subject),
            WriteError::NoKey(key) => Self::NoKey(key),
            WriteError::KeyTaken(key) => Self::KeyTaken(key),
            WriteError::RecordMoved { kind, id } => Self::RecordMoved { kind, id },
            other => Self::Store(other.into()),
        }
    }
}

fn cause(error: &StoreError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

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
                Ok(Reply::Rebuilt(cache::mend(connection, tenant, wanted, now)?, None))
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
                Ok(Reply::Count(jobs::forget(connection, before, limit)?))
            }
            Request::Claim(claim) => Ok(Reply::Claimed(job::claim(connection, &claim)?)),
            Request::Extend { job, token, lease_until } => {
                Ok(Reply::Changed(jobs::extend(connection, job, token, lease_until)?))
            }
            Request::Complete { job, token } => Ok(Reply::Changed(jobs::complete(connection, job, token)?)),
            Request::Fail { job, token, error, retry } => {
                Ok(Reply::Changed(jobs::fail(connection, job, token, &error, &retry)?))
            }
            Request::Requeue { tenant, job, now } => {
                Ok(Reply::Changed(jobs::requeue(connection, tenant, job, now)?))
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
            // What goes into the log now, nobody waits for at the commit; a page that all of them share goes there twice.
            self.connection.cache_flush()?;
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
