//! Side effects of a run: told by whoever performs them, kept as events, and read back from those.
//!
//! An effect is announced before it is performed (`side_effect.planned`) and told to be done afterwards
//! (`side_effect.executed`). The ledger refuses a packet in which an effect is done that was never announced, so the order
//! is checked here, against the run as it is when the event is appended.

use std::collections::HashMap;

use ledger::Event;
use schema::{RunId, SideEffect, SideEffectId, SideEffectLevel, SideEffectStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::append::{Told, members};
use crate::call::wanted::payload_of;
use crate::error::ApiError;
use crate::text::Name;

pub(crate) const PLANNED: &str = "side_effect.planned";
/// The field that tells what exactly is planned, though not in words.
const HASH: &str = "payloadHash";
pub(crate) const EXECUTED: &str = "side_effect.executed";

/// A side effect, as whoever performs it tells of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ToldEffect {
    /// The tool that performs it.
    pub(crate) tool_name: Name,
    /// How much it changes, from 0 (nothing) to 4 (what cannot be taken back); 3 when nobody says.
    #[serde(default = "undeclared")]
    pub(crate) level: SideEffectLevel,
    /// What exactly.
    #[serde(default)]
    pub(crate) payload: Value,
    /// For `side_effect.executed`: which of the planned ones. Without it, the oldest of this tool that is still planned; if
    /// there is none, the effect is recorded as planned and executed at once.
    #[serde(default)]
    side_effect_id: Option<SideEffectId>,
}

fn undeclared() -> SideEffectLevel {
    SideEffectLevel::UNDECLARED
}

/// Whether an announcement can be one.
pub(crate) fn check_planned(told: &ToldEffect) -> Result<(), ApiError> {
    match told.side_effect_id {
        Some(_) => Err(refused("a planned side effect gets its id here; leave it out")),
        None => Ok(()),
    }
}

/// The same effect, if it is planned already and not yet settled.
pub(crate) fn open_twin(before: &[Event], told: &ToldEffect) -> Option<SideEffectId> {
    // What is recorded of two payloads may be the same though they are not: placeholders stand in them.
    let hash = json!(payload_of(told.tool_name.as_str(), &told.payload));
    let same = |event: &&Event| {
        event.r#type == PLANNED && event.payload.get(HASH).and_then(|field| field.value()) == Some(&hash)
    };
    let same: Vec<&Value> =
        before.iter().filter(same).filter_map(|event| event.payload.get("sideEffect")?.value()).collect();
    let twin = |effect: &SideEffect<Value>| {
        effect.status == SideEffectStatus::Planned && same.contains(&&json!(effect.id))
    };
    of(RunId::NIL, before).into_iter().find(twin).map(|effect| effect.id)
}

/// The event that says it may not be done.
pub(crate) fn blocked(id: SideEffectId) -> Told {
    ("side_effect.blocked".to_owned(), members(json!({ "sideEffect": id })))
}

/// The events that say it was done, and which one it was; `new` is its id if it was never announced.
pub(crate) fn executed(
    told: &ToldEffect,
    before: &[Event],
    new: SideEffectId,
) -> Result<(Vec<Told>, SideEffectId), ApiError> {
    let before = of(RunId::NIL, before);
    let mut open = before.iter().filter(|effect| effect.status == SideEffectStatus::Planned);
    let done = |id: SideEffectId| (EXECUTED.to_owned(), members(json!({ "sideEffect": id })));
    match told.side_effect_id {
        Some(id) if open.any(|effect| effect.id == id) => Ok((vec![done(id)], id)),
        Some(_) => Err(refused("no side effect of this run with this id is planned and not yet settled")),
        None => Ok(match open.find(|effect| effect.tool_name == told.tool_name.as_str()) {
            Some(effect) => (vec![done(effect.id)], effect.id),
            None => (vec![plan(told, told.level, new), done(new)], new),
        }),
    }
}

/// The event that announces it.
pub(crate) fn plan(told: &ToldEffect, level: SideEffectLevel, id: SideEffectId) -> Told {
    let ToldEffect { tool_name, payload, .. } = told;
    let hash = payload_of(tool_name.as_str(), payload);
    let fields =
        json!({ "sideEffect": id, "toolName": tool_name, "level": level, "payload": payload, HASH: hash });
    (PLANNED.to_owned(), members(fields))
}

fn refused(why: &str) -> ApiError {
    let param = "payload.sideEffectId".to_owned();
    ApiError::Malformed { message: format!("{param}: {why}"), param }
}

/// The side effects that a run's events tell of, in the order in which they were planned. What was erased is null.
pub(crate) fn of(run_id: RunId, events: &[Event]) -> Vec<SideEffect<Value>> {
    let mut effects: Vec<SideEffect<Value>> = Vec::new();
    let mut places: HashMap<SideEffectId, usize> = HashMap::new();
    for event in events {
        let Some(word) = event.r#type.strip_prefix("side_effect.") else { continue };
        let field = |name: &str| event.payload.get(name).and_then(|field| field.value()).cloned();
        let id = field("sideEffect").and_then(|id| serde_json::from_value(id).ok());
        let status = serde_json::from_value(Value::from(word)).ok();
        let (Some(id), Some(status)) = (id, status) else { continue };
        if status == SideEffectStatus::Planned {
            places.insert(id, effects.len());
            effects.push(SideEffect {
                id,
                run_id,
                tool_name: field("toolName")
                    .and_then(|name| Some(name.as_str()?.to_owned()))
                    .unwrap_or_default(),
                level: field("level")
                    .and_then(|level| serde_json::from_value(level).ok())
                    .unwrap_or(SideEffectLevel::UNDECLARED),
                payload: field("payload").unwrap_or_default(),
                status,
                planned_at: event.at,
                settled_at: None,
            });
        } else if let Some(effect) = places.get(&id).and_then(|place| effects.get_mut(*place)) {
            (effect.status, effect.settled_at) = (status, Some(event.at));
        }
    }
    effects
}
