//! The chain of a run: every event commits to the one before it.

use schema::{Digest, RunId, Seq, TenantId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::canonical::{self, CanonicalError, MAX_INTEGER};
use crate::field::{Field, Salt, Scratch, payload_digest};
use crate::hash::sha256;
use crate::payload::{Name, Payload};
use crate::said::Said;
use crate::transcript::{Spot, Transcript};

/// One recorded event. Its run and tenant are not repeated in it; they are part of what `hash` covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When it was recorded.
    pub at: Timestamp,
    /// The hash over all of it and the hash before it.
    pub hash: Digest,
    /// What it says.
    pub payload: Payload,
    /// Its place in the run, from 1.
    pub seq: Seq,
    /// What happened, such as `run.started`.
    pub r#type: String,
}

/// Why an event does not continue a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// Another event belongs here.
    #[error("expected event {expected}, found event {found}")]
    Order {
        /// The place that comes next.
        expected: Seq,
        /// The place the event claims.
        found: Seq,
    },
    /// The event is not what was recorded here.
    #[error("event {seq} ({type}) does not hash to what it claims")]
    Hash {
        /// Which event.
        seq: Seq,
        /// Its type.
        r#type: String,
    },
}

/// The end of a run's chain, where the next event goes.
#[derive(Debug, Clone)]
pub struct Chain {
    seq: Seq,
    head: Digest,
    // The texts that every event of the run hashes again; written once.
    run: String,
    tenant: String,
    scratch: Scratch,
    /// Where the text of an event goes that nobody wants.
    unwanted: Transcript,
}

impl Chain {
    /// An empty chain.
    #[must_use]
    pub fn new(tenant: TenantId, run: RunId) -> Self {
        Self::resume(tenant, run, Seq::START, Digest::ZERO)
    }

    /// The chain as a store left it: `seq` events, the last one hashed to `head`.
    #[must_use]
    pub fn resume(tenant: TenantId, run: RunId, seq: Seq, head: Digest) -> Self {
        let (run, tenant, scratch) = (run.to_string(), tenant.to_string(), Scratch::default());
        Self { seq, head, run, tenant, scratch, unwanted: Transcript::default() }
    }

    /// How many events there are.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The hash of the last event.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Records one event: every field gets its salt, the event gets its place and its hash.
    ///
    /// # Errors
    /// A value has no canonical form. Nothing was recorded then.
    pub fn append<N: Into<Name>, V: Into<Said>>(
        &mut self,
        at: Timestamp,
        r#type: &str,
        fields: impl IntoIterator<Item = (N, V)>,
        salt: impl FnMut() -> Salt,
    ) -> Result<Event, CanonicalError> {
        let mut text = std::mem::take(&mut self.unwanted);
        text.clear();
        let appended = self.append_to(at, r#type, fields, salt, &mut text);
        self.unwanted = text;
        appended
    }

    /// The same, and appends the event to `text` as it is kept: everything has been written out for hashing anyway. After an
    /// error `text` holds a part of it.
    pub(crate) fn append_to<N: Into<Name>, V: Into<Said>>(
        &mut self,
        at: Timestamp,
        r#type: &str,
        fields: impl IntoIterator<Item = (N, V)>,
        mut salt: impl FnMut() -> Salt,
        text: &mut Transcript,
    ) -> Result<Event, CanonicalError> {
        let payload: Payload =
            fields.into_iter().map(|(name, value)| (name, Field::disclosed(salt(), value))).collect();
        let seq = self.seq.next();
        let hash = self.hash(at, &payload, seq, r#type, text)?;
        (self.seq, self.head) = (seq, hash);
        Ok(Event { at, hash, payload, seq, r#type: r#type.to_owned() })
    }

    /// Checks that `event` is the next one and moves past it.
    ///
    /// # Errors
    /// It is not; the chain stays where it was.
    pub fn verify_next(&mut self, event: &Event) -> Result<(), ChainError> {
        let expected = self.seq.next();
        if event.seq != expected {
            return Err(ChainError::Order { expected, found: event.seq });
        }
        let mut text = std::mem::take(&mut self.unwanted);
        text.clear();
        let hashed = self.hash(event.at, &event.payload, event.seq, &event.r#type, &mut text);
        self.unwanted = text;
        match hashed {
            Ok(hash) if hash == event.hash => {
                (self.seq, self.head) = (expected, hash);
                Ok(())
            }
            _ => Err(ChainError::Hash { seq: event.seq, r#type: event.r#type.clone() }),
        }
    }

    /// The canonical text of the event's envelope, hashed. Ids, times and digests need no escaping; only the type may.
    fn hash(
        &mut self,
        at: Timestamp,
        payload: &Payload,
        seq: Seq,
        r#type: &str,
        transcript: &mut Transcript,
    ) -> Result<Digest, CanonicalError> {
        let integer = i64::try_from(seq.0).ok().filter(|_| seq.0 <= MAX_INTEGER);
        let integer = integer.ok_or_else(|| CanonicalError::Number(seq.to_string()))?;
        let at = at.to_text();
        let event = &mut transcript.text;
        event.extend_from_slice(b"{\"at\":\"");
        event.extend_from_slice(&at);
        event.extend_from_slice(b"\",\"hash\":\"");
        let hash_begins = event.len();
        event.extend_from_slice(&Digest::ZERO.to_hex());
        event.extend_from_slice(b"\",\"payload\":");
        let hash_spot = transcript.spots.len();
        transcript.spots.push(Spot::Hash { at: hash_begins, hash: Digest::ZERO });
        let payload_digest = payload_digest(payload, &mut self.scratch, transcript)?;
        let event = &mut transcript.text;
        let text = &mut self.scratch.outer;
        text.clear();
        text.extend_from_slice(b"{\"at\":\"");
        text.extend_from_slice(&at);
        text.extend_from_slice(b"\",\"payload_digest\":\"");
        text.extend_from_slice(&payload_digest.to_hex());
        text.extend_from_slice(b"\",\"prev\":\"");
        text.extend_from_slice(&self.head.to_hex());
        text.extend_from_slice(b"\",\"run\":\"");
        text.extend_from_slice(self.run.as_bytes());
        text.push(b'"');
        let seq_begins = text.len();
        text.extend_from_slice(b",\"seq\":");
        canonical::write_integer(integer, text);
        let seq = seq_begins..text.len();
        text.extend_from_slice(b",\"tenant\":\"");
        text.extend_from_slice(self.tenant.as_bytes());
        text.push(b'"');
        let type_begins = text.len();
        text.extend_from_slice(b",\"type\":");
        canonical::write_string(r#type, text);
        text.push(b'}');
        let hash = sha256(text);
        event.extend_from_slice(&text[seq]);
        event.extend_from_slice(&text[type_begins..]);
        event[hash_begins..hash_begins + 64].copy_from_slice(&hash.to_hex());
        transcript.spots[hash_spot] = Spot::Hash { at: hash_begins, hash };
        Ok(hash)
    }
}
