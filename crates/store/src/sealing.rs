//! Payloads at rest: sealed under a key of the person they are about, so that erasing the key erases the person.
//!
//! A segment is kept in two parts. What the chain hashes stays readable: places, times, types, the digest of every field, and
//! the fields that say nothing about anybody ([`OPEN`]). The values of all other fields are sealed under the subject's key.
//! That key is kept wrapped by the installation's, in one row; when it is gone, the digests are left and every chain still
//! verifies.
//!
//! - A segment whose append names no subject is not sealed: there is nobody to erase it for.
//! - Whether a key is still there is asked of the database, every time. Memory only saves the work of unwrapping it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crypto::random;
use crypto::seal::{DataKey, SealKey};
use ledger::{Event, Payload, Recorded};
use schema::{Digest, RunId, Seq, Subject, SubjectId, TenantId, Timestamp};

use crate::cache::CacheKind;
use crate::conduct::{FEEDBACK, RATING};
use crate::error::StoreError;

/// The fields of the runtime's own events that say what something was and what it cost, but nothing about a person: totals
/// still add up after an erasure.
const OPEN: &[&str] = &[
    "kind",
    "app",
    "agent",
    "gatewayMode",
    "model",
    "provider",
    "status",
    "route",
    "finishReason",
    "costMicroUsd",
    "savedMicroUsd",
    "inputTokens",
    "outputTokens",
    "latencyMs",
    "engine",
    "policies",
    "action",
    "verdict",
    "upstream",
    "wire",
    "stream",
    "keyId",
    "traceId",
    "errorCode",
    "ghostRoute",
    "ghostSavedMicroUsd",
    "savedMs",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
    "usageEstimated",
    "cacheKey",
    "cacheExpiresAt",
    "cacheBytes",
];
/// Whose fields may be open: types that nobody outside can record.
const OURS: &[&str] = &["run.", "policy.", "route.", "model.", "audit."];

