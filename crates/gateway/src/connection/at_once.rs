//! A task that wakes itself goes on at once.
//!
//! Both ends of a call are in one task: the connection of its client and, for HTTP/1, that of its upstream. What one of them hands to the
//! other wakes the task while it is running. The runtime takes that for work that somebody else could do: it puts the task
//! at the end of its queue, and wakes another thread to look for it. With few calls that costs more than the rest of what the kernel
//! does for one. Here a wake-up that comes during a poll is only noted, and the poll repeated.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use atomic_waker::AtomicWaker;

/// How often a task is polled before others have their turn. A call wakes itself twice or three times between two waits.
const ROUNDS: usize = 8;

/// A future that is polled again when it was woken while it was polled.
pub(super) struct AtOnce<F> {
    task: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
}

impl<F> AtOnce<F> {
    pub(super) fn new(task: F) -> Self {
        let bell = Arc::<Bell>::default();
        Self { task: Box::pin(task), waker: bell.clone().into(), bell }
    }
}

/// Where wake-ups arrive.
#[derive(Default)]
struct Bell {
    state: AtomicU8,
    /// Wakes the task, for the runtime to poll it.
    outside: AtomicWaker,
}

/// Nobody polls: whoever rings wakes the task.
const RESTING: u8 = 0;
/// The task is being polled.
const POLLED: u8 = 1;
/// The same, and somebody rang meanwhile.
const RUNG: u8 = 2;

impl Bell {
    /// Moves on from `POLLED`, if nobody was faster.
    fn turns(&self, next: u8) -> Result<u8, u8> {
        self.state.compare_exchange(POLLED, next, Ordering::AcqRel, Ordering::Acquire)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.turns(RUNG) == Err(RESTING) {
            self.outside.wake();
        }
    }
}

impl<F: Future> Future for AtOnce<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { task, bell, waker } = &mut *self;
        bell.outside.register(cx.waker());
        for _ in 0..ROUNDS {
            bell.state.store(POLLED, Ordering::Release);
            let polled = task.as_mut().poll(&mut Context::from_waker(waker));
            // Whoever rings from here on finds nobody polling, and what rang before is looked after.
            if polled.is_ready() || bell.turns(RESTING).is_ok() {
                return polled;
            }
        }
        bell.state.store(RESTING, Ordering::Release);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A task that wakes itself so many times; how often it was polled.
    fn wakes_itself(times: usize) -> (impl Future<Output = ()>, Arc<AtomicUsize>) {
        let polls = Arc::<AtomicUsize>::default();
        let counted = polls.clone();
        let task = poll_fn(move |cx| {
            if counted.fetch_add(1, Ordering::SeqCst) < times {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        (task, polls)
    }

    #[test]
    fn who_wakes_itself_is_polled_again_and_nobody_is_woken() {
        let (task, polls) = wakes_itself(3);
        let woken = Arc::<Woken>::default();
        let mut task = AtOnce::new(task);
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&woken.clone().into())).is_pending());
        assert_eq!((polls.load(Ordering::SeqCst), woken.0.load(Ordering::SeqCst)), (4, 0));
    }

    #[test]
    fn who_never_stops_waking_itself_lets_others_have_their_turn() {
        let (task, polls) = wakes_itself(usize::MAX);
        let woken = Arc::<Woken>::default();
        let mut task = AtOnce::new(task);
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&woken.clone().into())).is_pending());
        assert_eq!((polls.load(Ordering::SeqCst), woken.0.load(Ordering::SeqCst)), (ROUNDS, 1));
    }

    #[test]
    fn between_two_polls_the_one_who_polls_is_woken() {
        let (tell, told) = oneshot::channel();
        let mut task = AtOnce::new(told);
        let (first, second) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&first.clone().into())).is_pending());
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&second.clone().into())).is_pending());
        tell.send(7).unwrap();
        assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
        let polled = Pin::new(&mut task).poll(&mut Context::from_waker(&second.into()));
        assert_eq!(polled, Poll::Ready(Ok(7)));
    }

    /// Whatever the moment in which another thread rings, the task hears it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_up_from_another_thread_is_lost() {
        for round in 0..20_000 {
            let (tell, told) = oneshot::channel();
            let (ask, asked) = oneshot::channel::<()>();
            let task = tokio::spawn(AtOnce::new(async move {
                let _ = ask.send(());
                told.await
            }));
            asked.await.unwrap();
            tell.send(round).unwrap();
            assert_eq!(task.await.unwrap(), Ok(round));
        }
    }
}
