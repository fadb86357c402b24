//! Forgetting a person.

use std::num::NonZeroU32;

use jobs::Kind;
use schema::{JobId, RunId, Subject, SubjectId, TenantId};
use serde_json::json;
use store::{Commit, CommitError, NewJob, StoreError, TenantStore};

use crate::keeper::{Actor, Keeper};
use crate::record::record;

const PAGE: NonZeroU32 = NonZeroU32::new(1_000).unwrap();
/// A view that cannot be reached for a day is worth waiting for.
const ATTEMPTS: u32 = 20;

/// A person was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erasure {
    /// The run that records it; its evidence packet proves it.
    pub record: RunId,
    /// What stood for the person, and still does in what is left.
    pub subject: SubjectId,
    /// How many runs were about them.
    pub runs: u64,
}

/// Why nobody was forgotten.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// Nothing is kept about such a person.
    #[error("nothing is kept about this subject")]
    Unknown,
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Keeper {
    /// Forgets everything that is kept about `subject`: what is in the ledger at once, what is in views by a job that is
    /// made in the same commit.
    ///
    /// # Errors
    /// See [`EraseError`]. Then nothing was forgotten, or (after [`EraseError::Store`]) perhaps all of it: asking again
    /// finds out.
    pub async fn erase(
        &self,
        tenant: TenantId,
        subject: &Subject,
        actor: &Actor,
        reason: &str,
    ) -> Result<Erasure, EraseError> {
        let store = self.store.tenant(tenant);
        let id = store.subject(subject).await?.ok_or(EraseError::Unknown)?;
        let runs = count(&*store, id).await?;
        let at = (self.clock)();
        let fields = json!({
            "subjectId": id, "runs": runs, "reason": reason, "app": actor.app, "agent": actor.agent,
            "actor": actor.by,
        });
        let append = record(tenant, at, actor, "audit.subject_erased", fields)?;
        let record = append.events.run();
        let job = NewJob {
            id: JobId::new(at.as_millis(), crypto::random::bytes().map_err(StoreError::unavailable)?),
            kind: Kind::ErasureSweep.as_str().to_owned(),
            key: Some(id.to_string()),
            payload: json!({ "subjectId": id }),
            priority: 0,
            run_at: at,
            max_attempts: ATTEMPTS,
        };
        let commit = Commit { appends: vec![append], jobs: vec![job], erase: vec![id], ..Commit::default() };
        match store.commit(commit).await {
            Ok(()) => Ok(Erasure { record, subject: id, runs }),
            // Somebody else has just done it.
            Err(CommitError::NoSubject(_)) => Err(EraseError::Unknown),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(error) => Err(StoreError::unavailable(error).into()),
        }
    }

    /// Has every view forget an erased subject. Bears repeating.
    ///
    /// # Errors
    /// The first view that could not.
    pub async fn forget(&self, tenant: TenantId, subject: SubjectId) -> Result<(), StoreError> {
        for view in self.views.iter() {
            view.forget(tenant, subject).await?;
        }
        Ok(())
    }
}

async fn count(store: &dyn TenantStore, subject: SubjectId) -> Result<u64, StoreError> {
    let (mut runs, mut after) = (0, None);
    loop {
        let page = store.runs_of(subject, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(runs) };
        after = Some(*last);
        runs += page.len() as u64;
    }
}
