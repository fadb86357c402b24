//! Writing a run down, now or when the store is back.
//!
//! The caller of a run that cannot be recorded gets no answer, or not its end. But an upstream has worked for it, and has to be
//! paid: so the run waits in memory, in the place that its request has (`room.rs`), and is recorded as failed once the store
//! takes writes again. While it waits, nothing new is begun, so that no more than the places there are can wait.

use std::sync::Arc;
use std::time::Duration;

use redaction::Lexicon;
use schema::RunStatus;
use store::CommitError;

use super::record::{self, Ending, Opening, Saved};
use crate::app::App;
use crate::discretion::Looked;
use crate::error::{ApiError, unrecorded};
use crate::store_watch::out_of_reach;

/// How long after the store seems to be back a write that failed is tried again.
const REST: Duration = Duration::from_millis(100);

/// A run that is over, with all that its record takes. In a box, because that is large.
pub(crate) struct Over {
    pub(crate) opening: Arc<Opening>,
    pub(crate) ending: Ending,
    pub(crate) lexicon: Lexicon,
    /// What was looked at when it was told.
    pub(crate) looked: Looked,
}

/// Writes it down. If the store is out of reach, the caller is told, and it is written later.
pub(crate) async fn record(app: &App, mut over: Box<Over>) -> Result<(), ApiError> {
    let Err(error) = write(app, &mut over).await? else { return Ok(()) };
    if out_of_reach(&error) {
        app.store_watch.lost();
        over.ending.not_told();
        app.tasks.spawn(record_later(app.clone(), over));
    }
    Err(unrecorded(error))
}

/// Tries until it is there.
async fn record_later(app: App, mut over: Box<Over>) {
    let run = over.opening.run;
    loop {
        app.store_watch.back().await;
        match write(&app, &mut over).await {
            // What moved is this very run: the commit that seemed to fail had gone through.
            Ok(Ok(()) | Err(CommitError::Moved { .. })) => {
                tracing::info!(%run, "recorded late, after the store was away");
                return;
            }
            Ok(Err(error)) if out_of_reach(&error) => {
                app.store_watch.lost();
                tokio::time::sleep(REST).await;
            }
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, %run, "a run could not be recorded late, and is lost");
                return;
            }
            // Told where it failed.
            Err(_) => return,
        }
    }
}

/// Tries once. The outer error is of a run that cannot be written at all.
async fn write(app: &App, over: &mut Over) -> Result<Result<(), CommitError>, ApiError> {
    let Over { opening, ending, lexicon, looked } = over;
    let discretion = app.house.of(opening.caller.tenant);
    let commit = record::commit(opening, ending, (&discretion, lexicon, looked), |count| app.salts(count));
    let mut commit = commit.map_err(unrecorded)?;
    let judged = record::judgements(opening, ending);
    commit.jobs.extend(app.alarms(&opening.caller, opening.run, judged, ending.finished_at).await);
    if let Err(error) = app.of(opening.caller.tenant).commit(commit).await {
        return Ok(Err(error));
    }
    let judged = record::judgements(opening, ending);
    judged.for_each(|judged| judged.policies.note_known_to(opening.caller.tenant));
    for settlement in &ending.settled {
        app.book.settled(opening.caller.tenant, settlement).await;
    }
    Ok(Ok(()))
}

impl Ending {
    /// The same, of a run whose answer the caller did not get because nobody could record it.
    fn not_told(&mut self) {
        if self.status == RunStatus::Completed {
            let (code, message) = ApiError::Ledger.in_brief();
            (self.status, self.error) = (RunStatus::Failed, Some((code, message)));
            // It is on record, and never used again; what it would have saved it did not.
            (self.keep, self.saved) = (None, Saved::default());
        }
    }
}
