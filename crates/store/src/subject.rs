//! The people that payloads are about.

use async_trait::async_trait;
use schema::{RunId, Subject, SubjectId};
use std::num::NonZeroU32;

use crate::error::StoreError;

/// Looks up subjects. The handle carries the tenant. They come to be with the first append that names them, and end with
/// [`Commit::erase`](crate::Commit::erase).
#[async_trait]
pub trait SubjectStore: Send + Sync {
    /// What stands for the subject in the store, if there is anything about it.
    async fn subject(&self, subject: &Subject) -> Result<Option<SubjectId>, StoreError>;

    /// The runs about a subject, known or erased, oldest first, past `after`, at most `limit`.
    async fn runs_of(
        &self,
        subject: SubjectId,
        after: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunId>, StoreError>;
}
