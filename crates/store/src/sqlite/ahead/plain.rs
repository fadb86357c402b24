//! A plain commit as the journal has it, and back.
//!
//! What can be derived from the events is not in it: whoever reads it derives it again, and verifies the chains on the way.
//! Numbers are in little-endian order; texts and bytes have their length before them.

use std::num::NonZeroU32;

use ledger::{Recorded, sha256};
use schema::{Digest, Id, Prefix, Seq, Timestamp};

use super::super::cache::PreparedEntry;
use super::super::event::{self, Prepared, PreparedAppend};
use super::super::likeness::Likenesses;
use crate::cache::{CacheHeld, CacheKind, CacheRow};
use crate::commit::Settle;
use crate::meter::{MeterKey, ReservationId, Settlement};
use crate::sealing::Kept;

/// Writes a commit out.
pub(super) fn encode(commit: &Prepared, out: &mut Vec<u8>) {
    out.extend_from_slice(commit.tenant.as_bytes());
    list(out, &commit.appends, |out, append| {
        out.extend_from_slice(append.run.as_bytes());
        out.push(u8::from(append.settle == Settle::Leaf));
        optional(out, append.subject.as_ref(), |out, subject| out.extend_from_slice(subject.as_bytes()));
        optional(out, append.kept.sealed.as_ref(), |out, sealed| bytes(out, sealed));
        bytes(out, &append.kept.body);
    });
    list(out, &commit.policies, |out, (_, text)| bytes(out, text.as_bytes()));
    list(out, &commit.cache, |out, PreparedEntry { row, bound, .. }| {
        place(out, row.kind, &row.key);
        match &row.held {
            CacheHeld::Run(run) => {
                out.push(0);
                out.extend_from_slice(run.as_bytes());
            }
            CacheHeld::Value(value) => {
                out.push(1);
                bytes(out, value);
            }
        }
        optional(out, row.subject.as_ref(), |out, subject| out.extend_from_slice(subject.as_bytes()));
        optional(out, row.model.as_ref(), |out, model| bytes(out, model.as_bytes()));
        for number in [row.created_at.as_millis(), row.expires_at.as_millis(), row.bytes] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&bound.map_or(0, NonZeroU32::get).to_le_bytes());
    });
    list(out, &commit.touched, |out, (kind, key)| place(out, *kind, key));
    list(out, &commit.settled, |out, Settlement { id, spent }| {
        out.extend_from_slice(&id.0);
        list(out, spent, |out, (MeterKey { meter, window }, amount)| {
            out.extend_from_slice(meter.as_bytes());
            out.extend_from_slice(&window.to_le_bytes());
            out.extend_from_slice(&amount.to_le_bytes());
        });
    });
}

fn list<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    length(out, items.len());
    items.iter().for_each(|item| write(out, item));
}

fn optional<T>(out: &mut Vec<u8>, item: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) {
    out.push(u8::from(item.is_some()));
    if let Some(item) = item {
        write(out, item);
    }
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn length(out: &mut Vec<u8>, length: usize) {
    // A commit that is longer than that is none of the journal's.
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn place(out: &mut Vec<u8>, kind: CacheKind, key: &Digest) {
    out.push(match kind {
        CacheKind::ExactResponse => 0,
        CacheKind::ToolResult => 1,
        CacheKind::Evaluation => 2,
        CacheKind::Negative => 3,
    });
    out.extend_from_slice(key.as_bytes());
}

/// What is wrong with a record: what it says is not what was written.
pub(super) type Unreadable = String;

/// The commit that a record holds.
pub(super) fn decode(bytes: &[u8], likenesses: &Likenesses) -> Result<Prepared, Unreadable> {
    let mut reader = Reader(bytes);
    let tenant = reader.id()?;
    let mut commit = Prepared::empty(tenant);
    for _ in 0..reader.length()? {
        let run = reader.id()?;
        let settle = if reader.flag()? { Settle::Leaf } else { Settle::Open };
        let subject = reader.flag()?.then(|| reader.id()).transpose()?;
        let sealed = reader.flag()?.then(|| reader.bytes()).transpose()?.map(<[u8]>::to_vec);
        let body = reader.bytes()?.to_vec();
        let wrong = |what: &dyn std::fmt::Display| format!("run {run}: {what}");
        let events = event::parse(run, &body).map_err(|error| wrong(&error))?;
        let events = Recorded::check(tenant, run, Seq::START, Digest::ZERO, events);
        let events = events.map_err(|error| wrong(&error))?;
        if events.is_empty() {
            return Err(wrong(&"it has no events"));
        }
        let kept = Kept { body, sealed };
        commit.appends.push(PreparedAppend::of(tenant, &events, settle, kept, subject, likenesses));
    }
    for _ in 0..reader.length()? {
        let text = reader.text()?;
        commit.policies.push((sha256(text.as_bytes()), text));
    }
    for _ in 0..reader.length()? {
        let (kind, key) = reader.place()?;
        let held = match reader.flag()? {
            false => CacheHeld::Run(reader.id()?),
            true => CacheHeld::Value(reader.bytes()?.to_vec()),
        };
        let subject = reader.flag()?.then(|| reader.id()).transpose()?;
        let model = reader.flag()?.then(|| reader.text()).transpose()?;
        let (created_at, expires_at) = (reader.time()?, reader.time()?);
        let (bytes, hits) = (u64::from_le_bytes(reader.array()?), 0);
        let bound = NonZeroU32::new(u32::from_le_bytes(reader.array()?));
        let row = CacheRow { kind, key, held, subject, model, created_at, expires_at, hits, bytes };
        commit.cache.push(PreparedEntry { row, bound, was_absent: false });
    }
    for _ in 0..reader.length()? {
        commit.touched.push(reader.place()?);
    }
    for _ in 0..reader.length()? {
        let (id, mut spent) = (ReservationId(reader.array()?), Vec::new());
        for _ in 0..reader.length()? {
            let meter = Digest::from_bytes(reader.array()?);
            let window = i64::from_le_bytes(reader.array()?);
            spent.push((MeterKey { meter, window }, u64::from_le_bytes(reader.array()?)));
        }
        commit.settled.push(Settlement { id, spent });
    }
    if reader.0.is_empty() { Ok(commit) } else { Err("something follows what it holds".to_owned()) }
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (taken, rest) = self.0.split_first_chunk().ok_or("it ends too early")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn length(&mut self) -> Result<usize, Unreadable> {
        usize::try_from(u32::from_le_bytes(self.array()?)).map_err(|error| error.to_string())
    }

    fn flag(&mut self) -> Result<bool, Unreadable> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(format!("{other} is neither yes nor no")),
        }
    }

    fn bytes(&mut self) -> Result<&'b [u8], Unreadable> {
        let length = self.length()?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or("it ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<String, Unreadable> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|error| error.to_string())
    }

    fn id<K: Prefix>(&mut self) -> Result<Id<K>, Unreadable> {
        self.array().map(Id::from_bytes)
    }

    fn time(&mut self) -> Result<Timestamp, Unreadable> {
        Timestamp::from_millis(u64::from_le_bytes(self.array()?)).map_err(|error| error.to_string())
    }

    fn place(&mut self) -> Result<(CacheKind, Digest), Unreadable> {
        let kind = match self.array()? {
            [0] => CacheKind::ExactResponse,
            [1] => CacheKind::ToolResult,
            [2] => CacheKind::Evaluation,
            [3] => CacheKind::Negative,
            [other] => return Err(format!("{other} is no kind of entry")),
        };
        Ok((kind, Digest::from_bytes(self.array()?)))
    }
}
