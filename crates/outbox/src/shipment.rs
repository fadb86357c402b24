//! Copying the heads of the logs to the sinks, every minute.
//!
//! The recurring job makes one job a sink, so that each is tried, fails and recovers by itself. How far a sink is with a
//! tenant's log is a record of that tenant. It is written after what it speaks of was sent, from the version that was seen:
//! a crash in between sends again, and of two workers neither can move it past what it has not sent.
//!
//! - At least once, never skipped: receivers tell copies by origin and size, or by origin and leaf.
//! - What became of the runs up to a size is sent before the checkpoint of that size.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use crypto::SigningKey;
use crypto::random::Generator;
use jobs::{Context, Failure, Handler, Kind};
use ledger::{Leaf, LogKey};
use schema::{JobId, Seq, TenantId, Timestamp};
use serde_json::json;
use store::{Commit, CommitError, Job, NewJob, Store, StoreError, TenantStore};

use crate::context;
use crate::document::Document;
use crate::logs::{Logs, LogsError};
use crate::progress::Progress;
use crate::sink::{Shape, ShipError, Sink};
use crate::{Clock, lost};

const TENANTS: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// How many leaves are sent between two notes of how far a sink is.
const LEAVES: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// A sink that is away is tried again for some hours; then somebody is shown a dead job, and the next minute begins anew.
const ATTEMPTS: u32 = 60;
/// A sink that is back is found within this time.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Takes signed checkpoints to the sinks.
pub struct AuditShipment {
    store: Arc<dyn Store>,
    sinks: Vec<Sink>,
    logs: Logs,
    clock: Clock,
}

/// Why a sink is not up to date.
#[derive(Debug, thiserror::Error)]
enum Unshipped {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Sink(#[from] ShipError),
    #[error(transparent)]
    Key(#[from] LogsError),
    #[error("a document cannot be written: {0}")]
    Document(String),
    #[error("the lease was lost on the way")]
    Lost,
}

impl Unshipped {
    /// Whether others may fare better: what a tenant has cannot be read, or not be written as a document.
    fn is_one_tenants(&self) -> bool {
        let damaged = matches!(self, Self::Store(StoreError::Damaged(_)));
        damaged
            || matches!(self, Self::Commit(CommitError::Store(StoreError::Damaged(_))) | Self::Document(_))
    }
}

impl AuditShipment {
    /// Shipments of what is in `store` to `sinks`, signed as `logs`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, sinks: Vec<Sink>, logs: Logs, clock: Clock) -> Self {
        Self { store, sinks, logs, clock }
    }

    /// Makes a job for each sink, unless one waits or runs.
    async fn begin(&self, tenant: TenantId) -> Result<(), Failure> {
        let retry = |error: &dyn std::error::Error| Failure::Retry(error.to_string());
        let mut random = Generator::new().map_err(|error| retry(&error))?;
        let now = (self.clock)();
        let job = |sink: &Sink| NewJob {
            id: JobId::new(now.as_millis(), random.bytes()),
            kind: Kind::AuditShipment.as_str().to_owned(),
            key: Some(format!("sink {}", sink.name)),
            payload: json!({ "sink": sink.name }),
            priority: 0,
            run_at: now,
            max_attempts: ATTEMPTS,
        };
        let jobs = self.sinks.iter().map(job).collect();
        let commit = Commit { jobs, ..Commit::default() };
        self.store.tenant(tenant).commit(commit).await.map_err(|error| retry(&error))
    }

    /// Brings a sink up to date. What is wrong with one tenant's log is told when all others had their turn.
    async fn ship_all(&self, sink: &Sink, context: &Context) -> Result<(), Unshipped> {
        let (mut after, mut first) = (None, None);
        loop {
            let tenants = self.store.tenants(after, TENANTS).await?;
            let Some(last) = tenants.last() else { return first.map_or(Ok(()), Err) };
            after = Some(*last);
            for tenant in tenants {
                match self.ship(sink, tenant, context).await {
                    Err(error) if error.is_one_tenants() => drop(first.get_or_insert(error)),
                    shipped => shipped?,
                }
            }
        }
    }

    /// Brings a sink up to date with one tenant's log.
    async fn ship(&self, sink: &Sink, tenant: TenantId, context: &Context) -> Result<(), Unshipped> {
        let store = self.store.tenant(tenant);
        let mut progress = Progress::read(&*store, &sink.name).await?;
        if progress.is_at(store.log_size().await?, sink.runs.is_some()) {
            return Ok(());
        }
        let (size, root) = store.log_head().await?;
        if size < progress.size {
            // It is shipped all the same: the copies that are there will tell.
            let shipped = progress.size;
            tracing::error!(sink = sink.name, %tenant, size, shipped, "the log is shorter than what was shipped of it");
            progress.told = progress.told.min(size);
        }
        let key = self.logs.key(tenant)?;
        while let Some(shape) = &sink.runs
            && progress.told < size
        {
            if context.is_lost() {
                return Err(Unshipped::Lost);
            }
            let leaves = leaves(&*store, progress.told, size).await?;
            let told = progress.told + leaves.len() as u64;
            if leaves.is_empty() {
                break;
            }
            let documents = contexts(&*store, tenant, &key, leaves, shape).await?;
            sink.ship(documents, (self.clock)()).await?;
            progress.told = told;
            // Somebody else brings it up to date.
            let Some(saved) = progress.save(&*store, &sink.name, (self.clock)()).await? else {
                return Ok(());
            };
            progress = saved;
        }
        let now = (self.clock)();
        let document = Document::checkpoint(&key, tenant, (size, root), now);
        let document = document.map_err(|error| Unshipped::Document(error.to_string()))?;
        sink.ship(vec![document], now).await?;
        progress.size = size;
        progress.save(&*store, &sink.name, now).await?;
        Ok(())
    }
}

#[async_trait]
impl Handler for AuditShipment {
    fn kind(&self) -> &str {
        Kind::AuditShipment.as_str()
    }

