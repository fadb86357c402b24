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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::Object;
use ledger::{Leaf, sha256};
use schema::{Digest, RunId, Seq, SubjectId};
use tokio_postgres::error::SqlState;

use super::error::FromDriver as _;
use super::pipeline::{Ask, Begun, Parameter, Sending, in_order, send};
use super::row::{bigint, column, json};
use super::{
    Tenant, api_key, cache, conduct, give_back, job, log, meter, record, subject, sums, tenant as tenants,
};
use crate::cache::{CacheKind, CacheRow};
use crate::commit::{Append, Commit, CommitError, Seal, Settle};
use crate::error::StoreError;
use crate::filter::Traits;
use crate::run::RunRow;
use crate::sealing::{Kept, SubjectKey, keep_segment};
use crate::sums::Sums;

/// How often a commit that gave way to another is tried again.
pub(super) const RETRIES: u32 = 6;

pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// Nobody erases a subject whose key something is being sealed with.
const HOLD_SUBJECTS: &str = "SELECT id FROM subjects
    WHERE tenant = $1 AND id = ANY($2) AND wrapped IS NOT NULL ORDER BY id FOR SHARE";
const LOCK_SUBJECTS: &str = "SELECT id FROM subjects
    WHERE tenant = $1 AND id = ANY($2) AND wrapped IS NOT NULL ORDER BY id FOR UPDATE";
const LOCK_RUNS: &str =
    "SELECT body, subject FROM runs WHERE tenant = $1 AND run = ANY($2) ORDER BY run FOR UPDATE";
const SEALED_RUNS: &str = "SELECT run, seq FROM sealed WHERE tenant = $1 AND run = ANY($2)";
const BOUND_RUNS: &str = "SELECT run, seq FROM leaves WHERE tenant = $1 AND run = ANY($2)";
const NEW_RUNS: &str = "INSERT INTO runs (tenant, run, seq, head, body, subject, slot)
    SELECT $1::bytea, n.run, n.seq, n.head, n.body, n.subject, n.slot
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[])
        AS n(run, seq, head, body, subject, slot)";
const MADE_RUNS: &str = "SELECT run, seq FROM runs WHERE tenant = $1 AND run = ANY($2) ORDER BY run LIMIT 1";
const MOVE_RUNS: &str = "UPDATE runs
    SET seq = n.seq, head = n.head, body = n.body, subject = n.subject, slot = n.slot
    FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[])
        AS n(run, seq, head, body, subject, slot)
    WHERE runs.tenant = $1 AND runs.run = n.run";
/// What slots stand for, where that is new.
pub(super) const SLOTS: &str = "INSERT INTO run_slots (tenant, slot, traits)
    SELECT $1::bytea, n.slot, n.traits FROM unnest($2::bigint[], $3::bytea[]) AS n(slot, traits)
    ON CONFLICT (tenant, slot) DO NOTHING";
const SEGMENTS: &str = "INSERT INTO segments (tenant, run, first_seq, last_seq, body, subject, sealed)
    SELECT $1::bytea, n.run, n.first_seq, n.last_seq, n.body, n.subject, n.sealed
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[])
        AS n(run, first_seq, last_seq, body, subject, sealed)";
const ERASE: &str = "UPDATE subjects SET name = NULL, wrapped = NULL WHERE tenant = $1 AND id = ANY($2)";
const SEAL: &str = "INSERT INTO sealed (tenant, run, seq, head, leaf)
    SELECT leaves.tenant, leaves.run, leaves.seq, leaves.head, leaves.idx
    FROM leaves JOIN unnest($2::bytea[], $3::bigint[]) AS n(run, seq)
        ON leaves.run = n.run AND leaves.seq = n.seq
    WHERE leaves.tenant = $1";
const GIVE_UP_SEGMENTS: &str = "DELETE FROM segments WHERE tenant = $1 AND run = ANY($2)";
const GIVE_UP_RUNS: &str = "DELETE FROM runs WHERE tenant = $1 AND run = ANY($2)";
const POLICIES: &str = "INSERT INTO policies (tenant, digest, body)
    SELECT $1::bytea, n.digest, n.body FROM unnest($2::bytea[], $3::bytea[]) AS n(digest, body)
    ON CONFLICT (tenant, digest) DO NOTHING";

