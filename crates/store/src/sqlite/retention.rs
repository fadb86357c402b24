//! Giving up the events of runs in SQLite. What stays is what the log needs.

use ledger::Leaf;
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{RunId, Seq, TenantId};

use super::log::{self, NextLeaf};
use super::often::Statements;
use super::request::WriteError;
use super::row::Sql;
use super::run;
use crate::commit::Seal;
use crate::run::Sealed;

/// Whether the run is where the caller believes it to be.
pub(super) fn check(connection: &Connection, tenant: TenantId, seal: Seal) -> Result<(), WriteError> {
    let actual = run::read(connection, tenant, seal.run)?.map_or(Seq::START, |row| row.seq);
    if actual == seal.expected && actual != Seq::START {
        return Ok(());
    }
    Err(WriteError::Moved { run: seal.run, expected: seal.expected, actual })
}

/// Deletes the run's events and its row. Its head stays, bound by a leaf: the last one it had, or a new one.
pub(super) fn seal(
    connection: &Connection,
    next_leaf: &mut NextLeaf,
    tenant: TenantId,
    seal: Seal,
) -> Result<(), WriteError> {
    let Some(row) = run::read(connection, tenant, seal.run)? else { return Ok(()) };
    let bound: Option<Option<Sql<Seq>>> = connection
        .prepare_cached("SELECT leaf FROM segments WHERE tenant = ? AND run = ? AND last_seq = ?")?
        .query_row(params![Sql(tenant), Sql(seal.run), Sql(row.seq)], |row| row.get(0))
        .optional()?;
    let leaf = match bound.flatten() {
        Some(Sql(index)) => index,
        None => {
            let leaf = Leaf { run: seal.run, seq: row.seq, head: row.head };
            log::add_leaf(&mut Statements::new(connection), next_leaf, tenant, leaf)?
        }
    };
    connection
        .prepare_cached("INSERT INTO sealed (tenant, run, seq, head, leaf) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![Sql(tenant), Sql(seal.run), Sql(row.seq), Sql(row.head), Sql(leaf)])?;
    for delete in
        ["DELETE FROM segments WHERE tenant = ? AND run = ?", "DELETE FROM runs WHERE tenant = ? AND run = ?"]
    {
        connection.prepare_cached(delete)?.execute(params![Sql(tenant), Sql(seal.run)])?;
    }
    Ok(())
}

/// What is left of a run.
pub(super) fn sealed(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<Sealed>> {
    connection
        .prepare_cached("SELECT seq, head, leaf FROM sealed WHERE tenant = ? AND run = ?")?
        .query_row(params![Sql(tenant), Sql(run)], |row| {
            let (Sql(seq), Sql(head), Sql(Seq(leaf))) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Sealed { seq, head, leaf })
        })
        .optional()
}
