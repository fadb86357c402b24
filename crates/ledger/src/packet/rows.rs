//! Rows for readers, derived from events and from nothing else.

use std::collections::HashMap;

use schema::{RunId, TenantId};
use serde_json::{Map, Value, json};

use crate::chain::Event;

/// The fields of the run's row that `run.started` gives.
const FROM_STARTED: &[&str] = &["kind", "app", "agent", "subject", "gatewayMode", "model"];
/// The fields of the run's row that `run.finished` gives.
const FROM_FINISHED: &[&str] = &[
    "status",
    "route",
    "explanation",
    "costMicroUsd",
    "savedMicroUsd",
    "inputTokens",
    "outputTokens",
    "latencyMs",
];

/// All rows of a packet.
pub(super) struct Rows {
    pub(super) run: Value,
    pub(super) side_effects: Vec<Value>,
    pub(super) audit: Vec<Value>,
}

/// The rows that these events give.
///
/// # Errors
/// The run has no beginning or no end, or its side effects contradict each other.
pub(super) fn derive(tenant: TenantId, run_id: RunId, events: &[Event]) -> Result<Rows, String> {
    let started =
        events.first().filter(|event| event.r#type == "run.started").ok_or("they have no beginning")?;
    let finished = events.iter().find(|event| event.r#type == "run.finished").ok_or("they have no end")?;
    Ok(Rows {
        run: run(tenant, run_id, started, finished),
        side_effects: side_effects(events)?,
        audit: audit(events),
    })
}

/// What a row shows of a field: its value, its marker if it is withheld, `null` if there is none.
fn field(event: &Event, name: &str) -> Value {
    event.payload.get(name).map_or(Value::Null, |field| field.shown())
}

/// The run's row.
pub(super) fn run(tenant: TenantId, run: RunId, started: &Event, finished: &Event) -> Value {
    let mut row = Map::new();
    row.insert("id".into(), json!(run));
    row.insert("tenant".into(), json!(tenant));
    row.insert("startedAt".into(), json!(started.at));
    row.insert("finishedAt".into(), json!(finished.at));
    for (event, names) in [(started, FROM_STARTED), (finished, FROM_FINISHED)] {
        row.extend(names.iter().map(|name| ((*name).to_owned(), field(event, name))));
    }
    Value::Object(row)
}

/// One row for each planned side effect, in order.
///
/// # Errors
/// A side effect without an id, planned twice, settled twice or settled before it was planned.
pub(super) fn side_effects(events: &[Event]) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    let mut places = HashMap::new();
    for event in events {
        let Some(word) = event.r#type.strip_prefix("side_effect.") else { continue };
        if !matches!(word, "planned" | "executed" | "suppressed" | "blocked") {
            continue;
        }
        let id = event.payload.get("sideEffect").and_then(|field| field.value()).and_then(Value::as_str);
        let id =
            id.ok_or_else(|| format!("event {} does not show which side effect it is about", event.seq))?;
        if word == "planned" {
            if places.insert(id, rows.len()).is_some() {
                return Err(format!("event {} plans {id} a second time", event.seq));
            }
            rows.push(json!({
                "id": id, "toolName": field(event, "toolName"), "level": field(event, "level"),
                "payload": field(event, "payload"), "status": "planned", "plannedAt": event.at, "settledAt": null,
            }));
            continue;
        }
        let row: Option<&mut Value> = places.get(id).and_then(|&place: &usize| rows.get_mut(place));
        let row = row.filter(|row| row["status"] == "planned");
        let row = row.ok_or_else(|| {
            format!("event {} settles {id}, which is not planned or already settled", event.seq)
        })?;
        row["status"] = json!(word);
        row["settledAt"] = json!(event.at);
    }
    Ok(rows)
}

/// One row for each audit event, in order.
pub(super) fn audit(events: &[Event]) -> Vec<Value> {
    let rows = events.iter().filter(|event| event.r#type.starts_with("audit."));
    rows.map(|event| {
        let payload: Map<String, Value> =
            event.payload.iter().map(|(name, field)| (name.to_string(), field.shown())).collect();
        json!({ "seq": event.seq, "at": event.at, "type": event.r#type, "payload": payload })
    })
    .collect()
}
