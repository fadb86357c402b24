//! Rotation: every key in the vault comes under the active master key. Values are not touched.
//!
//! One commit a credential, each from the version that was read. Whatever is not done yet is found by the master key that
//! its record is grouped under, so nothing has to be remembered: killed anywhere, it goes on when it is called again. Until
//! the end both keys are in use, and everything opens with either.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crypto::KeyId;
use schema::{CredentialId, TenantId};
use store::{Commit, CommitError, RecordFilter, RecordKind, StoreError, TenantStore};

use crate::envelope::{NotSealed, RewrapError};
use crate::in_use::InUse;
use crate::stored::{Stored, group};
use crate::vault::{PAGE, Vault};

/// How far a rotation is: told after every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many credentials are done.
    pub done: u64,
    /// How many there were to do.
    pub total: u64,
}

/// What came of a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The master key that everything is under now, but for what is left.
    pub to: KeyId,
    /// How many credentials came under it.
    pub rewrapped: u64,
    /// What could not be.
    pub left: Vec<Left>,
}

/// A credential that does not open, so that it stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Whose.
    pub tenant: TenantId,
    /// Which.
    pub id: CredentialId,
    /// The master key that it is said to be under.
    pub key: KeyId,
}

/// Why a rotation did not come to its end. It goes on when it is called again.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// Whoever watched it has stopped it.
    #[error("the rotation was stopped after {0} credentials")]
    Stopped(u64),
    /// A key could not be wrapped.
    #[error(transparent)]
    Unsealed(#[from] NotSealed),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store did not take it.
    #[error(transparent)]
    Unwritten(#[from] CommitError),
}

impl Vault {
    /// Whether something is, or may be, under another master key than the active one: a rotation is to be finished.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn rotation_is_due(&self) -> Result<bool, StoreError> {
        let active = self.master_key_id();
        Ok(InUse::read(&*self.store).await?.keys.iter().any(|key| *key != active))
    }

    /// Brings everything under the active master key. `watch` is told after every commit, and may stop it.
    ///
    /// # Errors
    /// See [`RotateError`]: what is done stays done.
    pub async fn rotate(
        &self,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rotated, RotateError> {
        let to = self.master_key_id();
        InUse::add(&*self.store, to).await?;
        let seen = InUse::read(&*self.store).await?.keys;
        let tenants = self.tenants().await?;
        let mut progress = Progress { done: 0, total: self.to_do(&tenants, to).await? };
        let mut told = |progress: Progress| match watch(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RotateError::Stopped(progress.done)),
        };
        told(progress)?;
        let mut left = Vec::new();
        for tenant in tenants {
            let store = self.store.tenant(tenant);
            for group in self.groups(&*store, to).await?.into_keys() {
                let mut before: Option<String> = None;
                loop {
                    let kind = RecordKind::Credential;
                    let filter = RecordFilter { kind, group: Some(group.clone()), key: None };
                    let page = store.records(&filter, before.as_deref(), PAGE).await?;
                    let Some(last) = page.last() else { break };
                    before = Some(last.id.clone());
                    for record in &page {
                        match self.rewrap(tenant, &record.id).await? {
                            Done::Rewrapped => {
                                progress.done += 1;
                                told(progress)?;
                            }
                            Done::ByOthers => {}
                            Done::Left(what) => left.push(what),
                        }
                    }
                }
            }
        }
        let still: BTreeSet<KeyId> = left.iter().map(|left| left.key).chain([to]).collect();
        InUse::reduce(&*self.store, &seen, &still).await?;
        told(progress)?;
        Ok(Rotated { to, rewrapped: progress.done, left })
    }

    /// Re-wraps one credential from the version that it has, again and again while others change it.
    async fn rewrap(&self, tenant: TenantId, id: &str) -> Result<Done, RotateError> {
        let (store, masters) = (self.store.tenant(tenant), self.masters());
        loop {
            let record = store.record(RecordKind::Credential, id).await?;
            let Some(record) = record else { return Ok(Done::ByOthers) };
            let stored = Stored::read(tenant, &record)?;
            let (id, key) = (stored.credential.id, stored.credential.master_key_id);
            if key == masters.active().id() {
                return Ok(Done::ByOthers);
            }
            let rewrapped = match stored.rewrap(&masters) {
                Ok(rewrapped) => rewrapped,
                Err(RewrapError::Open(_)) => return Ok(Done::Left(Left { tenant, id, key })),
                Err(RewrapError::Seal(error)) => return Err(error.into()),
            };
            let commit = Commit { records: vec![rewrapped.change()], ..Commit::default() };
            match store.commit(commit).await {
                Ok(()) => return Ok(Done::Rewrapped),
                Err(CommitError::RecordMoved { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Everybody who may have credentials.
    async fn tenants(&self) -> Result<BTreeSet<TenantId>, StoreError> {
        let (mut all, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.store.tenant_rows(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            all.extend(page.into_iter().map(|tenant| tenant.id));
        }
        let mut after = None;
        loop {
            let page = self.store.tenants(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(*last);
            all.extend(page);
        }
    }

    async fn to_do(&self, tenants: &BTreeSet<TenantId>, to: KeyId) -> Result<u64, StoreError> {
        let mut sum = 0;
        for tenant in tenants {
            sum += self.groups(&*self.store.tenant(*tenant), to).await?.into_values().sum::<u64>();
        }
        Ok(sum)
    }

    /// What a tenant has under other master keys than `to`.
    async fn groups(
        &self,
        store: &dyn TenantStore,
        to: KeyId,
    ) -> Result<std::collections::BTreeMap<String, u64>, StoreError> {
        let mut counts = store.record_counts(RecordKind::Credential).await?;
        counts.retain(|word, _| word.parse::<KeyId>().is_ok() && *word != group(to));
        Ok(counts)
    }
}

/// What became of one credential.
enum Done {
    Rewrapped,
    /// Somebody else has done it, or removed it.
    ByOthers,
    Left(Left),
}
