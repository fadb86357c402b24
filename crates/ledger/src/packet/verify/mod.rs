//! Verification: the table of the format, rule by rule, in its order.
//!
//! [`verify`] is the order. What a packet says of itself is here; `membership.rs` asks whether the log held it and who
//! signed; `replay.rs` puts the recorded questions again.

mod membership;
mod replay;

use std::fmt::Display;

use schema::{Digest, RunId, Seq};
use serde_json::Value;

use super::reason::{Broken, Reason};
use super::{FORMAT, Packet, rows};
use crate::canonical::{self, ParseError};
use crate::chain::{Chain, ChainError, Event};
use crate::checkpoint::Checkpoint;
use crate::trust::Trust;

/// What a valid packet was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The run it proves.
    pub run: RunId,
    /// How many events.
    pub events: usize,
    /// The log's head it was proven against.
    pub checkpoint: Checkpoint,
    /// The witnesses that cosigned it.
    pub witnesses: Vec<String>,
    /// Withheld fields, as `event 3: subject`.
    pub withheld: Vec<String>,
    /// Checks that could not be made because a field is withheld.
    pub not_checked: Vec<String>,
}

/// Checks the bytes of a packet against a trust file.
///
/// `replay` re-derives a verdict: it is given the engine, the policy texts, the facts and the action, and answers with
/// the verdict or why there is none. The ledger knows how decisions are recorded, not how they are made.
///
/// # Errors
/// The first rule of the format that is broken, and how.
pub fn verify<E: Display>(
    bytes: &[u8],
    trust: &Trust,
    replay: impl Fn(&str, &[&str], &Value, &Value) -> Result<Value, E>,
) -> Result<Report, Broken> {
    // Whoever knows no engine of artifacts refuses what one answered, and never assumes.
    verify_with(bytes, trust, replay, |execution| {
        Err::<Option<Value>, _>(format!("the engine `{}` is not known to this verifier", execution.engine))
    })
}

/// An artifact that answered a recorded request.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'p> {
    /// What executes it.
    pub engine: &'p str,
    /// Its text.
    pub artifact: &'p str,
    /// The wire, the model's one name and the request, as `run.started` has them; absent where one of them is withheld.
    pub asked: Option<(&'p str, &'p str, &'p Value)>,
    /// The answer that is on record; absent where it is withheld.
    pub answer: Option<&'p Value>,
    /// The fields of the answer that the artifact leaves open, as the record of the call says that a small model told them: the text of
    /// an object. Absent where no model was asked for any.
    pub told: Option<&'p str>,
}

/// The same as [`verify`], for whoever can execute artifacts: `execute` answers the request again, as `run.finished` records an
/// answer; nothing, if it knows the engine and is not shown the request.
///
/// # Errors
/// The first rule of the format that is broken, and how.
pub fn verify_with<E: Display, X: Display>(
    bytes: &[u8],
    trust: &Trust,
    replay: impl Fn(&str, &[&str], &Value, &Value) -> Result<Value, E>,
    execute: impl Fn(&Execution<'_>) -> Result<Option<Value>, X>,
) -> Result<Report, Broken> {
    let packet = read(bytes)?;
    let run = packet.run_id().map_err(|detail| Reason::WrongShape.because(detail))?;
    chain(&packet, run)?;
    let (started, finished) = life(&packet.events)?;
    leaves(&packet)?;
    let (checkpoint, places, witnesses) = membership::proofs(&packet, run, trust)?;
    membership::statement(&packet, run, &checkpoint, &places, trust)?;
    check_rows(&packet, run, started, finished)?;
    let mut not_checked = Vec::new();
    replay::policies(&packet, replay, &mut not_checked)?;
    replay::artifacts(&packet, started, finished, execute, &mut not_checked)?;
    replay::costs(&packet, finished, &mut not_checked)?;
    let withheld = withheld(&packet.events);
    Ok(Report { run, events: packet.events.len(), checkpoint, witnesses, withheld, not_checked })
}

/// Checks only that the events of a packet are a chain, and says where it ends. A prefix passes here: this proves
/// order, not that anybody committed to it, and not that it is all.
///
/// # Errors
/// The bytes, the format, the shape, or the first event that does not follow.
pub fn verify_chain(bytes: &[u8]) -> Result<(RunId, Seq, Digest), Broken> {
    let packet = read(bytes)?;
    let run = packet.run_id().map_err(|detail| Reason::WrongShape.because(detail))?;
    let chain = chain(&packet, run)?;
    Ok((run, chain.seq(), chain.head()))
}

fn read(bytes: &[u8]) -> Result<Packet, Broken> {
    let value = canonical::parse(bytes).map_err(|error| match error {
        ParseError::NotJson(detail) => Reason::NotJson.because(detail),
        ParseError::NotCanonical(detail) => Reason::NotCanonical.because(detail),
    })?;
    let Value::Object(members) = &value else {
        return Err(Reason::WrongShape.because("a packet is an object"));
    };
    match members.get("format") {
        Some(Value::String(format)) if format == FORMAT => {}
        Some(other) => return Err(Reason::UnknownFormat.because(format!("expected {FORMAT}, found {other}"))),
        None => return Err(Reason::UnknownFormat.because("there is no member `format`")),
    }
    let packet: Packet = serde_path_to_error::deserialize(value)
        .map_err(|error| Reason::WrongShape.because(format!("{}: {}", error.path(), error.inner())))?;
    for (empty, what) in [(packet.events.is_empty(), "events"), (packet.leaves.is_empty(), "leaves")] {
        if empty {
            return Err(Reason::WrongShape.because(format!("`{what}` is empty")));
        }
    }
    for event in &packet.events {
        if event.r#type.is_empty() || event.payload.contains_key("") {
            return Err(
                Reason::WrongShape.because(format!("event {} has an empty type or field name", event.seq))
            );
        }
    }
    Ok(packet)
}

