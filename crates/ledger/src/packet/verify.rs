//! Verification: the table of the format, rule by rule, in its order.

use schema::{Digest, RunId, Seq};
use serde::Deserialize as _;
use serde_json::Value;

use super::reason::{Broken, Reason};
use super::{FORMAT, Packet, Replay, rows};
use crate::canonical::{self, MAX_INTEGER, ParseError};
use crate::chain::{Chain, ChainError, Event};
use crate::checkpoint::Checkpoint;
use crate::field::Field;
use crate::hash::sha256;
use crate::log::{Leaf, verify_inclusion};
use crate::note::{KeyKind, Note};
use crate::proof::Proof;
use crate::statement::Statement;
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
/// # Errors
/// The first rule of the format that is broken, and how.
pub fn verify(bytes: &[u8], trust: &Trust, replay: &impl Replay) -> Result<Report, Broken> {
    let packet = read(bytes)?;
    let run = run_id(&packet)?;
    chain(&packet, run)?;
    let (started, finished) = life(&packet.events)?;
    leaves(&packet)?;
    let (checkpoint, places, witnesses) = proofs(&packet, run, trust)?;
    statement(&packet, run, &checkpoint, &places, trust)?;
    check_rows(&packet, run, started, finished)?;
    let mut not_checked = Vec::new();
    policies(&packet, replay, &mut not_checked)?;
    artifacts(&packet)?;
    costs(&packet, finished, &mut not_checked)?;
    Ok(Report {
        run,
        events: packet.events.len(),
        checkpoint,
        witnesses,
        withheld: withheld(&packet.events),
        not_checked,
    })
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

fn run_id(packet: &Packet) -> Result<RunId, Broken> {
    let id =
        packet.run.get("id").ok_or_else(|| Reason::WrongShape.because("run: there is no member `id`"))?;
    RunId::deserialize(id).map_err(|error| Reason::WrongShape.because(format!("run.id: {error}")))
}

fn chain(packet: &Packet, run: RunId) -> Result<(), Broken> {
    let mut chain = Chain::new(packet.tenant, run);
    packet.events.iter().try_for_each(|event| {
        chain.verify_next(event).map_err(|error| match error {
            ChainError::Order { .. } => Reason::EventOrder.because(error.to_string()),
            ChainError::Hash { .. } => Reason::EventHash.because(error.to_string()),
        })
    })
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

/// Index, seq and head of a leaf.
type Place = (u64, Seq, Digest);

fn proofs(
    packet: &Packet,
    run: RunId,
    trust: &Trust,
) -> Result<(Checkpoint, Vec<Place>, Vec<String>), Broken> {
    let mut places: Vec<Place> = Vec::new();
    let mut first: Option<(Proof, Vec<String>)> = None;
    for leaf in &packet.leaves {
        let proof: Proof = leaf
            .proof
            .parse()
            .map_err(|error| Reason::ProofText.because(format!("the leaf at event {}: {error}", leaf.seq)))?;
        if let Some((first, _)) = &first {
            if proof.note != first.note {
                return Err(Reason::CheckpointDiffers
                    .because(format!("the leaf at event {} has another checkpoint", leaf.seq)));
            }
        } else {
            let witnesses = checkpoint(packet, &proof, trust)?;
            first = Some((proof.clone(), witnesses));
        }
        if places.last().is_some_and(|(index, ..)| proof.index <= *index) {
            return Err(Reason::LeafOrder
                .because(format!("the leaf at event {} is not after the one before it", leaf.seq)));
        }
        let Checkpoint { size, root, .. } = proof.checkpoint;
        let data = Leaf { run, seq: leaf.seq, head: leaf.head };
        if !verify_inclusion(&data, proof.index, size, root, &proof.path) {
            let detail = format!(
                "the leaf at event {} is not at index {} of the tree of {size}",
                leaf.seq, proof.index
            );
            return Err(Reason::Inclusion.because(detail));
        }
        places.push((proof.index, leaf.seq, leaf.head));
    }
    let (proof, witnesses) = first.ok_or_else(|| Reason::WrongShape.because("`leaves` is empty"))?;
    Ok((proof.checkpoint, places, witnesses))
}

/// Checks who signed the checkpoint and returns the witnesses among them.
fn checkpoint(packet: &Packet, proof: &Proof, trust: &Trust) -> Result<Vec<String>, Broken> {
    let origin = &proof.checkpoint.origin;
    if !origin.as_str().ends_with(&format!("/{}", packet.tenant)) {
        return Err(
            Reason::WrongOrigin.because(format!("{origin} is not the log of tenant {}", packet.tenant))
        );
    }
    let mut signers = Vec::new();
    for line in proof.note.signatures() {
        let key = trust.key_of(origin, line).ok_or_else(|| {
            let id = u32::from_be_bytes(line.id());
            Reason::UnknownKey
                .because(format!("the trust file lists no key {}+{id:08x} for {origin}", line.name()))
        })?;
        if !key.verifies(proof.note.text(), line) {
            return Err(Reason::BadSignature
                .because(format!("the checkpoint's signature by {} does not hold", line.name())));
        }
        signers.push(key);
    }
    if !signers.iter().any(|key| key.kind() == KeyKind::Log) {
        return Err(Reason::Unsigned.because(format!("{origin} did not sign its checkpoint")));
    }
    signers.retain(|key| key.kind() == KeyKind::Witness);
    if !trust.is_quorum(&signers) {
        return Err(Reason::Quorum
            .because(format!("{} witnesses cosigned, the trust file wants others or more", signers.len())));
    }
    Ok(signers.iter().map(|key| key.name().to_string()).collect())
}

fn statement(
    packet: &Packet,
    run: RunId,
    checkpoint: &Checkpoint,
    places: &[Place],
    trust: &Trust,
) -> Result<(), Broken> {
    let note: Note = packet
        .statement
        .parse()
        .map_err(|error| Reason::StatementText.because(format!("the statement: {error}")))?;
    let [line] = note.signatures() else {
        return Err(Reason::StatementText.because("the statement has more than one signature"));
    };
    let expected = Statement {
        checkpoint,
        run,
        events: packet.events.len(),
        leaves: places,
        policies: packet.policies.keys().copied().collect(),
        artifacts: packet.artifacts.keys().copied().collect(),
    };
    if note.text() != expected.text() {
        return Err(Reason::StatementDiffers
            .because("the statement speaks of other events, leaves, policies or artifacts"));
    }
    let key = trust.log_keys(&checkpoint.origin).find(|key| key.is_named_by(line));
    let key = key.ok_or_else(|| {
        Reason::UnknownKey.because(format!("the statement is signed by {}, not by the log", line.name()))
    })?;
    if !key.verifies(note.text(), line) {
        return Err(Reason::BadSignature.because("the statement's signature does not hold"));
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

fn shown<'a>(event: &'a Event, name: &str) -> Option<&'a Value> {
    event.payload.get(name).and_then(Field::value)
}

fn policies(packet: &Packet, replay: &impl Replay, not_checked: &mut Vec<String>) -> Result<(), Broken> {
    for (name, text) in &packet.policies {
        if sha256(text.as_bytes()) != *name {
            return Err(
                Reason::PolicyBytes.because(format!("the bytes of policy {name} are not the recorded ones"))
            );
        }
    }
    let mut named = Vec::new();
    for event in packet.events.iter().filter(|event| event.r#type == "policy.decided") {
        let seq = event.seq;
        let missing = ["engine", "policies", "facts", "action", "verdict"]
            .iter()
            .find(|name| !event.payload.contains_key(**name));
        if let Some(name) = missing {
            return Err(Reason::PolicyEvent.because(format!("event {seq} has no field `{name}`")));
        }
        let engine = shown(event, "engine").and_then(Value::as_str);
        let engine = engine
            .ok_or_else(|| Reason::PolicyEvent.because(format!("event {seq} does not show its engine")))?;
        let digests = shown(event, "policies").and_then(|value| Vec::<Digest>::deserialize(value).ok());
        let digests = digests
            .ok_or_else(|| Reason::PolicyEvent.because(format!("event {seq} does not show its policies")))?;
        let mut texts = Vec::new();
        for digest in digests {
            let text = packet.policies.get(&digest);
            let text = text.ok_or_else(|| {
                Reason::PolicyMissing.because(format!("event {seq} names policy {digest}, which is not here"))
            })?;
            texts.push(text.as_str());
            named.push(digest);
        }
        let (Some(facts), Some(action), Some(recorded)) =
            (shown(event, "facts"), shown(event, "action"), shown(event, "verdict"))
        else {
            not_checked.push(format!("event {seq}: the verdict, because a field is withheld"));
            continue;
        };
        let derived = replay.verdict(engine, &texts, facts, action);
        let derived = derived.map_err(|error| Reason::Verdict.because(format!("event {seq}: {error}")))?;
        if canonical::to_vec(&derived) != canonical::to_vec(recorded) {
            return Err(Reason::Verdict
                .because(format!("event {seq}: the policy says {derived}, recorded is {recorded}")));
        }
    }
    if let Some(name) = packet.policies.keys().find(|name| !named.contains(name)) {
        return Err(Reason::PolicyExtra.because(format!("policy {name} decided nothing in this run")));
    }
    Ok(())
}

fn artifacts(packet: &Packet) -> Result<(), Broken> {
    for (name, text) in &packet.artifacts {
        if sha256(text.as_bytes()) != *name {
            return Err(Reason::ArtifactBytes
                .because(format!("the bytes of artifact {name} are not the recorded ones")));
        }
    }
    if let Some(event) = packet.events.iter().find(|event| event.r#type == "artifact.executed") {
        let seq = event.seq;
        let engine = shown(event, "engine").and_then(Value::as_str);
        let artifact = shown(event, "artifact").and_then(|value| Digest::deserialize(value).ok());
        let (Some(engine), Some(artifact)) = (engine, artifact) else {
            return Err(
                Reason::ArtifactEvent.because(format!("event {seq} does not show its engine and artifact"))
            );
        };
        if !packet.artifacts.contains_key(&artifact) {
            return Err(Reason::ArtifactMissing
                .because(format!("event {seq} names artifact {artifact}, which is not here")));
        }
        // This version of the format defines no artifact engine, so nothing can be re-executed: refuse, never assume.
        return Err(Reason::ArtifactReplay
            .because(format!("event {seq}: the engine `{engine}` is not known to this verifier")));
    }
    match packet.artifacts.keys().next() {
        Some(name) => {
            Err(Reason::ArtifactExtra.because(format!("artifact {name} was not executed in this run")))
        }
        None => Ok(()),
    }
}

fn costs(packet: &Packet, finished: &Event, not_checked: &mut Vec<String>) -> Result<(), Broken> {
    let parts: Vec<&Event> = packet.events.iter().filter(|event| event.r#type == "model.completed").collect();
    for name in ["costMicroUsd", "inputTokens", "outputTokens"] {
        let concerned = parts.iter().copied().chain([finished]);
        if concerned.clone().any(|event| event.payload.get(name).is_some_and(|field| field.value().is_none()))
        {
            not_checked.push(format!("the sum of {name}, because a field is withheld"));
            continue;
        }
        if let Some(event) =
            concerned.clone().find(|event| shown(event, name).is_none_or(|value| amount(value).is_none()))
        {
            return Err(Reason::Costs
                .because(format!("event {} has no {name} that is a whole number or null", event.seq)));
        }
        let sum = parts
            .iter()
            .try_fold(0u128, |sum, event| Some(sum + u128::from(shown(event, name).and_then(amount)??)));
        let recorded = shown(finished, name).and_then(amount).flatten().map(u128::from);
        if sum != recorded {
            let text = |amount: Option<u128>| amount.map_or("null".to_owned(), |amount| amount.to_string());
            let detail =
                format!("the parts' {name} come to {}, run.finished has {}", text(sum), text(recorded));
            return Err(Reason::Costs.because(detail));
        }
    }
    Ok(())
}

/// A whole number, or an explicit unknown; `None` for anything else.
fn amount(value: &Value) -> Option<Option<u64>> {
    match value {
        Value::Null => Some(None),
        _ => value.as_u64().filter(|&amount| amount <= MAX_INTEGER).map(Some),
    }
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
