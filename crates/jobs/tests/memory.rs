//! The worker on the store in memory: from a commit to the end of the job.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jobs::{Context, Failure, Handler, Kind, Options, Worker};
use schema::{JobId, TenantId, Timestamp};
use store::memory::MemoryStore;
use store::{Commit, Job, JobState, NewJob, Store as _};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

/// Fails once if its payload says so, for good if it says that.
struct Obedient;

#[async_trait]
impl Handler for Obedient {
    fn kind(&self) -> &str {
        Kind::WebhookNotification.as_str()
    }

    async fn handle(&self, job: &Job, _: &Context) -> Result<(), Failure> {
        match job.payload.as_str() {
            Some("fail once") if job.attempts == 1 => Err(Failure::Retry("once".to_owned())),
            Some("give up") => Err(Failure::GiveUp("told to".to_owned())),
            _ => Ok(()),
        }
    }
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn job(number: u8, kind: Kind, payload: &str) -> NewJob {
    NewJob {
        id: JobId::from_bytes([number; 16]),
        kind: kind.to_string(),
        key: None,
        payload: payload.into(),
        priority: 0,
        run_at: at(0),
        max_attempts: 3,
    }
}

#[tokio::test(start_paused = true)]
async fn every_job_of_a_commit_comes_to_its_end() {
    let store = MemoryStore::new();
    let tenant = store.tenant(TenantId::NIL);
    let began = Instant::now();
    let clock = Box::new(move || at(1_000_000 + began.elapsed().as_millis() as u64));
    let queue = Arc::from(store.jobs());
    let worker =
        Worker::new(queue, vec![Arc::new(Obedient)], clock, Box::new(|| 7), Options::default()).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let working = tokio::spawn(worker.run(async { drop(stopped.await) }));

    let webhook = Kind::WebhookNotification;
    let jobs = vec![
        job(1, webhook, "do it"),
        job(2, webhook, "fail once"),
        job(3, webhook, "give up"),
        job(4, Kind::ApprovalSweep, "nobody here does this kind"),
    ];
    tenant.commit(Commit { jobs, ..Commit::default() }).await.unwrap();
    // Far more than the backoff; paused time passes at once.
    sleep(Duration::from_secs(60)).await;
    stop.send(()).unwrap();
    working.await.unwrap();

    let mut ends = Vec::new();
    for number in 1..=4 {
        let job = tenant.job(JobId::from_bytes([number; 16])).await.unwrap().unwrap();
        ends.push((job.state, job.attempts));
    }
    let expected = [(JobState::Done, 1), (JobState::Done, 2), (JobState::Dead, 1), (JobState::Waiting, 0)];
    assert_eq!(ends, expected);
}
