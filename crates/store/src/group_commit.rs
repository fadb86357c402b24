//! Group commit: many callers, one commit, each told the truth.
//!
//! One thread writes for everybody. It takes requests from a bounded queue, applies them inside one transaction for as long
//! as more are waiting (up to a number and a time), commits once, and only then answers. Under load the next batch gathers
//! while the last one is being flushed. A caller that finds nobody writing and nobody waiting writes itself: the way to the
//! thread and back would cost it more than a commit does.
//!
//! - A caller is told `Ok` after the commit it was part of has returned, never before.
//! - A refused request touches nothing of the others in its batch.
//! - A commit that fails is told to everybody in it, and a transaction that cannot begin to everybody who waits for one:
//!   nobody waits for the patience of all who came before.
//! - Only the thread waits for a lock that somebody else has; a caller that writes itself never does.
//! - The queue is bounded: who comes when it is full waits. Nothing is dropped and memory does not grow.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

/// Who writes. Called from one thread at a time.
pub trait Writer: Send + 'static {
    /// What is to be written.
    type Request: Send + 'static;
    /// What a caller learns when it is.
    type Reply: Send + 'static;
    /// Why it is not; told to several callers when a commit fails.
    type Error: Clone + Send + 'static;

    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), Self::Error>;
    /// The same if that takes no waiting for others; otherwise says no.
    fn begin_at_once(&mut self) -> Result<bool, Self::Error> {
        self.begin().map(|()| true)
    }
    /// Applies one request inside the transaction. A refused one has written nothing; an error in the middle of writing
    /// must make [`Writer::commit`] fail.
    fn apply(&mut self, request: Self::Request) -> Result<Self::Reply, Self::Error>;
    /// Whether an error in the middle of writing has spoilt the open transaction, so that nobody else should join it.
    fn is_spoilt(&self) -> bool {
        false
    }
    /// Commits. After an error nothing of the transaction is there.
    fn commit(&mut self) -> Result<(), Self::Error>;
    /// Whether there is housekeeping to do.
    fn wants_tidying(&self) -> bool {
        false
    }
    /// Does it: between two transactions, on the thread that is there to wait for disks.
    fn tidy(&mut self) {}
}

/// How a batch is bounded.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many requests may wait before callers have to.
    pub queue: usize,
    /// How many requests one commit may hold.
    pub batch: usize,
    /// How long a transaction may take in more requests.
    pub longest: Duration,
    /// Whether a lone caller may write itself, on its own thread. For commits that do not wait for a disk: they take about
    /// as long as a thread takes to wake.
    pub alone: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { queue: 4_096, batch: 512, longest: Duration::from_millis(5), alone: true }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitError<E> {
    /// The writer refused it, or its commit failed.
    Refused(E),
    /// The writer is gone: it panicked, or everything is being shut down. Whether the request was written is not known.
    Gone,
}

/// The callers' side. Cloning it is cheap; the thread ends when the last one is dropped.
pub struct GroupCommit<W: Writer> {
    queue: mpsc::Sender<Task<W>>,
    shared: Arc<Shared<W>>,
}

/// What a caller that wrote itself learns.
type Written<W> = Result<<W as Writer>::Reply, <W as Writer>::Error>;

struct Shared<W> {
    /// Whoever holds it writes. Poisoned once a writer panicked; then nobody writes any more.
    writer: Mutex<W>,
    /// How many requests are in the queue, on their way into it, or being written by the thread.
    waiting: AtomicUsize,
    options: Options,
}

impl<W: Writer> Clone for GroupCommit<W> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), shared: self.shared.clone() }
    }
}

/// What the thread is asked to do.
enum Task<W: Writer> {
    Write(Waiting<W>),
    Tidy,
}

struct Waiting<W: Writer> {
    request: W::Request,
    answer: oneshot::Sender<Result<W::Reply, W::Error>>,
}

impl<W: Writer> GroupCommit<W> {
    /// Starts the writer's thread, under this name.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn start(name: &str, writer: W, options: Options) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel(options.queue.max(1));
        let shared = Arc::new(Shared { writer: Mutex::new(writer), waiting: AtomicUsize::new(0), options });
        thread::Builder::new().name(name.to_owned()).spawn({
            let shared = shared.clone();
            move || shared.write_all(requests)
        })?;
        Ok(Self { queue, shared })
    }

    /// Does something with the writer between two transactions, on the caller's thread; waits for whoever has it. `None` if a
    /// writer panicked.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&mut W) -> T) -> Option<T> {
        Some(act(&mut *self.shared.writer.lock().ok()?))
    }

    /// Hands a request over and waits until it is committed or refused.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub async fn submit(&self, request: W::Request) -> Result<W::Reply, SubmitError<W::Error>> {
        let request = match self.shared.write_alone(request) {
            Ok((written, untidy)) => {
                if untidy {
                    // A full queue has the thread awake already, and it tidies after every batch.
                    let _ = self.queue.try_send(Task::Tidy);
                }
                return written.map_err(SubmitError::Refused);
            }
            Err(request) => request,
        };
        let _counted = Counted::new(&self.shared.waiting);
        let (answer, answered) = oneshot::channel();
        self.queue.send(Task::Write(Waiting { request, answer })).await.map_err(|_| SubmitError::Gone)?;
        answered.await.map_err(|_| SubmitError::Gone)?.map_err(SubmitError::Refused)
    }
}

