//! Durable work: the rows of `jobs`.
//!
//! Workers of all processes claim from one table; a row that another claim holds is skipped, not waited for. How a worker
//! hears of work is in `wake.rs`.

use std::num::NonZeroU32;

use async_trait::async_trait;
use deadpool_postgres::Object;
use ledger::sha256;
use schema::{JobId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::error::FromDriver as _;
use super::pipeline::{Ask, Parameter};
use super::row::{column, json, millis};
use super::run::PAST_ALL_IDS;
use super::{PostgresStore, Tenant};
use crate::error::StoreError;
use crate::job::{Claimed, Held, Job, JobQueue, JobState, JobStore, LeaseToken, NewJob, Retry};

/// A job whose key is taken is not made, nor is one that is there already.
const ADD: &str = "INSERT INTO jobs (tenant, id, kind, key, payload, priority, run_at, attempts, max_attempts, state,
        token, due_at, live_key)
    SELECT $1::bytea, n.id, n.kind, n.key, n.payload, n.priority, n.run_at, 0, n.max_attempts, 'waiting',
        0, n.run_at, n.live_key
    FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[])
        AS n(id, kind, key, payload, priority, run_at, max_attempts, live_key)
    ON CONFLICT DO NOTHING";
const GIVE_UP: &str = "UPDATE jobs SET state = 'dead', lease_until = NULL, due_at = NULL, live_key = NULL, last_error = $3
    WHERE id IN (
        SELECT id FROM jobs WHERE due_at <= $2 AND kind = ANY($1) AND state = 'leased' AND attempts >= max_attempts
        FOR UPDATE SKIP LOCKED)";
const CLAIM: &str = "WITH due AS (
        SELECT id FROM jobs
        WHERE due_at <= $2 AND kind = ANY($1) AND NOT (state = 'leased' AND attempts >= max_attempts)
        ORDER BY priority DESC, run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
    UPDATE jobs SET state = 'leased', lease_until = $3, due_at = $3, attempts = attempts + 1, token = token + 1
    FROM due WHERE jobs.id = due.id RETURNING jobs.*";
const EXTEND: &str =
    "UPDATE jobs SET lease_until = greatest(lease_until, $3), due_at = greatest(lease_until, $3)
    WHERE id = $1 AND token = $2 AND state = 'leased'";
const COMPLETE: &str = "UPDATE jobs SET state = 'done', lease_until = NULL, due_at = NULL, live_key = NULL
    WHERE id = $1 AND token = $2 AND state = 'leased'";
const RETRY: &str =
    "UPDATE jobs SET state = 'waiting', lease_until = NULL, run_at = $4, due_at = $4, last_error = $3
    WHERE id = $1 AND token = $2 AND state = 'leased'";
const BURY: &str =
    "UPDATE jobs SET state = 'dead', lease_until = NULL, due_at = NULL, live_key = NULL, last_error = $3
    WHERE id = $1 AND token = $2 AND state = 'leased'";
const NEXT_DUE: &str =
    "SELECT due_at FROM jobs WHERE due_at IS NOT NULL AND kind = ANY($1) ORDER BY due_at LIMIT 1";
const JOB: &str = "SELECT * FROM jobs WHERE tenant = $1 AND id = $2";
const JOBS: &str = "SELECT * FROM jobs WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
const JOBS_IN_STATE: &str =
    "SELECT * FROM jobs WHERE tenant = $1 AND id < $2 AND state = $4 ORDER BY id DESC LIMIT $3";
const REQUEUE: &str =
    "UPDATE jobs SET state = 'waiting', attempts = 0, run_at = $3, due_at = $3, live_key = $4
    WHERE tenant = $1 AND id = $2 AND state = 'dead'";

const FORGET: &str = "DELETE FROM jobs WHERE (tenant, id) IN (
        SELECT tenant, id FROM jobs AS old
        WHERE state = 'done' AND id < $1
          AND EXISTS (SELECT 1 FROM jobs AS newer
                      WHERE newer.tenant = old.tenant AND newer.id > old.id
                        AND newer.kind = old.kind AND newer.state = 'done')
        ORDER BY id LIMIT $2)";