/// Whether a field says nothing about anybody. A rating is one of two numbers.
fn is_open(r#type: &str, name: &str) -> bool {
    let is_ours = OURS.iter().any(|prefix| r#type.starts_with(prefix));
    (is_ours && OPEN.contains(&name)) || (r#type, name) == (FEEDBACK, RATING)
}

/// How many unwrapped keys stay in memory.
const KEPT: usize = 4_096;

/// The installation's keys, which wrap those of the subjects. The first one wraps; all of them unwrap.
#[derive(Clone)]
pub struct Masters(Arc<[SealKey]>);

impl Masters {
    /// These keys, the active one first.
    #[must_use]
    pub fn new(keys: Vec<SealKey>) -> Self {
        Self(keys.into())
    }

    /// A new key that nobody else has: what it wraps is lost with this process.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn throw_away() -> Result<Self, random::RandomError> {
        Ok(Self::new(vec![SealKey::generate()?]))
    }
}

impl std::fmt::Debug for Masters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

/// A subject as its row has it.
#[derive(Debug, Clone)]
pub(crate) struct SubjectRow {
    pub(crate) id: SubjectId,
    pub(crate) wrapped: Vec<u8>,
}

/// Whose key opens a segment, as the database says.
pub(crate) enum Holder {
    /// Somebody's.
    Known(SubjectRow),
    /// Nobody's any more.
    Erased,
}

/// A subject's key, ready for use.
#[derive(Debug)]
pub(crate) struct SubjectKey {
    pub(crate) id: SubjectId,
    key: DataKey,
}

/// A segment as it is kept.
pub(crate) struct Kept {
    /// The events, with the digests of what is sealed.
    pub(crate) body: Vec<u8>,
    /// The values, if they are sealed.
    pub(crate) sealed: Option<Vec<u8>>,
}

/// The keys that were used last.
#[derive(Default)]
pub(crate) struct Keys {
    masters: OnceLock<Masters>,
    by_name: Mutex<HashMap<(TenantId, Subject), Arc<SubjectKey>>>,
    by_id: Mutex<HashMap<SubjectId, Arc<SubjectKey>>>,
}

impl Keys {
    /// Takes the installation's keys; only the first time counts.
    pub(crate) fn seal_with(&self, masters: Masters) {
        let _ = self.masters.set(masters);
    }

    fn masters(&self) -> &[SealKey] {
        self.masters.get().map_or(&[], |masters| &masters.0)
    }

    /// The subject's key as it was last seen; the commit finds out whether it still is.
    pub(crate) fn known(&self, tenant: TenantId, subject: &Subject) -> Option<Arc<SubjectKey>> {
        lock(&self.by_name).get(&(tenant, subject.clone())).cloned()
    }

    /// A key for a subject that has none, as it would be kept.
    pub(crate) fn make(&self, tenant: TenantId, at: Timestamp) -> Result<SubjectRow, StoreError> {
        let id = SubjectId::new(at.as_millis(), random::bytes().map_err(StoreError::unavailable)?);
        let master = self.masters().first().ok_or_else(no_master)?;
        let key = DataKey::generate().map_err(StoreError::unavailable)?;
        let wrapped = key.wrap(master, &names(tenant, id)).map_err(StoreError::unavailable)?;
        Ok(SubjectRow { id, wrapped: with_sum(wrapped) })
    }

    /// The key that the row holds, kept for the next time.
    pub(crate) fn learn(
        &self,
        tenant: TenantId,
        subject: Option<&Subject>,
        row: &SubjectRow,
    ) -> Result<Arc<SubjectKey>, StoreError> {
        let known = lock(&self.by_id).get(&row.id).cloned();
        let key = match known {
            Some(key) => key,
            None => {
                let wrapped = without_sum(&row.wrapped).ok_or_else(|| key_damaged(row.id))?;
                let key = DataKey::unwrap(self.masters(), &names(tenant, row.id), wrapped);
                let key = key.map_err(|_| {
                    StoreError::unavailable(format!(
                        "the key of subject {} does not open: the key ring is not the one it was made with",
                        row.id
                    ))
                })?;
                let key = Arc::new(SubjectKey { id: row.id, key });
                keep(&self.by_id, row.id, key.clone());
                key
            }
        };
        if let Some(subject) = subject {
            keep(&self.by_name, (tenant, subject.clone()), key.clone());
        }
        Ok(key)
    }

    /// Forgets a key that is gone.
    pub(crate) fn forget(&self, id: SubjectId) {
        lock(&self.by_id).remove(&id);
        lock(&self.by_name).retain(|_, key| key.id != id);
    }

    /// The events of a segment: with their values, or with the digests of them if the key is gone.
    pub(crate) fn open(
        &self,
        tenant: TenantId,
        run: RunId,
        body: &[u8],
        sealed: Option<(&[u8], Holder)>,
    ) -> Result<Vec<Event>, StoreError> {
        let damaged = |what: String| StoreError::Damaged(format!("a segment of run {run}: {what}"));
        let mut events: Vec<Event> =
            serde_json::from_slice(body).map_err(|error| damaged(error.to_string()))?;
        let (Some((sealed, holder)), Some(first)) = (sealed, events.first()) else { return Ok(events) };
        let sealed = without_sum(sealed).ok_or_else(|| damaged("its sealed values have changed".into()))?;
        let Holder::Known(row) = holder else { return Ok(events) };
        let key = self.learn(tenant, None, &row)?;
        let opened = key.key.open(&place(tenant, run, first.seq), sealed);
        let opened = opened.map_err(|error| damaged(error.to_string()))?;
        let values: Vec<Payload> =
            serde_json::from_slice(&opened).map_err(|error| damaged(error.to_string()))?;
        for (event, values) in events.iter_mut().zip(values) {
            event.payload.extend(values);
        }
        Ok(events)
    }
}

impl Keys {
    /// The value of a cache's entry that is about somebody.
    pub(crate) fn open_value(
        &self,
        tenant: TenantId,
        kind: CacheKind,
        key: Digest,
        sealed: &[u8],
        row: &SubjectRow,
    ) -> Result<Vec<u8>, StoreError> {
        let damaged = || StoreError::Damaged(format!("the entry {key} of the cache has changed"));
        let sealed = without_sum(sealed).ok_or_else(damaged)?;
        let subject = self.learn(tenant, None, row)?;
        Ok(subject.key.open(&entry(tenant, kind, key), sealed).map_err(|_| damaged())?.to_vec())
    }
}

/// The value of a cache's entry as it is kept: sealed, if there is a key.
pub(crate) fn keep_value(
    tenant: TenantId,
    kind: CacheKind,
    key: Digest,
    value: &[u8],
    subject: Option<&SubjectKey>,
) -> Result<Vec<u8>, StoreError> {
    let Some(subject) = subject else { return Ok(value.to_vec()) };
    let sealed = subject.key.seal(&entry(tenant, kind, key), value).map_err(StoreError::unavailable)?;
    Ok(with_sum(sealed))
}

/// The segment that these events are, with the values sealed if there is a key.
pub(crate) fn keep_segment(
    tenant: TenantId,
    run: RunId,
    events: &Recorded,
    key: Option<&SubjectKey>,
) -> Result<Kept, StoreError> {
    let (Some(key), Some(first)) = (key, events.first()) else {
        return Ok(Kept { body: events.to_text(), sealed: None });
    };
    let (mut open, mut values) = (events.to_vec(), Vec::with_capacity(events.len()));
    for event in &mut open {
        values.push(take_values(event)?);
    }
    let values = zeroize::Zeroizing::new(serde_json::to_vec(&values).unwrap_or_default());
    let sealed = key.key.seal(&place(tenant, run, first.seq), &values).map_err(StoreError::unavailable)?;
    Ok(Kept { body: serde_json::to_vec(&open).unwrap_or_default(), sealed: Some(with_sum(sealed)) })
}

/// Takes the values out of an event that are about somebody, and leaves their digests.
pub(crate) fn take_values(event: &mut Event) -> Result<Payload, StoreError> {
    let mut values = Payload::new();
    for (name, field) in event.payload.iter_mut() {
        if field.value().is_some() && !is_open(&event.r#type, name) {
            let withheld = field.withheld(name).map_err(StoreError::unavailable)?;
            values.insert(name.clone(), std::mem::replace(field, withheld));
        }
    }
    Ok(values)
}

/// Sealed bytes with a checksum behind them: whoever checks a database need not have its keys.
fn with_sum(mut sealed: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&sealed);
    sealed.extend_from_slice(&sum.to_le_bytes());
    sealed
}

