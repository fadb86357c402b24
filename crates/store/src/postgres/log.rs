//! The tenant's Merkle log: its leaves are rows, the tree is rebuilt from them in memory and kept.
//!
//! Leaves never change, so a tree that was once read only has to catch up. The trees of the tenants that were asked for
//! last are kept, at about 120 bytes a leaf.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use deadpool_postgres::{Object, Transaction};
use ledger::packet::RunRecord;
use ledger::{Event, Leaf, Log, LoggedLeaf};
use schema::{Digest, RunId, Seq, TenantId};
use tokio_postgres::{IsolationLevel, Row};

use super::pipeline::{Ask, Parameter};
use super::row::{bigint, column};
use super::{Tenant, give_back};
use crate::error::StoreError;
use crate::log::{FeedRow, LogStore, RunProof, policies_named_by};

/// How many tenants' trees are kept.
const KEPT: usize = 64;
/// How many leaves one query reads.
const PAGE: i64 = 10_000;

/// The upsert locks the tenant's row until the transaction ends. A leaf's index is counted back from the new size.
const ADD: &str = "WITH grown AS (
        INSERT INTO logs (tenant, size) VALUES ($1::bytea, $2::bigint)
        ON CONFLICT (tenant) DO UPDATE SET size = logs.size + excluded.size RETURNING size)
    INSERT INTO leaves (tenant, idx, run, seq, head)
    SELECT $1::bytea, grown.size - n.back, n.run, n.seq, n.head
    FROM grown, unnest($3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[]) AS n(back, run, seq, head)";
const SIZE: &str = "SELECT size FROM logs WHERE tenant = $1";
const LEAVES: &str =
    "SELECT idx, run, seq, head FROM leaves WHERE tenant = $1 AND idx >= $2 ORDER BY idx LIMIT $3";
const FEED: &str = "SELECT idx, run, seq, coalesce((SELECT b.seq FROM leaves AS b
        WHERE b.tenant = l.tenant AND b.run = l.run AND b.idx < l.idx ORDER BY b.idx DESC LIMIT 1), 0) AS after
    FROM leaves AS l WHERE tenant = $1 AND idx >= $2 ORDER BY idx LIMIT $3";
const PLACES: &str = "SELECT idx FROM leaves WHERE tenant = $1 AND run = $2 ORDER BY idx";
const SEGMENTS: &str = "SELECT body, sealed, subjects.id, wrapped
    FROM segments LEFT JOIN subjects ON subjects.tenant = segments.tenant AND subjects.id = segments.subject
    WHERE segments.tenant = $1 AND run = $2 ORDER BY first_seq";
const ALL_POLICIES: &str =
    "SELECT body FROM policies WHERE tenant = $1 AND digest > $2 ORDER BY digest LIMIT $3";
const POLICIES: &str = "SELECT body FROM policies WHERE tenant = $1 AND digest = ANY($2) ORDER BY digest";

/// Adds leaves to the end of the tenant's log. The last thing a commit does, so that others wait for it but briefly.
pub(super) async fn add<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    leaves: &'a [Leaf],
) -> Result<Option<Ask<'a>>, StoreError> {
    if leaves.is_empty() {
        return Ok(None);
    }
    let count = bigint(leaves.len() as u64);
    let back: Vec<i64> = (1..=count).rev().collect();
    let runs: Vec<&[u8]> = leaves.iter().map(|leaf| &leaf.run.as_bytes()[..]).collect();
    let seqs: Vec<i64> = leaves.iter().map(|leaf| bigint(leaf.seq.0)).collect();
    let heads: Vec<&[u8]> = leaves.iter().map(|leaf| &leaf.head.as_bytes()[..]).collect();
    let parameters: Vec<Parameter<'_>> = vec![
        Box::new(tenant.key()),
        Box::new(count),
        Box::new(back),
        Box::new(runs),
        Box::new(seqs),
        Box::new(heads),
    ];
    Ok(Some(Ask::new(connection, ADD, parameters).await?))
}

