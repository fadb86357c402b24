//! The Merkle log in SQLite: leaves in a table, trees in memory.
//!
//! Leaves are never changed, so a tree that was built once only has to be caught up. A handful of tenants keep theirs.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ledger::packet::RunRecord;
use ledger::{Leaf, Log, LoggedLeaf};
use rusqlite::{Connection, params};
use schema::{Digest, RunId, Seq, TenantId};

use super::often::{Often, Statements};
use super::row::{Sql, unavailable};
use super::{SqliteTenant, event};
use crate::error::StoreError;
use crate::log::{FeedRow, LogStore, RunProof, policies_named_by};
use crate::sealing::Keys;

/// Trees of this many tenants stay in memory.
const TREES: usize = 64;

/// The trees that were used last.
#[derive(Default)]
pub(super) struct LogCache {
    trees: Mutex<HashMap<TenantId, Arc<Mutex<Tree>>>>,
}

/// A tenant's log as far as it has been read.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) log: Log,
    /// Where the leaves of each run are. From the leaves themselves: an index that lost one would leave it out of a proof.
    places: BTreeSet<(RunId, u64)>,
}

impl LogCache {
    fn tree(&self, tenant: TenantId) -> Arc<Mutex<Tree>> {
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
            let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
            catch_up(connection, tenant, &mut tree)?;
            Ok((tree.log.size(), tree.log.root()))
        };
        self.store.inner.read(head).await
    }

    async fn log_size(&self) -> Result<u64, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| -> rusqlite::Result<u64> {
            let text = "SELECT coalesce(max(idx) + 1, 0) FROM leaves WHERE tenant = ?";
            let size =
                connection.prepare_cached(text)?.query_row([Sql(tenant)], |row| row.get::<_, Sql<Seq>>(0));
            size.map(|Sql(Seq(size))| size)
        };
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }

    async fn feed(&self, from: u64, limit: NonZeroU32) -> Result<Vec<FeedRow>, StoreError> {
        let tenant = self.tenant;
        self.store.inner.read(move |connection| feed(connection, tenant, from, limit)).await
    }

    async fn leaves(&self, from: u64, limit: NonZeroU32) -> Result<Vec<Leaf>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| {
            let mut leaves = Vec::new();
            visit_leaves(connection, tenant, from, limit.get(), |leaf| leaves.push(leaf))?;
            let count = leaves.len() as u64;
            if count < u64::from(limit.get()) && (count > 0 || from == 0) {
                reaches_the_newest(connection, tenant, from + count)?;
            }
            Ok(leaves)
        };
        self.store.inner.read(read).await
    }

    async fn policies(&self, after: Option<Digest>, limit: NonZeroU32) -> Result<Vec<String>, StoreError> {
        let tenant = self.tenant;
        let after = after.map_or(Vec::new(), |digest| digest.as_bytes().to_vec());
        let read = move |connection: &Connection| -> rusqlite::Result<Vec<(Sql<Digest>, String)>> {
            let text =
                "SELECT digest, body FROM policies WHERE tenant = ? AND digest > ? ORDER BY digest LIMIT ?";
            let mut select = connection.prepare_cached(text)?;
            select
                .query_map(params![Sql(tenant), after, limit.get()], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let found = self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await?;
        let text = |(Sql(digest), text)| event::checked_policy(digest, text);
        found.into_iter().map(text).collect()
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
            None => Self::count(connection, tenant)?,
        };
        self.0.insert(tenant, next + 1);
        Ok(next)
    }

    fn count(connection: &Connection, tenant: TenantId) -> rusqlite::Result<u64> {
        let mut select = connection
            .prepare_cached("SELECT count(*), coalesce(max(idx) + 1, 0) FROM leaves WHERE tenant = ?")?;
        let (Sql(Seq(count)), Sql(Seq(next))) =
            select.query_row(params![Sql(tenant)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if count != next {
            // Going on would hide for ever that some are missing.
            let what =
                format!("the log of tenant {tenant} has {count} leaves, and the last is number {next}");
            let kind = rusqlite::types::Type::Integer;
            return Err(rusqlite::Error::FromSqlConversionFailure(0, kind, what.into()));
        }
        Ok(next)
    }
}

pub(super) const INSERT: &str = "INSERT INTO leaves (tenant, idx, run, seq, head) VALUES (?, ?, ?, ?, ?)";

/// Adds a leaf to the tenant's log and says where it is.
pub(super) fn add_leaf(
    statements: &mut Statements<'_>,
    next: &mut NextLeaf,
    tenant: TenantId,
    leaf: Leaf,
) -> rusqlite::Result<Seq> {
    let index = Seq(next.take(statements.connection, tenant)?);
    statements.get(Often::Leaf)?.execute(params![
        Sql(tenant),
        Sql(index),
        Sql(leaf.run),
        Sql(leaf.seq),
        Sql(leaf.head)
    ])?;
    Ok(index)
}

/// Reads the leaves that the tree does not have yet. What it has read before damage was found is worth nothing.
pub(super) fn catch_up(connection: &Connection, tenant: TenantId, tree: &mut Tree) -> Result<(), StoreError> {
    let read = read_on(connection, tenant, tree);
    if read.is_err() {
        *tree = Tree::default();
    }
    read
}

fn read_on(connection: &Connection, tenant: TenantId, tree: &mut Tree) -> Result<(), StoreError> {
    let before = tree.log.size();
    visit_leaves(connection, tenant, before, u32::MAX, |leaf| {
        tree.places.insert((leaf.run, tree.log.push(leaf)));
    })?;
    let size = tree.log.size();
    if before > 0 && size == before {
        return Ok(());
    }
    reaches_the_newest(connection, tenant, size)
}

/// Damage can end a list early: the newest runs know how far the leaves must go.
fn reaches_the_newest(connection: &Connection, tenant: TenantId, size: u64) -> Result<(), StoreError> {
    let newest: Option<Sql<Seq>> = connection
        .prepare_cached(
            "SELECT max(leaf) FROM segments WHERE tenant = ?1
             AND run IN (SELECT run FROM runs WHERE tenant = ?1 ORDER BY run DESC LIMIT 8)",
        )
        .and_then(|mut select| select.query_row(params![Sql(tenant)], |row| row.get(0)))
        .map_err(|error| unavailable(error).within("the leaves of the newest runs"))?;
    match newest {
        Some(Sql(Seq(leaf))) if leaf >= size => {
            Err(StoreError::Damaged(format!("leaf {size} of tenant {tenant} is missing")))
        }
        _ => Ok(()),
    }
}

/// Where a run ends.
type End = (Seq, Digest);

/// Visits the leaves from index `from` on, in order. One that is missing, or that says something else than the run it
/// binds, is damage: a root over it would be signed, and be wrong for ever.
fn visit_leaves(
    connection: &Connection,
    tenant: TenantId,
    from: u64,
    limit: u32,
    mut visit: impl FnMut(Leaf),
) -> Result<(), StoreError> {
    let failed = |error| unavailable(error).within("the leaves");
    let text = "SELECT l.idx, l.run, l.seq, l.head, coalesce(r.seq, s.seq), coalesce(r.head, s.head), s.seq IS NOT NULL
         FROM leaves AS l LEFT JOIN runs AS r ON r.tenant = l.tenant AND r.run = l.run
         LEFT JOIN sealed AS s ON s.tenant = l.tenant AND s.run = l.run
         WHERE l.tenant = ? AND l.idx >= ? ORDER BY l.idx LIMIT ?";
    let mut select = connection.prepare_cached(text).map_err(failed)?;
    let mut rows = select.query(params![Sql(tenant), Sql(Seq(from)), limit]).map_err(failed)?;
    let mut next = from;
    while let Some(row) = rows.next().map_err(failed)? {
        let read = || -> rusqlite::Result<(Seq, Leaf, Option<End>, bool)> {
            let Sql(index): Sql<Seq> = row.get(0)?;
            let (Sql(run), Sql(seq), Sql(head)) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let end: (Option<Sql<Seq>>, Option<Sql<Digest>>) = (row.get(4)?, row.get(5)?);
            let end = end.0.zip(end.1).map(|(Sql(seq), Sql(head))| (seq, head));
            Ok((index, Leaf { run, seq, head }, end, row.get(6)?))
        };
        let (index, leaf, end, is_sealed) = read().map_err(failed)?;
        if index.0 != next {
            return Err(StoreError::Damaged(format!("leaf {next} of tenant {tenant} is missing")));
        }
        let bound = match end {
            Some((seq, head)) if seq == leaf.seq => Some(head),
            // The event that an earlier leaf of a sealed run binds is gone.
            Some((seq, _)) if is_sealed && leaf.seq < seq => Some(leaf.head),
            // Events came after it, and usually another leaf.
            _ => event::hash_at(connection, tenant, leaf.run, leaf.seq)?,
        };
        if bound != Some(leaf.head) {
            return Err(StoreError::Damaged(format!(
                "leaf {next} of tenant {tenant} does not bind run {}",
                leaf.run
            )));
        }
        visit(leaf);
        next += 1;
    }
    Ok(())
}

/// The leaves from `from` on, and where the leaf before each ended.
fn feed(
    connection: &Connection,
    tenant: TenantId,
    from: u64,
    limit: NonZeroU32,
) -> Result<Vec<FeedRow>, StoreError> {
    let mut leaves = Vec::new();
    visit_leaves(connection, tenant, from, limit.get(), |leaf| leaves.push(leaf))?;
    let before = |(leaf, index): (Leaf, u64)| -> rusqlite::Result<FeedRow> {
        let text =
            "SELECT coalesce(max(last_seq), 0) FROM segments WHERE tenant = ? AND run = ? AND leaf < ?";
        let Sql(after) = connection
            .prepare_cached(text)?
            .query_row(params![Sql(tenant), Sql(leaf.run), Sql(Seq(index))], |row| row.get(0))?;
        Ok(FeedRow { index, run: leaf.run, seq: leaf.seq, after })
    };
    leaves.into_iter().zip(from..).map(before).collect::<Result<_, _>>().map_err(unavailable)
}

fn prove(
    connection: &Connection,
    keys: &Keys,
    tenant: TenantId,
    run: RunId,
    tree: &Mutex<Tree>,
) -> Result<Option<RunProof>, StoreError> {
    // Locked before the first read, which takes the snapshot: the tree is then never ahead of what is read.
    let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
    let events = event::read(connection, Some(keys), tenant, run, Seq::START, usize::MAX)?;
    if events.is_empty() {
        return Ok(None);
    }
    let mut policies = Vec::new();
    for digest in policies_named_by(&events) {
        policies.extend(event::policy(connection, tenant, digest)?);
    }
    catch_up(connection, tenant, &mut tree)?;
    let Tree { log, places } = &*tree;
    let mut leaves = Vec::new();
    for &(_, index) in places.range((run, 0)..=(run, u64::MAX)) {
        let leaf = usize::try_from(index).ok().and_then(|index| log.leaves().get(index)).copied();
        if let (Some(leaf), Some(path)) = (leaf, log.prove_inclusion(index)) {
            leaves.push(LoggedLeaf { leaf, index, path });
        }
    }
    let record = RunRecord { tenant, run, events, leaves, policies, artifacts: Vec::new() };
    Ok(Some(RunProof { record, size: log.size(), root: log.root() }))
}
