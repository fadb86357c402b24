//! The one transaction that writes events, and all that belongs to them.
//!
//! It takes two trips to the server. The first begins and looks at the runs that exist. The second has one statement for
//! each table, however many runs there are, and the end: what fails makes that end a rollback. One trip would not do: if
//! the beginning failed, what comes behind it would be written piece by piece.
//!
//! Locks are taken in the order that `mod.rs` promises; a run that is being made cannot be locked as an existing one, so
//! sorting each of the two kinds is enough.
//!
//! To write to one more table: an [`Ask`], and its place in [`write`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Object;
use ledger::{Chain, ChainError, Leaf, sha256};
use schema::{Digest, RunId, Seq, TenantId};
use tokio_postgres::error::SqlState;

use super::error::FromDriver as _;
use super::pipeline::{Ask, Begun, Parameter, send};
use super::row::{bigint, column, json};
use super::{Tenant, give_back, job, log};
use crate::commit::{Append, Commit, CommitError, Settle};
use crate::error::StoreError;
use crate::run::RunRow;

/// How often a commit that gave way to another is tried again.
const RETRIES: u32 = 6;

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const LOCK_RUNS: &str = "SELECT body FROM runs WHERE tenant = $1 AND run = ANY($2) ORDER BY run FOR UPDATE";
const NEW_RUNS: &str = "INSERT INTO runs (tenant, run, seq, head, body)
    SELECT $1::bytea, n.run, n.seq, n.head, n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[]) AS n(run, seq, head, body)";
const MADE_RUNS: &str = "SELECT run, seq FROM runs WHERE tenant = $1 AND run = ANY($2) ORDER BY run LIMIT 1";
const MOVE_RUNS: &str = "UPDATE runs SET seq = n.seq, head = n.head, body = n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[]) AS n(run, seq, head, body)
    WHERE runs.tenant = $1 AND runs.run = n.run";
const SEGMENTS: &str = "INSERT INTO segments (tenant, run, first_seq, last_seq, body)
    SELECT $1::bytea, n.run, n.first_seq, n.last_seq, n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[]) AS n(run, first_seq, last_seq, body)";
const POLICIES: &str = "INSERT INTO policies (tenant, digest, body)
    SELECT $1::bytea, n.digest, n.body FROM unnest($2::bytea[], $3::bytea[]) AS n(digest, body)
    ON CONFLICT (tenant, digest) DO NOTHING";

/// Writes all of `commit`, or none of it.
pub(super) async fn commit(tenant: &Tenant, commit: &Commit) -> Result<(), CommitError> {
    let connection = tenant.store.connection().await?;
    let mut tried = 0;
    let written = loop {
        match attempt(&connection, tenant, commit).await {
            Err(error) if tried < RETRIES && error.gave_way() => {
                tokio::time::sleep(Duration::from_millis(5 << tried)).await;
                tried += 1;
            }
            written => break written,
        }
    };
    if written.is_ok() && !commit.jobs.is_empty() {
        tenant.store.wake_own_workers();
    }
    give_back(connection, written)
}

async fn attempt(connection: &Object, tenant: &Tenant, commit: &Commit) -> Result<(), CommitError> {
    let mut sorted: Vec<&Append> = commit.appends.iter().collect();
    sorted.sort_by_key(|append| append.run);
    // A run that begins here needs no look at the table: if somebody else began it, the insert says so.
    let (new, other): (Vec<&Append>, Vec<&Append>) = sorted
        .iter()
        .partition(|append| append.expected == Seq::START && check(tenant.tenant, append, None).is_ok());

    let (begun, existing) = begin(connection, tenant, &other).await?;
    for append in &other {
        let row = existing.get(&append.run);
        let (run, expected, actual) = (append.run, append.expected, row.map_or(Seq::START, |row| row.seq));
        if actual != expected {
            return Err(CommitError::Moved { run, expected, actual });
        }
        check(tenant.tenant, append, row).map_err(|cause| CommitError::Refused { run, cause })?;
    }
    let after =
        |append: &&Append| RunRow::fold_all(existing.get(&append.run).cloned(), append.run, &append.events);
    let made: Vec<RunRow> = new.iter().filter_map(after).collect();
    let moved: Vec<RunRow> = other.iter().filter_map(after).collect();
    let leaves = leaves(&commit.appends);
    let asks = [
        put(connection, tenant, NEW_RUNS, &made).await?,
        put(connection, tenant, MOVE_RUNS, &moved).await?,
        segments(connection, tenant, &sorted).await?,
        policies(connection, tenant, &commit.policies).await?,
        job::add(connection, tenant, &commit.jobs).await?,
        log::add(connection, tenant, &leaves).await?,
    ];
    begun.ends();
    match write(connection, tenant, &asks, !commit.jobs.is_empty()).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            Err(somebody_was_faster(connection, tenant, &made, error).await?)
        }
        written => Ok(written?),
    }
}

/// Sends the statements of a transaction, in the order of their locks, and its end. The first error is why nothing was
/// written.
async fn write(
    connection: &Object,
    tenant: &Tenant,
    [made, moved, segments, policies, jobs, leaves]: &[Option<Ask<'_>>; 6],
    tell: bool,
) -> Result<(), tokio_postgres::Error> {
    // What the driver itself refuses never reaches the server, and spoils nothing there.
    let spoilt = AtomicBool::new(false);
    let send = async |ask: &Option<Ask<'_>>| {
        let sent = send(connection, ask.as_ref()).await;
        spoilt.fetch_or(sent.is_err(), Ordering::Relaxed);
        sent
    };
    let end = async {
        let end = if spoilt.load(Ordering::Relaxed) { "ROLLBACK" } else { "COMMIT" };
        connection.batch_execute(end).await
    };
    let telling = async {
        if tell {
            tenant.store.tell_other_workers(connection).await;
        }
    };
    let (made, moved, segments, policies, jobs, leaves, ended, ()) = tokio::join!(
        biased;
        send(made),
        send(moved),
        send(segments),
        send(policies),
        send(jobs),
        send(leaves),
        end,
        telling,
    );
    made.and(moved).and(segments).and(policies).and(jobs).and(leaves)?;
    ended
}

