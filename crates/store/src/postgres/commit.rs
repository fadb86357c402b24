//! The one transaction that writes events, and all that belongs to them.
//!
//! Each table gets one statement, however many runs a commit has. Locks are taken in the order that `mod.rs` promises; a
//! run that is being made cannot be locked as an existing one, so sorting each of the two kinds is enough.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deadpool_postgres::{Object, Transaction};
use ledger::{Chain, ChainError, Leaf, sha256};
use schema::{Digest, RunId, Seq, TenantId};
use tokio_postgres::IsolationLevel;

use super::error::FromDriver as _;
use super::row::{bigint, column, json};
use super::{Tenant, give_back, job, log};
use crate::commit::{Append, Commit, CommitError, Settle};
use crate::error::StoreError;
use crate::run::RunRow;

/// How often a commit that gave way to another is tried again.
const RETRIES: u32 = 6;

const LOCK_RUNS: &str = "SELECT body FROM runs WHERE tenant = $1 AND run = ANY($2) ORDER BY run FOR UPDATE";
const NEW_RUNS: &str = "INSERT INTO runs (tenant, run, seq, head, body)
    SELECT $1::bytea, n.run, n.seq, n.head, n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[]) AS n(run, seq, head, body)
    ON CONFLICT (tenant, run) DO NOTHING RETURNING run";
const RUN_SEQ: &str = "SELECT seq FROM runs WHERE tenant = $1 AND run = $2";
const MOVE_RUNS: &str = "UPDATE runs SET seq = n.seq, head = n.head, body = n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[]) AS n(run, seq, head, body)
    WHERE runs.tenant = $1 AND runs.run = n.run RETURNING runs.run";
const SEGMENTS: &str = "INSERT INTO segments (tenant, run, first_seq, last_seq, body)
    SELECT $1::bytea, n.run, n.first_seq, n.last_seq, n.body
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[]) AS n(run, first_seq, last_seq, body)";
const POLICIES: &str = "INSERT INTO policies (tenant, digest, body)
    SELECT $1::bytea, n.digest, n.body FROM unnest($2::bytea[], $3::bytea[]) AS n(digest, body)
    ON CONFLICT (tenant, digest) DO NOTHING";

/// Writes all of `commit`, or none of it.
pub(super) async fn commit(tenant: &Tenant, commit: &Commit) -> Result<(), CommitError> {
    let mut connection = tenant.store.connection().await?;
    let mut tried = 0;
    let written = loop {
        match attempt(&mut connection, tenant, commit).await {
            Err(error) if tried < RETRIES && error.gave_way() => {
                tokio::time::sleep(Duration::from_millis(5 << tried)).await;
                tried += 1;
            }
            written => break written,
        }
    };
    if written.is_ok() && !commit.jobs.is_empty() {
        tenant.store.tell_workers(&connection).await;
    }
    give_back(connection, written)
}

/// A transaction that is dropped before its commit is rolled back.
async fn attempt(connection: &mut Object, tenant: &Tenant, commit: &Commit) -> Result<(), CommitError> {
    let start = connection.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = start.start().await?;
    append(&transaction, tenant, &commit.appends).await?;
    remember_policies(&transaction, tenant, &commit.policies).await?;
    job::add(&transaction, tenant, &commit.jobs).await?;
    log::add(&transaction, tenant, &leaves(&commit.appends)).await?;
    Ok(transaction.commit().await?)
}

/// The leaves of a commit, in the order in which its appends are.
fn leaves(appends: &[Append]) -> Vec<Leaf> {
    let settled = appends.iter().filter(|append| append.settle == Settle::Leaf);
    let leaf = |append: &Append| {
        append.events.last().map(|last| Leaf { run: append.run, seq: last.seq, head: last.hash })
    };
    settled.filter_map(leaf).collect()
}

/// Checks every append against the run as it is, keeps others from moving it, and writes.
async fn append(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    appends: &[Append],
) -> Result<(), CommitError> {
    let mut sorted: Vec<&Append> = appends.iter().collect();
    sorted.sort_by_key(|append| append.run);
    // A run that begins here needs no look at the table: if somebody else began it, the insert says so.
    let (new, other): (Vec<&Append>, Vec<&Append>) = sorted
        .iter()
        .partition(|append| append.expected == Seq::START && check(tenant.tenant, append, None).is_ok());

    let existing = lock(transaction, tenant, &other).await?;
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
    let begun: Vec<RunRow> = new.iter().filter_map(after).collect();
    let moved: Vec<RunRow> = other.iter().filter_map(after).collect();
    let made = put(transaction, tenant, NEW_RUNS, &begun).await?;
    if let Some(row) = begun.iter().find(|row| !made.contains(&row.id)) {
        return Err(somebody_was_faster(transaction, tenant, row.id).await?);
    }
    put(transaction, tenant, MOVE_RUNS, &moved).await?;
    write_segments(transaction, tenant, &sorted).await
}

