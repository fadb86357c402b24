//! A corner of a store that nobody else uses.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ledger::{Event, sha256};
use schema::{Id, JobId, Prefix, RunId, Seq, TenantId, Timestamp};
use serde_json::json;

use super::story::Story;
use crate::{Append, Claimed, Commit, CommitError, Job, JobQueue, NewJob, Retry, Store, TenantStore};

/// A tenant of its own and a kind of job of its own, in a store that others may be using too.
pub struct Corner {
    /// The tenant.
    pub id: TenantId,
    /// Its handle.
    pub tenant: Box<dyn TenantStore>,
    /// The work of all tenants; only that of `kind` is this corner's.
    pub queue: Box<dyn JobQueue>,
    /// A kind of job that occurs nowhere else.
    pub kind: String,
    seed: u64,
    made: AtomicU64,
}

impl Corner {
    #[must_use]
    pub fn of(store: &dyn Store) -> Self {
        // A server outlives the process and process ids come back, so the process adds a random number of its own.
        static PROCESS: LazyLock<u64> = LazyLock::new(|| {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u32(std::process::id());
            hasher.finish()
        });
        static CORNERS: AtomicU64 = AtomicU64::new(0);
        let seed = PROCESS.wrapping_add(CORNERS.fetch_add(1, Ordering::Relaxed));
        let id = fresh(seed, 0);
        let kind = format!("kind_{seed:016x}");
        Self { id, tenant: store.tenant(id), queue: store.jobs(), kind, seed, made: AtomicU64::new(1) }
    }

    /// An id of any kind, newer than those before it.
    pub fn fresh<K: Prefix>(&self) -> Id<K> {
        fresh(self.seed, self.made.fetch_add(1, Ordering::Relaxed))
    }

    /// A run that has no events yet.
    pub fn story(&self) -> Story {
        Story::new(self.id, self.fresh())
    }

    /// A job of this corner's kind: without a key, due at 1000, up to three attempts.
    pub fn job(&self) -> NewJob {
        NewJob {
            id: self.fresh(),
            kind: self.kind.clone(),
            key: None,
            payload: json!({}),
            priority: 0,
            run_at: at(1000),
            max_attempts: 3,
        }
    }

    /// Commits these appends and nothing else.
    pub async fn append(&self, appends: impl IntoIterator<Item = Append>) -> Result<(), CommitError> {
        let appends = appends.into_iter().collect();
        self.tenant.commit(Commit { appends, ..Commit::default() }).await
    }

    /// Commits these jobs and nothing else.
    pub async fn enqueue(&self, jobs: impl IntoIterator<Item = NewJob>) {
        let jobs = jobs.into_iter().collect();
        self.tenant.commit(Commit { jobs, ..Commit::default() }).await.unwrap();
    }

    /// The one kind, as the queue asks for it.
    #[must_use]
    pub fn kinds(&self) -> &[String] {
        std::slice::from_ref(&self.kind)
    }

    /// Claims up to `most` jobs of this corner's kind.
    pub async fn claim(&self, now: u64, lease_until: u64, most: u32) -> Vec<Claimed> {
        self.queue.claim(self.kinds(), at(now), at(lease_until), limit(most)).await.unwrap()
    }

    /// Claims the only job that is due.
    pub async fn claim_one(&self, now: u64, lease_until: u64) -> Claimed {
        let mut claimed = self.claim(now, lease_until, 10).await;
        assert_eq!(claimed.len(), 1, "one job is due: {claimed:?}");
        claimed.remove(0)
    }

    /// Enqueues `job`, claims it at 1000 and gives it up.
    pub async fn bury(&self, job: NewJob) -> JobId {
        let id = job.id;
        self.enqueue([job]).await;
        let claimed = self.claim_one(1000, 2000).await;
        assert_eq!(claimed.job.id, id);
        self.queue.fail(id, claimed.token, "no use", Retry::Never).await.unwrap();
        id
    }

    /// The job as its tenant sees it.
    pub async fn look(&self, job: JobId) -> Job {
        self.tenant.job(job).await.unwrap().expect("the job is there")
    }

    /// All events of a run.
    pub async fn read(&self, run: RunId) -> Vec<Event> {
        self.tenant.events(run, Seq::START, limit(u32::MAX)).await.unwrap()
    }
}

/// A moment, in milliseconds.
#[must_use]
pub fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

/// A limit that is not zero.
#[must_use]
pub fn limit(most: u32) -> NonZeroU32 {
    NonZeroU32::new(most).unwrap()
}

fn fresh<K: Prefix>(seed: u64, number: u64) -> Id<K> {
    let digest = sha256(format!("{seed} {number}").as_bytes());
    Id::new(1_700_000_000_000 + number, *digest.as_bytes().first_chunk().unwrap())
}
