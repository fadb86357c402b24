//! Work that nobody waits for, on a thread of its own, which gives way to whoever serves.
//!
//! Reading a page of the log takes milliseconds, and making a version seconds. On a thread like any other that would take a core from
//! the requests for that long. It is one thread and not one for each page: an allocator is slow to give back what a thread leaves behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use store::StoreError;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// How much it gives way: where others want the cores as well, it has about a tenth of one.
const GIVES_WAY: i32 = 10;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The thread, once there is something to do. It ends with whoever has work for it.
#[derive(Clone, Default)]
pub(crate) struct Aside {
    queue: Arc<Mutex<Option<mpsc::UnboundedSender<Work>>>>,
}

impl Aside {
    /// What `work` comes to, in its turn. What it waits for is waited for where everybody waits; the work between is done there.
    /// Once begun it goes on to its end, whether or not somebody still wants it.
    ///
    /// # Errors
    /// There is no thread for it, or it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let work = async move {
            // Whoever waited is gone, then nobody wants it.
            let _ = tell.send(work.await);
        };
        self.queue(Box::pin(work))?;
        told.await.map_err(StoreError::unavailable)
    }

    fn queue(&self, work: Work) -> Result<(), StoreError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = match queue.take() {
            Some(thread) => thread,
            None => begin().map_err(StoreError::unavailable)?,
        };
        let sent = queue.insert(thread).send(work);
        sent.map_err(|_| StoreError::unavailable("the thread that learns has ended"))
    }
}

/// A thread that does what it is sent, one after the other. Of what panics whoever waits hears nothing, which is an error; the next is
/// done all the same.
fn begin() -> std::io::Result<mpsc::UnboundedSender<Work>> {
    let (sender, mut received) = mpsc::unbounded_channel::<Work>();
    let runtime = Handle::current();
    thread::Builder::new().name("punk-learn".to_owned()).spawn(move || {
        // It works without, too.
        let _ = rustix::process::nice(GIVES_WAY);
        while let Some(work) = received.blocking_recv() {
            let _ = catch_unwind(AssertUnwindSafe(|| runtime.block_on(work)));
        }
    })?;
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_done_by_somebody_who_gives_way() {
        let here = rustix::process::getpriority_process(None).unwrap();
        let aside = Aside::default();
        let there = aside.run(async { rustix::process::getpriority_process(None).unwrap() }).await.unwrap();
        assert_eq!(there, (here + GIVES_WAY).min(19));
        assert_eq!(rustix::process::getpriority_process(None).unwrap(), here, "nobody else does");
    }

    #[tokio::test]
    async fn a_panic_is_told_and_what_comes_next_is_done() {
        let aside = Aside::default();
        for _ in 0..20 {
            assert!(aside.run(async { panic!("on purpose") }).await.is_err());
            assert_eq!(aside.run(async { 7 }).await.unwrap(), 7);
        }
    }

    #[tokio::test]
    async fn all_of_it_is_done_by_one() {
        let aside = Aside::default();
        let first = aside.run(async { thread::current().id() }).await.unwrap();
        assert_eq!(aside.clone().run(async { thread::current().id() }).await.unwrap(), first);
        assert_ne!(thread::current().id(), first);
    }
}
