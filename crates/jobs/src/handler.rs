//! What the domains bring: one handler for each kind of job.

use schema::Timestamp;
use store::Job;
use tokio::sync::watch;

/// Does the jobs of one kind.
#[async_trait::async_trait]
pub trait Handler: Send + Sync {
    /// The kind it does, such as [`crate::Kind::LearningTick`]'s name.
    fn kind(&self) -> &str;

    /// Does `job`. It may have been begun or even done before: by a worker that crashed, or one that lost its lease.
    /// When the lease is lost the returned future is dropped at its next `.await`; work that it has moved to another
    /// thread must look at `context` itself. A panic counts as a failed attempt.
    async fn handle(&self, job: &Job, context: &Context) -> Result<(), Failure>;
}

/// Why an attempt failed, and what that means for the job. The reason is stored and shown to operators: no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It may work later; the backoff says when.
    Retry(String),
    /// It may work then, and not before: somebody said so.
    RetryAt(Timestamp, String),
    /// It will never work.
    GiveUp(String),
}

/// What a handler can know of its lease.
#[derive(Debug, Clone)]
pub struct Context {
    /// Absent: never lost.
    lost: Option<watch::Receiver<bool>>,
}

/// The other end of a [`Context`], in the worker's hands.
#[derive(Debug)]
pub(crate) struct LostSignal(watch::Sender<bool>);

impl Context {
    pub(crate) fn new() -> (Self, LostSignal) {
        let (sender, lost) = watch::channel(false);
        (Self { lost: Some(lost) }, LostSignal(sender))
    }

    /// A context whose lease is never lost, for tests of handlers.
    #[must_use]
    pub fn held() -> Self {
        Self { lost: None }
    }

    /// Whether the job is no longer this handler's: it must stop, and nothing it still does counts.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        // An error means that the worker is gone, and the lease with it.
        self.lost.as_ref().is_some_and(|lost| *lost.borrow() || lost.has_changed().is_err())
    }

    /// Returns once the lease is lost.
    pub async fn lost(&self) {
        match self.lost.clone() {
            // As above, an error is a loss too.
            Some(mut lost) => drop(lost.wait_for(|lost| *lost).await),
            None => std::future::pending().await,
        }
    }
}

impl LostSignal {
    pub(crate) fn send(&self) {
        self.0.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lease_is_lost_by_word_or_by_the_end_of_the_worker() {
        let (context, signal) = Context::new();
        assert!(!context.is_lost());
        signal.send();
        assert!(context.is_lost());
        context.lost().await;

        let (context, signal) = Context::new();
        drop(signal);
        assert!(context.is_lost());
        context.lost().await;

        assert!(!Context::held().is_lost());
    }
}
