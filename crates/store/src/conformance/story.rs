//! A run as it is being written.

use ledger::{Chain, Event, Recorded, Salt};
use schema::{Digest, RunId, Seq, TenantId, Timestamp};
use serde_json::{Value, json};

use super::corner::at;
use crate::{Append, Settle};

/// Makes the events of one run, in order. A clone goes on from the same place, as a competitor would.
#[derive(Clone)]
pub struct Story {
    /// The run.
    pub run: RunId,
    tenant: TenantId,
    chain: Chain,
    /// Where the chain stood after each event, and before the first.
    heads: Vec<Digest>,
    salts: u128,
}

impl Story {
    /// The run before its first event.
    #[must_use]
    pub fn new(tenant: TenantId, run: RunId) -> Self {
        Self { run, tenant, chain: Chain::new(tenant, run), heads: vec![Digest::ZERO], salts: 0 }
    }

    /// How many events there are.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.chain.seq()
    }

    /// The next event. `fields` is an object.
    pub fn event(&mut self, r#type: &str, fields: Value) -> Event {
        self.event_at(at(1_000_000 + self.seq().0 * 10), r#type, fields)
    }

    /// The next event, of this moment. `fields` is an object.
    pub fn event_at(&mut self, moment: Timestamp, r#type: &str, fields: Value) -> Event {
        let Value::Object(fields) = fields else { panic!("the fields of an event are an object") };
        let salts = &mut self.salts;
        let salt = || {
            *salts += 1;
            Salt::from_bytes(salts.to_be_bytes())
        };
        let event = self.chain.append(moment, r#type, fields, salt).unwrap();
        self.heads.push(event.hash);
        event
    }

    /// An append of these events, which were the last ones made.
    #[must_use]
    pub fn append(&self, events: Vec<Event>, settle: Settle) -> Append {
        let after = self.heads.len() - 1 - events.len();
        let events = Recorded::check(self.tenant, self.run, Seq(after as u64), self.heads[after], events);
        Append { events: events.unwrap(), settle, subject: None }
    }

    /// An append of `count` ordinary events; the first of a run is `run.started`.
    pub fn go_on(&mut self, count: usize) -> Append {
        let events = (0..count).map(|_| self.ordinary()).collect();
        self.append(events, Settle::Open)
    }

    /// An append of `run.finished`, with a leaf; begins the run if it has not.
    pub fn finish(&mut self) -> Append {
        let mut events = Vec::new();
        if self.seq() == Seq::START {
            events.push(self.ordinary());
        }
        let fields =
            json!({ "status": "completed", "route": "provider", "costMicroUsd": 120, "latencyMs": 12.5 });
        events.push(self.event("run.finished", fields));
        self.append(events, Settle::Leaf)
    }

    fn ordinary(&mut self) -> Event {
        match self.seq() {
            Seq::START => self.event(
                "run.started",
                json!({ "kind": "chat", "model": "small", "app": "shop", "unlisted": [1, 2] }),
            ),
            Seq(seq) => self.event("step", json!({ "number": seq, "model": "not of the row" })),
        }
    }
}
