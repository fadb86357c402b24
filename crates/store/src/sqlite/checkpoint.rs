//! Moving the write-ahead log into the database, without making anybody wait for the disk.
//!
//! A thread of its own copies what has been committed while commits go on, again and again until little is left. It can never
//! quite catch up with a busy writer, so the writer copies the last bit itself, between two batches; the log then starts again
//! from its beginning. Whatever the writer copies it also waits for on the disk, and everybody waits for the writer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;

/// The thread begins to copy when the log has this many bytes. A page that changes with every commit is copied once a time.
const BEGIN: u32 = 16 << 20;
/// At this many the writer copies everything itself, however long that takes: the log must not grow without end.
const ENOUGH: u32 = 128 << 20;

/// With no more than this left to copy, the writer is not kept for long.
const LITTLE: u32 = 512 << 10;
/// A disk that is no faster than the writer never comes to that.
const ROUNDS: usize = 6;

const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The writer's side.
pub(super) struct Checkpointer {
    /// How many pages the log has, as of the last commit.
    pages: Arc<AtomicU32>,
    /// How large a page is.
    page: u32,
    begin: SyncSender<()>,
    /// The thread is copying.
    busy: Arc<AtomicBool>,
    /// The thread has copied, and the writer can finish.
    copied: Arc<AtomicBool>,
}

impl Checkpointer {
    /// Takes over from SQLite's own checkpoints, which run inside the commit that crosses a limit.
    pub(super) fn start(writer: &mut Connection, path: &Path) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let (counted, logged) = (pages.clone(), pages.clone());
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, count: i32| {
            counted.store(u32::try_from(count).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        let page: u32 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let page = page.max(1);
        let connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10))?;
        let (busy, copied) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begin, asked) = sync_channel(1);
        let done = (busy.clone(), copied.clone());
        let copy = move || {
            while asked.recv().is_ok() {
                for _ in 0..ROUNDS {
                    // Whatever is in the way now, the log still has it all; the writer meets the same and tells.
                    let Ok(copied) = run(&connection) else { break };
                    if logged.load(Ordering::Relaxed).saturating_sub(copied) <= LITTLE / page {
                        break;
                    }
                }
                done.1.store(true, Ordering::Release);
                done.0.store(false, Ordering::Release);
            }
        };
        // Without a thread the writer does all of it, when the log is long enough.
        let _ = thread::Builder::new().name("punk-checkpoint".into()).spawn(copy);
        Ok(Self { pages, page, begin, busy, copied })
    }

    /// Whether [`Checkpointer::step`] has something to do.
    pub(super) fn is_due(&self) -> bool {
        self.holds(ENOUGH)
            || (self.holds(BEGIN) && !self.busy.load(Ordering::Acquire))
            || self.copied.load(Ordering::Acquire)
    }

    /// Whether the log has so many bytes.
    fn holds(&self, bytes: u32) -> bool {
        self.pages.load(Ordering::Relaxed) >= bytes / self.page
    }

    /// Begins to copy, or finishes. Between two transactions of the writer.
    pub(super) fn step(&self, writer: &Connection) {
        if self.holds(ENOUGH) || self.copied.swap(false, Ordering::AcqRel) {
            // A failure is no loss: the log keeps everything, and the next step tries again.
            let _ = run(writer);
            self.pages.store(0, Ordering::Relaxed);
        } else if !self.busy.swap(true, Ordering::AcqRel) {
            let _ = self.begin.try_send(());
        }
    }
}

/// Copies everything and empties the log's file, so that nothing that was deleted is left in it. Waits for readers that
/// still need it; should one stay too long, the log is written over in time instead.
pub(super) fn empty(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Copies what it can. How many of the log's pages are copied then.
fn run(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row(COPY, [], |row| row.get::<_, i64>(2)).map(|pages| u32::try_from(pages).unwrap_or(0))
}
