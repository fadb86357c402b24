//! Rows of runs in SQLite.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use ledger::Event;
use rusqlite::{Connection, OptionalExtension as _, params};
use schema::{RunId, SubjectId, TenantId};

use super::likeness::{Likeness, Likenesses};
use super::line::{self, Line, damaged};
use super::often::{Often, Statements};
use super::row::{Sql, unavailable};
use super::slot::{self, Slots};
use super::{SqliteTenant, event, retention};
use crate::error::StoreError;
use crate::filter::{RunFilter, Traits};
use crate::run::{Adds, Outline, RunRow, RunStore, Sealed};
use crate::sums::Sums;

#[async_trait]
impl RunStore for SqliteTenant {
    async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| match read(connection, tenant, run).map_err(unavailable)? {
            None if event::has_segment(connection, tenant, run)? => {
                Err(StoreError::Damaged("it has events and no row".to_owned()))
            }
            row => Ok(row),
        };
        let row = self.store.inner.read(read).await;
        row.map_err(|error| error.within(format_args!("run {run}")))
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        before: Option<RunId>,
        limit: NonZeroU32,
    ) -> Result<Vec<RunRow>, StoreError> {
        let (tenant, filter) = (self.tenant, filter.clone());
        self.store
            .inner
            .read(move |connection| {
                slot::list(connection, tenant, &filter, before, limit).map_err(unavailable)
            })
            .await
            .map_err(|error| error.within("the list of runs"))
    }

    async fn sealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        let tenant = self.tenant;
        let read = move |connection: &Connection| retention::sealed(connection, tenant, run);
        self.store.inner.read(move |connection| read(connection).map_err(unavailable)).await
    }
}

/// The row as a reader sees it.
pub(super) fn read(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<RunRow>> {
    connection
        .prepare_cached(
            "SELECT row, run, seq, head, subject, name, subjects.id
             FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
             WHERE runs.tenant = ? AND run = ?",
        )?
        .query_row(params![Sql(tenant), Sql(run)], |row| match parse(tenant, row)? {
            // A damaged page can lead to the wrong one.
            found if found.id != run => Err(damaged(format!("run {} is in its place", found.id).into())),
            found => Ok(found),
        })
        .optional()
}

/// A run's row, and how it is kept.
pub(super) struct Written {
    pub(super) row: RunRow,
    pub(super) traits: Traits,
    pub(super) line: Line,
}

impl Written {
    pub(super) fn new(tenant: TenantId, row: RunRow, subject: Option<SubjectId>) -> Self {
        let line = Line::of_row(tenant, &row, subject);
        let row = row.at_rest(subject);
        Self { traits: Traits::of(&row), row, line }
    }
}

/// What is kept of a run that begins, and what it adds to the sums.
pub(super) struct Begun {
    pub(super) line: Line,
    pub(super) likeness: Arc<Likeness>,
    pub(super) adds: Added,
}

/// What a run adds to the sums.
pub(super) enum Added {
    /// To rows that follow from what it is like.
    Alike(Adds),
    /// To others, too.
    Any(Box<Sums>),
}

impl Begun {
    /// Of a run that begins with these events; nothing, if there are none.
    pub(super) fn of(
        tenant: TenantId,
        run: RunId,
        events: &[Event],
        subject: Option<SubjectId>,
        likenesses: &Likenesses,
    ) -> Option<Self> {
        let Some(mut outline) = Outline::of(events) else {
            let mut sums = Sums::default();
            let Written { traits, line, .. } = Written::new(tenant, sums.follow(None, run, events)?, subject);
            return Some(Self { line, likeness: Likeness::of(traits).into(), adds: Added::Any(sums.into()) });
        };
        let line = Line::of(tenant, run, &outline, subject);
        let likeness = likenesses.of(&outline.traits());
        Some(Self { line, likeness, adds: Added::Alike(outline.adds()) })
    }
}

pub(super) const INSERT: &str = "INSERT OR IGNORE INTO runs (tenant, run, seq, head, row, subject, slot)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM sealed WHERE tenant = ?1 AND run = ?2)";

/// The same for a run that surely was never there, and so is not sealed.
pub(super) const INSERT_NEW: &str = "INSERT OR IGNORE INTO runs (tenant, run, seq, head, row, subject, slot)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Adds the row of a run that is new. `false` if it is not: it is there, or it was and is sealed.
pub(super) fn insert(
    statements: &mut Statements<'_>,
    tenant: TenantId,
    new: &Line,
    slot: i64,
) -> rusqlite::Result<bool> {
    let Line { run, seq, head, subject, text } = new;
    let values = params![Sql(tenant), Sql(*run), Sql(*seq), Sql(*head), text, subject.map(Sql), slot];
    let which = if statements.claimed { Often::NewRun } else { Often::Run };
    statements.get(which)?.execute(values).map(|rows| rows == 1)
}

/// Replaces the row of a run that is there; whom it is about stays.
pub(super) fn update(
    connection: &Connection,
    slots: &mut Slots,
    tenant: TenantId,
    row: RunRow,
) -> rusqlite::Result<()> {
    let subject = subject_of(connection, tenant, row.id)?.flatten();
    let Written { row, traits, line } = Written::new(tenant, row, subject);
    let slot = slots.of(connection, tenant, &Likeness::of(traits))?;
    connection
        .prepare_cached("UPDATE runs SET seq = ?, head = ?, row = ?, slot = ? WHERE tenant = ? AND run = ?")?
        .execute(params![Sql(row.seq), Sql(row.head), line.text, slot, Sql(tenant), Sql(row.id)])
        .map(drop)
}

/// Whom the run is about, if it is there.
pub(super) fn subject_of(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<Option<Option<SubjectId>>> {
    let subject: Option<Option<Sql<SubjectId>>> = connection
        .prepare_cached("SELECT subject FROM runs WHERE tenant = ? AND run = ?")?
        .query_row(params![Sql(tenant), Sql(run)], |row| row.get(0))
        .optional()?;
    Ok(subject.map(|subject| subject.map(|Sql(subject)| subject)))
}

/// The runs of a tenant from one id on, up to another, newest first.
pub(super) fn list(
    connection: &Connection,
    tenant: TenantId,
    from: &[u8],
    to: &[u8],
    limit: NonZeroU32,
) -> rusqlite::Result<Vec<RunRow>> {
    // Ids sort by the time they were made, so the key is also the order.
    connection
        .prepare_cached(
            "SELECT row, run, seq, head, subject, name, subjects.id
             FROM runs LEFT JOIN subjects ON subjects.tenant = runs.tenant AND subjects.id = runs.subject
             WHERE runs.tenant = ? AND run >= ? AND run < ? ORDER BY run DESC LIMIT ?",
        )?
        .query_map(params![Sql(tenant), from, to, limit.get()], |row| parse(tenant, row))?
        .collect()
}

/// The row as a reader sees it.
fn parse(tenant: TenantId, row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    let (found, subject) = line::kept(tenant, row)?;
    let there: Option<Sql<SubjectId>> = row.get(6)?;
    if there.map(|Sql(there)| there) != subject {
        // Also of somebody who was erased the row stays.
        return Err(damaged(format!("whom run {} is about is not there", found.id).into()));
    }
    Ok(found.with_subject(row.get(5)?))
}