/// Writes all of `commit`, or none of it.
pub(super) async fn commit(tenant: &Tenant, commit: &Commit) -> Result<(), CommitError> {
    loop {
        let keys = tenant.keys_for(commit).await?;
        let appends = commit.appends.iter().zip(&keys);
        let appends: Vec<Sealing<'_>> = appends
            .map(|(append, key)| Sealing::new(tenant, append, key.as_deref()))
            .collect::<Result<_, _>>()?;
        let cache_keys = tenant.cache_keys_for(commit).await?;
        let entries = commit.cache.iter().zip(&cache_keys);
        let entries: Vec<CacheRow> = entries
            .map(|(write, key)| cache::kept(tenant.tenant, write, key.as_deref()))
            .collect::<Result<_, _>>()?;
        match commit_sealed(tenant, commit, &appends, &entries).await? {
            Outcome::Written => break,
            // Erased since it was last looked up: what comes after that is sealed anew.
            Outcome::KeyGone(subject) => tenant.store.inner.keys.forget(subject),
        }
    }
    tenant.store.inner.changes.tell(tenant.tenant);
    if !commit.jobs.is_empty() {
        tenant.store.wake_own_workers();
    }
    if !commit.erase.is_empty() {
        tenant.shred(&commit.erase).await;
    }
    Ok(())
}

/// What came of an attempt that did not fail.
enum Outcome {
    Written,
    /// The key that an append was sealed with is no longer there.
    KeyGone(SubjectId),
}

/// An append, and its events as they are kept.
struct Sealing<'a> {
    append: &'a Append,
    kept: Kept,
    subject: Option<SubjectId>,
}

impl<'a> Sealing<'a> {
    fn new(tenant: &Tenant, append: &'a Append, key: Option<&SubjectKey>) -> Result<Self, StoreError> {
        let kept = keep_segment(tenant.tenant, append.events.run(), &append.events, key)?;
        Ok(Self { append, kept, subject: key.map(|key| key.id) })
    }
}