type SharedLog = Arc<tokio::sync::Mutex<Log>>;

/// The trees of some tenants, the one that was asked for last at the end.
#[derive(Default)]
pub(super) struct Logs {
    kept: Mutex<Vec<(TenantId, SharedLog)>>,
}

impl Logs {
    /// The tenant's tree as far as it has been read.
    fn of(&self, tenant: TenantId) -> SharedLog {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(other, _)| *other == tenant);
        let log = place.map(|place| kept.remove(place).1).unwrap_or_default();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((tenant, Arc::clone(&log)));
        log
    }
}

#[async_trait]
impl LogStore for Tenant {
    async fn prove(&self, run: RunId) -> Result<Option<RunProof>, StoreError> {
        // Locked before the snapshot is taken: the tree is then never ahead of what the queries see.
        let log = self.store.inner.logs.of(self.tenant);
        let mut log = log.lock().await;
        let mut connection = self.store.connection().await?;
        let proof = prove(&mut connection, self, run, &mut log).await;
        give_back(connection, proof)
    }

    async fn log_head(&self) -> Result<(u64, Digest), StoreError> {
        let log = self.store.inner.logs.of(self.tenant);
        let mut log = log.lock().await;
        let mut connection = self.store.connection().await?;
        let read = async { catch_up(&snapshot(&mut connection).await?, self, &mut log).await };
        let read = read.await;
        give_back(connection, read)?;
        Ok((log.size(), log.root()))
    }

    async fn log_size(&self) -> Result<u64, StoreError> {
        let rows = self.store.query(SIZE, &[&self.key()]).await?;
        rows.first().map_or(Ok(0), |row| column(row, "logs", "size").number())
    }

    async fn feed(&self, from: u64, limit: NonZeroU32) -> Result<Vec<FeedRow>, StoreError> {
        let rows = self.store.query(FEED, &[&self.key(), &bigint(from), &i64::from(limit.get())]).await?;
        let told = |row: &Row| -> Result<FeedRow, StoreError> {
            let (index, run) = (column(row, "leaves", "idx").number()?, column(row, "leaves", "run").id()?);
            let seq: Seq = column(row, "leaves", "seq").seq()?;
            Ok(FeedRow { index, run, seq, after: column(row, "leaves", "after").seq()? })
        };
        rows.iter().map(told).collect()
    }

    async fn leaves(&self, from: u64, limit: NonZeroU32) -> Result<Vec<Leaf>, StoreError> {
        let limit = i64::from(limit.get());
        let rows = self.store.query(LEAVES, &[&self.key(), &bigint(from), &limit]).await?;
        let leaf = |(row, place)| match column(row, "leaves", "idx").number::<u64>()? == place {
            true => leaf(row),
            false => Err(missing(place)),
        };
        rows.iter().zip(from..).map(leaf).collect()
    }

    async fn policies(&self, after: Option<Digest>, limit: NonZeroU32) -> Result<Vec<String>, StoreError> {
        let after: &[u8] = after.as_ref().map_or(&[], |digest| digest.as_bytes());
        let limit = i64::from(limit.get());
        let rows = self.store.query(ALL_POLICIES, &[&self.key(), &after, &limit]).await?;
        rows.iter().map(|row| column(row, "policies", "body").text()).collect()
    }
}

/// A transaction in which everything is seen as it was at one moment.
async fn snapshot(connection: &mut Object) -> Result<Transaction<'_>, StoreError> {
    let snapshot = connection.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    Ok(snapshot.read_only(true).start().await?)
}

