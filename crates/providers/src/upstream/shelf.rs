//! Where HTTP/1 connections lie between calls, for a while.

use super::kept::Kept;
use super::lanes::IDLE;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::time::{Instant, sleep_until};

/// The connections that nobody uses, each with when it was put there, in that order.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Lying>);

#[derive(Debug, Default)]
struct Lying {
    connections: Vec<(Box<Kept>, Instant)>,
    /// Whether somebody comes by to clear them away.
    swept: bool,
}

impl Shelf {
    fn lying(&self) -> MutexGuard<'_, Lying> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was used last, so that those that are not needed grow old.
    pub(super) fn take(&self) -> Option<Box<Kept>> {
        self.lying().connections.pop().map(|(kept, _)| kept)
    }

    /// Puts one there.
    pub(super) fn put(self: &Arc<Self>, kept: Box<Kept>) {
        let mut lying = self.lying();
        lying.connections.push((kept, Instant::now()));
        if !std::mem::replace(&mut lying.swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Clears away what has lain there for too long. When the next will have, if anything is left.
    fn clear(&self) -> Option<Instant> {
        let mut lying = self.lying();
        let now = Instant::now();
        let old = lying.connections.iter().take_while(|(_, since)| *since + IDLE <= now).count();
        lying.connections.drain(..old);
        let next = lying.connections.first().map(|(_, since)| *since + IDLE);
        lying.swept = next.is_some();
        next
    }
}

/// Clears a shelf until it is empty, or gone.
async fn sweep(shelf: Weak<Shelf>) {
    let mut due = Instant::now();
    loop {
        sleep_until(due).await;
        match shelf.upgrade().and_then(|shelf| shelf.clear()) {
            Some(next) => due = next,
            None => return,
        }
    }
}
