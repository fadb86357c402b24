//! Wake-up: a worker hears at once of work that any process made.
//!
//! Whoever makes work says so with `NOTIFY` ([`PostgresStore::tell_other_workers`]). A process whose workers wait keeps one
//! connection of its own that listens; it is made when [`JobQueue::changed`](crate::JobQueue::changed) is first awaited,
//! and again, after a pause, whenever it is lost. Waiting also ends by itself after a while: that is the safety net, and
//! all there is on a server without `LISTEN`.
//!
//! - Telling comes after the commit, on the same connection: it can never fail one. Inside, it would also make all such
//!   commits of the database wait for each other's disk, for `NOTIFY` holds one lock until its transaction is over.
//! - A listener is believed when it has heard something: some servers take a `LISTEN` and do nothing. So it knocks at its
//!   own door first. That also wakes whoever may have missed something while there was no listener.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::Object;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Error};

use super::connect::Target;
use super::{PATIENCE, PostgresStore};

const LISTEN: &str = "LISTEN punk_work";
const TELL: &str = "NOTIFY punk_work";

/// How long a wait lasts when nothing is heard, and nothing could be.
const POLL: Duration = Duration::from_secs(1);
/// How long it lasts when nothing is heard, though it would be.
const SAFETY_NET: Duration = Duration::from_secs(5);
/// The listener asks the server for a sign of life: a peer that vanished without a word says nothing, as a quiet one does.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The pause before a lost listener is made again; it doubles as long as that fails.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What this process knows of work that was made.
pub(super) struct Wake {
    ears: Arc<Ears>,
    /// Instead of the two durations above.
    poll: Option<Duration>,
    listening: Mutex<Option<Listening>>,
}

#[derive(Default)]
struct Ears {
    work: Notify,
    /// The listener has heard something since it was made.
    hear: AtomicBool,
    /// The server has no `LISTEN` or no `NOTIFY`.
    deaf: AtomicBool,
}

/// The task that listens. It ends with the store.
struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Wake {
    pub(super) fn new(poll: Option<Duration>) -> Self {
        Self { ears: Arc::default(), poll, listening: Mutex::default() }
    }

    /// Returns when there may be work.
    pub(super) async fn wait(&self, target: &Target) {
        self.listen(target);
        let usual = if self.ears.hear.load(Ordering::Relaxed) { SAFETY_NET } else { POLL };
        // Hearing nothing is no failure: it is when work is looked for that nobody could tell of.
        let _ = timeout(self.poll.unwrap_or(usual), self.ears.work.notified()).await;
    }

    /// Sees to it that somebody listens.
    fn listen(&self, target: &Target) {
        if self.ears.deaf.load(Ordering::Relaxed) {
            return;
        }
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        // It ends by itself only with the runtime it was started in.
        if listening.as_ref().is_none_or(|Listening(task)| task.is_finished()) {
            let listener = listen(target.clone().named("listener"), Arc::clone(&self.ears));
            *listening = Some(Listening(tokio::spawn(listener)));
        }
    }
}

impl Ears {
    /// Wakes the workers of this process: those that wait now, and the next that would.
    fn wake(&self) {
        self.work.notify_waiters();
        self.work.notify_one();
    }

    /// Remembers when a server does not know the words.
    fn learn_from(&self, error: &Error) {
        let unknown = [SqlState::FEATURE_NOT_SUPPORTED, SqlState::SYNTAX_ERROR];
        if error.code().is_some_and(|code| unknown.contains(code)) {
            self.deaf.store(true, Ordering::Relaxed);
        }
    }
}

impl PostgresStore {
    /// Wakes the workers of this process; to be called after the commit, or they look too early.
    pub(super) fn wake_own_workers(&self) {
        self.inner.wake.ears.wake();
    }

    /// Wakes the workers of all processes; to be sent after the commit. If it fails, they find the work by looking.
    pub(super) async fn tell_other_workers(&self, connection: &Object) {
        let ears = &self.inner.wake.ears;
        if ears.deaf.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = connection.batch_execute(TELL).await {
            ears.learn_from(&error);
        }
    }
}

/// Listens for as long as the server can be listened to.
async fn listen(target: Target, ears: Arc<Ears>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let ended = hear(&target, &ears).await;
        let heard = ears.hear.swap(false, Ordering::Relaxed);
        if let Err(error) = ended {
            ears.learn_from(&error);
        }
        if ears.deaf.load(Ordering::Relaxed) {
            return;
        }
        pause = if heard { FIRST_PAUSE } else { LONGEST_PAUSE.min(pause * 2) };
        sleep(pause).await;
    }
}

/// Makes a connection and listens until it is lost.
async fn hear(target: &Target, ears: &Ears) -> Result<(), Error> {
    let (client, mut connection) = target.connect().await?;
    let hearing = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await.transpose()? {
            if let AsyncMessage::Notification(_) = message {
                ears.hear.store(true, Ordering::Relaxed);
                ears.wake();
            }
        }
        Ok(())
    };
    let talking = async {
        client.batch_execute(LISTEN).await?;
        client.batch_execute(TELL).await?;
        loop {
            sleep(HEARTBEAT).await;
            match timeout(PATIENCE, client.batch_execute("")).await {
                Ok(alive) => alive?,
                Err(_) => return Ok(()),
            }
        }
    };
    tokio::select! {
        ended = hearing => ended,
        ended = talking => ended,
    }
}
