//! A run on its way to the ledger. It gets there though nobody waits for it.
//!
//! Most runs are written down at once: whoever finds nobody else writing writes itself. So it is tried where it is asked for,
//! and becomes a task of its own only if it has to wait; a task would cost more than the wait that there is not.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::error::{ApiError, unrecorded};

type Written = Result<(), ApiError>;

/// Ready when the run is where it cannot be lost, or could not be brought there.
pub(crate) enum Recording {
    /// It is. Empty once that was told.
    Done(Option<Written>),
    /// It is being brought there.
    Going(JoinHandle<Written>),
}

impl Recording {
    /// Tries at once, and goes on in a task if that is not enough. In a box: tokio moves a task about while it is made and
    /// when it is done, and this one is large.
    pub(crate) fn begin(
        tasks: &TaskTracker,
        mut work: Pin<Box<impl Future<Output = Written> + Send + 'static>>,
    ) -> Self {
        // Nobody is woken by this: if it is not ready, the task asks again as soon as it runs.
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(written) => Self::Done(Some(written)),
            Poll::Pending => Self::Going(tasks.spawn(work)),
        }
    }
}

impl Future for Recording {
    type Output = Written;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Written> {
        match self.get_mut() {
            // Nobody asks twice.
            Self::Done(written) => Poll::Ready(written.take().unwrap_or(Ok(()))),
            Self::Going(task) => Poll::Ready(match ready!(Pin::new(task).poll(cx)) {
                Ok(written) => written,
                Err(error) => Err(unrecorded(error)),
            }),
        }
    }
}
