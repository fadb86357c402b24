//! Putting the recorded questions again: the policy's verdict, the artifact's answer, the sum of the costs.

use std::fmt::Display;

use schema::Digest;
use serde::Deserialize as _;
use serde_json::Value;

use super::super::Packet;
use super::super::reason::{Broken, Reason};
use super::Execution;
use crate::canonical::{self, MAX_INTEGER};
use crate::chain::Event;
use crate::field::Field;
use crate::hash::sha256;

fn shown<'a>(event: &'a Event, name: &str) -> Option<&'a Value> {
    event.payload.get(name).and_then(Field::value)
}

pub(super) fn policies<E: Display>(
    packet: &Packet,
    replay: impl Fn(&str, &[&str], &Value, &Value) -> Result<Value, E>,
    not_checked: &mut Vec<String>,
) -> Result<(), Broken> {
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
            .find(|name| !event.payload.contains_key(name));
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
        let derived = replay(engine, &texts, facts, action);
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

pub(super) fn artifacts<X: Display>(
    packet: &Packet,
    started: &Event,
    finished: &Event,
    execute: impl Fn(&Execution<'_>) -> Result<Option<Value>, X>,
    not_checked: &mut Vec<String>,
) -> Result<(), Broken> {
    for (name, text) in &packet.artifacts {
        if sha256(text.as_bytes()) != *name {
            return Err(Reason::ArtifactBytes
                .because(format!("the bytes of artifact {name} are not the recorded ones")));
        }
    }
    let mut named = Vec::new();
    for event in packet.events.iter().filter(|event| event.r#type == "artifact.executed") {
        let seq = event.seq;
        let engine = shown(event, "engine").and_then(Value::as_str);
        // Which one it was may be withheld, as when its text had to be forgotten; then nobody can say what it answers.
        if engine.is_some() && event.payload.get("artifact").is_some_and(|field| field.value().is_none()) {
            not_checked.push(format!("event {seq}: the artifact's answer, because a field is withheld"));
            continue;
        }
        let artifact = shown(event, "artifact").and_then(|value| Digest::deserialize(value).ok());
        let (Some(engine), Some(artifact)) = (engine, artifact) else {
            return Err(
                Reason::ArtifactEvent.because(format!("event {seq} does not show its engine and artifact"))
            );
        };
        let text = packet.artifacts.get(&artifact).ok_or_else(|| {
            Reason::ArtifactMissing
                .because(format!("event {seq} names artifact {artifact}, which is not here"))
        })?;
        named.push(artifact);
        let has = |event: &Event, name: &str| event.payload.contains_key(name);
        if !(has(started, "wire")
            && has(started, "model")
            && has(started, "request")
            && has(finished, "answer"))
        {
            return Err(Reason::ArtifactReplay
                .because(format!("event {seq}: the run does not say what was asked and answered")));
        }
        let text_of = |name: &str| shown(started, name).and_then(Value::as_str);
        let asked = text_of("wire").zip(text_of("model")).zip(shown(started, "request"));
        let asked = asked.map(|((wire, model), request)| (wire, model, request));
        let answer = shown(finished, "answer");
        // What was told is the word of that call: nobody can be asked again, so it is taken from there and said to be.
        let asking = packet.events.iter().find(|event| event.r#type == "artifact.asked");
        let told = asking.and_then(|asking| Some((asking, asking.payload.get("told")?)));
        // Without it there is nothing to execute on.
        let asked = asked.filter(|_| told.is_none_or(|(_, told)| told.value().is_some()));
        let told = told.and_then(|(asking, told)| Some((asking, told.value()?.as_str()?)));
        let execution = Execution { engine, artifact: text, asked, answer, told: told.map(|(_, told)| told) };
        let derived = execute(&execution);
        let derived =
            derived.map_err(|error| Reason::ArtifactReplay.because(format!("event {seq}: {error}")))?;
        let (Some(derived), Some(answer)) = (derived, answer) else {
            not_checked.push(format!("event {seq}: the artifact's answer, because a field is withheld"));
            continue;
        };
        if canonical::to_vec(&derived) != canonical::to_vec(answer) {
            return Err(Reason::ArtifactReplay
                .because(format!("event {seq}: the artifact answers {derived}, recorded is {answer}")));
        }
        if let Some((asking, _)) = told {
            let names = shown(asking, "fields").and_then(|names| Vec::<String>::deserialize(names).ok());
            let names = names.unwrap_or_default().join(", ");
            let call = asking.seq;
            not_checked.push(format!(
                "event {seq}: the fields of the answer that a model told ({names}): they are as event {call} records that call"
            ));
        }
    }
    match packet.artifacts.keys().find(|name| !named.contains(name)) {
        Some(name) => {
            Err(Reason::ArtifactExtra.because(format!("artifact {name} was not executed in this run")))
        }
        None => Ok(()),
    }
}

pub(super) fn costs(packet: &Packet, finished: &Event, not_checked: &mut Vec<String>) -> Result<(), Broken> {
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
