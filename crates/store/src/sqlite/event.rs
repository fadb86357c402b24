//! Events in SQLite: segments, and what is derived from them in the same transaction.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ledger::{Chain, ChainError, Event, Leaf, Recorded, sha256};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, params};
use schema::{ApiKey, ApiKeyId, Digest, RunId, Seq, SubjectId, Tenant, TenantId, Timestamp};
use serde_json::{Map, Value};

use super::cache::{self, PreparedEntry};
use super::likeness::Likenesses;
use super::memory::Memory;
use super::meter::{self, Settled};
use super::often::{Often, Statements};
use super::record::{self, PreparedRecord};
use super::request::WriteError;
use super::row::{Sql, unavailable};
use super::run::Begun;
use super::slot::Slots;
use super::{SqliteTenant, api_key, checkpoint, job, log, pack, retention, run, subject, sums, tenant};
use crate::api_key::KeyChange;
use crate::cache::{CacheHeld, CacheKind};
use crate::commit::{Append, Commit, CommitError, Seal, Settle};
use crate::error::StoreError;
use crate::event::EventStore;
use crate::job::NewJob;
use crate::meter::Settlement;
use crate::record::RecordChange;
use crate::run::RunRow;
use crate::sealing::{Holder, Kept, Keys, SubjectKey, SubjectRow, keep_segment};
use crate::sums::Sums;

#[async_trait]
impl EventStore for SqliteTenant {
    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let inner = &self.store.inner;
        let absent: Vec<bool> = commit.cache.iter().map(|write| inner.presence.note(&write.key)).collect();
        loop {
            let keys = self.keys_for(&commit).await?;
            let cache_keys = self.cache_keys_for(&commit).await?;
            let mut prepared = Prepared::new(self.tenant, &commit, &keys, &cache_keys, &inner.likenesses)?;
            prepared.cache.iter_mut().zip(&absent).for_each(|(entry, absent)| entry.was_absent = *absent);
            match inner.commit(Arc::new(prepared)).await {
                Ok(()) => break,
                // Erased since it was last looked up: what comes after that is sealed anew.
                Err(WriteError::KeyGone(subject)) => inner.keys.forget(subject),
                Err(error) => return Err(error.into()),
            }
        }
        inner.changes.tell(self.tenant);
        for subject in &commit.erase {
            inner.keys.forget(*subject);
        }
        if !commit.erase.is_empty()
            && let Err(error) = inner.read_aside(|connection| shred(connection).map_err(unavailable)).await
        {
            // The erasure is committed, and that is what the caller asks; the log is written over in time.
            tracing::warn!(error = &error as &dyn std::error::Error, "an erased key is still in the log");
        }
        if !commit.jobs.is_empty() {
            inner.new_work.notify_waiters();
        }
        Ok(())
    }

    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError> {
        let (tenant, inner) = (self.tenant, self.store.inner.clone());
        let read = move |connection: &Connection| {
            read(connection, Some(&inner.keys), tenant, run, after, limit.get() as usize)
        };
        self.store.inner.read(read).await
    }

    async fn whole_runs(&self, runs: &[RunId]) -> Result<Vec<Vec<Event>>, StoreError> {
        let (tenant, inner, runs) = (self.tenant, self.store.inner.clone(), runs.to_vec());
        let read = move |connection: &Connection| {
            let whole = |run| read(connection, Some(&inner.keys), tenant, run, Seq::START, usize::MAX);
            runs.into_iter().map(whole).collect()
        };
        self.store.inner.read(read).await
    }
}

/// After an erasure: the key must not linger in the log.
fn shred(connection: &Connection) -> rusqlite::Result<()> {
    connection.path().map_or(Ok(()), |path| checkpoint::empty(Path::new(path)))
}

/// A commit with everything done to it that can be done before the one writer is asked.
pub(super) struct Prepared {
    pub(super) tenant: TenantId,
    pub(super) appends: Vec<PreparedAppend>,
    pub(super) policies: Vec<(Digest, String)>,
    jobs: Vec<NewJob>,
    pub(super) erase: Vec<SubjectId>,
    seal: Vec<Seal>,
    made: Vec<(ApiKey, Digest)>,
    revoked: Vec<(ApiKeyId, Timestamp)>,
    tenants: Vec<Tenant>,
    settings: Option<Map<String, Value>>,
    pub(super) cache: Vec<PreparedEntry>,
    pub(super) touched: Vec<(CacheKind, Digest)>,
    records: Vec<PreparedRecord>,
    pub(super) settled: Vec<Settlement>,
}

