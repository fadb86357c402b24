//! Acknowledged first, brought into the database a little later: a journal beside it, and the queue of what is only there.
//!
//! A commit that only begins runs ([`Prepared::is_plain`]) is a few lines in a dozen tables, and a page of each. Here it is one
//! write at the end of a file, shared by whoever comes at the same time; SQLite gets many of them in one transaction. All else
//! goes to SQLite at once, after what is queued.
//!
//! Start at [`Inner::commit`]. `writer.rs` is the journal's side of group commit, `journal.rs` the file, `plain.rs` what a record
//! says, `claims.rs` why nothing of it is refused later, `recover.rs` what happens after a crash; the other side is
//! `SqliteWriter::settle`.
//!
//! - What is acknowledged is in the journal, and in the queue until it is in the database with its number. Readers wait for
//!   that ([`Inner::read`]), unless what they ask for is never queued.
//! - Something is queued only while this process holds SQLite's write lock: when another program holds it, commits are refused
//!   as ever, and nothing that was acknowledged is out of sight. The lock is let go when the queue is empty, and only then.
//! - There is room on the disk to bring the queue into the database before anything is acknowledged: the journal holds it.

mod claims;
mod journal;
mod mark;
mod plain;
mod recover;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use schema::{Digest, TenantId};
use tokio::sync::Notify;

use super::event::Prepared;
use super::meter::AllMeters;
use super::request::{Request, WriteError};
use super::writer::SqliteWriter;
use super::{Durability, Inner, KnownRows, room};
use crate::cache::CacheKind;
use crate::error::StoreError;
use crate::group_commit::{GroupCommit, SubmitError};
use journal::{Bodies, Journal};
pub(super) use mark::parse;
pub(super) use recover::{apply_left, catch_up, highest, not_refused};
pub use recover::{read_journal, read_journal_record};
pub(super) use writer::AheadWriter;

/// How long something may be queued while nobody asks for it.
pub(super) const LINGER: Duration = Duration::from_millis(100);
/// So many commits, or bytes of them, are brought into the database at once. Each changes a few pages that no other does, which all
/// are in memory until then; what all of them share is written once for so many already.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 512 << 10;
/// So many bytes may be queued; what comes then waits for SQLite. The pages they change fit into the writer's memory.
const MOST: usize = 1 << 20;
/// A commit that is larger than this goes to SQLite at once: it would not be small change there.
const LARGE: usize = 256 << 10;
/// Room that the journal holds on the disk for SQLite: a page of each table and index, and several times what is queued.
const SPARE: usize = 128 << 10;
const SPARE_FOR_EACH: usize = 4;
/// How often a commit tries to get into the journal before it goes to SQLite.
const TRIES: usize = 4;
/// How long after a failure it is tried again.
const AGAIN: Duration = Duration::from_millis(250);

/// What is acknowledged and not in the database.
pub(super) struct Ahead {
    state: Mutex<State>,
    due: Condvar,
    /// The queue was brought into the database, or could not be.
    settled: Notify,
    /// Whether somebody asks for SQLite's write lock, for all who need it; they hear of the answer.
    is_asking: AtomicBool,
    answered: Notify,
    /// Why it was not given, when it was last asked for.
    refused: Mutex<Option<WriteError>>,
    /// The same as in the state, for who must not wait for it: an answer that may be out of date.
    is_held: AtomicBool,
    /// The entries of the cache that are put by what is queued, or served.
    entries: Mutex<HashSet<Place>>,
    /// The number of the newest commit that was acknowledged, and of the newest that is in the database.
    acknowledged: AtomicU64,
    applied: AtomicU64,
    linger: Duration,
}

struct State {
    journal: Journal,
    /// Whether this process holds SQLite's write lock, for what comes.
    held: bool,
    queue: Vec<Arc<Prepared>>,
    bytes: usize,
    /// The store is going away.
    over: bool,
}

/// Where an entry of the cache is.
type Place = (TenantId, CacheKind, Digest);

/// Why something did not get into the journal.
#[derive(Debug, Clone)]
pub(super) enum Refusal {
    /// SQLite's write lock is not held.
    NotHeld,
    /// As much is queued as may be.
    Behind,
    /// Only SQLite can tell whether it may be written.
    AskSqlite,
    Store(Arc<StoreError>),
}

