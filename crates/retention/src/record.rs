//! The record of what was done to the ledger: a run of its own, in the ledger.

use crypto::random::Generator;
use ledger::{Deed, Salt};
use schema::{RunId, TenantId, Timestamp};
use serde_json::{Map, Value};
use store::{Append, Settle, StoreError};

use crate::keeper::Actor;

/// An append that is a whole run: begun, what was done, finished.
pub(crate) fn record(
    tenant: TenantId,
    at: Timestamp,
    actor: &Actor,
    r#type: &str,
    fields: Value,
) -> Result<Append, StoreError> {
    let mut random = Generator::new().map_err(StoreError::unavailable)?;
    let run = RunId::new(at.as_millis(), random.bytes());
    let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
    let deed = Deed { app: &actor.app, agent: &actor.agent, r#type, fields };
    let events = deed.record(tenant, run, at, || Salt::from_bytes(random.bytes()));
    let events = events.map_err(StoreError::unavailable)?;
    Ok(Append { events, settle: Settle::Leaf, subject: None })
}