/// The leaves of a commit, in the order in which its appends are.
fn leaves(appends: &[Append]) -> Vec<Leaf> {
    let settled = appends.iter().filter(|append| append.settle == Settle::Leaf);
    let leaf = |append: &Append| {
        append.events.last().map(|last| Leaf { run: append.run, seq: last.seq, head: last.hash })
    };
    settled.filter_map(leaf).collect()
}

/// Whether the events continue the run that `row` is the row of. Changes nothing.
fn check(tenant: TenantId, append: &Append, row: Option<&RunRow>) -> Result<(), ChainError> {
    let (seq, head) = row.map_or((Seq::START, Digest::ZERO), |row| (row.seq, row.head));
    let mut chain = Chain::resume(tenant, append.run, seq, head);
    append.events.iter().try_for_each(|event| chain.verify_next(event))
}

/// Begins, and gives the rows of those of the runs that exist, which stay as they are until the transaction ends.
async fn begin<'a>(
    connection: &'a Object,
    tenant: &Tenant,
    appends: &[&Append],
) -> Result<(Begun<'a>, BTreeMap<RunId, RunRow>), StoreError> {
    let runs: Vec<&[u8]> = appends.iter().map(|append| &append.run.as_bytes()[..]).collect();
    let lock = match runs.is_empty() {
        true => None,
        false => Some(Ask::new(connection, LOCK_RUNS, vec![Box::new(tenant.key()), Box::new(runs)]).await?),
    };
    let transaction = Begun::new(connection);
    let (begun, rows) =
        tokio::join!(biased; connection.batch_execute(BEGIN), send(connection, lock.as_ref()));
    begun?;
    let rows = rows?;
    let rows = rows.iter().map(|row| column(row, "runs", "body").json::<RunRow>());
    let rows = rows.map(|row| row.map(|row| (row.id, row))).collect::<Result<_, _>>()?;
    Ok((transaction, rows))
}

/// Rows that are new or that take the place of others.
async fn put<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    text: &str,
    rows: &'a [RunRow],
) -> Result<Option<Ask<'a>>, StoreError> {
    if rows.is_empty() {
        return Ok(None);
    }
    let runs: Vec<&[u8]> = rows.iter().map(|row| &row.id.as_bytes()[..]).collect();
    let seqs: Vec<i64> = rows.iter().map(|row| bigint(row.seq.0)).collect();
    let heads: Vec<&[u8]> = rows.iter().map(|row| &row.head.as_bytes()[..]).collect();
    let bodies = rows.iter().map(json).collect::<Result<Vec<_>, _>>()?;
    let parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(runs), Box::new(seqs), Box::new(heads), Box::new(bodies)];
    Ok(Some(Ask::new(connection, text, parameters).await?))
}

/// One of the runs that were to be made is there already; if none is, `error` is about something else.
async fn somebody_was_faster(
    connection: &Object,
    tenant: &Tenant,
    made: &[RunRow],
    error: tokio_postgres::Error,
) -> Result<CommitError, StoreError> {
    let runs: Vec<&[u8]> = made.iter().map(|row| &row.id.as_bytes()[..]).collect();
    let ask = Ask::new(connection, MADE_RUNS, vec![Box::new(tenant.key()), Box::new(runs)]).await?;
    let Some(row) = send(connection, Some(&ask)).await?.pop() else { return Ok(error.into()) };
    let (run, actual) = (column(&row, "runs", "run").id()?, column(&row, "runs", "seq").seq()?);
    Ok(CommitError::Moved { run, expected: Seq::START, actual })
}

async fn segments<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    appends: &[&'a Append],
) -> Result<Option<Ask<'a>>, StoreError> {
    let (mut runs, mut firsts, mut lasts, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for append in appends {
        if let [first, ..] = append.events.as_slice() {
            runs.push(&append.run.as_bytes()[..]);
            firsts.push(bigint(first.seq.0));
            lasts.push(bigint(append.events.last().map_or(first.seq, |last| last.seq).0));
            bodies.push(json(&append.events)?);
        }
    }
    if runs.is_empty() {
        return Ok(None);
    }
    let parameters: Vec<Parameter<'_>> =
        vec![Box::new(tenant.key()), Box::new(runs), Box::new(firsts), Box::new(lasts), Box::new(bodies)];
    Ok(Some(Ask::new(connection, SEGMENTS, parameters).await?))
}

async fn policies<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    policies: &'a [String],
) -> Result<Option<Ask<'a>>, StoreError> {
    if policies.is_empty() {
        return Ok(None);
    }
    let texts: BTreeMap<Digest, &[u8]> =
        policies.iter().map(|text| (sha256(text.as_bytes()), text.as_bytes())).collect();
    let (digests, bodies): (Vec<Vec<u8>>, Vec<&[u8]>) =
        texts.into_iter().map(|(digest, text)| (digest.as_bytes().to_vec(), text)).unzip();
    let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(digests), Box::new(bodies)];
    Ok(Some(Ask::new(connection, POLICIES, parameters).await?))
}
