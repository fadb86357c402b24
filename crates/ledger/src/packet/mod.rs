//! The evidence packet: one file that proves what a run did.
//!
//! [`Packet::build`] makes one from a run's events and its places in the log; [`Packet::withhold`] takes a value out;
//! [`verify`] checks the bytes of one against a trust file and names the first breach. The format is `docs/reference/evidence-packet.md`.

mod build;
mod reason;
mod rows;
mod verify;
mod withhold;

use std::collections::BTreeMap;

use schema::{Digest, RunId, Seq, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use build::{BuildError, Exporter, RunRecord};
pub use reason::{Broken, Reason};
pub use verify::{Execution, Report, verify, verify_chain, verify_with};
pub use withhold::WithholdError;

use crate::canonical::{self, CanonicalError};
use crate::chain::Event;

/// The only version there is.
pub const FORMAT: &str = "punk.evidence/1";

/// A packet as it is written. Nothing in it is to be believed before [`verify`] has seen its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Packet {
    /// The artifacts that were executed, by the digest of their text.
    pub artifacts: BTreeMap<Digest, String>,
    /// Rows for readers, derived from the `audit.…` events.
    pub audit: Vec<Value>,
    /// All events up to the newest leaf.
    pub events: Vec<Event>,
    /// [`FORMAT`].
    pub format: String,
    /// The run's places in the log, oldest first.
    pub leaves: Vec<PacketLeaf>,
    /// The policies that decided, by the digest of their text.
    pub policies: BTreeMap<Digest, String>,
    /// The run's row for readers, derived from its events.
    pub run: Value,
    /// Rows for readers, derived from the `side_effect.…` events.
    pub side_effects: Vec<Value>,
    /// The exporter's signed word that this is all.
    pub statement: String,
    /// Whose run it is.
    pub tenant: TenantId,
}

/// One leaf of the run and the proof that it is in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketLeaf {
    /// The hash of the event at `seq`.
    pub head: Digest,
    /// A `tlog-proof`.
    pub proof: String,
    /// How many events the leaf binds.
    pub seq: Seq,
}

impl Packet {
    /// The run it is about.
    fn run_id(&self) -> Result<RunId, String> {
        let id = self.run.get("id").ok_or("run: there is no member `id`")?;
        RunId::deserialize(id).map_err(|error| format!("run.id: {error}"))
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// Something in it has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CanonicalError> {
        // Every part of a packet is a JSON value already; turning it into one cannot fail.
        canonical::to_vec(&serde_json::to_value(self).unwrap_or_default())
    }
}
