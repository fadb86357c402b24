//! Schedulers and workers of several processes over one Postgres database.
//!
//! `PUNK_TEST_POSTGRES_URL` names the server; `cargo xtask test` starts a private one and sets it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jobs::{Clock, Context, Failure, Handler, Options, Recurring, Schedule, Scheduler, Worker};
use schema::Timestamp;
use store::conformance::{Corner, at, limit};
use store::postgres::PostgresStore;
use store::{Job, JobState, NewJob, Store as _};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const PROCESSES: usize = 4;
/// 2026-11-16T12:00:00Z.
const NOON: u64 = 1_794_830_400_000;
const DAY: u64 = 86_400_000;

/// Every process has connections of its own.
async fn connect() -> PostgresStore {
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    // Another test may have made it, or be making it.
    let create = ["-qc", "CREATE DATABASE punk_jobs"];
    let made = Command::new("psql").arg(&server).args(create).stderr(Stdio::null()).status();
    made.expect("psql runs; `cargo xtask test` installs it");
    let (base, _) = server.rsplit_once('/').unwrap();
    PostgresStore::connect(&format!("{base}/punk_jobs")).await.unwrap()
}

struct Counter {
    kind: String,
    runs: AtomicU64,
}

#[async_trait]
impl Handler for Counter {
    fn kind(&self) -> &str {
        &self.kind
    }

    async fn handle(&self, job: &Job, _: &Context) -> Result<(), Failure> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        match job.payload["fail"].as_u64() {
            Some(times) if u64::from(job.attempts) <= times => Err(Failure::Retry("told to".to_owned())),
            _ => Ok(()),
        }
    }
}

/// Schedulers and workers until `done`, as several processes over connections of their own.
async fn run_processes(
    counter: &Arc<Counter>,
    recurring: &[Recurring],
    now: &Arc<AtomicU64>,
    done: impl Future<Output = ()>,
) {
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    for _ in 0..PROCESSES {
        let store = Arc::new(connect().await);
        let until = |mut stopped: watch::Receiver<bool>| async move {
            drop(stopped.wait_for(|stop| *stop).await);
        };
        let clock = || -> Clock {
            let now = now.clone();
            Box::new(move || Timestamp::from_millis(now.load(Ordering::SeqCst)).unwrap())
        };
        let scheduler = Scheduler::new(store.clone(), recurring.to_vec(), clock()).unwrap();
        let options = Options { poll_max: Duration::from_millis(100), ..Options::default() };
        let handlers: Vec<Arc<dyn Handler>> = vec![counter.clone()];
        let worker =
            Worker::new(Arc::from(store.jobs()), handlers, clock(), Box::new(|| 7), options).unwrap();
        tasks.spawn(scheduler.run(until(stopped.clone())));
        tasks.spawn(worker.run(until(stopped.clone())));
    }
    timeout(Duration::from_secs(60), done).await.expect("they come to an end");
    stop.send(true).unwrap();
    tasks.join_all().await;
}

/// Waits until so many of the corner's jobs are done, and none is left over.
async fn until_done(corner: &Corner, count: usize) {
    loop {
        let jobs = corner.tenant.jobs(None, None, limit(1_000)).await.unwrap();
        if jobs.len() >= count && jobs.iter().all(|job| job.state == JobState::Done) {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_share_a_database_make_and_run_an_occurrence_once() {
    let corner = Corner::of(&connect().await);
    let counter = Arc::new(Counter { kind: corner.kind.clone(), runs: AtomicU64::new(0) });
    let schedule = Schedule::parse("0 3 * * *", "UTC").unwrap();
    let nightly = [Recurring::new(corner.kind.clone(), corner.id, schedule)];
    let now = Arc::new(AtomicU64::new(NOON));
    // Each time all of them start at once, as after a deployment; the second time on the same day, the third three
    // days later.
    for (days, jobs) in [(0, 1), (0, 1), (3, 2)] {
        now.fetch_add(days * DAY, Ordering::SeqCst);
        run_processes(&counter, &nightly, &now, until_done(&corner, jobs)).await;
        assert_eq!(counter.runs.load(Ordering::SeqCst), jobs as u64);
    }
    let jobs = corner.tenant.jobs(None, None, limit(10)).await.unwrap();
    let ran: Vec<u64> = jobs.iter().map(|job| job.run_at.as_millis()).collect();
    assert_eq!(ran, [NOON + 3 * DAY - 9 * 3_600_000, NOON - 9 * 3_600_000], "newest first");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_workers_do_each_job_once_and_failed_ones_again() {
    let corner = Corner::of(&connect().await);
    let counter = Arc::new(Counter { kind: corner.kind.clone(), runs: AtomicU64::new(0) });
    let failing = |number: u64| serde_json::json!({ "fail": u64::from(number.is_multiple_of(10)) });
    let dead = corner.bury(corner.job()).await;
    assert!(corner.tenant.requeue(dead, at(1_000)).await.unwrap());
    corner.enqueue((0..100).map(|number| NewJob { payload: failing(number), ..corner.job() })).await;
    let now = Arc::new(AtomicU64::new(NOON));
    run_processes(&counter, &[], &now, until_done(&corner, 101)).await;
    assert_eq!(counter.runs.load(Ordering::SeqCst), 111, "ten of them twice");
}
