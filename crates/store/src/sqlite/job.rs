//! Jobs in SQLite.

use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::{JobId, TenantId, Timestamp};

use super::request::{Reply, Request};
use super::row::{Sql, integer, unavailable, unsigned};
use super::sum::{with_sum, without_sum};
use super::{SqliteJobs, SqliteTenant};
use crate::error::{BoxError, StoreError};
use crate::job::{Claimed, Held, Job, JobQueue, JobState, JobStore, LeaseToken, NewJob, Retry};

const COLUMNS: &str = "id, tenant, kind, key, payload, priority, run_at, attempts, max_attempts, state, lease_until, last_error, token";

/// How long a worker sleeps at most without looking again.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// What a worker asks for.
pub(super) struct ClaimRequest {
    kinds: Vec<String>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: NonZeroU32,
}

#[async_trait]
impl JobQueue for SqliteJobs {
    async fn claim(
        &self,
        kinds: &[String],
        now: Timestamp,
        lease_until: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Vec<Claimed>, StoreError> {
        let request = ClaimRequest { kinds: kinds.to_vec(), now, lease_until, limit };
        match self.store.inner.write(Request::Claim(request)).await? {
            Reply::Claimed(claimed) => Ok(claimed),
            _ => Ok(Vec::new()),
        }
    }

    async fn extend(
        &self,
        job: JobId,
        token: LeaseToken,
        lease_until: Timestamp,
    ) -> Result<Held, StoreError> {
        self.held(Request::Extend { job, token, lease_until }).await
    }

    async fn complete(&self, job: JobId, token: LeaseToken) -> Result<Held, StoreError> {
        self.held(Request::Complete { job, token }).await
    }

    async fn fail(
        &self,
        job: JobId,
        token: LeaseToken,
        error: &str,
        retry: Retry,
    ) -> Result<Held, StoreError> {
        let held = self.held(Request::Fail { job, token, error: error.to_owned(), retry }).await?;
        self.store.inner.new_work.notify_waiters();
        Ok(held)
    }

    async fn next_due(&self, kinds: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let kinds = kinds.to_vec();
        self.store.inner.read_aside(move |connection| next_due(connection, &kinds).map_err(unavailable)).await
    }

    async fn changed(&self) {
        let _ = tokio::time::timeout(LONGEST_SLEEP, self.store.inner.new_work.notified()).await;
    }
}

impl SqliteJobs {
    async fn held(&self, request: Request) -> Result<Held, StoreError> {
        let changed = matches!(self.store.inner.write(request).await?, Reply::Changed(true));
        Ok(if changed { Held::Yes } else { Held::No })
    }
}

#[async_trait]
impl JobStore for SqliteTenant {
    async fn job(&self, job: JobId) -> Result<Option<Job>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| {
            let mut select = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM jobs WHERE tenant = ? AND id = ?"))?;
            select.query_row(params![Sql(tenant), Sql(job)], parse).optional()
        };
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn jobs(
        &self,
        state: Option<JobState>,
        before: Option<JobId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Job>, StoreError> {
        let tenant = self.tenant;
        let before = before.map_or([0xff; 17].to_vec(), |job| job.as_bytes().to_vec());
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<Job>> {
            let text = format!(
                "SELECT {COLUMNS} FROM jobs WHERE tenant = ?1 AND id < ?2 AND (?3 IS NULL OR state = ?3) ORDER BY id DESC LIMIT ?4"
            );
            connection
                .prepare_cached(&text)?
                .query_map(params![Sql(tenant), before, state.map(Sql), limit.get()], parse)?
                .collect()
        };
        self.store.inner.read_aside(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn requeue(&self, job: JobId, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.store.inner.write(Request::Requeue { tenant: self.tenant, job, now }).await?;
        self.store.inner.new_work.notify_waiters();
        Ok(matches!(changed, Reply::Changed(true)))
    }
}

pub(super) fn insert(connection: &Connection, tenant: TenantId, job: &NewJob) -> rusqlite::Result<()> {
    // A live job with the same key, or one with the same id, stands as it is.
    connection
        .prepare_cached(
            "INSERT INTO jobs (id, tenant, kind, key, payload, priority, run_at, attempts, max_attempts, state, token)
             VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, 'waiting', 0)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            Sql(job.id),
            Sql(tenant),
            job.kind,
            job.key,
            with_sum(&about(&tenant, &job.id, &job.kind, job.key.as_deref()), job.payload.to_string()),
            job.priority,
            Sql(job.run_at),
            job.max_attempts
        ])
        .map(drop)
}

pub(super) fn claim(connection: &Connection, claim: &ClaimRequest) -> rusqlite::Result<Vec<Claimed>> {
    let kinds = serde_json::to_string(&claim.kinds).unwrap_or_default();
    // Who let a lease run out on the last attempt does not get another.
    connection
        .prepare_cached(
            "UPDATE jobs SET state = 'dead', lease_until = NULL, token = token + 1,
                    last_error = coalesce(last_error || '; ', '') || 'the lease ran out on the last attempt'
             WHERE state = 'leased' AND lease_until <= ?1 AND attempts >= max_attempts
               AND kind IN (SELECT value FROM json_each(?2))",
        )?
        .execute(params![Sql(claim.now), kinds])?;
    let text = format!(
        "UPDATE jobs SET state = 'leased', lease_until = ?3, attempts = attempts + 1, token = token + 1
         WHERE id IN (
             SELECT id FROM jobs
             WHERE kind IN (SELECT value FROM json_each(?2))
               AND ((state = 'waiting' AND run_at <= ?1) OR (state = 'leased' AND lease_until <= ?1))
             ORDER BY priority DESC, run_at, id LIMIT ?4)
         RETURNING {COLUMNS}"
    );
    let mut claimed: Vec<Claimed> = connection
        .prepare_cached(&text)?
        .query_map(params![Sql(claim.now), kinds, Sql(claim.lease_until), claim.limit.get()], |row| {
            Ok(Claimed { job: parse(row)?, token: row.get::<_, Sql<_>>(12)?.0 })
        })?
        .collect::<Result<_, _>>()?;
    // An update returns its rows in no order.
    claimed.sort_by_key(|Claimed { job, .. }| (std::cmp::Reverse(job.priority), job.run_at, job.id));
    Ok(claimed)
}

pub(super) fn extend(
    connection: &Connection,
    job: JobId,
    token: LeaseToken,
    lease_until: Timestamp,
) -> rusqlite::Result<bool> {
    let mut update = connection.prepare_cached(
        "UPDATE jobs SET lease_until = max(lease_until, ?) WHERE id = ? AND token = ? AND state = 'leased'",
    )?;
    Ok(update.execute(params![Sql(lease_until), Sql(job), Sql(token)])? > 0)
}

/// Deletes what is done and was made before then, but for the newest of each tenant and kind.
pub(super) fn forget(connection: &Connection, before: Timestamp, limit: NonZeroU32) -> rusqlite::Result<u64> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM jobs WHERE id IN (
             SELECT id FROM jobs AS old
             WHERE state = 'done' AND id < ?1
               AND EXISTS (SELECT 1 FROM jobs AS newer
                           WHERE newer.tenant = old.tenant AND newer.id > old.id
                             AND newer.kind = old.kind AND newer.state = 'done')
             ORDER BY id LIMIT ?2)",
    )?;
    let first = JobId::new(before.as_millis(), [0; 10]);
    Ok(delete.execute(params![Sql(first), limit.get()])? as u64)
}