async fn commit_sealed(
    tenant: &Tenant,
    commit: &Commit,
    appends: &[Sealing<'_>],
    entries: &[CacheRow],
) -> Result<Outcome, CommitError> {
    let connection = tenant.store.connection().await?;
    let mut tried = 0;
    let written = loop {
        match attempt(&connection, tenant, commit, appends, entries).await {
            Err(error) if tried < RETRIES && error.gave_way() => {
                tokio::time::sleep(Duration::from_millis(5 << tried)).await;
                tried += 1;
            }
            written => break written,
        }
    };
    give_back(connection, written)
}

async fn attempt(
    connection: &Object,
    tenant: &Tenant,
    commit: &Commit,
    appends: &[Sealing<'_>],
    entries: &[CacheRow],
) -> Result<Outcome, CommitError> {
    let mut sorted: Vec<&Sealing<'_>> = appends.iter().collect();
    sorted.sort_by_key(|sealing| sealing.append.events.run());
    // A run that begins here needs no look at the table: if somebody else began it, the insert says so.
    let (new, other): (Vec<&Sealing<'_>>, Vec<&Sealing<'_>>) = sorted
        .iter()
        .partition(|sealing| sealing.append.events.follows(tenant.tenant, Seq::START, Digest::ZERO).is_ok());

    let sealing: Vec<SubjectId> =
        appends.iter().filter_map(|sealing| sealing.subject).chain(cache::subjects(entries)).collect();
    let (begun, found) = begin(connection, tenant, commit, appends, &other, &sealing).await?;
    if let Some(subject) = sealing.into_iter().find(|id| !found.held.contains(id)) {
        return Ok(Outcome::KeyGone(subject));
    }
    if let Some(subject) = commit.erase.iter().find(|id| !found.locked.contains(id)) {
        return Err(CommitError::NoSubject(*subject));
    }
    let existing = &found.runs;
    for events in sorted.iter().map(|sealing| &sealing.append.events) {
        if let Some(actual) = found.sealed.get(&events.run()) {
            return Err(CommitError::Moved { run: events.run(), expected: events.after(), actual: *actual });
        }
    }
    for events in other.iter().map(|sealing| &sealing.append.events) {
        let row = existing.get(&events.run()).map(|(row, _)| row);
        let (actual, head) = row.map_or((Seq::START, Digest::ZERO), |row| (row.seq, row.head));
        let (run, expected) = (events.run(), events.after());
        if actual != expected {
            return Err(CommitError::Moved { run, expected, actual });
        }
        let follow = events.follows(tenant.tenant, actual, head);
        follow.map_err(|cause| CommitError::Refused { run, cause })?;
    }
    for Seal { run, expected } in &commit.seal {
        let actual = existing.get(run).map_or(Seq::START, |(row, _)| row.seq);
        if actual != *expected || actual == Seq::START {
            return Err(CommitError::Moved { run: *run, expected: *expected, actual });
        }
    }
    let keys = api_key::Changed::new(tenant, &commit.keys, &found.keys)?;
    let records = record::Changed::new(&commit.records, &found.records)?;
    let mut added = Sums::default();
    let mut after = |sealing: &&Sealing<'_>| {
        let Sealing { append, subject, .. } = sealing;
        let run = append.events.run();
        let (row, subject) = match existing.get(&run) {
            Some((row, subject)) => (Some(row), *subject),
            None => (None, *subject),
        };
        added.follow(row, run, &append.events).map(|row| (row.at_rest(subject), subject))
    };
    let made: Vec<Row> = new.iter().filter_map(&mut after).collect();
    let moved: Vec<Row> = other.iter().filter_map(&mut after).collect();
    let mut leaves = leaves(&commit.appends);
    leaves.extend(commit.seal.iter().filter_map(|seal| found.unbound_leaf(seal.run)));
    let asks = [
        put(connection, tenant, NEW_RUNS, &made).await?,
        put(connection, tenant, MOVE_RUNS, &moved).await?,
        slots(connection, tenant, made.iter().chain(&moved)).await?,
        segments(connection, tenant, &sorted).await?,
        keys.make(connection, tenant).await?,
        keys.change(connection, tenant).await?,
        records.make(connection, tenant).await?,
        records.change(connection, tenant).await?,
        records.delete(connection, tenant).await?,
        tenants::put(connection, &commit.tenants).await?,
        tenants::set(connection, tenant, commit.settings.as_ref()).await?,
        policies(connection, tenant, &commit.policies).await?,
        job::add(connection, tenant, &commit.jobs).await?,
        cache::put(connection, tenant, entries).await?,
        cache::bound(connection, tenant, CacheKind::ExactResponse, commit).await?,
        cache::bound(connection, tenant, CacheKind::ToolResult, commit).await?,
        cache::bound(connection, tenant, CacheKind::Evaluation, commit).await?,
        cache::bound(connection, tenant, CacheKind::Negative, commit).await?,
        cache::touched(connection, tenant, &commit.touched).await?,
        sums::add_agents(connection, tenant, &added).await?,
        sums::add_usage(connection, tenant, &added).await?,
        conduct::add(connection, tenant, &added).await?,
        meter::add(connection, tenant, &commit.settled).await?,
        meter::end(connection, tenant, &commit.settled).await?,
        log::add(connection, tenant, &leaves).await?,
        ids(connection, tenant, ERASE, commit.erase.iter().map(|id| id.as_bytes().to_vec())).await?,
        seal(connection, tenant, &commit.seal).await?,
        ids(connection, tenant, GIVE_UP_SEGMENTS, runs_of(&commit.seal)).await?,
        ids(connection, tenant, GIVE_UP_RUNS, runs_of(&commit.seal)).await?,
    ];
    begun.ends();
    match write(connection, tenant, &asks, !commit.jobs.is_empty()).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            if let Some(key) = keys.taken(connection, tenant).await? {
                return Err(CommitError::KeyTaken(key));
            }
            if let Some(moved) = records.taken(connection, tenant).await? {
                return Err(moved);
            }
            Err(somebody_was_faster(connection, tenant, &made, error).await?)
        }
        written => Ok(written.map(|()| Outcome::Written)?),
    }
}

/// A run's row as it is kept, and whom it is about.
type Row = (RunRow, Option<SubjectId>);

/// What the first trip found.
struct Found {
    /// The subjects whose keys stay while this goes on.
    held: BTreeSet<SubjectId>,
    /// The subjects that are to be erased.
    locked: BTreeSet<SubjectId>,
    /// Those of the runs that exist, which stay as they are until the transaction ends.
    runs: BTreeMap<RunId, Row>,
    /// Those that were given up.
    sealed: BTreeMap<RunId, Seq>,
    /// The places of runs to be given up that are bound by leaves.
    bound: BTreeSet<(RunId, Seq)>,
    /// The rows of the API keys that are named.
    keys: Vec<tokio_postgres::Row>,
    /// The rows of the records that are to change.
    records: Vec<tokio_postgres::Row>,
}

impl Found {
    /// The leaf that a run to be given up still needs.
    fn unbound_leaf(&self, run: RunId) -> Option<Leaf> {
        let (row, _) = self.runs.get(&run)?;
        let leaf = Leaf { run, seq: row.seq, head: row.head };
        (!self.bound.contains(&(run, row.seq))).then_some(leaf)
    }
}

fn runs_of(seals: &[Seal]) -> impl Iterator<Item = Vec<u8>> {
    seals.iter().map(|seal| seal.run.as_bytes().to_vec())
}