pub(super) struct PreparedAppend {
    pub(super) run: RunId,
    expected: Seq,
    last: Seq,
    pub(super) settle: Settle,
    /// The events as they are kept.
    pub(super) kept: Kept,
    /// Whose key seals them.
    pub(super) subject: Option<SubjectId>,
    place: Place,
}

/// What of an append the writer has left to do.
enum Place {
    /// It begins a run: everything about it is known, and the writer only has to find the place free.
    Begins(Box<Begun>),
    /// It goes on with one: where that stands only the writer knows.
    Continues(Recorded),
}

impl Prepared {
    /// One that does nothing.
    pub(super) fn empty(tenant: TenantId) -> Self {
        Self {
            tenant,
            appends: Vec::new(),
            policies: Vec::new(),
            jobs: Vec::new(),
            erase: Vec::new(),
            seal: Vec::new(),
            made: Vec::new(),
            revoked: Vec::new(),
            tenants: Vec::new(),
            settings: None,
            cache: Vec::new(),
            touched: Vec::new(),
            records: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Whether all it does is begin runs, with what goes along with them: then nothing of it can be refused, except that
    /// they have begun already or that somebody's key is gone.
    pub(super) fn is_plain(&self) -> bool {
        let Self { jobs, erase, seal, made, revoked, tenants, settings, records, .. } = self;
        let none = jobs.is_empty() && erase.is_empty() && seal.is_empty() && made.is_empty();
        let none = none && revoked.is_empty() && tenants.is_empty() && settings.is_none();
        let begins = |append: &PreparedAppend| matches!(append.place, Place::Begins(_));
        none && records.is_empty() && !self.appends.is_empty() && self.appends.iter().all(begins)
    }

    /// The runs that it begins.
    pub(super) fn begun(&self) -> impl Iterator<Item = RunId> {
        let begins = |append: &&PreparedAppend| append.expected == Seq::START;
        self.appends.iter().filter(begins).map(|append| append.run)
    }

    /// Whose keys seal something of it.
    pub(super) fn subjects(&self) -> impl Iterator<Item = SubjectId> {
        let held = self.cache.iter().filter_map(|entry| entry.row.subject);
        self.appends.iter().filter_map(|append| append.subject).chain(held)
    }

    /// About how many bytes it is.
    pub(super) fn size(&self) -> usize {
        let value = |entry: &PreparedEntry| match &entry.row.held {
            CacheHeld::Value(value) => value.len(),
            CacheHeld::Run(_) => 0,
        };
        let append = |append: &PreparedAppend| {
            512 + append.kept.body.len() + append.kept.sealed.as_ref().map_or(0, Vec::len)
        };
        self.appends.iter().map(append).sum::<usize>()
            + self.policies.iter().map(|(_, text)| text.len()).sum::<usize>()
            + self.cache.iter().map(|entry| 256 + value(entry)).sum::<usize>()
    }

    /// Whether it gives something up that entries of the cache may point to.
    pub(super) fn gives_up(&self) -> bool {
        !(self.erase.is_empty() && self.seal.is_empty())
    }

    /// The entries of the cache that it puts.
    pub(super) fn entries(&self) -> impl Iterator<Item = (TenantId, CacheKind, Digest)> {
        self.cache.iter().map(|entry| (self.tenant, entry.row.kind, entry.row.key))
    }

    /// The entries of the cache that served.
    pub(super) fn served(&self) -> impl Iterator<Item = (TenantId, CacheKind, Digest)> {
        self.touched.iter().map(|(kind, key)| (self.tenant, *kind, *key))
    }

    /// Whether it makes API keys or takes some back.
    pub(super) fn changes_keys(&self) -> bool {
        !(self.made.is_empty() && self.revoked.is_empty())
    }

    /// Seals and writes out in the caller's time. There is a key for each append and each entry, or none.
    pub(super) fn new(
        tenant: TenantId,
        commit: &Commit,
        keys: &[Option<Arc<SubjectKey>>],
        cache_keys: &[Option<Arc<SubjectKey>>],
        likenesses: &Likenesses,
    ) -> Result<Self, CommitError> {
        let made = KeyChange::made(&commit.keys, tenant)?;
        RecordChange::check(&commit.records)?;
        let appends = commit.appends.iter().zip(keys).filter(|(append, _)| !append.events.is_empty());
        Ok(Self {
            tenant,
            appends: appends
                .map(|(append, key)| PreparedAppend::new(tenant, append, key.as_deref(), likenesses))
                .collect::<Result<_, CommitError>>()?,
            policies: commit.policies.iter().map(|text| (sha256(text.as_bytes()), text.clone())).collect(),
            jobs: commit.jobs.clone(),
            erase: commit.erase.clone(),
            seal: commit.seal.clone(),
            made: made.into_iter().map(|(key, hash)| (key.clone(), hash)).collect(),
            revoked: KeyChange::revoked(&commit.keys).collect(),
            tenants: commit.tenants.clone(),
            settings: commit.settings.clone(),
            cache: (commit.cache.iter().zip(cache_keys))
                .map(|(write, key)| PreparedEntry::new(tenant, write, key.as_deref()))
                .collect::<Result<_, StoreError>>()?,
            touched: commit.touched.clone(),
            records: commit.records.iter().map(|change| PreparedRecord::new(tenant, change)).collect(),
            settled: commit.settled.clone(),
        })
    }
}

impl PreparedAppend {
    fn new(
        tenant: TenantId,
        append: &Append,
        key: Option<&SubjectKey>,
        likenesses: &Likenesses,
    ) -> Result<Self, CommitError> {
        let Append { events, settle, .. } = append;
        let (run, expected) = (events.run(), events.after());
        // What begins a run can be judged here; what goes on with one only by the writer, who knows where it ends.
        if expected == Seq::START {
            let begin = events.follows(tenant, Seq::START, Digest::ZERO);
            begin.map_err(|cause| CommitError::Refused { run, cause })?;
        }
        let kept = match events.transcript().filter(|_| key.is_none()) {
            Some(transcript) => Kept { body: pack::pack_known(transcript), sealed: None },
            None => {
                let kept = keep_segment(tenant, run, events, key)?;
                Kept { body: pack::pack(&kept.body), ..kept }
            }
        };
        Ok(Self::of(tenant, events, *settle, kept, key.map(|key| key.id), likenesses))
    }

    /// These events, which are kept like this.
    pub(super) fn of(
        tenant: TenantId,
        events: &Recorded,
        settle: Settle,
        kept: Kept,
        subject: Option<SubjectId>,
        likenesses: &Likenesses,
    ) -> Self {
        let (run, expected) = (events.run(), events.after());
        let begins = || Begun::of(tenant, run, events, subject, likenesses);
        let place = match (expected == Seq::START).then(begins).flatten() {
            Some(begun) => Place::Begins(Box::new(begun)),
            None => Place::Continues(events.clone()),
        };
        Self { run, expected, last: events.end().0, settle, kept, subject, place }
    }

    /// Where the run ends, if it begins with these events.
    pub(super) fn end(&self) -> Option<(Seq, Digest)> {
        match &self.place {
            Place::Begins(begun) => Some((begun.line.seq, begun.line.head)),
            Place::Continues(_) => None,
        }
    }
}

pub(super) const INSERT: &str =
    "INSERT INTO segments (tenant, run, first_seq, last_seq, body, leaf, subject, sealed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

/// Writes a commit inside the open transaction, and says what it settles. Everything that can be refused is refused before
/// anything is written.
pub(super) fn write(
    statements: &mut Statements<'_>,
    memory: &mut Memory,
    prepared: &Prepared,
) -> Result<Vec<Settled>, WriteError> {
    let connection = statements.connection;
    let Prepared {
        tenant,
        appends,
        policies,
        jobs,
        erase,
        seal,
        made,
        revoked,
        tenants,
        settings,
        cache,
        touched,
        records,
        settled,
    } = prepared;
    let tenant = *tenant;
    for subject in prepared.subjects() {
        if !subject::is_known(connection, tenant, subject)? {
            return Err(WriteError::KeyGone(subject));
        }
    }
    for subject in erase {
        if !subject::is_known(connection, tenant, *subject)? {
            return Err(WriteError::NoSubject(*subject));
        }
    }
    for run in seal {
        retention::check(connection, tenant, *run)?;
    }
    api_key::check(connection, tenant, made, revoked)?;
    record::check(connection, tenant, records)?;
    let (heads, added) = place_all(statements, &mut memory.slots, tenant, appends)?;
    for append in appends {
        if let Place::Begins(begun) = &append.place {
            sums::add_begun(connection, memory, tenant, begun)?;
        }
    }
    sums::add(connection, memory, tenant, added)?;
    for (digest, text) in policies {
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO policies (tenant, digest, body) VALUES (?, ?, ?)")?;
        insert.execute(params![Sql(tenant), Sql(*digest), text])?;
    }
    for (append, head) in appends.iter().zip(heads) {
        let PreparedAppend { run, expected, last, settle, kept, subject, .. } = append;
        let leaf = match settle {
            Settle::Open => None,
            Settle::Leaf => {
                let leaf = Leaf { run: *run, seq: *last, head };
                Some(Sql(log::add_leaf(statements, &mut memory.next_leaf, tenant, leaf)?))
            }
        };
        statements
            .get(Often::Segment)?
            .execute(params![
                Sql(tenant),
                Sql(*run),
                Sql(expected.next()),
                Sql(*last),
                kept.body,
                leaf,
                subject.map(Sql),
                kept.sealed
            ])
            .map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => {
                    let what = format!("run {run}: it has events that its row does not know of");
                    WriteError::Store(Arc::new(StoreError::Damaged(what)))
                }
                _ => error.into(),
            })?;
    }
    for entry in cache {
        // Most entries are of a run that begins here, so it is known whom they are about.
        let begins = |run| {
            let here = |append: &&PreparedAppend| append.run == run && append.expected == Seq::START;
            appends.iter().find(here).map(|append| append.subject)
        };
        cache::put(statements, memory, tenant, entry, begins)?;
    }
    for (kind, key) in touched {
        memory.touched.add(tenant, *kind, *key);
    }
    for subject in erase {
        subject::erase(connection, tenant, *subject)?;
    }
    for run in seal {
        retention::seal(connection, &mut memory.next_leaf, tenant, *run)?;
    }
    api_key::write(connection, tenant, made, revoked)?;
    record::write(connection, tenant, records)?;
    for new in tenants {
        tenant::put(connection, new)?;
    }
    if let Some(settings) = settings {
        tenant::set(connection, tenant, settings)?;
    }
    for new in jobs {
        job::insert(connection, tenant, new)?;
    }
    let settle = |settlement| meter::settle(connection, &mut memory.meters, tenant, settlement);
    Ok(settled.iter().map(settle).collect::<rusqlite::Result<_>>()?)
}