/// One more, until it is dropped: a caller that stops waiting is counted no longer.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<W: Writer> Shared<W> {
    /// Writes the request on the caller's thread, if nobody else writes or waits; otherwise gives it back. The count is
    /// only a hint that keeps company together; the lock decides.
    fn write_alone(&self, request: W::Request) -> Result<(Written<W>, bool), W::Request> {
        if !self.options.alone || self.waiting.load(Ordering::Relaxed) > 0 {
            return Err(request);
        }
        let Ok(mut writer) = self.writer.try_lock() else { return Err(request) };
        match writer.begin_at_once() {
            Ok(true) => {}
            // Whoever holds the lock may hold it for long, and this thread has others to serve.
            Ok(false) => return Err(request),
            Err(error) => return Ok((Err(error), false)),
        }
        let applied = writer.apply(request);
        // Also after a refusal: the transaction is open.
        let committed = writer.commit();
        Ok((applied.and_then(|reply| committed.map(|()| reply)), writer.wants_tidying()))
    }

    fn write_all(&self, mut tasks: mpsc::Receiver<Task<W>>) {
        while let Some(task) = tasks.blocking_recv() {
            // A caller who wrote alone panicked: nobody knows what state the writer is in.
            let Ok(mut writer) = self.writer.lock() else { return };
            if let Task::Write(first) = task {
                write_batch(&mut *writer, first, &mut tasks, self.options);
            }
            if writer.wants_tidying() {
                writer.tidy();
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "only bounds how long a transaction stays open; nothing recorded depends on it"
)]
fn write_batch<W: Writer>(
    writer: &mut W,
    first: Waiting<W>,
    tasks: &mut mpsc::Receiver<Task<W>>,
    options: Options,
) {
    let began = Instant::now();
    if let Err(error) = writer.begin() {
        let mut next = Some(first);
        while let Some(Waiting { answer, .. }) = next {
            // A caller that stopped waiting does not want to know.
            let _ = answer.send(Err(error.clone()));
            next = next_write(tasks);
        }
        return;
    }
    let mut applied = Vec::new();
    let mut next = Some(first);
    while let Some(Waiting { request, answer }) = next {
        match writer.apply(request) {
            Ok(reply) => applied.push((reply, answer)),
            // A caller that stopped waiting does not want to know.
            Err(error) => drop(answer.send(Err(error))),
        }
        let more = !writer.is_spoilt() && applied.len() < options.batch && began.elapsed() < options.longest;
        next = if more { next_write(tasks) } else { None };
    }
    let committed = writer.commit();
    for (reply, answer) in applied {
        let _ = answer.send(committed.clone().map(|()| reply));
    }
}

fn next_write<W: Writer>(tasks: &mut mpsc::Receiver<Task<W>>) -> Option<Waiting<W>> {
    loop {
        match tasks.try_recv() {
            Ok(Task::Write(waiting)) => return Some(waiting),
            // It is done after every batch.
            Ok(Task::Tidy) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Everybody goes through the queue.
    const TOGETHER: Options =
        Options { queue: 4_096, batch: 512, longest: Duration::from_millis(5), alone: false };

    /// Remembers what was committed; refuses odd numbers; fails every commit that holds a 666.
    #[derive(Default)]
    struct Book {
        open: Vec<u64>,
        spoilt: bool,
        committed: Arc<Mutex<Vec<Vec<u64>>>>,
        gate: Option<std::sync::mpsc::Receiver<()>>,
        /// Who wrote.
        threads: Arc<Mutex<Vec<thread::ThreadId>>>,
        /// After this many commits there is housekeeping to do; never, if 0.
        untidy_after: usize,
        /// Whether it takes waiting to begin.
        locked: bool,
        /// On which thread it was done.
        tidied: Arc<Mutex<Option<Option<String>>>>,
    }

    impl Writer for Book {
        type Request = u64;
        type Reply = u64;
        type Error = &'static str;

        fn begin(&mut self) -> Result<(), &'static str> {
            if let Some(gate) = &self.gate {
                gate.recv().map_err(|_| "closed")?;
            }
            self.open.clear();
            Ok(())
        }
        fn begin_at_once(&mut self) -> Result<bool, &'static str> {
            if self.locked { Ok(false) } else { self.begin().map(|()| true) }
        }
        fn apply(&mut self, request: u64) -> Result<u64, &'static str> {
            assert_ne!(request, 1_313, "a writer that panics");
            if request % 2 == 1 {
                return Err("odd");
            }
            if request == 404 {
                self.spoilt = true;
                return Err("torn");
            }
            self.open.push(request);
            Ok(request * 10)
        }
        fn is_spoilt(&self) -> bool {
            self.spoilt
        }
        fn wants_tidying(&self) -> bool {
            self.untidy_after > 0 && self.committed.lock().unwrap().len() >= self.untidy_after
        }
        fn tidy(&mut self) {
            *self.tidied.lock().unwrap() = Some(thread::current().name().map(str::to_owned));
        }
        fn commit(&mut self) -> Result<(), &'static str> {
            self.threads.lock().unwrap().push(thread::current().id());
            if std::mem::take(&mut self.spoilt) {
                return Err("torn");
            }
            if self.open.contains(&666) {
                return Err("full");
            }
            self.committed.lock().unwrap().push(self.open.clone());
            Ok(())
        }
    }

    #[tokio::test]
    async fn everybody_waiting_shares_one_commit_and_hears_of_their_own() {
        let (open, gate) = std::sync::mpsc::channel();
        let book = Book { gate: Some(gate), ..Book::default() };
        let committed = book.committed.clone();
        let group = GroupCommit::start("punk-writer", book, TOGETHER).unwrap();
        let callers: Vec<_> = (0..100)
            .map(|n| {
                tokio::spawn({
                    let group = group.clone();
                    async move { group.submit(n).await }
                })
            })
            .collect();
        // All hundred are in the queue or on their way before the first transaction may begin.
        tokio::task::yield_now().await;
        for _ in 0..100 {
            let _ = open.send(());
        }
        for (n, caller) in (0u64..).zip(callers) {
            let expected = if n % 2 == 0 { Ok(n * 10) } else { Err(SubmitError::Refused("odd")) };
            assert_eq!(caller.await.unwrap(), expected);
        }
        let commits = committed.lock().unwrap();
        assert!(commits.len() < 50, "{} commits for fifty requests", commits.len());
        let mut all: Vec<u64> = commits.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).step_by(2).collect::<Vec<_>>(), "each once");
    }

    #[tokio::test]
    async fn a_failed_commit_is_told_to_everybody_in_it() {
        let (open, gate) = std::sync::mpsc::channel();
        let group = GroupCommit::start("punk-writer", Book { gate: Some(gate), ..Book::default() }, TOGETHER)
            .unwrap();
        let callers: Vec<_> = [2, 666, 4]
            .map(|n| {
                tokio::spawn({
                    let group = group.clone();
                    async move { group.submit(n).await }
                })
            })
            .into();
        tokio::task::yield_now().await;
        for _ in 0..3 {
            let _ = open.send(());
        }
        let mut told = Vec::new();
        for caller in callers {
            told.push(caller.await.unwrap());
        }
        assert_eq!(told[1], Err(SubmitError::Refused("full")));
        // And the writer goes on.
        let _ = open.send(());
        assert_eq!(group.submit(8).await, Ok(80));
    }

    #[tokio::test]
    async fn a_transaction_that_cannot_begin_is_told_to_everybody_who_waits_for_one() {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let group = GroupCommit::start("punk-writer", Book { gate: Some(gate), ..Book::default() }, TOGETHER)
            .unwrap();
        let callers: Vec<_> = [2, 4, 6]
            .map(|n| {
                tokio::spawn({
                    let group = group.clone();
                    async move { group.submit(n).await }
                })
            })
            .into();
        tokio::task::yield_now().await;
        // The lock is not to be had: what waits for it fails, whoever is first.
        drop(open);
        for caller in callers {
            assert_eq!(caller.await.unwrap(), Err(SubmitError::Refused("closed")));
        }
    }

    #[tokio::test]
    async fn a_caller_never_waits_itself_for_a_lock_that_somebody_else_has() {
        let book = Book { locked: true, ..Book::default() };
        let threads = book.threads.clone();
        let group = GroupCommit::start("punk-writer", book, Options { alone: true, ..TOGETHER }).unwrap();
        assert_eq!(group.submit(2).await, Ok(20));
        assert_ne!(threads.lock().unwrap().as_slice(), [thread::current().id()], "the thread wrote it");
    }

    #[tokio::test]
    async fn nobody_joins_a_transaction_that_is_spoilt() {
        let book = Book::default();
        let committed = book.committed.clone();
        let group = GroupCommit::start("punk-writer", book, TOGETHER).unwrap();
        for round in 0..50 {
            assert_eq!(group.submit(404).await, Err(SubmitError::Refused("torn")));
            assert_eq!(
                group.submit(round * 2).await,
                Ok(round * 20),
                "told after the spoilt one, so not of it"
            );
        }
        assert_eq!(committed.lock().unwrap().concat().len(), 50);
    }

    #[tokio::test]
    async fn a_full_queue_makes_callers_wait_and_loses_nothing() {
        let (open, gate) = std::sync::mpsc::channel();
        let book = Book { gate: Some(gate), ..Book::default() };
        let committed = book.committed.clone();
        let group =
            GroupCommit::start("punk-writer", book, Options { queue: 2, batch: 4, ..TOGETHER }).unwrap();
        let callers: Vec<_> = (0..50)
            .map(|n| {
                tokio::spawn({
                    let group = group.clone();
                    async move { group.submit(n * 2).await }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(callers.iter().all(|caller| !caller.is_finished()), "nobody is told before the commit");
        for _ in 0..50 {
            let _ = open.send(());
        }
        for caller in callers {
            assert!(caller.await.unwrap().is_ok());
        }
        let commits = committed.lock().unwrap();
        assert!(commits.iter().all(|commit| commit.len() <= 4));
        assert_eq!(commits.iter().map(Vec::len).sum::<usize>(), 50);
    }

    #[tokio::test]
    async fn when_the_writer_panics_nobody_waits_for_ever() {
        let group = GroupCommit::start("punk-writer", Book::default(), TOGETHER).unwrap();
        assert_eq!(group.submit(1_313).await, Err(SubmitError::Gone));
        assert_eq!(group.submit(2).await, Err(SubmitError::Gone));
    }

    #[tokio::test]
    async fn when_a_caller_panics_writing_alone_nobody_waits_for_ever() {
        let group = GroupCommit::start("punk-writer", Book::default(), Options::default()).unwrap();
        let alone = tokio::spawn({
            let group = group.clone();
            async move { group.submit(1_313).await }
        });
        assert!(alone.await.unwrap_err().is_panic(), "it wrote on its own thread");
        assert_eq!(group.submit(2).await, Err(SubmitError::Gone));
    }

    #[tokio::test]
    async fn a_lone_caller_writes_itself_and_hears_the_same_truth() {
        let book = Book::default();
        let (committed, threads) = (book.committed.clone(), book.threads.clone());
        let group = GroupCommit::start("punk-writer", book, Options::default()).unwrap();
        assert_eq!(group.submit(2).await, Ok(20));
        assert_eq!(group.submit(3).await, Err(SubmitError::Refused("odd")));
        assert_eq!(group.submit(666).await, Err(SubmitError::Refused("full")));
        assert_eq!(group.submit(404).await, Err(SubmitError::Refused("torn")));
        assert_eq!(group.submit(4).await, Ok(40));
        assert_eq!(committed.lock().unwrap().concat(), [2, 4]);
        assert!(threads.lock().unwrap().iter().all(|thread| *thread == thread::current().id()));
    }

    #[test]
    fn many_threads_at_once_each_commit_once_and_the_housekeeping_is_done_by_the_writers_thread() {
        let book = Book { untidy_after: 1, ..Book::default() };
        let (committed, tidied) = (book.committed.clone(), book.tidied.clone());
        let group = GroupCommit::start("punk-writer", book, Options::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
        runtime.block_on(async {
            let callers: Vec<_> = (1_000..1_400u64)
                .map(|n| {
                    tokio::spawn({
                        let group = group.clone();
                        async move { group.submit(n * 2).await }
                    })
                })
                .collect();
            for (n, caller) in (1_000..).zip(callers) {
                assert_eq!(caller.await.unwrap(), Ok(n * 20));
            }
        });
        let mut all = committed.lock().unwrap().concat();
        all.sort_unstable();
        assert!(all.into_iter().eq((1_000..1_400).map(|n| n * 2)), "each once");
        // The last of them may have left it to the thread, which ends when nobody can ask it any more.
        drop(group);
        while Arc::strong_count(&committed) > 1 {
            thread::yield_now();
        }
        assert_eq!(*tidied.lock().unwrap(), Some(Some("punk-writer".to_owned())));
    }
}