/// Sends the statements of a transaction, in the order of their locks, and its end. The first error is why nothing was
/// written.
pub(super) async fn write(
    connection: &Object,
    tenant: &Tenant,
    asks: &[Option<Ask<'_>>],
    tell: bool,
) -> Result<(), tokio_postgres::Error> {
    // What the driver itself refuses never reaches the server, and spoils nothing there.
    let spoilt = AtomicBool::new(false);
    let sending = |ask| -> Sending<'_, Result<(), tokio_postgres::Error>> {
        let spoilt = &spoilt;
        Box::pin(async move {
            let sent = send(connection, Some(ask)).await;
            spoilt.fetch_or(sent.is_err(), Ordering::Relaxed);
            sent.map(drop)
        })
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
    let statements = asks.iter().flatten().map(sending).collect();
    let (sent, ended, ()) = tokio::join!(biased; in_order(statements), end, telling);
    sent.into_iter().collect::<Result<(), _>>()?;
    ended
}

/// The leaves of a commit, in the order in which its appends are.
fn leaves(appends: &[Append]) -> Vec<Leaf> {
    let settled = appends.iter().filter(|append| append.settle == Settle::Leaf);
    let leaf = |append: &Append| {
        append.events.last().map(|last| Leaf { run: append.events.run(), seq: last.seq, head: last.hash })
    };
    settled.filter_map(leaf).collect()
}

/// Begins, and finds what the commit is about.
async fn begin<'a>(
    connection: &'a Object,
    tenant: &Tenant,
    commit: &Commit,
    appends: &[Sealing<'_>],
    other: &[&Sealing<'_>],
    sealing: &[SubjectId],
) -> Result<(Begun<'a>, Found), StoreError> {
    let held = sealing.iter().map(|id| id.as_bytes().to_vec());
    let erase = commit.erase.iter().map(|id| id.as_bytes().to_vec());
    let moving = other.iter().map(|sealing| sealing.append.events.run().as_bytes().to_vec());
    let all = appends.iter().map(|sealing| sealing.append.events.run().as_bytes().to_vec());
    let hold = ids(connection, tenant, HOLD_SUBJECTS, held).await?;
    let lock = ids(connection, tenant, LOCK_SUBJECTS, erase).await?;
    let runs = ids(connection, tenant, LOCK_RUNS, moving.chain(runs_of(&commit.seal))).await?;
    let sealed = ids(connection, tenant, SEALED_RUNS, all).await?;
    let bound = ids(connection, tenant, BOUND_RUNS, runs_of(&commit.seal)).await?;
    let keys = ids(connection, tenant, api_key::LOCK, api_key::named(&commit.keys)).await?;
    let records = record::lock(connection, tenant, &commit.records).await?;
    let transaction = Begun::new(connection);
    let (begun, held, locked, runs, sealed, bound, keys, records) = tokio::join!(
        biased;
        connection.batch_execute(BEGIN),
        send(connection, hold.as_ref()),
        send(connection, lock.as_ref()),
        send(connection, runs.as_ref()),
        send(connection, sealed.as_ref()),
        send(connection, bound.as_ref()),
        send(connection, keys.as_ref()),
        send(connection, records.as_ref()),
    );
    begun?;
    let place = |table: &'static str| {
        move |row: &tokio_postgres::Row| -> Result<(RunId, Seq), StoreError> {
            Ok((column(row, table, "run").id()?, column(row, table, "seq").seq()?))
        }
    };
    let kept = |row: &tokio_postgres::Row| -> Result<(RunId, Row), StoreError> {
        let kept: RunRow = column(row, "runs", "body").json()?;
        Ok((kept.id, (kept, column(row, "runs", "subject").optional_id()?)))
    };
    let found = Found {
        held: subject::ids(&held?)?,
        locked: subject::ids(&locked?)?,
        runs: runs?.iter().map(kept).collect::<Result<_, _>>()?,
        sealed: sealed?.iter().map(place("sealed")).collect::<Result<_, _>>()?,
        bound: bound?.iter().map(place("leaves")).collect::<Result<_, _>>()?,
        keys: keys?,
        records: records?,
    };
    Ok((transaction, found))
}

/// A statement about these ids, in their order; none if there are none.
async fn ids<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    text: &str,
    ids: impl Iterator<Item = Vec<u8>>,
) -> Result<Option<Ask<'a>>, StoreError> {
    let ids: BTreeSet<Vec<u8>> = ids.collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let ids: Vec<Vec<u8>> = ids.into_iter().collect();
    Ok(Some(Ask::new(connection, text, vec![Box::new(tenant.key()), Box::new(ids)]).await?))
}