/// Brings the rows of the runs up to date, and says where each chain then ends and what those add to the sums that go on. All
/// are looked at before one is written; a lone new run needs no look, because the row itself finds out whether its place is free.
fn place_all(
    statements: &mut Statements<'_>,
    slots: &mut Slots,
    tenant: TenantId,
    appends: &[PreparedAppend],
) -> Result<(Vec<Digest>, Sums), WriteError> {
    let (connection, mut sums) = (statements.connection, Sums::default());
    if let [PreparedAppend { run, expected, place: Place::Begins(begun), .. }] = appends {
        let slot = slots.of(connection, tenant, &begun.likeness)?;
        if run::insert(statements, tenant, &begun.line, slot)? {
            return Ok((vec![begun.line.head], sums));
        }
        let (actual, _, _) = stands(connection, tenant, *run)?;
        return Err(WriteError::Moved { run: *run, expected: *expected, actual });
    }
    let look = |append| next_row(connection, tenant, append, &mut sums);
    let rows = appends.iter().map(look).collect::<Result<Vec<_>, WriteError>>()?;
    let mut heads = Vec::with_capacity(rows.len());
    for (append, row) in appends.iter().zip(rows) {
        heads.push(match (&append.place, row) {
            (Place::Begins(begun), _) => {
                let slot = slots.of(connection, tenant, &begun.likeness)?;
                run::insert(statements, tenant, &begun.line, slot)?;
                begun.line.head
            }
            (Place::Continues(_), Some(row)) => {
                let head = row.head;
                run::update(connection, slots, tenant, row)?;
                head
            }
            (Place::Continues(_), None) => Digest::ZERO,
        });
    }
    Ok((heads, sums))
}