/// Deletes what is done and was made before then, but for the newest of each tenant and kind.
pub(super) async fn forget(
    store: &PostgresStore,
    before: Timestamp,
    limit: NonZeroU32,
) -> Result<u64, StoreError> {
    let first = JobId::new(before.as_millis(), [0; 10]);
    store.execute(FORGET, &[&&first.as_bytes()[..], &i64::from(limit.get())]).await
}

/// Makes jobs, as part of a commit.
pub(super) async fn add<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    jobs: &'a [NewJob],
) -> Result<Option<Ask<'a>>, StoreError> {
    if jobs.is_empty() {
        return Ok(None);
    }
    // In the order of their keys, for the sake of the locks; the first of two with one key stays the first.
    let mut sorted: Vec<(Option<Vec<u8>>, &NewJob)> =
        jobs.iter().map(|job| (live_key(&job.kind, job.key.as_deref()), job)).collect();
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    let payloads = sorted.iter().map(|(_, job)| json(&job.payload)).collect::<Result<Vec<_>, _>>()?;
    let (live_keys, jobs): (Vec<Option<Vec<u8>>>, Vec<&NewJob>) = sorted.into_iter().unzip();
    let ids: Vec<&[u8]> = jobs.iter().map(|job| &job.id.as_bytes()[..]).collect();
    let kinds: Vec<&[u8]> = jobs.iter().map(|job| job.kind.as_bytes()).collect();
    let keys: Vec<Option<&[u8]>> = jobs.iter().map(|job| job.key.as_deref().map(str::as_bytes)).collect();
    let priorities: Vec<i64> = jobs.iter().map(|job| job.priority.into()).collect();
    let times: Vec<i64> = jobs.iter().map(|job| millis(job.run_at)).collect();
    let limits: Vec<i64> = jobs.iter().map(|job| job.max_attempts.into()).collect();
    let parameters: Vec<Parameter<'_>> = vec![
        Box::new(tenant.key()),
        Box::new(ids),
        Box::new(kinds),
        Box::new(keys),
        Box::new(payloads),
        Box::new(priorities),
        Box::new(times),
        Box::new(limits),
        Box::new(live_keys),
    ];
    Ok(Some(Ask::new(connection, ADD, parameters).await?))
}

/// What no two live jobs of a tenant share. A digest, for an index entry has a size limit and a key has none.
fn live_key(kind: &str, key: Option<&str>) -> Option<Vec<u8>> {
    // The digest of the kind has one length, so that no two pairs run together.
    let kind = sha256(kind.as_bytes());
    key.map(|key| sha256(&[kind.as_bytes(), key.as_bytes()].concat()).as_bytes().to_vec())
}

#[async_trait]
impl JobQueue for PostgresStore {
    async fn claim(
        &self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<Claimed>, StoreError> {
        let (kinds, now) = (bytes(kinds), millis(now));
        self.execute(GIVE_UP, &[&kinds, &now, &&b"the lease ran out on the last attempt"[..]]).await?;
        let limit = i64::from(limit.get());
        let rows = self.query(CLAIM, &[&kinds, &now, &millis(lease_until), &limit]).await?;
        let claimed = rows.iter().map(|row| {
            Ok(Claimed { job: job(row)?, token: LeaseToken(column(row, "jobs", "token").number()?) })
        });
        // An update returns its rows in any order.
        let mut claimed = claimed.collect::<Result<Vec<_>, StoreError>>()?;
        claimed.sort_by_key(|Claimed { job, .. }| (-i64::from(job.priority), job.run_at, job.id));
        Ok(claimed)
    }

    async fn extend(
        &self,
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    ) -> Result<Held, StoreError> {
        self.update_held(EXTEND, job, token, &[&millis(lease_until)]).await
    }

    async fn complete(&self, job: JobId, token: LeaseToken) -> Result<Held, StoreError> {
        self.update_held(COMPLETE, job, token, &[]).await
    }

    async fn fail(
        &self,
        job: JobId,
        token: LeaseToken,
        error: &str,
        retry: Retry,
    ) -> Result<Held, StoreError> {
        let held = match retry {
            Retry::At(at) => self.update_held(RETRY, job, token, &[&error.as_bytes(), &millis(at)]).await?,
            Retry::Never => return self.update_held(BURY, job, token, &[&error.as_bytes()]).await,
        };
        self.tell_of_change().await;
        Ok(held)
    }

    async fn next_due(&self, kinds: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let rows = self.query(NEXT_DUE, &[&bytes(kinds)]).await?;
        rows.first().map(|row| column(row, "jobs", "due_at").time()).transpose()
    }

    async fn changed(&self) {
        self.inner.wake.wait(&self.inner.target).await;
    }
}

impl PostgresStore {
    /// Updates the job if `token` is the newest one; a token that no claim ever had fits none.
    async fn update_held(
        &self,
        text: &str,
        job: JobId,
        token: LeaseToken,
        rest: &[&(dyn ToSql + Sync)],
    ) -> Result<Held, StoreError> {
        let Ok(token) = i64::try_from(token.0) else { return Ok(Held::No) };
        let job: &[u8] = job.as_bytes();
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&job, &token];
        parameters.extend(rest);
        let updated = self.execute(text, &parameters).await?;
        Ok(if updated > 0 { Held::Yes } else { Held::No })
    }

