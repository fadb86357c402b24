//! Events that are known to follow each other.

use std::ops::Deref;

use schema::{Digest, RunId, Seq, TenantId, Timestamp};

use crate::canonical::CanonicalError;
use crate::chain::{Chain, ChainError, Event};
use crate::field::Salt;
use crate::payload::Name;
use crate::said::Said;
use crate::transcript::Transcript;

/// Events of one run that follow each other and what came before. They were made by a [`Recorder`], or checked; nobody can
/// change them, so nobody has to hash them again.
#[derive(Debug, Clone)]
pub struct Recorded {
    tenant: TenantId,
    run: RunId,
    after: Seq,
    before: Digest,
    events: Vec<Event>,
    /// The events as they are kept, where they were written out on the way to their hashes.
    transcript: Option<Transcript>,
}

impl PartialEq for Recorded {
    /// What they say, however they came about.
    fn eq(&self, other: &Self) -> bool {
        let place = |recorded: &Self| (recorded.tenant, recorded.run, recorded.after, recorded.before);
        place(self) == place(other) && self.events == other.events
    }
}

impl Recorded {
    /// These events, if they go on with a run of `after` events whose last one is hashed to `before`.
    ///
    /// # Errors
    /// The first event that does not.
    pub fn check(
        tenant: TenantId,
        run: RunId,
        after: Seq,
        before: Digest,
        events: Vec<Event>,
    ) -> Result<Self, ChainError> {
        let mut chain = Chain::resume(tenant, run, after, before);
        events.iter().try_for_each(|event| chain.verify_next(event))?;
        Ok(Self { tenant, run, after, before, events, transcript: None })
    }

    /// Whose they are.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// How many events the run has before them.
    #[must_use]
    pub fn after(&self) -> Seq {
        self.after
    }

    /// The hash of the last of those.
    #[must_use]
    pub fn before(&self) -> Digest {
        self.before
    }

    /// Where the run ends with them: how many events it has, and the hash of the last.
    #[must_use]
    pub fn end(&self) -> (Seq, Digest) {
        self.events.last().map_or((self.after, self.before), |last| (last.seq, last.hash))
    }

    /// The events as one JSON text. Values in it are in their canonical form.
    #[must_use]
    pub fn to_text(&self) -> Vec<u8> {
        // Events are JSON already; writing them out cannot fail.
        match &self.transcript {
            Some(transcript) => transcript.text.clone(),
            None => serde_json::to_vec(&self.events).unwrap_or_default(),
        }
    }

    /// The same text with what stands where in it, if that is known.
    #[must_use]
    pub fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    /// Whether they go on with a run of `tenant` that ends at `seq` and `head`.
    ///
    /// # Errors
    /// They do not; it is the first of them that does not fit.
    pub fn follows(&self, tenant: TenantId, seq: Seq, head: Digest) -> Result<(), ChainError> {
        if self.after != seq {
            return Err(ChainError::Order { expected: seq.next(), found: self.after.next() });
        }
        match self.events.first() {
            Some(first) if tenant != self.tenant || head != self.before => {
                Err(ChainError::Hash { seq: first.seq, r#type: first.r#type.clone() })
            }
            _ => Ok(()),
        }
    }
}

impl Deref for Recorded {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.events
    }
}

/// Records events, one after the other.
#[derive(Debug, Clone)]
pub struct Recorder {
    chain: Chain,
    recorded: Recorded,
    transcript: Transcript,
}

impl Recorder {
    /// Begins a run.
    #[must_use]
    pub fn new(tenant: TenantId, run: RunId) -> Self {
        Self::resume(tenant, run, Seq::START, Digest::ZERO)
    }

    /// Goes on with a run as a store left it: `seq` events, the last one hashed to `head`.
    #[must_use]
    pub fn resume(tenant: TenantId, run: RunId, seq: Seq, head: Digest) -> Self {
        let events = Vec::new();
        let recorded = Recorded { tenant, run, after: seq, before: head, events, transcript: None };
        Self { chain: Chain::resume(tenant, run, seq, head), recorded, transcript: Transcript::default() }
    }

    /// The same, with room for a text of about so many bytes, where that is known.
    #[must_use]
    pub fn with_room_for(mut self, bytes: usize) -> Self {
        self.transcript.text.reserve(bytes);
        self
    }

