//! The Merkle log in SQLite: leaves in a table, trees in memory.
//!
//! Leaves are never changed, so a tree that was built once only has to be caught up. A handful of tenants keep theirs.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ledger::packet::RunRecord;
use ledger::{Leaf, Log, LoggedLeaf};
use rusqlite::{Connection, params};
use schema::{Digest, RunId, Seq, TenantId};

use super::row::{Sql, unavailable};
use super::{SqliteTenant, event, run};
use crate::error::StoreError;
use crate::log::{LogStore, RunProof, policies_named_by};
use crate::sealing::Keys;

/// Trees of this many tenants stay in memory.
const TREES: usize = 64;

/// The trees that were used last.
#[derive(Default)]
pub(super) struct LogCache {
    trees: Mutex<HashMap<TenantId, Arc<Mutex<Log>>>>,
}

impl LogCache {
    fn tree(&self, tenant: TenantId) -> Arc<Mutex<Log>> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= TREES && !trees.contains_key(&tenant) {
            // Any other will do: what is dropped can be built again.
            let other = trees.keys().next().copied();
            other.and_then(|other| trees.remove(&other));
        }
        trees.entry(tenant).or_default().clone()
    }
}

#[async_trait]
impl LogStore for SqliteTenant {
    async fn prove(&self, run: RunId) -> Result<Option<RunProof>, StoreError> {
        let (tenant, tree) = (self.tenant, self.store.inner.logs.tree(self.tenant));
        let inner = self.store.inner.clone();
        self.store.inner.read(move |connection| prove(connection, &inner.keys, tenant, run, &tree)).await
    }

    async fn log_head(&self) -> Result<(u64, Digest), StoreError> {
        let (tenant, tree) = (self.tenant, self.store.inner.logs.tree(self.tenant));
        let head = move |connection: &Connection| {
            let mut log = tree.lock().unwrap_or_else(PoisonError::into_inner);
            catch_up(connection, tenant, &mut log)?;
            Ok((log.size(), log.root()))
        };
        self.store.inner.read(head).await
    }

    async fn leaves(&self, from: u64, limit: NonZeroU32) -> Result<Vec<Leaf>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| {
            let mut leaves = Vec::new();
            visit_leaves(connection, tenant, from, limit.get(), |leaf| leaves.push(leaf))?;
            Ok(leaves)
        };
        self.store.inner.read(read).await
    }

    async fn policies(&self, after: Option<Digest>, limit: NonZeroU32) -> Result<Vec<String>, StoreError> {
        let tenant = self.tenant;
        let after = after.map_or(Vec::new(), |digest| digest.as_bytes().to_vec());
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            let text = "SELECT body FROM policies WHERE tenant = ? AND digest > ? ORDER BY digest LIMIT ?";
            let mut select = connection.prepare_cached(text)?;
            select.query_map(params![Sql(tenant), after, limit.get()], |row| row.get(0))?.collect()
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// Where the next leaf of each tenant goes. Only the writer adds leaves, so it can remember; after a failed commit it
/// must forget, because some of what it counted was taken back.
#[derive(Default)]
pub(super) struct NextLeaf(HashMap<TenantId, u64>);

impl NextLeaf {
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    fn take(&mut self, connection: &Connection, tenant: TenantId) -> rusqlite::Result<u64> {
        let next = match self.0.get(&tenant) {
            Some(next) => *next,
            None => connection
                .prepare_cached("SELECT coalesce(max(idx) + 1, 0) FROM leaves WHERE tenant = ?")?
                .query_row(params![Sql(tenant)], |row| {
                    row.get::<_, Sql<Seq>>(0).map(|Sql(Seq(next))| next)
                })?,
        };
        self.0.insert(tenant, next + 1);
        Ok(next)
    }
}

/// Adds a leaf to the tenant's log and says where it is.
pub(super) fn add_leaf(
    connection: &Connection,
    next: &mut NextLeaf,
    tenant: TenantId,
    leaf: Leaf,
) -> rusqlite::Result<Seq> {
    let index = Seq(next.take(connection, tenant)?);
    connection
        .prepare_cached("INSERT INTO leaves (tenant, idx, run, seq, head) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![Sql(tenant), Sql(index), Sql(leaf.run), Sql(leaf.seq), Sql(leaf.head)])?;
    Ok(index)
}

fn catch_up(connection: &Connection, tenant: TenantId, log: &mut Log) -> Result<(), StoreError> {
    visit_leaves(connection, tenant, log.size(), u32::MAX, |leaf| {
        log.push(leaf);
    })
}

/// Visits the leaves from index `from` on, in order. One that is missing is damage.
fn visit_leaves(
    connection: &Connection,
    tenant: TenantId,
    from: u64,
    limit: u32,
    mut visit: impl FnMut(Leaf),
) -> Result<(), StoreError> {
    let text = "SELECT idx, run, seq, head FROM leaves WHERE tenant = ? AND idx >= ? ORDER BY idx LIMIT ?";
    let mut select = connection.prepare_cached(text).map_err(unavailable)?;
    let mut rows = select.query(params![Sql(tenant), Sql(Seq(from)), limit]).map_err(unavailable)?;
    let mut next = from;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let leaf = || -> rusqlite::Result<(Seq, Leaf)> {
            let Sql(index): Sql<Seq> = row.get(0)?;
            let (Sql(run), Sql(seq), Sql(head)) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((index, Leaf { run, seq, head }))
        };
        let (index, leaf) = leaf().map_err(unavailable)?;
        if index.0 != next {
            return Err(StoreError::Damaged(format!("leaf {next} of tenant {tenant} is missing")));
        }
        visit(leaf);
        next += 1;
    }
    Ok(())
}

fn prove(
    connection: &Connection,
    keys: &Keys,
    tenant: TenantId,
    run: RunId,
    tree: &Mutex<Log>,
) -> Result<Option<RunProof>, StoreError> {
    if run::read(connection, tenant, run).map_err(unavailable)?.is_none() {
        return Ok(None);
    }
    let events = event::read(connection, keys, tenant, run, Seq::START, usize::MAX)?;
    let mut policies = Vec::new();
    for digest in policies_named_by(&events) {
        policies.extend(event::policy(connection, tenant, digest)?);
    }
    let mut log = tree.lock().unwrap_or_else(PoisonError::into_inner);
    catch_up(connection, tenant, &mut log)?;
    let mut leaves = Vec::new();
    for index in places(connection, tenant, run)? {
        let leaf = usize::try_from(index).ok().and_then(|index| log.leaves().get(index)).copied();
        if let (Some(leaf), Some(path)) = (leaf, log.prove_inclusion(index)) {
            leaves.push(LoggedLeaf { leaf, index, path });
        }
    }
    let record = RunRecord { tenant, run, events, leaves, policies, artifacts: Vec::new() };
    Ok(Some(RunProof { record, size: log.size(), root: log.root() }))
}

fn places(connection: &Connection, tenant: TenantId, run: RunId) -> Result<Vec<u64>, StoreError> {
    let places = || -> rusqlite::Result<Vec<u64>> {
        let mut select = connection.prepare_cached(
            "SELECT leaf FROM segments WHERE tenant = ? AND run = ? AND leaf IS NOT NULL ORDER BY first_seq",
        )?;
        select
            .query_map(params![Sql(tenant), Sql(run)], |row| {
                row.get::<_, Sql<Seq>>(0).map(|Sql(Seq(index))| index)
            })?
            .collect()
    };
    places().map_err(unavailable)
}