/// Whether the events continue the run that `row` is the row of. Changes nothing.
fn check(tenant: TenantId, append: &Append, row: Option<&RunRow>) -> Result<(), ChainError> {
    let (seq, head) = row.map_or((Seq::START, Digest::ZERO), |row| (row.seq, row.head));
    let mut chain = Chain::resume(tenant, append.run, seq, head);
    append.events.iter().try_for_each(|event| chain.verify_next(event))
}

/// The rows of those of the runs that exist, which stay as they are until the transaction ends.
async fn lock(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    appends: &[&Append],
) -> Result<BTreeMap<RunId, RunRow>, StoreError> {
    if appends.is_empty() {
        return Ok(BTreeMap::new());
    }
    let statement = transaction.prepare_cached(LOCK_RUNS).await?;
    let runs: Vec<&[u8]> = appends.iter().map(|append| &append.run.as_bytes()[..]).collect();
    let rows = transaction.query(&statement, &[&tenant.key(), &runs]).await?;
    let rows = rows.iter().map(|row| column(row, "runs", "body").json::<RunRow>());
    rows.map(|row| row.map(|row| (row.id, row))).collect()
}

/// Writes rows, and says of which runs.
async fn put(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    text: &str,
    rows: &[RunRow],
) -> Result<BTreeSet<RunId>, StoreError> {
    if rows.is_empty() {
        return Ok(BTreeSet::new());
    }
    let runs: Vec<&[u8]> = rows.iter().map(|row| &row.id.as_bytes()[..]).collect();
    let seqs: Vec<i64> = rows.iter().map(|row| bigint(row.seq.0)).collect();
    let heads: Vec<&[u8]> = rows.iter().map(|row| &row.head.as_bytes()[..]).collect();
    let bodies = rows.iter().map(json).collect::<Result<Vec<_>, _>>()?;
    let statement = transaction.prepare_cached(text).await?;
    let written = transaction.query(&statement, &[&tenant.key(), &runs, &seqs, &heads, &bodies]).await?;
    written.iter().map(|row| column(row, "runs", "run").id()).collect()
}

/// The run that was to begin here is there already.
async fn somebody_was_faster(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    run: RunId,
) -> Result<CommitError, StoreError> {
    let statement = transaction.prepare_cached(RUN_SEQ).await?;
    let key: &[u8] = run.as_bytes();
    let row = transaction.query_one(&statement, &[&tenant.key(), &key]).await?;
    Ok(CommitError::Moved { run, expected: Seq::START, actual: column(&row, "runs", "seq").seq()? })
}

async fn write_segments(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    appends: &[&Append],
) -> Result<(), CommitError> {
    let (mut runs, mut firsts, mut lasts, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for append in appends {
        if let [first, ..] = append.events.as_slice() {
            runs.push(&append.run.as_bytes()[..]);
            firsts.push(bigint(first.seq.0));
            lasts.push(bigint(append.events.last().map_or(first.seq, |last| last.seq).0));
            bodies.push(json(&append.events)?);
        }
    }
    if !runs.is_empty() {
        let statement = transaction.prepare_cached(SEGMENTS).await?;
        transaction.execute(&statement, &[&tenant.key(), &runs, &firsts, &lasts, &bodies]).await?;
    }
    Ok(())
}

async fn remember_policies(
    transaction: &Transaction<'_>,
    tenant: &Tenant,
    policies: &[String],
) -> Result<(), CommitError> {
    if policies.is_empty() {
        return Ok(());
    }
    let texts: BTreeMap<Digest, &[u8]> =
        policies.iter().map(|text| (sha256(text.as_bytes()), text.as_bytes())).collect();
    let digests: Vec<&[u8]> = texts.keys().map(|digest| &digest.as_bytes()[..]).collect();
    let bodies: Vec<&[u8]> = texts.values().copied().collect();
    let statement = transaction.prepare_cached(POLICIES).await?;
    transaction.execute(&statement, &[&tenant.key(), &digests, &bodies]).await?;
    Ok(())
}
