//! Whether the store takes writes, so that nothing is begun that could not be recorded.
//!
//! The store is asked every second, and a write that fails says so too. While it is away, whoever would change something or
//! ask a model is refused at the gate, before anybody is paid; reading goes on as far as the store can be read. What had begun
//! waits for [`StoreWatch::back`]. Nothing has to be restarted.

use std::time::Duration;

use store::{CommitError, StoreError};
use tokio::sync::watch;

use crate::app::App;

/// How often the store is asked while it is well, and while it is not.
const EVERY: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(250);
/// How long it may take to answer: as long as SQLite itself waits for whoever holds its file. A store that is only slow,
/// because the machine is busy or something large is being written, is not away; a shorter wait would refuse what it can record.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is known of the store.
pub(crate) struct StoreWatch(watch::Sender<bool>);

impl Default for StoreWatch {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StoreWatch {
    /// Whether writes are known to fail.
    pub(crate) fn is_away(&self) -> bool {
        *self.0.borrow()
    }

    /// A write has failed because the store was out of reach.
    pub(crate) fn lost(&self) {
        self.note(true);
    }

    /// Returns when writes go through again, as far as is known.
    pub(crate) async fn back(&self) {
        // An error means that nobody looks any more: the process is at its end, and the writer finds out itself.
        let _ = self.0.subscribe().wait_for(|away| !*away).await;
    }

    fn note(&self, away: bool) {
        let changed = self.0.send_if_modified(|known| std::mem::replace(known, away) != away);
        match (changed, away) {
            (true, true) => tracing::error!("the store takes no writes: what cannot be recorded is refused"),
            (true, false) => tracing::info!("the store takes writes again"),
            (false, _) => {}
        }
    }
}

/// Whether a commit failed because the store is out of reach: it may be tried again as it is.
pub(crate) fn out_of_reach(error: &CommitError) -> bool {
    matches!(error, CommitError::Store(StoreError::Unavailable(_)))
}

/// Looks after the store for as long as the gateway runs.
pub(crate) async fn watch(app: App) {
    loop {
        let answered = tokio::time::timeout(PATIENCE, app.store.ready()).await;
        // A full or damaged store answers, and says so to whoever writes.
        let away = matches!(answered, Err(_) | Ok(Err(StoreError::Unavailable(_))));
        app.store_watch.note(away);
        tokio::time::sleep(if away { AGAIN } else { EVERY }).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_the_store_goes_on_when_it_is_back() {
        let known = std::sync::Arc::new(StoreWatch::default());
        assert!(!known.is_away());
        known.back().await;
        known.lost();
        assert!(known.is_away());
        let waiting = tokio::spawn({
            let known = known.clone();
            async move { known.back().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        known.note(false);
        waiting.await.unwrap();
    }
}