/// What stays of runs that are given up. Their leaves are there by then.
async fn seal<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    seals: &[Seal],
) -> Result<Option<Ask<'a>>, StoreError> {
    if seals.is_empty() {
        return Ok(None);
    }
    let runs: Vec<Vec<u8>> = runs_of(seals).collect();
    let seqs: Vec<i64> = seals.iter().map(|seal| bigint(seal.expected.0)).collect();
    let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(runs), Box::new(seqs)];
    Ok(Some(Ask::new(connection, SEAL, parameters).await?))
}

/// Rows that are new or that take the place of others.
async fn put<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    text: &str,
    rows: &'a [Row],
) -> Result<Option<Ask<'a>>, StoreError> {
    if rows.is_empty() {
        return Ok(None);
    }
    let runs: Vec<&[u8]> = rows.iter().map(|(row, _)| &row.id.as_bytes()[..]).collect();
    let seqs: Vec<i64> = rows.iter().map(|(row, _)| bigint(row.seq.0)).collect();
    let heads: Vec<&[u8]> = rows.iter().map(|(row, _)| &row.head.as_bytes()[..]).collect();
    let bodies = rows.iter().map(|(row, _)| json(row)).collect::<Result<Vec<_>, _>>()?;
    let slots: Vec<i64> = rows.iter().map(|(row, _)| Traits::of(row).slot()).collect();
    let subjects: Vec<Option<&[u8]>> =
        rows.iter().map(|(_, subject)| subject.as_ref().map(|id| &id.as_bytes()[..])).collect();
    let parameters: Vec<Parameter<'_>> = vec![
        Box::new(tenant.key()),
        Box::new(runs),
        Box::new(seqs),
        Box::new(heads),
        Box::new(bodies),
        Box::new(subjects),
        Box::new(slots),
    ];
    Ok(Some(Ask::new(connection, text, parameters).await?))
}

/// What the slots of these runs stand for.
async fn slots<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    rows: impl Iterator<Item = &Row>,
) -> Result<Option<Ask<'a>>, StoreError> {
    let traits = rows.map(|(row, _)| Traits::of(row));
    let traits: BTreeMap<i64, Vec<u8>> =
        traits.map(|traits| (traits.slot(), traits.text().into_bytes())).collect();
    if traits.is_empty() {
        return Ok(None);
    }
    let (slots, texts): (Vec<i64>, Vec<Vec<u8>>) = traits.into_iter().unzip();
    let parameters: Vec<Parameter<'_>> = vec![Box::new(tenant.key()), Box::new(slots), Box::new(texts)];
    Ok(Some(Ask::new(connection, SLOTS, parameters).await?))
}

/// One of the runs that were to be made is there already; if none is, `error` is about something else.
async fn somebody_was_faster(
    connection: &Object,
    tenant: &Tenant,
    made: &[Row],
    error: tokio_postgres::Error,
) -> Result<CommitError, StoreError> {
    let runs: Vec<&[u8]> = made.iter().map(|(row, _)| &row.id.as_bytes()[..]).collect();
    let ask = Ask::new(connection, MADE_RUNS, vec![Box::new(tenant.key()), Box::new(runs)]).await?;
    let Some(row) = send(connection, Some(&ask)).await?.pop() else { return Ok(error.into()) };
    let (run, actual) = (column(&row, "runs", "run").id()?, column(&row, "runs", "seq").seq()?);
    Ok(CommitError::Moved { run, expected: Seq::START, actual })
}

async fn segments<'a>(
    connection: &Object,
    tenant: &'a Tenant,
    appends: &[&'a Sealing<'a>],
) -> Result<Option<Ask<'a>>, StoreError> {
    let (mut runs, mut firsts, mut lasts, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut subjects, mut sealed) = (Vec::new(), Vec::new());
    for Sealing { append, kept, subject } in appends {
        if !append.events.is_empty() {
            runs.push(append.events.run().as_bytes().to_vec());
            firsts.push(bigint(append.events.after().next().0));
            lasts.push(bigint(append.events.end().0.0));
            bodies.push(kept.body.as_slice());
            subjects.push(subject.as_ref().map(|id| &id.as_bytes()[..]));
            sealed.push(kept.sealed.as_deref());
        }
    }
    if runs.is_empty() {
        return Ok(None);
    }
    let parameters: Vec<Parameter<'_>> = vec![
        Box::new(tenant.key()),
        Box::new(runs),
        Box::new(firsts),
        Box::new(lasts),
        Box::new(bodies),
        Box::new(subjects),
        Box::new(sealed),
    ];
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
