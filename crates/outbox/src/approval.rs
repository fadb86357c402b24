//! Letting approvals end whose time is over, on record and told to whoever wants to know.
//!
//! An approval is over at its time whether or not this has run: whoever looks at one asks `governance::approval` too. What
//! happens here is that it is written down, once, and told.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use crypto::random::Generator;
use governance::approval::lapse;
use jobs::{Context, Failure, Handler, Kind};
use ledger::{Deed, Salt};
use schema::{Approval, ApprovalStatus, RunId, TenantId, Timestamp};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use store::{
    Append, Commit, CommitError, Job, Record, RecordBody, RecordChange, RecordKind, Settle, Store, StoreError,
};

use crate::news::{News, notify};
use crate::webhook::{Webhook, webhooks};
use crate::{Clock, later, lost};

const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Ends the approvals of all tenants whose time is over.
pub struct ApprovalSweep {
    store: Arc<dyn Store>,
    clock: Clock,
}

/// What became of an approval that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It has expired, and that is written down.
    Expired,
    /// Somebody decided or used it in that moment.
    Moved,
    /// It stays as it is: its time has not come after all, or it cannot be read.
    Left,
}

impl ApprovalSweep {
    /// A sweep of this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock }
    }

    async fn end(
        &self,
        tenant: TenantId,
        record: &Record,
        told: &[Webhook],
        now: Timestamp,
    ) -> Result<Fate, Failure> {
        let approval = match Approval::deserialize(&record.body) {
            Ok(approval) => approval,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(%tenant, approval = record.id, error, "an approval cannot be read");
                return Ok(Fate::Left);
            }
        };
        let Some(expired) = lapse(&approval, now) else { return Ok(Fate::Left) };
        let commit = commit(tenant, record, &expired, told, now).map_err(|error| later(&error))?;
        match self.store.tenant(tenant).commit(commit).await {
            Ok(()) => Ok(Fate::Expired),
            Err(CommitError::RecordMoved { .. }) => Ok(Fate::Moved),
            Err(error) => Err(Failure::Retry(error.to_string())),
        }
    }
}

#[async_trait]
impl Handler for ApprovalSweep {
    fn kind(&self) -> &str {
        Kind::ApprovalSweep.as_str()
    }

    async fn handle(&self, _: &Job, context: &Context) -> Result<(), Failure> {
        let now = (self.clock)();
        let mut told: HashMap<TenantId, Vec<Webhook>> = HashMap::new();
        let mut expired = 0;
        for status in [ApprovalStatus::Pending, ApprovalStatus::Approved] {
            loop {
                let due = self.store.due_records(RecordKind::Approval, status.as_str(), now, PAGE).await;
                let due = due.map_err(|error| later(&error))?;
                let mut left = 0;
                for (tenant, record) in &due {
                    if context.is_lost() {
                        return Err(lost());
                    }
                    if !told.contains_key(tenant) {
                        let webhooks = webhooks(&*self.store.tenant(*tenant)).await;
                        told.insert(*tenant, webhooks.map_err(|error| later(&error))?);
                    }
                    let told = told.get(tenant).map_or(&[][..], Vec::as_slice);
                    match self.end(*tenant, record, told, now).await? {
                        Fate::Expired => expired += 1,
                        Fate::Moved => {}
                        Fate::Left => left += 1,
                    }
                }
                // What is left is found again by whoever asks again.
                if due.len() < PAGE.get() as usize || left == due.len() {
                    break;
                }
            }
        }
        if expired > 0 {
            tracing::info!(expired, "approvals ended that nobody answered or used in time");
        }
        Ok(())
    }
}

/// Everything that belongs to the end of an approval: the record from the version that was seen, the run that says so, and
/// the jobs that tell it.
fn commit(
    tenant: TenantId,
    record: &Record,
    expired: &Approval,
    told: &[Webhook],
    now: Timestamp,
) -> Result<Commit, StoreError> {
    let mut random = Generator::new().map_err(StoreError::unavailable)?;
    let to = RecordBody {
        group: expired.status.as_str().to_owned(),
        key: record.key,
        body: json!(expired),
        created_at: record.created_at,
        due_at: None,
    };
    let change = RecordChange {
        kind: RecordKind::Approval,
        id: record.id.clone(),
        expected: record.version,
        to: Some(to),
    };
    let news = News { tenant, ..News::approval_decided(expired, now) };
    let jobs = notify(told, &news, || random.bytes());
    let run = RunId::new(now.as_millis(), random.bytes());
    let deed = Deed {
        app: "punk",
        agent: "approval_sweep",
        r#type: "audit.approval_expired",
        fields: said(record, expired),
    };
    let events = deed.record(tenant, run, now, || Salt::from_bytes(random.bytes()));
    let events = events.map_err(StoreError::unavailable)?;
    let appends = vec![Append { events, settle: Settle::Leaf, subject: None }];
    Ok(Commit { appends, records: vec![change], jobs, ..Commit::default() })
}

/// What the record of it says: the same as that of a decision, with Punk for a person.
fn said(record: &Record, expired: &Approval) -> Map<String, Value> {
    let said = json!({
        "actor": "punk", "target": expired.id, "status": expired.status, "was": record.group,
        "run": expired.run_id, "action": expired.action, "policy": expired.policy, "rule": expired.rule,
        "payloadHash": expired.payload_hash, "votes": expired.votes, "usedBy": expired.used_by,
    });
    if let Value::Object(said) = said { said } else { Map::new() }
}
