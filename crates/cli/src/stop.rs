//! How a process that stays is brought to an end: the first signal asks, the second insists.

use crate::exit::Exit;
use crate::failure::Failure;
use std::io;
use std::pin::pin;
use tokio::sync::watch;

/// Tells the parts of a process that it is to end. A clone tells the same.
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// What says so, with `true`, and what is told.
    pub(crate) fn channel() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Returns when the process is to end.
    pub(crate) async fn requested(mut self) {
        // An error means that nobody is left who could ask, which is the end too.
        drop(self.0.wait_for(|stop| *stop).await);
    }
}

/// Runs what `start` begins until it comes to its own end; signals are listened to before it begins. Ctrl-C and SIGTERM ask it to, by way of [`Stop`]; a second
/// signal ends it at once, as a crash would.
pub(crate) async fn until_stopped<T, W>(start: impl FnOnce(Stop) -> W) -> Result<T, Failure>
where
    W: Future<Output = T>,
{
    let listening = Signals::listen();
    let mut signals = listening.map_err(|error| Failure::of(Exit::Environment, "punk_no_signals", &error))?;
    let (stopper, stop) = Stop::channel();
    let mut work = pin!(start(stop));
    tokio::select! {
        done = &mut work => return Ok(done),
        () = signals.next() => {}
    }
    tracing::info!("asked to stop: finishing what has begun; a second signal ends it at once");
    stopper.send_replace(true);
    tokio::select! {
        done = work => Ok(done),
        () = signals.next() => {
            let what = "stopped at once by a second signal; what had begun was not finished";
            Err(Failure::new(Exit::Environment, "punk_stopped_at_once", what))
        }
    }
}

/// The signals that ask a process to end. One that comes while nobody waits for it is kept for whoever does.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        let _ = self.0.recv().await;
    }
}