pub(super) fn complete(connection: &Connection, job: JobId, token: LeaseToken) -> rusqlite::Result<bool> {
    let mut update = connection.prepare_cached(
        "UPDATE jobs SET state = 'done', lease_until = NULL WHERE id = ? AND token = ? AND state = 'leased'",
    )?;
    Ok(update.execute(params![Sql(job), Sql(token)])? > 0)
}

pub(super) fn fail(
    connection: &Connection,
    job: JobId,
    token: LeaseToken,
    error: &str,
    retry: &Retry,
) -> rusqlite::Result<bool> {
    let (state, run_at) = match retry {
        Retry::At(time) => (JobState::Waiting, Some(Sql(*time))),
        Retry::Never => (JobState::Dead, None),
    };
    let mut update = connection.prepare_cached(
        "UPDATE jobs SET state = ?1, run_at = coalesce(?2, run_at), lease_until = NULL, last_error = ?3
         WHERE id = ?4 AND token = ?5 AND state = 'leased'",
    )?;
    Ok(update.execute(params![Sql(state), run_at, error, Sql(job), Sql(token)])? > 0)
}

pub(super) fn requeue(
    connection: &Connection,
    tenant: TenantId,
    job: JobId,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let mut update = connection.prepare_cached(
        "UPDATE OR IGNORE jobs SET state = 'waiting', run_at = ?1, attempts = 0 WHERE id = ?2 AND tenant = ?3 AND state = 'dead'",
    )?;
    Ok(update.execute(params![Sql(now), Sql(job), Sql(tenant)])? > 0)
}