impl Ahead {
    /// Goes on with the journal of a database, all of which is in the database.
    pub(super) fn begin(
        connection: &Connection,
        path: &Path,
        durability: Durability,
        linger: Duration,
    ) -> Result<Self, StoreError> {
        let (name, next) = recover::recover(connection, path)?;
        let journal = Journal::begin(path, durability, name, next).map_err(room::told)?;
        let newest = AtomicU64::new(journal.newest());
        let applied = AtomicU64::new(journal.newest());
        let state = State { journal, held: false, queue: Vec::new(), bytes: 0, over: false };
        Ok(Self {
            state: Mutex::new(state),
            due: Condvar::new(),
            settled: Notify::new(),
            is_asking: AtomicBool::new(false),
            answered: Notify::new(),
            refused: Mutex::default(),
            is_held: AtomicBool::new(false),
            entries: Mutex::default(),
            acknowledged: newest,
            applied,
            linger,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self) -> MutexGuard<'_, HashSet<Place>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something can be appended without waiting for whoever brings the queue into the database.
    fn is_free(&self) -> bool {
        !matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
    }

    fn note_held(&self, state: &mut State, held: bool) {
        state.held = held;
        self.is_held.store(held, Ordering::Release);
    }

    /// The number of the newest commit that was acknowledged, if it is not in the database.
    pub(super) fn waiting(&self) -> Option<u64> {
        let newest = self.acknowledged.load(Ordering::Acquire);
        (!self.has_applied(newest)).then_some(newest)
    }

    /// Whether the commit of this number is in the database.
    pub(super) fn has_applied(&self, number: u64) -> bool {
        self.applied.load(Ordering::Acquire) >= number
    }

    /// Whether what is queued changes this entry of the cache.
    pub(super) fn changes(&self, place: &Place) -> bool {
        self.waiting().is_some() && self.entries().contains(place)
    }

    /// Whether there is enough for a transaction.
    pub(super) fn is_due(&self) -> bool {
        self.lock().is_due()
    }

    /// How many commits are queued.
    pub(super) fn len(&self) -> usize {
        self.lock().queue.len()
    }

    /// What is queued behind the first so many.
    pub(super) fn queued(&self, behind: usize) -> Vec<Arc<Prepared>> {
        self.lock().queue.get(behind..).unwrap_or_default().to_vec()
    }

    /// SQLite's write lock is held from now on.
    pub(super) fn hold(&self) {
        self.note_held(&mut self.lock(), true);
        self.due.notify_one();
    }

    fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Acquire)
    }

    /// SQLite's write lock is not held any more, and something may be queued all the same: its transaction was taken back.
    pub(super) fn let_go(&self) {
        self.note_held(&mut self.lock(), false);
        self.settled.notify_waiters();
    }

    /// Waits until there is room in the queue, or there could not be made any.
    async fn wait_for_room(&self) {
        let settled = self.settled.notified();
        let is_behind = self.lock().bytes >= BATCH_BYTES;
        if is_behind {
            settled.await;
        }
    }

    /// Nothing more is acknowledged until this is dropped.
    pub(super) fn closing(&self) -> Closing<'_> {
        Closing { ahead: self, state: self.lock() }
    }

    /// Gives the room back that is held for SQLite. Whether that was any.
    pub(super) fn give_room(&self) -> bool {
        self.lock().journal.give_room().is_ok()
    }

    /// Writes commits to the journal and queues them: when it returns, they may be acknowledged.
    fn append(
        &self,
        bodies: &mut Bodies,
        commits: &mut Vec<Arc<Prepared>>,
        meters: &AllMeters,
        known: &KnownRows,
    ) -> Result<(), Refusal> {
        let places: Vec<Place> = commits.iter().flat_map(|commit| commit.entries()).collect();
        let mut state = self.lock();
        if !state.held {
            return Err(Refusal::NotHeld);
        }
        let bytes = state.bytes + bodies.len();
        if bytes > MOST && !state.queue.is_empty() {
            return Err(Refusal::Behind);
        }
        let spare = (SPARE + SPARE_FOR_EACH * bytes) as u64;
        state.journal.append(bodies, spare).map_err(|error| Refusal::Store(Arc::new(room::told(error))))?;
        let was_due = state.is_due();
        state.bytes = bytes;
        let changed = commits.iter().flat_map(|commit| commit.served()).chain(places.iter().copied());
        self.entries().extend(changed);
        let newest = state.journal.newest();
        // Whoever looks at the meters sees all of it or nothing: the number, what is spent, and that nothing is reserved.
        meters.acknowledge(commits, || self.acknowledged.store(newest, Ordering::Release));
        state.queue.append(commits);
        if state.is_due() && !was_due {
            self.due.notify_one();
        }
        drop(state);
        if !places.is_empty() {
            known.entries.forget(&places);
        }
        Ok(())
    }

    /// Brings what is queued into the database, again and again, for as long as the store is there.
    pub(super) fn keep_up(self: &Arc<Self>, writer: GroupCommit<SqliteWriter>) -> std::io::Result<()> {
        let ahead = self.clone();
        let keep_up = move || {
            while ahead.wait() {
                match writer.act(SqliteWriter::settle_and_tidy) {
                    Some(Ok(())) => {}
                    Some(Err(error)) => {
                        let error = StoreError::from(error);
                        let error = &error as &dyn std::error::Error;
                        tracing::error!(
                            error,
                            "what is acknowledged is in the journal, and not in the database"
                        );
                        thread::sleep(AGAIN);
                    }
                    None => return,
                }
            }
        };
        thread::Builder::new().name("punk-ahead".into()).spawn(keep_up).map(drop)
    }

    /// Waits until there is something to bring into the database, and then a little for more. `false` at the end of the store.
    fn wait(&self) -> bool {
        let is_idle = |state: &mut State| !state.over && !state.held && state.queue.is_empty();
        let state = self.due.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let is_early = |state: &mut State| !state.over && !state.is_due();
        let waited = self.due.wait_timeout_while(state, self.linger, is_early);
        !waited.unwrap_or_else(PoisonError::into_inner).0.over
    }

    /// The store goes away.
    pub(super) fn end(&self) {
        self.lock().over = true;
        self.due.notify_all();
    }

    /// Takes the journal away, if everything is in the database.
    pub(super) fn remove(&self) {
        let state = self.lock();
        if state.queue.is_empty() {
            // One that stays is read at the next start, and holds nothing new.
            let _ = state.journal.remove();
        }
    }
}

