//! Being told to stop: Ctrl-C, SIGTERM and a closed terminal become one flag.
//!
//! A handler that only sets a flag lets the run end the ordinary way: loops return, owners are dropped,
//! and dropping is what stops servers and removes folders. Whatever waits must therefore wait in small
//! pieces and look at the flag in between; `Stop::pause` and `Running::wait` do.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether this run was told to stop. Clones share the answer.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// How long a wait is blind to the flag.
pub(crate) const TICK: Duration = Duration::from_millis(20);

impl Stop {
    /// A flag that the process's stop signals raise.
    pub(crate) fn on_signals() -> io::Result<Stop> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits for `duration`, or less if a stop is requested meanwhile.
    pub(crate) fn pause(&self, duration: Duration) {
        let end = Instant::now() + duration;
        while !self.requested() && Instant::now() < end {
            sleep(TICK);
        }
    }

    #[cfg(test)]
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
