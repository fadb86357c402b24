//! The worker on tokio, with a queue in memory and tokio's own time: nothing here really sleeps.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

#[path = "simulation/queue.rs"]
mod queue;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jobs::{Context, Failure, Handler, Kind, Options, OptionsError, Worker, WorkerError};
use queue::Queue;
use schema::{JobId, Timestamp};
use store::{BoxError, Claimed, Held, Job, JobQueue, JobState, LeaseToken, NewJob, Retry, StoreError};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const KIND: Kind = Kind::LearningTick;

/// A queue that several workers share, and that can fall silent.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Notify,
    claims: AtomicU32,
    silent: AtomicU32,
}

impl Shared {
    fn add(&self, number: u8, max_attempts: u32) -> JobId {
        let id = JobId::from_bytes([number; 16]);
        let (kind, payload, run_at) = (KIND.to_string(), serde_json::Value::Null, at(0));
        self.queue.lock().unwrap().add(NewJob {
            id,
            kind,
            key: None,
            payload,
            priority: 0,
            run_at,
            max_attempts,
        });
        self.changed.notify_waiters();
        id
    }

    fn look(&self, id: JobId) -> Job {
        self.queue.lock().unwrap().jobs[&id].job.clone()
    }

    /// Waits until the job is finished.
    async fn finished(&self, id: JobId) -> Job {
        let finished = async {
            loop {
                let job = self.look(id);
                if matches!(job.state, JobState::Done | JobState::Dead) {
                    return job;
                }
                // Paused time: this only lets the others go on.
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(3_600), finished).await.expect("the job is never finished")
    }

    /// Lets the next `count` questions go unanswered.
    fn fall_silent(&self, count: u32) {
        self.silent.store(count, Ordering::SeqCst);
    }

    fn answer(&self) -> Result<(), StoreError> {
        let less = |count: u32| count.checked_sub(1);
        match self.silent.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Err(StoreError::unavailable(BoxError::from("unplugged"))),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl JobQueue for Shared {
    async fn claim(
        &self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.claims.fetch_add(1, Ordering::SeqCst);
        self.answer()?;
        Ok(self.queue.lock().unwrap().claim(kinds, now, lease_until, limit.get()))
    }

    async fn extend(
        &self,
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    ) -> Result<Held, StoreError> {
        self.answer()?;
        Ok(self.queue.lock().unwrap().extend(job, token, lease_until))
    }

    async fn complete(&self, job: JobId, token: LeaseToken) -> Result<Held, StoreError> {
        self.answer()?;
        Ok(self.queue.lock().unwrap().complete(job, token))
    }

    async fn fail(
        &self,
        job: JobId,
        token: LeaseToken,
        error: &str,
        retry: Retry,
    ) -> Result<Held, StoreError> {
        self.answer()?;
        Ok(self.queue.lock().unwrap().fail(job, token, error, &retry))
    }

    async fn next_due(&self, kinds: &[String]) -> Result<Option<Timestamp>, StoreError> {
        self.answer()?;
        Ok(self.queue.lock().unwrap().next_due(kinds))
    }

    async fn changed(&self) {
        self.changed.notified().await;
    }
}

/// Answers with whatever the closure makes of the attempt's number.
struct Does<F>(F);

#[async_trait]
impl<F, A> Handler for Does<F>
where
    F: Fn(u32, Context) -> A + Send + Sync,
    A: Future<Output = Result<(), Failure>> + Send,
{
    fn kind(&self) -> &str {
        KIND.as_str()
    }

    async fn handle(&self, job: &Job, context: &Context) -> Result<(), Failure> {
        (self.0)(job.attempts, context.clone()).await
    }
}

fn does<F, A>(answer: F) -> Arc<dyn Handler>
where
    F: Fn(u32, Context) -> A + Send + Sync + 'static,
    A: Future<Output = Result<(), Failure>> + Send + 'static,
{
    Arc::new(Does(answer))
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn options() -> Options {
    Options { grace: Duration::from_secs(5), ..Options::default() }
}

fn worker(queue: &Arc<Shared>, handler: Arc<dyn Handler>) -> Worker {
    let began = Instant::now();
    let clock = Box::new(move || at(1_000_000 + began.elapsed().as_millis() as u64));
    Worker::new(queue.clone(), vec![handler], clock, Box::new(|| u64::MAX / 2), options()).unwrap()
}

/// A worker that works until it is told to stop.
fn start(queue: &Arc<Shared>, handler: Arc<dyn Handler>) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let worker = worker(queue, handler);
    (stop, tokio::spawn(worker.run(async { drop(stopped.await) })))
}

#[tokio::test(start_paused = true)]
async fn what_waits_and_what_comes_is_done() {
    let queue = Arc::new(Shared::default());
    let first = queue.add(1, 3);
    let (stop, worker) = start(&queue, does(|_, _| async { Ok(()) }));
    assert_eq!(queue.finished(first).await.state, JobState::Done);

    let before = Instant::now();
    let second = queue.add(2, 3);
    assert_eq!(queue.finished(second).await.state, JobState::Done);
    assert!(before.elapsed() < Duration::from_millis(100), "a notification wakes it: {:?}", before.elapsed());

    stop.send(()).unwrap();
    worker.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn failures_and_panics_are_tried_again_and_end_dead() {
    let queue = Arc::new(Shared::default());
    let job = queue.add(1, 3);
    let (_stop, _worker) = start(
        &queue,
        does(|attempt, _| async move {
            assert!(attempt != 2, "attempt {attempt} panics");
            Err(Failure::Retry(format!("attempt {attempt} failed")))
        }),
    );
    let job = queue.finished(job).await;
    assert_eq!((job.state, job.attempts), (JobState::Dead, 3));
    assert_eq!(job.last_error.as_deref(), Some("attempt 3 failed"));
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_its_message() {
    let queue = Arc::new(Shared::default());
    let job = queue.add(1, 1);
    let (_stop, _worker) = start(&queue, does(|_, _| async { panic!("the {} is missing", "key") }));
    let job = queue.finished(job).await;
    assert_eq!((job.state, job.attempts), (JobState::Dead, 1));
    assert_eq!(job.last_error.as_deref(), Some("the handler panicked: the key is missing"));
}

#[tokio::test(start_paused = true)]
async fn a_job_much_longer_than_its_lease_is_done_once() {
    let queue = Arc::new(Shared::default());
    let job = queue.add(1, 3);
    let runs = Arc::new(AtomicU32::new(0));
    let handler = || {
        let runs = runs.clone();
        does(move |_, _| {
            runs.fetch_add(1, Ordering::SeqCst);
            async {
                sleep(Duration::from_secs(600)).await;
                Ok(())
            }
        })
    };
    // Two workers: the second would take over a lease that is not kept.
    let (_stops, _workers): (Vec<_>, Vec<_>) = (0..2).map(|_| start(&queue, handler())).unzip();
    let job = queue.finished(job).await;
    assert_eq!((job.state, job.attempts, runs.load(Ordering::SeqCst)), (JobState::Done, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_stopped_when_its_lease_is_lost() {
    let queue = Arc::new(Shared::default());
    let id = queue.add(1, 3);
    let (contexts, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let (_stop, _worker) = start(
        &queue,
        does(move |attempt, context| {
            contexts.send(context).unwrap();
            async move {
                if attempt == 1 {
                    std::future::pending::<()>().await;
                }
                Ok(())
            }
        }),
    );
    let context = seen.recv().await.unwrap();
    assert!(!context.is_lost());
    // Somebody else claims the job, with a clock that is ahead by a day, and gives it back.
    {
        let mut queue = queue.queue.lock().unwrap();
        let far = at(1_000_000 + 86_400_000);
        let stolen = queue.claim(&[KIND.to_string()], far, far, 1).remove(0);
        queue.fail(id, stolen.token, "not for me", &Retry::At(at(0)));
    }
    timeout(Duration::from_secs(31), context.lost()).await.expect("the next sign of life finds out");
    let job = queue.finished(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Done, 3));
}

#[tokio::test(start_paused = true)]
async fn a_store_out_of_reach_is_waited_for() {
    let queue = Arc::new(Shared::default());
    let job = queue.add(1, 1);
    queue.fall_silent(5);
    let silence = queue.clone();
    let (_stop, _worker) = start(
        &queue,
        does(move |_, _| {
            // Nor does the store hear of the result at first.
            silence.fall_silent(5);
            async { Ok(()) }
        }),
    );
    let job = queue.finished(job).await;
    assert_eq!((job.state, job.attempts), (JobState::Done, 1));
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_hardly_asks() {
    let queue = Arc::new(Shared::default());
    let (_stop, _worker) = start(&queue, does(|_, _| async { Ok(()) }));
    sleep(Duration::from_secs(600)).await;
    let claims = queue.claims.load(Ordering::SeqCst);
    assert!((59..=62).contains(&claims), "{claims} claims in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_changes_is_not_a_flood_of_claims() {
    let queue = Arc::new(Shared::default());
    let (_stop, _worker) = start(&queue, does(|_, _| async { Ok(()) }));
    for _ in 0..10_000 {
        queue.changed.notify_waiters();
        sleep(Duration::from_millis(1)).await;
    }
    let claims = queue.claims.load(Ordering::SeqCst);
    assert!(claims <= 10_000 / 50 + 2, "{claims} claims in ten seconds");
}

#[tokio::test(start_paused = true)]
async fn only_so_many_jobs_run_at_once() {
    let queue = Arc::new(Shared::default());
    let jobs: Vec<JobId> = (1..=20).map(|number| queue.add(number, 1)).collect();
    let slots = Arc::new(Semaphore::new(options().concurrency.get() as usize));
    let (_stop, _worker) = start(
        &queue,
        does(move |_, _| {
            let slot = slots.clone().try_acquire_owned();
            async move {
                let _slot = slot.map_err(|_| Failure::GiveUp("one too many".to_owned()))?;
                sleep(Duration::from_secs(1)).await;
                Ok(())
            }
        }),
    );
    for job in jobs {
        assert_eq!(queue.finished(job).await.state, JobState::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_short_jobs_finish_and_gives_long_ones_back() {
    let queue = Arc::new(Shared::default());
    let (short, long) = (queue.add(1, 1), queue.add(2, 1));
    let begun = Arc::new(Semaphore::new(0));
    let number = Arc::new(AtomicU32::new(0));
    let handler = {
        let begun = begun.clone();
        does(move |_, _| {
            begun.add_permits(1);
            let seconds = if number.fetch_add(1, Ordering::SeqCst) == 0 { 3 } else { 3_600 };
            async move {
                sleep(Duration::from_secs(seconds)).await;
                Ok(())
            }
        })
    };
    let (stop, worker) = start(&queue, handler);
    drop(begun.acquire_many(2).await.unwrap());
    let before = Instant::now();
    stop.send(()).unwrap();
    worker.await.unwrap();
    let took = before.elapsed();
    assert!((5_000..5_100).contains(&took.as_millis()), "the grace period, and no longer: {took:?}");
    assert_eq!(queue.look(short).state, JobState::Done);
    let long = queue.look(long);
    assert_eq!((long.state, long.last_error.as_deref()), (JobState::Waiting, Some("the worker was stopped")));
}

#[test]
fn a_worker_that_could_not_work_is_not_made() {
    let make = |handlers, options| {
        Worker::new(Arc::new(Shared::default()), handlers, Box::new(|| at(0)), Box::new(|| 0), options).err()
    };
    let handler = || does(|_, _| async { Ok(()) });
    let two = make(vec![handler(), handler()], Options::default());
    assert_eq!(two, Some(WorkerError::TwoHandlers("learning_tick".to_owned())));
    let lease = Duration::from_millis(1);
    let short = make(vec![handler()], Options { lease, ..Options::default() });
    assert_eq!(short, Some(WorkerError::Options(OptionsError::Lease(lease))));
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_handlers_asks_for_nothing_and_stops_when_told() {
    let shared = Arc::new(Shared::default());
    let job = shared.add(1, 3);
    let worker =
        Worker::new(shared.clone(), Vec::new(), Box::new(|| at(1_000)), Box::new(|| 7), Options::default())
            .unwrap();
    let began = Instant::now();
    worker.run(sleep(Duration::from_secs(3_600))).await;
    assert_eq!(began.elapsed(), Duration::from_secs(3_600));
    assert_eq!(shared.claims.load(Ordering::SeqCst), 0);
    assert_eq!(shared.look(job).state, JobState::Waiting);
}