async fn prove(
    connection: &mut Object,
    tenant: &Tenant,
    run: RunId,
    log: &mut Log,
) -> Result<Option<RunProof>, StoreError> {
    let snapshot = snapshot(connection).await?;
    let events = tenant.all_events(&snapshot, run).await?;
    if events.is_empty() {
        return Ok(None);
    }
    catch_up(&snapshot, tenant, log).await?;
    let leaves = tenant.places(&snapshot, run, log).await?;
    let policies = tenant.policies(&snapshot, &events).await?;
    let record = RunRecord { tenant: tenant.tenant, run, events, leaves, policies, artifacts: Vec::new() };
    Ok(Some(RunProof { record, size: log.size(), root: log.root() }))
}

/// Reads the leaves that the tree does not have yet.
async fn catch_up(snapshot: &Transaction<'_>, tenant: &Tenant, log: &mut Log) -> Result<(), StoreError> {
    let statement = snapshot.prepare_cached(SIZE).await?;
    let row = snapshot.query_opt(&statement, &[&tenant.key()]).await?;
    let size: u64 = row.map_or(Ok(0), |row| column(&row, "logs", "size").number())?;
    if log.size() > size {
        // The database was put back to an earlier state under us: what was read before is worth nothing.
        *log = Log::default();
    }
    let statement = snapshot.prepare_cached(LEAVES).await?;
    while log.size() < size {
        let rows = snapshot.query(&statement, &[&tenant.key(), &bigint(log.size()), &PAGE]).await?;
        for row in &rows {
            let place: u64 = column(row, "leaves", "idx").number()?;
            if place != log.size() {
                return Err(missing(log.size()));
            }
            log.push(leaf(row)?);
        }
        if rows.is_empty() {
            return Err(missing(log.size()));
        }
    }
    Ok(())
}

fn leaf(row: &Row) -> Result<Leaf, StoreError> {
    Ok(Leaf {
        run: column(row, "leaves", "run").id()?,
        seq: column(row, "leaves", "seq").seq()?,
        head: column(row, "leaves", "head").digest()?,
    })
}

fn missing(place: u64) -> StoreError {
    StoreError::Damaged(format!("leaf {place} of the log is missing"))
}

impl Tenant {
    async fn all_events(&self, snapshot: &Transaction<'_>, run: RunId) -> Result<Vec<Event>, StoreError> {
        let statement = snapshot.prepare_cached(SEGMENTS).await?;
        let (id, run): (RunId, &[u8]) = (run, run.as_bytes());
        let rows = snapshot.query(&statement, &[&self.key(), &run]).await?;
        let mut events = Vec::new();
        for row in &rows {
            events.extend(self.open(id, row)?);
        }
        Ok(events)
    }

    async fn places(
        &self,
        snapshot: &Transaction<'_>,
        run: RunId,
        log: &Log,
    ) -> Result<Vec<LoggedLeaf>, StoreError> {
        let statement = snapshot.prepare_cached(PLACES).await?;
        let run: &[u8] = run.as_bytes();
        let rows = snapshot.query(&statement, &[&self.key(), &run]).await?;
        let proved = rows.iter().map(|row| {
            let index: u64 = column(row, "leaves", "idx").number()?;
            let leaf = usize::try_from(index).ok().and_then(|place| log.leaves().get(place));
            let (Some(leaf), Some(path)) = (leaf, log.prove_inclusion(index)) else {
                return Err(StoreError::Damaged(format!("leaf {index} is beyond the end of the log")));
            };
            Ok(LoggedLeaf { leaf: *leaf, index, path })
        });
        proved.collect()
    }

    async fn policies(
        &self,
        snapshot: &Transaction<'_>,
        events: &[Event],
    ) -> Result<Vec<String>, StoreError> {
        let named = policies_named_by(events);
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let digests: Vec<&[u8]> = named.iter().map(|digest| &digest.as_bytes()[..]).collect();
        let statement = snapshot.prepare_cached(POLICIES).await?;
        let rows = snapshot.query(&statement, &[&self.key(), &digests]).await?;
        rows.iter().map(|row| column(row, "policies", "body").text()).collect()
    }
}
