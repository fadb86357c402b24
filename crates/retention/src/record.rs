//! The record of what was done to the ledger: a run of its own, in the ledger.

use ledger::{Recorder, Salt};
use schema::{RunId, RunKind, RunStatus, TenantId, Timestamp};
use serde_json::{Map, Value, json};
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
    let run = RunId::new(at.as_millis(), crypto::random::bytes().map_err(StoreError::unavailable)?);
    let started = json!({
        "kind": RunKind::Audit, "app": actor.app, "agent": actor.agent, "subject": null, "model": null,
    });
    let finished = json!({
        "status": RunStatus::Completed, "costMicroUsd": 0, "savedMicroUsd": 0,
        "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
    });
    let mut recorder = Recorder::new(tenant, run);
    for (r#type, fields) in [("run.started", started), (r#type, fields), ("run.finished", finished)] {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        // Drawn beforehand: a source of randomness that fails must not leave a field without its salt.
        let salts = fields.iter().map(|_| crypto::random::bytes().map(Salt::from_bytes));
        let mut salts = salts.collect::<Result<Vec<_>, _>>().map_err(StoreError::unavailable)?.into_iter();
        let event = recorder.append(at, r#type, fields, || salts.next().unwrap_or(Salt::from_bytes([0; 16])));
        event.map_err(StoreError::unavailable)?;
    }
    Ok(Append { events: recorder.end(), settle: Settle::Leaf, subject: None })
}
