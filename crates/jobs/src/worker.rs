//! The worker in the process: what [`Core`] decides, done with tokio.
//!
//! Every question to the store and every handler is a task of its own, and what comes of it is an event. The loop in
//! [`Worker::run`] hands events to the core and performs its effects; it decides nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use schema::Timestamp;
use store::{Held, JobQueue, StoreError};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use crate::core::{Attempt, Core, Effect, Event, NoAnswer};
use crate::decision::{Outcome, Settlement};
use crate::handler::{Context, Handler, LostSignal};
use crate::moment::Moment;
use crate::options::{Options, OptionsError};

/// Reads the wall clock.
pub type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;
/// Draws a number, for the backoff. It need not be hard to guess.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// Claims jobs and runs their handlers, until it is stopped.
pub struct Worker {
    queue: Arc<dyn JobQueue>,
    handlers: HashMap<String, Arc<dyn Handler>>,
    clock: Clock,
    random: Random,
    options: Options,
}

/// Why a worker cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// Which of them should have the job?
    #[error("two handlers for jobs of the kind `{0}`")]
    TwoHandlers(String),
    /// See [`OptionsError`].
    #[error(transparent)]
    Options(#[from] OptionsError),
}

impl Worker {
    /// A worker for the kinds that `handlers` do; jobs of other kinds are left alone.
    pub fn new(
        queue: Arc<dyn JobQueue>,
        handlers: Vec<Arc<dyn Handler>>,
        clock: Clock,
        random: Random,
        options: Options,
    ) -> Result<Self, WorkerError> {
        options.check()?;
        let mut by_kind = HashMap::new();
        for handler in handlers {
            let kind = handler.kind().to_owned();
            if by_kind.insert(kind.clone(), handler).is_some() {
                return Err(WorkerError::TwoHandlers(kind));
            }
        }
        Ok(Self { queue, handlers: by_kind, clock, random, options })
    }

    /// Works until `stop` is ready, then finishes what it has begun within the grace period and gives back the rest.
    /// Returns at the latest one lease after that. Dropped midway, it is as if it had crashed: its jobs are taken over
    /// when their leases run out. Without a handler it leaves the store alone.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        if self.handlers.is_empty() {
            return stop.await;
        }
        let changed = watch(self.queue.clone(), self.options.poll_min);
        tokio::pin!(changed);
        let (queue, pause) = (self.queue.clone(), self.options.poll_min);
        let mut stopping = false;
        let mut core = Core::new(self.options);
        let mut shell = Shell::new(self);
        let mut event = Event::Tick;
        loop {
            let now = shell.now();
            for effect in core.on(event, now) {
                shell.perform(effect);
            }
            if core.is_finished(now) {
                return;
            }
            let wake = core.wake_at().map(|elapsed| shell.began + elapsed);
            event = tokio::select! {
                () = &mut stop, if !stopping => {
                    stopping = true;
                    Event::Stop
                }
                event = shell.next_event() => event,
                () = &mut changed => {
                    changed.set(watch(queue.clone(), pause));
                    Event::Changed
                }
                () = sleep_if(wake) => Event::Tick,
            };
        }
    }
}

/// Returns when something changed, but not before `pause` has passed: a store under heavy writing is not asked after
/// every commit. The store is listened to during the pause, so that nothing is missed.
async fn watch(queue: Arc<dyn JobQueue>, pause: Duration) {
    tokio::join!(queue.changed(), sleep(pause));
}