/// The sealed bytes, if they are what was written.
pub(crate) fn without_sum(kept: &[u8]) -> Option<&[u8]> {
    let (sealed, sum) = kept.split_last_chunk::<4>()?;
    (crc32fast::hash(sealed).to_le_bytes() == *sum).then_some(sealed)
}

pub(crate) fn key_damaged(subject: SubjectId) -> StoreError {
    StoreError::Damaged(format!("the key of subject {subject} is not what was written"))
}

/// Whose key a wrapped key is: it opens as nobody else's.
fn names(tenant: TenantId, subject: SubjectId) -> Vec<u8> {
    [&b"subject"[..], tenant.as_bytes(), subject.as_bytes()].concat()
}

/// Where a sealed segment belongs: it opens nowhere else.
fn place(tenant: TenantId, run: RunId, first: Seq) -> Vec<u8> {
    [&b"segment"[..], tenant.as_bytes(), run.as_bytes(), &first.0.to_be_bytes()].concat()
}

/// Where a sealed value of the cache belongs.
fn entry(tenant: TenantId, kind: CacheKind, key: Digest) -> Vec<u8> {
    [&b"cache"[..], tenant.as_bytes(), kind.as_str().as_bytes(), key.as_bytes()].concat()
}

fn no_master() -> StoreError {
    StoreError::unavailable("there is no key to seal with; `punk keys generate seal` makes one")
}

/// Keeps a little, and starts afresh when that is too much: every key can be unwrapped again.
fn keep<K: Eq + Hash>(kept: &Mutex<HashMap<K, Arc<SubjectKey>>>, name: K, key: Arc<SubjectKey>) {
    let mut kept = lock(kept);
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(name, key);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
