//! The scheduler in the process: what [`Agenda`] finds due, made through the store.

use std::sync::Arc;

use store::{Commit, CommitError, Store};
use tokio::time::{Instant, sleep};

use crate::agenda::{Agenda, AgendaError, Answer, Due, Recurring};
use crate::moment::Moment;
use crate::worker::Clock;

/// Makes the jobs of recurring work when their time comes, until it is stopped. Any number of processes may run one over
/// the same store and the same work: each occurrence is made once.
pub struct Scheduler {
    store: Arc<dyn Store>,
    agenda: Agenda,
    clock: Clock,
    began: Instant,
}

impl Scheduler {
    /// A scheduler of this work; of one tenant and kind there may be one schedule.
    pub fn new(store: Arc<dyn Store>, recurring: Vec<Recurring>, clock: Clock) -> Result<Self, AgendaError> {
        Ok(Self { store, agenda: Agenda::new(recurring)?, clock, began: Instant::now() })
    }

    /// Makes what falls due until `stop` is ready. Dropped midway, it loses nothing: what it has not made, the next one
    /// will.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            never = self.make_for_ever() => match never {},
        }
    }

    async fn make_for_ever(mut self) -> std::convert::Infallible {
        if self.agenda.is_empty() {
            return std::future::pending().await;
        }
        loop {
            for due in self.agenda.due(self.now()) {
                let answer = self.make(&due).await;
                self.agenda.note(&due, answer, self.now());
            }
            sleep(self.agenda.pause(self.now())).await;
        }
    }

    fn now(&self) -> Moment {
        Moment { wall: (self.clock)(), elapsed: self.began.elapsed() }
    }

    async fn make(&self, due: &Due) -> Answer {
        let (kind, occurrence) = (&due.job.kind, due.job.run_at);
        match self.try_to_make(due).await {
            Ok(true) => Answer::Made,
            Ok(false) => {
                tracing::debug!(kind, %occurrence, "recurring job waits for the one before it");
                Answer::NotMade
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(kind, %occurrence, error, "recurring job could not be made; trying again");
                Answer::NotMade
            }
        }
    }

    /// Whether the job is there afterwards. A commit does not tell: it passes over an id or a key that is taken.
    async fn try_to_make(&self, due: &Due) -> Result<bool, CommitError> {
        let tenant = self.store.tenant(due.tenant);
        if tenant.job(due.job.id).await?.is_some() {
            return Ok(true);
        }
        tenant.commit(Commit { jobs: vec![due.job.clone()], ..Commit::default() }).await?;
        Ok(tenant.job(due.job.id).await?.is_some())
    }
}
