//! What belongs to the audit trail: every change by an operator, and every decision that did not simply allow.

use ledger::canonical::CanonicalError;
use ledger::{Event, Field};
use schema::Effect;
use serde_json::{Value, json};

/// The fields of other events that a trail shows: who, how it ended, and what a verifier must see. Not what was asked and
/// answered, and not whom it was about.
const SHOWN: &[&str] = &[
    "kind",
    "app",
    "agent",
    "keyId",
    "gatewayMode",
    "model",
    "status",
    "route",
    "costMicroUsd",
    "savedMicroUsd",
    "inputTokens",
    "outputTokens",
    "latencyMs",
    "sideEffect",
    "toolName",
    "level",
    "engine",
    "artifact",
];

/// Whether an event belongs to the trail. A decision that does not show its verdict does: it may have held something back.
pub(super) fn has(event: &Event) -> bool {
    if event.r#type == "policy.decided" {
        let verdict = event.payload.get("verdict").and_then(Field::value);
        return verdict.is_none_or(|verdict| verdict["effect"] != json!(Effect::Allow));
    }
    is_change(event)
}

fn is_change(event: &Event) -> bool {
    event.r#type.starts_with("audit.")
}

/// The event as a trail shows it: changes and decisions whole, of the rest who and how it ended.
///
/// # Errors
/// A value has no canonical form; then it was never recorded.
pub(super) fn shown(mut event: Event) -> Result<Event, CanonicalError> {
    if !is_change(&event) && event.r#type != "policy.decided" {
        for (name, field) in event.payload.iter_mut() {
            if !SHOWN.contains(&&**name) {
                *field = field.withheld(name)?;
            }
        }
    }
    Ok(event)
}

/// The rows of a run for readers: derived from its events, and from nothing else.
pub(super) fn rows(events: &[Event]) -> Vec<Value> {
    events.iter().filter(|event| has(event)).map(row).collect()
}

fn row(event: &Event) -> Value {
    let field = |name: &str| event.payload.get(name).map_or(Value::Null, Field::shown);
    let mut row = json!({ "seq": event.seq, "at": event.at, "type": event.r#type, "hash": event.hash });
    let said = if is_change(event) {
        [("actor", field("actor")), ("target", field("target"))]
    } else {
        [("action", field("action")), ("verdict", field("verdict"))]
    };
    for (name, value) in said {
        row[name] = value;
    }
    row
}