impl State {
    fn is_due(&self) -> bool {
        self.queue.len() >= BATCH || self.bytes >= BATCH_BYTES
    }
}

/// The moment in which nothing is acknowledged, so that all that was can be committed.
pub(super) struct Closing<'a> {
    ahead: &'a Ahead,
    state: MutexGuard<'a, State>,
}

impl Closing<'_> {
    /// What is queued behind the first so many.
    pub(super) fn queued(&self, behind: usize) -> &[Arc<Prepared>] {
        self.state.queue.get(behind..).unwrap_or_default()
    }

    /// Notes in the database that all of it is there.
    pub(super) fn write_mark(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.state.queue.is_empty() {
            return Ok(());
        }
        mark::put(connection, self.state.journal.newest())
    }

    /// It is: the transaction was committed.
    pub(super) fn committed(mut self) {
        let state = &mut *self.state;
        self.ahead.note_held(state, false);
        state.bytes = 0;
        state.queue.clear();
        self.ahead.entries().clear();
        self.ahead.applied.store(state.journal.newest(), Ordering::Release);
        if let Err(error) = state.journal.applied() {
            // It goes on where it is.
            tracing::warn!(error = &error as &dyn std::error::Error, "the journal could not begin anew");
        }
        self.ahead.settled.notify_waiters();
    }
}

/// Somebody asks for SQLite's write lock, until this is dropped.
struct Asking<'a>(&'a Ahead);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.is_asking.store(false, Ordering::Release);
        self.0.answered.notify_waiters();
    }
}

impl Inner {
    /// Asks for SQLite's write lock: one for all who come at the same time. When it cannot be had, each hears why.
    async fn ask_to_hold(&self, ahead: &Ahead) -> Result<(), WriteError> {
        let answered = ahead.answered.notified();
        if ahead.is_asking.swap(true, Ordering::AcqRel) {
            answered.await;
            let refused = ahead.refused.lock().unwrap_or_else(PoisonError::into_inner);
            // Who asked has waited long enough for all.
            return refused.clone().filter(|_| !ahead.is_held()).map_or(Ok(()), Err);
        }
        let _asking = Asking(ahead);
        let asked = self.write(Request::Hold).await.map(drop);
        *ahead.refused.lock().unwrap_or_else(PoisonError::into_inner) = asked.clone().err();
        asked
    }

    /// Commits: by way of the journal where that can be, else in SQLite.
    pub(super) async fn commit(&self, commit: Arc<Prepared>) -> Result<(), WriteError> {
        self.writable()?;
        let Some((ahead, journal)) = &self.ahead else { return Err(WriteError::Gone) };
        let submit = async |request| match journal.submit(request).await {
            Ok(()) => Ok(()),
            Err(SubmitError::Refused(refusal)) => Err(refusal),
            Err(SubmitError::Gone) => {
                Err(Refusal::Store(Arc::new(StoreError::unavailable("the journal's writer has stopped"))))
            }
        };
        if commit.is_plain() && commit.size() <= LARGE {
            for _ in 0..TRIES {
                if !ahead.is_held() {
                    self.ask_to_hold(ahead).await?;
                }
                match submit(writer::Request::Write(commit.clone())).await {
                    Ok(()) => return Ok(()),
                    Err(Refusal::Store(error)) => return Err(WriteError::Store(error)),
                    Err(Refusal::AskSqlite) => break,
                    Err(Refusal::Behind) => ahead.wait_for_room().await,
                    Err(Refusal::NotHeld) => {}
                }
            }
        }
        let begun: Vec<_> = commit.begun().map(|run| (commit.tenant, run)).collect();
        if !(begun.is_empty() && commit.erase.is_empty()) {
            // From then on whoever would begin the same run asks SQLite, and so does whoever writes about the same person.
            let note = writer::Request::Note { begun, erased: commit.erase.clone() };
            match submit(note).await {
                Err(Refusal::Store(error)) => return Err(WriteError::Store(error)),
                // It is noted, also where those beside it were turned away.
                Ok(()) | Err(Refusal::NotHeld | Refusal::Behind | Refusal::AskSqlite) => {}
            }
        }
        self.write(Request::Commit(commit)).await.map(drop)
    }
}