async fn sleep_if(until: Option<Instant>) {
    match until {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// What has been begun and not ended.
struct Shell {
    worker: Worker,
    kinds: Arc<[String]>,
    began: Instant,
    tasks: JoinSet<Event>,
    /// What each task stands for if it ends without an event of its own.
    unfinished: HashMap<Id, Unfinished>,
    running: BTreeMap<Attempt, (AbortHandle, LostSignal)>,
}

enum Unfinished {
    /// A handler; cancelled ones are not here.
    Handler(Attempt),
    /// A question to the store.
    Question(Event),
}

impl Shell {
    fn new(worker: Worker) -> Self {
        let kinds = worker.handlers.keys().cloned().collect();
        let (tasks, unfinished, running) = (JoinSet::new(), HashMap::new(), BTreeMap::new());
        Self { worker, kinds, began: Instant::now(), tasks, unfinished, running }
    }

    fn now(&self) -> Moment {
        Moment { wall: (self.worker.clock)(), elapsed: self.began.elapsed() }
    }

    fn perform(&mut self, effect: Effect) {
        let (queue, kinds) = (self.worker.queue.clone(), self.kinds.clone());
        match effect {
            Effect::Claim { now, lease_until, limit } => {
                self.ask(Event::Claimed(Err(NoAnswer)), async move {
                    Event::Claimed(told(queue.claim(&kinds, now, lease_until, limit).await))
                });
            }
            Effect::AskNextDue => self.ask(Event::NextDue(Err(NoAnswer)), async move {
                Event::NextDue(told(queue.next_due(&kinds).await))
            }),
            Effect::Extend(attempt, lease_until) => {
                self.ask(Event::Extended(attempt, Err(NoAnswer)), async move {
                    Event::Extended(
                        attempt,
                        told(queue.extend(attempt.job, attempt.token, lease_until).await),
                    )
                });
            }
            Effect::Settle(attempt, settlement) => {
                self.ask(Event::Settled(attempt, Err(NoAnswer)), async move {
                    Event::Settled(attempt, told(record(&*queue, attempt, settlement).await))
                });
            }
            Effect::Start(attempt, job) => self.start(attempt, *job),
            Effect::Cancel(attempt) => self.cancel(attempt),
        }
    }

    fn ask(&mut self, unanswered: Event, question: impl Future<Output = Event> + Send + 'static) {
        let task = self.tasks.spawn(question);
        self.unfinished.insert(task.id(), Unfinished::Question(unanswered));
    }

    fn start(&mut self, attempt: Attempt, job: store::Job) {
        let handler = self.worker.handlers.get(&job.kind).cloned();
        let random = (self.worker.random)();
        let (context, lost) = Context::new();
        tracing::debug!(job = %job.id, kind = job.kind, attempt = job.attempts, "job begun");
        let task = self.tasks.spawn(async move {
            let outcome = match handler {
                Some(handler) => handler.handle(&job, &context).await.map_or_else(Outcome::Failed, |()| Outcome::Done),
                // Only our kinds are claimed, so this is a store that gives what it was not asked for.
                None => Outcome::Panicked(format!("no handler for `{}`", job.kind)),
            };
            if let Outcome::Failed(failure) = &outcome {
                tracing::warn!(job = %job.id, kind = job.kind, attempt = job.attempts, ?failure, "job failed");
            }
            Event::Ended(attempt, outcome, random)
        });
        self.unfinished.insert(task.id(), Unfinished::Handler(attempt));
        self.running.insert(attempt, (task, lost));
    }

    fn cancel(&mut self, attempt: Attempt) {
        if let Some((task, lost)) = self.running.remove(&attempt) {
            tracing::warn!(job = %attempt.job, "job cancelled: its lease is lost or the worker was stopped");
            lost.send();
            task.abort();
            self.unfinished.remove(&task.id());
        }
    }

    /// The next event that a task ends in; never, while there is none.
    async fn next_event(&mut self) -> Event {
        loop {
            let Some(ended) = self.tasks.join_next_with_id().await else {
                return std::future::pending().await;
            };
            if let Some(event) = self.on_task_end(ended) {
                return event;
            }
        }
    }

    fn on_task_end(&mut self, ended: Result<(Id, Event), JoinError>) -> Option<Event> {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        // A task that is no longer known was cancelled, and its event comes too late.
        let unfinished = self.unfinished.remove(&id)?;
        if let Unfinished::Handler(attempt) = unfinished {
            self.running.remove(&attempt);
        }
        Some(match (ended, unfinished) {
            (Ok((_, event)), _) => event,
            (Err(_), Unfinished::Question(unanswered)) => unanswered,
            (Err(error), Unfinished::Handler(attempt)) => {
                let message = panic_message(error);
                tracing::error!(job = %attempt.job, message, "handler panicked");
                Event::Ended(attempt, Outcome::Panicked(message), (self.worker.random)())
            }
        })
    }
}

async fn record(queue: &dyn JobQueue, attempt: Attempt, settlement: Settlement) -> Result<Held, StoreError> {
    let Attempt { job, token } = attempt;
    let held = match settlement {
        Settlement::Complete => queue.complete(job, token).await?,
        Settlement::Fail { error, retry } => queue.fail(job, token, &error, retry).await?,
    };
    if held == Held::No {
        tracing::warn!(%job, "job finished after its lease was lost, or recorded twice");
    }
    Ok(held)
}

/// The core need not know why there is no answer; the log is where that is told.
fn told<T>(answer: Result<T, StoreError>) -> Result<T, NoAnswer> {
    answer.map_err(|error| {
        tracing::warn!(error = &error as &dyn std::error::Error, "the store did not answer the worker");
        NoAnswer
    })
}

fn panic_message(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return "the task was aborted".to_owned() };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map_or_else(|_| "no message".to_owned(), |message| (*message).to_owned()),
    }
}