/// Where a run's chain ends, and its row; a sealed one has no row.
fn stands(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
) -> rusqlite::Result<(Seq, Digest, Option<RunRow>)> {
    if let Some(row) = run::read(connection, tenant, run)? {
        return Ok((row.seq, row.head, Some(row)));
    }
    let left = retention::sealed(connection, tenant, run)?;
    Ok(left.map_or((Seq::START, Digest::ZERO, None), |left| (left.seq, left.head, None)))
}

/// The run's row after an append that goes on with it; nothing for one that begins it. Either way the append goes where it
/// says. What it adds is added to the sums.
fn next_row(
    connection: &Connection,
    tenant: TenantId,
    append: &PreparedAppend,
    sums: &mut Sums,
) -> Result<Option<RunRow>, WriteError> {
    let PreparedAppend { run, expected, place, .. } = append;
    let (actual, head, row) = stands(connection, tenant, *run)?;
    if actual != *expected {
        return Err(WriteError::Moved { run: *run, expected: *expected, actual });
    }
    let refused = |cause| WriteError::Refused { run: *run, cause };
    let order = || refused(ChainError::Order { expected: actual.next(), found: actual });
    match place {
        Place::Begins(_) => Ok(None),
        // An append that goes on with a sealed run goes on with nothing.
        Place::Continues(_) if row.is_none() => {
            Err(WriteError::Moved { run: *run, expected: *expected, actual: Seq::START })
        }
        Place::Continues(events) => {
            events.follows(tenant, actual, head).map_err(refused)?;
            sums.follow(row.as_ref(), *run, events).ok_or_else(order).map(Some)
        }
    }
}