    /// Records one more: see [`Chain::append`].
    ///
    /// # Errors
    /// A value has no canonical form. Nothing was recorded then.
    pub fn append<N: Into<Name>, V: Into<Said>>(
        &mut self,
        at: Timestamp,
        r#type: &str,
        fields: impl IntoIterator<Item = (N, V)>,
        salt: impl FnMut() -> Salt,
    ) -> Result<&Event, CanonicalError> {
        let before = self.transcript.mark();
        self.transcript.text.push(if self.transcript.text.is_empty() { b'[' } else { b',' });
        let appended = self.chain.append_to(at, r#type, fields, salt, &mut self.transcript);
        let event = appended.inspect_err(|_| self.transcript.go_back(before))?;
        self.recorded.events.push(event);
        let place = self.recorded.events.len() - 1;
        Ok(&self.recorded.events[place])
    }

    /// What was recorded.
    #[must_use]
    pub fn end(mut self) -> Recorded {
        if !self.transcript.text.is_empty() {
            self.transcript.text.push(b']');
            self.recorded.transcript = Some(self.transcript);
        }
        self.recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn recorded() -> Recorded {
        let mut recorder = Recorder::new(TenantId::NIL, RunId::from_bytes([1; 16]));
        let at = Timestamp::from_millis(1_000).unwrap();
        for n in 0..3 {
            let fields = [("n".to_owned(), json!(n))];
            recorder.append(at, "step", fields, || Salt::from_bytes([7; 16])).unwrap();
        }
        recorder.end()
    }

    fn again(events: Vec<Event>) -> Result<Recorded, ChainError> {
        Recorded::check(TenantId::NIL, RunId::from_bytes([1; 16]), Seq::START, Digest::ZERO, events)
    }

    #[test]
    fn what_was_recorded_checks_and_nothing_else_does() {
        let honest = recorded();
        assert_eq!(again(honest.to_vec()), Ok(honest.clone()));
        let with = |change: &dyn Fn(&mut Vec<Event>)| {
            let mut events = honest.to_vec();
            change(&mut events);
            events
        };
        for (case, events) in [
            ("changed type", with(&|events| events[0].r#type.push('!'))),
            ("changed hash", with(&|events| events[1].hash = Digest::ZERO)),
            ("changed value", with(&|events| events[1].payload.clear())),
            ("swapped", with(&|events| events.swap(0, 1))),
            ("with a gap", with(&|events| drop(events.remove(0)))),
        ] {
            let error = again(events).unwrap_err();
            let is_order = matches!(error, ChainError::Order { .. });
            assert_eq!(is_order, ["swapped", "with a gap"].contains(&case), "{case}: {error}");
        }
        let elsewhere =
            |tenant, run| Recorded::check(tenant, run, Seq::START, Digest::ZERO, honest.to_vec()).is_err();
        assert!(elsewhere(TenantId::from_bytes([2; 16]), honest.run()));
        assert!(elsewhere(TenantId::NIL, RunId::from_bytes([2; 16])));
    }

    #[test]
    fn its_text_reads_back_as_its_events() {
        let honest = recorded();
        let read: Vec<Event> = serde_json::from_slice(&honest.to_text()).unwrap();
        assert_eq!(read, honest.to_vec());
        // Also where nothing was left out by an error, or the events came from elsewhere.
        let mut recorder = Recorder::new(TenantId::NIL, RunId::from_bytes([1; 16]));
        let at = Timestamp::from_millis(1_000).unwrap();
        let salt = || Salt::from_bytes([7; 16]);
        recorder
            .append(at, "a \"type\"", [("ä\n", json!({ "b": [1.5, null], "a": "\u{1}" }))], salt)
            .unwrap();
        recorder.append(at, "too large", [("n", json!(u64::MAX))], salt).unwrap_err();
        recorder.append(at, "empty", <[(&str, Value); 0]>::default(), salt).unwrap();
        let recorded = recorder.end();
        let read: Vec<Event> = serde_json::from_slice(&recorded.to_text()).unwrap();
        assert_eq!(read, recorded.to_vec());
        assert_eq!(again(read.clone()).unwrap().to_text(), serde_json::to_vec(&read).unwrap());
    }

    #[test]
    fn it_follows_its_own_beginning_and_no_other() {
        let recorded = recorded();
        let tenant = TenantId::from_bytes([2; 16]);
        assert_eq!(recorded.follows(TenantId::NIL, Seq::START, Digest::ZERO), Ok(()));
        assert!(matches!(
            recorded.follows(TenantId::NIL, Seq(1), Digest::ZERO),
            Err(ChainError::Order { .. })
        ));
        let other = recorded.end().1;
        assert!(matches!(recorded.follows(TenantId::NIL, Seq::START, other), Err(ChainError::Hash { .. })));
        assert!(matches!(recorded.follows(tenant, Seq::START, Digest::ZERO), Err(ChainError::Hash { .. })));
    }
}