fn next_due(connection: &Connection, kinds: &[String]) -> rusqlite::Result<Option<Timestamp>> {
    let kinds = serde_json::to_string(kinds).unwrap_or_default();
    let due: Option<Sql<Timestamp>> = connection
        .prepare_cached(
            "SELECT min(due) FROM (
                 SELECT min(run_at) AS due FROM jobs WHERE state = 'waiting' AND kind IN (SELECT value FROM json_each(?1))
                 UNION ALL
                 SELECT min(lease_until) FROM jobs WHERE state = 'leased' AND kind IN (SELECT value FROM json_each(?1)))",
        )?
        .query_row(params![kinds], |row| row.get(0))?;
    Ok(due.map(|Sql(due)| due))
}

/// Asks for every job there is.
pub(super) fn all() -> String {
    format!("SELECT {COLUMNS} FROM jobs")
}

/// What never changes of a job, and what its payload's checksum covers with it.
fn about<'a>(tenant: &'a TenantId, id: &'a JobId, kind: &'a str, key: Option<&'a str>) -> [&'a [u8]; 4] {
    [tenant.as_bytes(), id.as_bytes(), kind.as_bytes(), key.unwrap_or_default().as_bytes()]
}

pub(super) fn parse(row: &Row<'_>) -> rusqlite::Result<Job> {
    let damaged =
        |error: BoxError| rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, error);
    let (Sql(id), Sql(tenant)): (Sql<JobId>, Sql<TenantId>) = (row.get(0)?, row.get(1)?);
    let (kind, key): (String, Option<String>) = (row.get(2)?, row.get(3)?);
    let payload = without_sum(&about(&tenant, &id, &kind, key.as_deref()), row.get_ref(4)?.as_str()?)
        .ok_or_else(|| damaged(format!("job {id} is not as it was written").into()))?;
    let payload = serde_json::from_str(payload).map_err(|error| damaged(error.into()))?;
    Ok(Job {
        id,
        tenant,
        kind,
        key,
        payload,
        priority: row.get(5)?,
        run_at: row.get::<_, Sql<_>>(6)?.0,
        attempts: row.get(7)?,
        max_attempts: row.get(8)?,
        state: row.get::<_, Sql<_>>(9)?.0,
        lease_until: row.get::<_, Option<Sql<_>>>(10)?.map(|Sql(time)| time),
        last_error: row.get(11)?,
    })
}

impl ToSql for Sql<LeaseToken> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        integer(self.0.0)
    }
}
impl FromSql for Sql<LeaseToken> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        unsigned(value).map(|token| Self(LeaseToken(token)))
    }
}
impl ToSql for Sql<JobState> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self.0 {
            JobState::Waiting => "waiting",
            JobState::Leased => "leased",
            JobState::Done => "done",
            JobState::Dead => "dead",
        }))
    }
}
impl FromSql for Sql<JobState> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "waiting" => Ok(Self(JobState::Waiting)),
            "leased" => Ok(Self(JobState::Leased)),
            "done" => Ok(Self(JobState::Done)),
            "dead" => Ok(Self(JobState::Dead)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