/// The events of a run past `after`, at most `limit`. Their chain is verified on the way, so that what is handed out is
/// what was written; all of it is there, as far as the run's row knows. Without keys, what is sealed stays so.
pub(super) fn read(
    connection: &Connection,
    keys: Option<&Keys>,
    tenant: TenantId,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let damaged = |what: String| StoreError::Damaged(format!("run {run}: {what}"));
    let row = run::read(connection, tenant, run)
        .map_err(|error| unavailable(error).within(format_args!("run {run}")))?;
    let mut events = Vec::new();
    let mut chain = Chain::new(tenant, run);
    visit(connection, keys, tenant, run, after, |event| {
        if event.seq < after {
            return Ok(true);
        }
        if event.seq == after {
            // Not asked for. What follows is bound to its hash.
            chain = Chain::resume(tenant, run, event.seq, event.hash);
            return Ok(true);
        }
        chain.verify_next(&event).map_err(|error| damaged(error.to_string()))?;
        events.push(event);
        Ok(events.len() < limit)
    })?;
    let Some(row) = row else {
        return if events.is_empty() { Ok(events) } else { Err(damaged("it has events and no row".into())) };
    };
    let reached = chain.seq();
    let is_whole = reached == row.seq && chain.head() == row.head;
    if is_whole || (reached < row.seq && events.len() == limit) || after > row.seq {
        return Ok(events);
    }
    Err(damaged(format!("its events end at {reached}, and its row says {}", row.seq)))
}

/// Whether there are events of the run.
pub(super) fn has_segment(connection: &Connection, tenant: TenantId, run: RunId) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT 1 FROM segments WHERE tenant = ? AND run = ?")
        .and_then(|mut select| select.exists(params![Sql(tenant), Sql(run)]))
        .map_err(unavailable)
}

