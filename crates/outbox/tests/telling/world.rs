//! A house with keys and a store, and what happens in it.

use std::sync::Arc;

use crypto::{KeyRing, Purpose};
use egress::{Client, Reach, Trust};
use jobs::{Context, Failure, Handler};
use outbox::{Logs, Webhook};
use schema::{JobId, RunId, TenantId, Timestamp, WebhookId};
use serde_json::Value;
use store::conformance::{Story, limit};
use store::memory::MemoryStore;
use store::sqlite::{Durability, SqliteStore};
use store::{Commit, Job, JobState, NewJob, Store, TenantStore};
use tempfile::TempDir;

pub(crate) const NOW: u64 = 1_800_000_000_000;

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

pub(crate) fn clock() -> Timestamp {
    at(NOW)
}

pub(crate) fn tenant(number: u8) -> TenantId {
    TenantId::from_bytes([number; 16])
}

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) folder: TempDir,
}

impl World {
    pub(crate) fn of(store: impl Store + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut keys = KeyRing::open(folder.path().join("keys")).unwrap();
        keys.generate(Purpose::Log, jiff::Timestamp::UNIX_EPOCH).unwrap();
        Self { store: Arc::new(store), keys: Arc::new(keys), folder }
    }

    pub(crate) fn memory() -> Self {
        Self::of(MemoryStore::new())
    }

    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        Self::of(SqliteStore::open(&folder.join("punk.db"), Durability::Commit).unwrap())
    }

    pub(crate) fn tenant(&self, number: u8) -> Box<dyn TenantStore> {
        self.store.tenant(tenant(number))
    }

    pub(crate) fn logs(&self) -> Logs {
        Logs::new("punk.local".to_owned(), self.keys.clone())
    }

    /// A trust file with the keys of these tenants' logs.
    pub(crate) fn trust(&self, tenants: &[u8]) -> ledger::trust::Trust {
        let log = |number: &u8| format!("log {}\n", self.logs().key(tenant(*number)).unwrap().verifier());
        let logs: String = tenants.iter().map(log).collect();
        ledger::trust::Trust::parse(&format!("{logs}quorum none\n")).unwrap()
    }

    /// A webhook of the first tenant that is told everything.
    pub(crate) async fn webhook(&self, number: u8, url: &str) -> Webhook {
        let webhook = Webhook {
            id: WebhookId::from_bytes([number; 16]),
            name: "desk".to_owned(),
            url: url.to_owned(),
            events: vec!["*".to_owned()],
            key_id: self.keys.active(Purpose::Log).unwrap().id,
            created_by: "installation".to_owned(),
            created_at: clock(),
            disabled_at: None,
        };
        let commit = Commit { records: vec![webhook.change(0)], ..Commit::default() };
        self.tenant(1).commit(commit).await.unwrap();
        webhook
    }

    /// Finished runs of a tenant, so many.
    pub(crate) async fn runs(&self, number: u8, from: u8, count: u8) {
        for run in from..from + count {
            let mut story = Story::new(tenant(number), RunId::new(NOW + u64::from(run), [number; 10]));
            let commit = Commit { appends: vec![story.finish()], ..Commit::default() };
            self.tenant(number).commit(commit).await.unwrap();
        }
    }

    /// The jobs of a tenant that wait.
    pub(crate) async fn waiting(&self, id: TenantId) -> Vec<Job> {
        self.store.tenant(id).jobs(Some(JobState::Waiting), None, limit(99)).await.unwrap()
    }
}

/// A client that may go to this machine.
pub(crate) fn inside() -> Client {
    Client::new(Reach::private(), nobody())
}

/// No certificate is trusted: nothing here is encrypted.
pub(crate) fn nobody() -> Trust {
    Trust::only(&[]).unwrap()
}

/// A new job as a worker has it.
pub(crate) fn leased(tenant: TenantId, job: NewJob) -> Job {
    let NewJob { id, kind, key, payload, priority, run_at, max_attempts } = job;
    Job {
        id,
        tenant,
        kind,
        key,
        payload,
        priority,
        run_at,
        attempts: 1,
        max_attempts,
        state: JobState::Leased,
        lease_until: None,
        last_error: None,
    }
}

/// What becomes of a job of the default tenant that says this.
pub(crate) async fn handled(handler: &dyn Handler, payload: Value) -> Result<(), Failure> {
    let job = NewJob {
        id: JobId::NIL,
        kind: handler.kind().to_owned(),
        key: None,
        payload,
        priority: 0,
        run_at: clock(),
        max_attempts: 5,
    };
    handler.handle(&leased(TenantId::NIL, job), &Context::held()).await
}

/// A test for each promise on each store.
macro_rules! on_every_store {
    ($($promise:ident)*) => {
        mod in_memory {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise(crate::world::World::memory()).await;
            })*
        }
        mod on_disk {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise(crate::world::World::sqlite()).await;
            })*
        }
    };
}
pub(crate) use on_every_store;