    async fn handle(&self, job: &Job, context: &Context) -> Result<(), Failure> {
        let Some(name) = job.payload.get("sink") else { return self.begin(job.tenant).await };
        let sink = self.sinks.iter().find(|sink| *name == *sink.name);
        let sink = sink.ok_or_else(|| Failure::GiveUp(format!("no sink is called {name}")))?;
        self.ship_all(sink, context).await.map_err(|error| match error {
            Unshipped::Lost => lost(),
            error => Failure::RetryAt(again_at((self.clock)(), job.attempts), reason(&error)),
        })
    }
}

/// The error and its cause, for operators. Neither holds a path or a secret.
fn reason(error: &Unshipped) -> String {
    match error {
        Unshipped::Sink(ShipError::File(cause)) => format!("{error}: {cause}"),
        _ => error.to_string(),
    }
}

/// When a sink is tried again after `attempts` attempts.
fn again_at(now: Timestamp, attempts: u32) -> Timestamp {
    let wait = Duration::from_secs(1 << attempts.min(16)).min(LONGEST_WAIT).as_millis();
    let then = now.as_millis().saturating_add(u64::try_from(wait).unwrap_or(u64::MAX));
    Timestamp::from_millis(then).unwrap_or(Timestamp::LAST)
}

/// A few leaves with their places, from `from` on and before `size`.
async fn leaves(store: &dyn TenantStore, from: u64, size: u64) -> Result<Vec<(u64, Leaf)>, StoreError> {
    let leaves = store.leaves(from, LEAVES).await?;
    Ok((from..size).zip(leaves).collect())
}

/// What became of the runs that these leaves bind.
async fn contexts(
    store: &dyn TenantStore,
    tenant: TenantId,
    key: &LogKey<SigningKey>,
    leaves: Vec<(u64, Leaf)>,
    shape: &Shape,
) -> Result<Vec<Document>, Unshipped> {
    let mut documents = Vec::with_capacity(leaves.len());
    for place in leaves {
        let events = store.events(place.1.run, Seq::START, NonZeroU32::MAX).await?;
        let context = context::Context::of(key.origin().as_str(), tenant, place, events);
        let document = Document::context(key, place, &context, shape);
        documents.push(document.map_err(|error| Unshipped::Document(error.to_string()))?);
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_that_is_away_is_asked_ever_more_rarely_and_at_least_every_five_minutes() {
        let waits = [1, 2, 3, 8, 9, 60, u32::MAX].map(|n| again_at(Timestamp::EPOCH, n).as_millis() / 1000);
        assert_eq!(waits, [2, 4, 8, 256, 300, 300, 300]);
    }
}