    /// Wakes the workers, after a change that is no commit.
    async fn tell_of_change(&self) {
        self.wake_own_workers();
        if let Ok(connection) = self.connection().await {
            self.tell_other_workers(&connection).await;
        }
    }
}

#[async_trait]
impl JobStore for Tenant {
    async fn job(&self, job: JobId) -> Result<Option<Job>, StoreError> {
        let id: &[u8] = job.as_bytes();
        let rows = self.store.query(JOB, &[&self.key(), &id]).await?;
        rows.first().map(self::job).transpose()
    }

    async fn jobs(
        &self,
        state: Option<JobState>,
        before: Option<JobId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Job>, StoreError> {
        let before = before.as_ref().map_or(PAST_ALL_IDS, |job| job.as_bytes());
        let limit = i64::from(limit.get());
        let rows = match state.map(name) {
            None => self.store.query(JOBS, &[&self.key(), &before, &limit]).await?,
            Some(state) => self.store.query(JOBS_IN_STATE, &[&self.key(), &before, &limit, &state]).await?,
        };
        rows.iter().map(job).collect()
    }

    async fn requeue(&self, job: JobId, now: Timestamp) -> Result<bool, StoreError> {
        let Some(Job { kind, key, .. }) = self.job(job).await? else { return Ok(false) };
        let live_key = live_key(&kind, key.as_deref());
        let id: &[u8] = job.as_bytes();
        match self.store.execute(REQUEUE, &[&self.key(), &id, &millis(now), &live_key]).await {
            Ok(updated) => {
                self.store.tell_of_change().await;
                Ok(updated > 0)
            }
            Err(error) if is_taken(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether a job with the same key is live.
fn is_taken(error: &StoreError) -> bool {
    error.driver().and_then(tokio_postgres::Error::code) == Some(&SqlState::UNIQUE_VIOLATION)
}

fn bytes(texts: &[String]) -> Vec<&[u8]> {
    texts.iter().map(String::as_bytes).collect()
}

fn job(row: &Row) -> Result<Job, StoreError> {
    let column = |name| column(row, "jobs", name);
    Ok(Job {
        id: column("id").id()?,
        tenant: column("tenant").id()?,
        kind: column("kind").text()?,
        key: column("key").optional_text()?,
        payload: column("payload").json()?,
        priority: column("priority").number()?,
        run_at: column("run_at").time()?,
        attempts: column("attempts").number()?,
        max_attempts: column("max_attempts").number()?,
        state: state(row.try_get("state")?).ok_or_else(|| column("state").damaged("is no state"))?,
        lease_until: column("lease_until").optional_time()?,
        last_error: column("last_error").optional_text()?,
    })
}

fn name(state: JobState) -> &'static str {
    match state {
        JobState::Waiting => "waiting",
        JobState::Leased => "leased",
        JobState::Done => "done",
        JobState::Dead => "dead",
    }
}

fn state(name: &str) -> Option<JobState> {
    let states = [JobState::Waiting, JobState::Leased, JobState::Done, JobState::Dead];
    states.into_iter().find(|state| self::name(*state) == name)
}