/// The hash that event `seq` of the run claims, if it is there.
pub(super) fn hash_at(
    connection: &Connection,
    tenant: TenantId,
    run: RunId,
    seq: Seq,
) -> Result<Option<Digest>, StoreError> {
    let mut found = None;
    visit(connection, None, tenant, run, seq, |event| {
        found = (event.seq == seq).then_some(event.hash);
        Ok(event.seq < seq)
    })?;
    Ok(found)
}

/// Visits the events of a run in order, from the segment that holds `after` on, for as long as the visitor wants more.
/// Without keys, what is sealed stays so.
fn visit(
    connection: &Connection,
    keys: Option<&Keys>,
    tenant: TenantId,
    run: RunId,
    after: Seq,
    mut wants_more: impl FnMut(Event) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let damaged =
        |error: &dyn std::fmt::Display| StoreError::Damaged(format!("a segment of run {run}: {error}"));
    let failed = |error| unavailable(error).within(format_args!("the segments of run {run}"));
    let mut select = connection
        .prepare_cached(
            "SELECT body, sealed, subjects.id, wrapped
             FROM segments LEFT JOIN subjects ON subjects.tenant = segments.tenant AND subjects.id = segments.subject
             WHERE segments.tenant = ?1 AND run = ?2 AND first_seq >= coalesce(
                 (SELECT max(first_seq) FROM segments WHERE tenant = ?1 AND run = ?2 AND first_seq <= ?3), 0)
             ORDER BY first_seq",
        )
        .map_err(failed)?;
    // No run is as long as the largest number there is.
    let place = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut rows = select.query(params![Sql(tenant), Sql(run), place]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let body = row.get_ref(0).map_err(failed)?.as_blob().map_err(|error| damaged(&error))?;
        let sealed = keys.map(|_| sealed(row)).transpose().map_err(failed)?.flatten();
        let segment = match keys {
            Some(keys) => keys.open(tenant, run, &text(run, body)?, sealed)?,
            None => parse(run, body)?,
        };
        for event in segment {
            if !wants_more(event)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The events of a segment, with what is sealed left as digests.
pub(super) fn parse(run: RunId, body: &[u8]) -> Result<Vec<Event>, StoreError> {
    let damaged = |error| StoreError::Damaged(format!("a segment of run {run} cannot be read: {error}"));
    serde_json::from_slice(&text(run, body)?).map_err(damaged)
}

/// The text of a segment.
fn text(run: RunId, body: &[u8]) -> Result<Vec<u8>, StoreError> {
    let damaged = || StoreError::Damaged(format!("a segment of run {run} is not as it was written"));
    pack::unpack(body).ok_or_else(damaged)
}

/// The sealed values of a segment's row, and whose key opens them.
fn sealed<'a>(row: &'a Row<'_>) -> rusqlite::Result<Option<(&'a [u8], Holder)>> {
    let Some(sealed) = row.get_ref(1)?.as_blob_or_null()? else { return Ok(None) };
    let lost = "the key of its sealed values is not there, and was not erased";
    let lost = || rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Blob, lost.into());
    let Sql(id) = row.get::<_, Option<Sql<SubjectId>>>(2)?.ok_or_else(lost)?;
    let wrapped: Option<Vec<u8>> = row.get(3)?;
    Ok(Some((sealed, wrapped.map_or(Holder::Erased, |wrapped| Holder::Known(SubjectRow { id, wrapped })))))
}

/// A policy's text.
pub(super) fn policy(
    connection: &Connection,
    tenant: TenantId,
    digest: Digest,
) -> Result<Option<String>, StoreError> {
    let text: Option<String> = connection
        .prepare_cached("SELECT body FROM policies WHERE tenant = ? AND digest = ?")
        .and_then(|mut select| {
            select.query_row(params![Sql(tenant), Sql(digest)], |row| row.get(0)).optional()
        })
        .map_err(unavailable)?;
    text.map(|text| checked_policy(digest, text)).transpose()
}

/// The text, if it is the one that the digest names.
pub(super) fn checked_policy(digest: Digest, text: String) -> Result<String, StoreError> {
    if sha256(text.as_bytes()) == digest {
        return Ok(text);
    }
    Err(StoreError::Damaged(format!("policy {digest} has another text")))
}
