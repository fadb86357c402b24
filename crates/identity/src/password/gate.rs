//! The gate before the hash function: so many at once, so many waiting, and nobody else.
//!
//! A flood of logins then costs a bounded amount of memory, and who comes too late is told so instead of queueing for
//! minutes.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Leave to hash one password. Given back when dropped; move it into the task that hashes.
#[derive(Debug)]
pub struct Permit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// As many hash and wait as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many logins at once; try again in a moment")]
pub struct Full;

/// How many passwords may be hashed at once. Clones share the count.
#[derive(Debug, Clone)]
pub struct Gate {
    hashing: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Gate {
    /// A gate for `at_once`, at least one, and `waiting` more in the queue.
    pub fn new(at_once: usize, waiting: usize) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self { hashing: places(at_once.max(1)), waiting: places(waiting) }
    }

    /// Waits for a permit, unless as many wait already as may. Cancelling the wait gives the place back.
    pub async fn enter(&self) -> Result<Permit, Full> {
        if let Ok(permit) = self.try_enter() {
            return Ok(permit);
        }
        let _place = self.waiting.try_acquire().map_err(|_| Full)?;
        // Nobody closes the semaphore; if somebody did, nobody could hash.
        self.hashing.clone().acquire_owned().await.map(Permit).map_err(|_| Full)
    }

    /// A permit at once or not at all, for a shell that has no runtime.
    pub fn try_enter(&self) -> Result<Permit, Full> {
        self.hashing.clone().try_acquire_owned().map(Permit).map_err(|_| Full)
    }
}