fn chain(packet: &Packet, run: RunId) -> Result<Chain, Broken> {
    let mut chain = Chain::new(packet.tenant, run);
    packet.events.iter().try_for_each(|event| {
        chain.verify_next(event).map_err(|error| match error {
            ChainError::Order { .. } => Reason::EventOrder.because(error.to_string()),
            ChainError::Hash { .. } => Reason::EventHash.because(error.to_string()),
        })
    })?;
    Ok(chain)
}

/// The first and the last event of the run's life.
fn life(events: &[Event]) -> Result<(&Event, &Event), Broken> {
    let started = events.first().filter(|event| event.r#type == "run.started");
    let started = started.ok_or_else(|| Reason::Incomplete.because("the first event is not run.started"))?;
    let finished = events.iter().find(|event| event.r#type == "run.finished");
    let finished = finished.ok_or_else(|| Reason::Incomplete.because("no event is run.finished"))?;
    for (r#type, first) in [("run.started", started), ("run.finished", finished)] {
        if let Some(again) = events.iter().find(|event| event.r#type == r#type && event.seq != first.seq) {
            return Err(Reason::Lifecycle.because(format!("event {} is a second {type}", again.seq)));
        }
    }
    Ok((started, finished))
}

fn leaves(packet: &Packet) -> Result<(), Broken> {
    let mut previous = None;
    for leaf in &packet.leaves {
        if let Some(previous) = previous.filter(|previous| leaf.seq <= *previous) {
            return Err(Reason::LeafOrder
                .because(format!("a leaf at event {} follows one at event {previous}", leaf.seq)));
        }
        previous = Some(leaf.seq);
        let place = leaf.seq.0.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        let event = place.and_then(|place| packet.events.get(place));
        if event.is_none_or(|event| event.hash != leaf.head) {
            return Err(
                Reason::LeafHead.because(format!("the leaf at event {} is of another chain", leaf.seq))
            );
        }
    }
    let bound = previous.unwrap_or(Seq::START);
    if bound.0 != packet.events.len() as u64 {
        return Err(Reason::Uncovered
            .because(format!("the newest leaf binds {bound} of {} events", packet.events.len())));
    }
    Ok(())
}

fn check_rows(packet: &Packet, run: RunId, started: &Event, finished: &Event) -> Result<(), Broken> {
    let same = |derived: &Value, shown: &Value, reason: Reason, what: &str| {
        // Compared as canonical bytes: 1 and 1.0 are one number in JSON, whatever a parser makes of them.
        if canonical::to_vec(derived) == canonical::to_vec(shown) {
            return Ok(());
        }
        Err(reason.because(format!("{what} differs from what the events say")))
    };
    same(&rows::run(packet.tenant, run, started, finished), &packet.run, Reason::RunRow, "`run`")?;
    let derived =
        rows::side_effects(&packet.events).map_err(|detail| Reason::SideEffectRow.because(detail))?;
    same(&derived.into(), &packet.side_effects.clone().into(), Reason::SideEffectRow, "`sideEffects`")?;
    same(&rows::audit(&packet.events).into(), &packet.audit.clone().into(), Reason::AuditRow, "`audit`")
}

fn withheld(events: &[Event]) -> Vec<String> {
    let fields = events
        .iter()
        .flat_map(|event| event.payload.iter().map(move |(name, field)| (event.seq, name, field)));
    fields
        .filter(|(_, _, field)| field.value().is_none())
        .map(|(seq, name, _)| format!("event {seq}: {name}"))
        .collect()
}
