//! Ten thousand ways to tamper with a packet: every one is caught, with a named reason, by both verifiers.
//!
//! Mutations are of four kinds, from clumsy to clever: of the bytes; of the JSON, written back in canonical form; by
//! somebody who knows the format, re-hashes everything and lacks only the keys; and lies that the key holder itself
//! recorded and signed.
//!
//! One vector for each reason, with the valid packets, is kept in `tests/vectors/evidence.jsonl` for whoever writes a
//! third verifier. After a deliberate change: `UPDATE_EXPECT=1 cargo test -p ledger --test mutations`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod common;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use common::{Dice, POLICY, Sample, World, chat_events, decided, run_id, samples};
use expect_test::expect_file;
use ledger::canonical;
use ledger::packet::{Packet, Reason, verify};
use ledger::trust::Trust;
use ledger::{Chain, sha256};
use serde_json::{Map, Value, json};

const MUTATIONS: usize = 10_000;

/// A packet that must not pass, and what was done to it.
struct Tampered {
    what: &'static str,
    bytes: Vec<u8>,
    trust: String,
}

#[test]
fn ten_thousand_mutations_are_all_caught_by_both_verifiers() {
    let samples = samples();
    let originals: Vec<Vec<u8>> = samples.iter().map(|sample| sample.packet.to_bytes().unwrap()).collect();
    let mut dice = Dice(2026);
    let mut vectors = Vec::new();
    let mut reasons: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut kept: BTreeMap<Reason, Value> = BTreeMap::new();
    while vectors.len() < MUTATIONS {
        let pick = dice.below(samples.len());
        let tampered = match dice.below(4) {
            0 => of_bytes(&mut dice, &originals[pick], &samples[pick]),
            1 => of_json(&mut dice, &samples, pick),
            2 => of_meaning(&mut dice, &samples[pick]),
            _ => a_sworn_lie(&mut dice),
        };
        let Some(Tampered { what, bytes, trust }) = tampered else { continue };
        if originals.contains(&bytes) && trust == samples[pick].trust {
            continue; // the mutation changed nothing
        }
        match verify(&bytes, &Trust::parse(&trust).unwrap(), governance::replay) {
            Ok(_) => panic!(
                "{what} of “{}” was not caught:\n{}",
                samples[pick].name,
                String::from_utf8_lossy(&bytes)
            ),
            Err(broken) => {
                *reasons.entry(broken.reason).or_default() += 1;
                let vector = vector(what, &bytes, &trust, broken.reason.code());
                let smallest = kept.entry(broken.reason).or_insert_with(|| vector.clone());
                if vector.to_string().len() < smallest.to_string().len() {
                    *smallest = vector.clone();
                }
                vectors.push(vector);
            }
        }
    }
    println!("reasons: {reasons:?}");
    let missed: Vec<_> = Reason::ALL.iter().filter(|reason| !reasons.contains_key(reason)).collect();
    assert!(missed.is_empty(), "no mutation breaks {missed:?}");
    for (sample, bytes) in samples.iter().zip(&originals) {
        vectors.push(vector(sample.name, bytes, &sample.trust, "valid"));
    }
    agree(&vectors);
    let valid = vectors.split_off(MUTATIONS);
    let published: String = valid.iter().chain(kept.values()).map(|vector| format!("{vector}\n")).collect();
    expect_file!["../../../tests/vectors/evidence.jsonl"].assert_eq(&published);
}

fn vector(name: &str, packet: &[u8], trust: &str, expect: &str) -> Value {
    let packet = base64::engine::general_purpose::STANDARD.encode(packet);
    json!({ "name": name, "packet": packet, "trust": trust, "expect": expect })
}

/// The verifier that was written from the document alone must say the same of every vector.
fn agree(vectors: &[Value]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for vector in vectors {
        writeln!(file, "{vector}").unwrap();
    }
    file.flush().unwrap();
    let script =
        Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../tests/verifier/verify.mjs");
    let output = Command::new("node").arg(script).arg("--batch").arg(file.path()).output();
    let output = output.expect("node runs; `cargo xtask test` installs it");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}{}",
        said.lines().rev().take(20).collect::<Vec<_>>().join("\n"),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains(&format!("{} vectors, 0 disagree", vectors.len())), "{said}");
}

fn of_bytes(dice: &mut Dice, original: &[u8], sample: &Sample) -> Option<Tampered> {
    let mut bytes = original.to_vec();
    let (a, b) = (dice.below(bytes.len()), dice.below(bytes.len()));
    let what = match dice.below(6) {
        0 => {
            bytes[a] ^= 1 << dice.below(8);
            "a flipped bit"
        }
        1 => {
            bytes.remove(a);
            "a dropped byte"
        }
        2 => {
            bytes.swap(a, b);
            "two swapped bytes"
        }
        3 => {
            bytes.insert(a, bytes[b]);
            "a doubled byte"
        }
        4 => {
            bytes.truncate(a);
            "a truncated file"
        }
        _ => {
            let (from, to) = (a.min(b), a.max(b));
            let range = bytes[from..to].to_vec();
            bytes.splice(from..from, range);
            "a doubled range"
        }
    };
    Some(Tampered { what, bytes, trust: sample.trust.clone() })
}

/// All places in a tree, as paths of steps.
fn paths(value: &Value, here: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        here.push(step);
        out.push(here.clone());
        paths(child, here, out);
        here.pop();
    }
}

fn at<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(members) => members.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn of_json(dice: &mut Dice, samples: &[Sample], pick: usize) -> Option<Tampered> {
    let tree = |sample: &Sample| serde_json::to_value(&sample.packet).unwrap();
    let mut packet = tree(&samples[pick]);
    let mut all = Vec::new();
    paths(&packet, &mut Vec::new(), &mut all);
    let path = &all[dice.below(all.len())];
    let (last, parent) = path.split_last()?;
    let what = match dice.below(6) {
        0 => {
            twist(dice, at(&mut packet, path)?);
            "a changed value"
        }
        1 => {
            match at(&mut packet, parent)? {
                Value::Object(members) => drop(members.remove(last)),
                Value::Array(items) => drop(items.remove(last.parse().ok()?)),
                _ => return None,
            }
            "a dropped part"
        }
        2 => {
            let Value::Array(items) = at(&mut packet, parent)? else { return None };
            let place = last.parse::<usize>().ok()?;
            items.insert(place, items[place].clone());
            "a doubled item"
        }
        3 => {
            let Value::Array(items) = at(&mut packet, parent)? else { return None };
            let (a, b) = (last.parse().ok()?, dice.below(items.len()));
            items.swap(a, b);
            "two swapped items"
        }
        4 => {
            let other = &samples[dice.below(samples.len())];
            if other.packet.run["id"] == samples[pick].packet.run["id"] {
                return None; // the same run with a field withheld: copying the marker is what a holder may do
            }
            let mut other = tree(other);
            *at(&mut packet, path)? = at(&mut other, path)?.clone();
            "a part of another packet"
        }
        _ => {
            let Value::Object(members) = at(&mut packet, parent)? else { return None };
            let value = members.remove(last)?;
            members.insert(format!("{last}x"), value);
            "a renamed member"
        }
    };
    let bytes = canonical::to_vec(&packet).ok()?;
    Some(Tampered { what, bytes, trust: samples[pick].trust.clone() })
}

fn twist(dice: &mut Dice, value: &mut Value) {
    *value = match value {
        Value::Null => json!(0),
        Value::Bool(yes) => json!(!*yes),
        Value::Number(number) => {
            number.as_i64().map_or(json!(0.5), |n| json!(n + if dice.below(2) == 0 { 1 } else { -1 }))
        }
        Value::String(text) if text.is_empty() => json!("x"),
        Value::String(text) => {
            let mut letters: Vec<char> = text.chars().collect();
            let place = dice.below(letters.len());
            letters[place] = ['a', '0', 'Z', '\n', ' ', '='][dice.below(6)];
            json!(letters.into_iter().collect::<String>())
        }
        Value::Array(_) => json!([]),
        Value::Object(_) => Value::Object(Map::new()),
    };
}

/// Re-hashes the chain of a packet and every leaf's head, as anybody can.
fn rehash(packet: &mut Packet) {
    let run = packet.run["id"].as_str().unwrap().parse().unwrap();
    let mut chain = Chain::new(packet.tenant, run);
    for (i, event) in packet.events.iter_mut().enumerate() {
        event.seq = schema::Seq(i as u64 + 1);
        let fields: Vec<(String, Value)> =
            event.payload.iter().map(|(name, field)| (name.to_string(), field.shown())).collect();
        let mut salts: Vec<_> = event
            .payload
            .values()
            .map(|field| {
                serde_json::to_value(field).unwrap()["salt"]
                    .as_str()
                    .map_or(ledger::Salt::from_bytes([0; 16]), |salt| salt.parse().unwrap())
            })
            .collect();
        salts.reverse();
        *event = chain.append(event.at, &event.r#type, fields, || salts.pop().unwrap()).unwrap();
    }
    for leaf in &mut packet.leaves {
        if let Some(event) = packet.events.get(leaf.seq.0 as usize - 1) {
            leaf.head = event.hash;
        }
    }
}

fn of_meaning(dice: &mut Dice, sample: &Sample) -> Option<Tampered> {
    let mut packet = sample.packet.clone();
    let mut trust = sample.trust.clone();
    let event = dice.below(packet.events.len());
    let what = match dice.below(11) {
        0 => {
            let name = packet.events[event]
                .payload
                .keys()
                .nth(dice.below(packet.events[event].payload.len().max(1)))?
                .clone();
            let mut value = packet.events[event].payload[&name].shown();
            twist(dice, &mut value);
            packet.events[event]
                .payload
                .insert(name, ledger::Field::disclosed(ledger::Salt::from_bytes([1; 16]), value));
            rehash(&mut packet);
            "a rewritten event, everything re-hashed"
        }
        1 => {
            packet.events.remove(event);
            rehash(&mut packet);
            "a dropped event, everything re-hashed"
        }
        2 => {
            let again = packet.events[event].clone();
            packet.events.insert(event, again);
            rehash(&mut packet);
            "a doubled event, everything re-hashed"
        }
        3 => {
            let other = dice.below(packet.events.len());
            if packet.events[event].r#type == packet.events[other].r#type {
                return None;
            }
            packet.events.swap(event, other);
            rehash(&mut packet);
            "two swapped events, everything re-hashed"
        }
        4 => {
            packet.events.truncate(event);
            packet.leaves.retain(|leaf| leaf.seq.0 as usize <= event);
            packet.side_effects.clear();
            packet.audit.clear();
            "a cut at an event, with all that came after it"
        }
        5 => {
            let mut other = World::new(9, 9);
            other.fill(dice.below(9) as u64);
            let run = packet.run["id"].as_str()?.parse().ok()?;
            let (chain, events) = other.chat(run, "user");
            other.leaf(run, &chain);
            packet.leaves = other.packet(run, events, 0).leaves;
            trust = format!("log {}\n{trust}", other.key);
            "another tenant's proof, its key trusted too"
        }
        6 => {
            let mut forger = World::new(packet.tenant.as_bytes()[0], 66);
            forger.fill(dice.below(9) as u64);
            let run = run_id(dice.below(9) as u64);
            let (chain, events) = forger.chat(run, "user");
            forger.leaf(run, &chain);
            packet = forger.packet(run, events, 0);
            "a fork signed by a stale key"
        }
        7 => {
            let name = *packet.policies.keys().next()?;
            let text = packet.policies.get_mut(&name)?;
            let place = dice.below(text.len());
            text.insert(place, ' ');
            "altered policy bytes"
        }
        8 => {
            let text = packet.policies.pop_first()?.1.replace("deny", "allow");
            packet.policies.insert(sha256(text.as_bytes()), text);
            "another policy under its own name"
        }
        9 => {
            let name = packet.events[event].payload.keys().next()?.clone();
            let marker = json!({ "withheld": sha256(&dice.roll().to_be_bytes()) });
            packet.events[event].payload.insert(name, serde_json::from_value(marker).ok()?);
            "a withheld field with a made-up digest"
        }
        _ => {
            let key = sample.trust.lines().find(|line| line.starts_with("log "))?;
            trust = sample.trust.replace(&format!("{key}\n"), "");
            "no trusted log at all"
        }
    };
    Some(Tampered { what, bytes: packet.to_bytes().unwrap(), trust })
}

/// What only the key holder can do: record something false, and sign it.
fn a_sworn_lie(dice: &mut Dice) -> Option<Tampered> {
    let mut world = World::new(5, 6);
    world.fill(dice.below(5) as u64);
    let mut events = chat_events(world.tenant, "user");
    let mut policies = vec![POLICY.to_owned()];
    let mut artifacts = Vec::new();
    let artifact = |text: &str| json!({ "engine": "punk.artifact/1", "artifact": sha256(text.as_bytes()) });
    let settle = |word: &'static str| {
        (word, json!({ "sideEffect": "sfx_1", "toolName": "mail", "level": 3, "payload": {} }))
    };
    let what = match dice.below(15) {
        0 => {
            events[1].1 = decided(world.tenant, "model:chat", "deny", None);
            "a verdict that the policy does not give"
        }
        1 => {
            events[1].1["action"] = json!("delete:file");
            "a verdict on another action"
        }
        2 => {
            events[1].1["engine"] = json!("punk.rules/2");
            "an engine that nobody knows"
        }
        3 => {
            events[1]
                .1
                .as_object_mut()?
                .remove(["engine", "policies", "facts", "action", "verdict"][dice.below(5)]);
            "a decision without what it takes to replay it"
        }
        4 => {
            policies.clear();
            "a decision without its policy"
        }
        5 => {
            policies.push(POLICY.replace("test", "other"));
            "a policy that decided nothing"
        }
        6 => {
            let name = ["costMicroUsd", "inputTokens", "outputTokens"][dice.below(3)];
            events[4].1[name] =
                [json!(41), json!(null), json!(1.5), json!("42"), json!(-42)][dice.below(5)].clone();
            "a sum that is not the sum"
        }
        7 => {
            let extra = json!({ "costMicroUsd": 1, "inputTokens": 0, "outputTokens": 0 });
            events.push(("model.completed", extra));
            "a call that was not counted"
        }
        8 => {
            artifacts.push("program".to_owned());
            "an artifact that was not executed"
        }
        9 => {
            events.push(("artifact.executed", artifact("program")));
            "an execution without its artifact"
        }
        10 => {
            events.push(("artifact.executed", artifact("program")));
            artifacts.push("program".to_owned());
            "an execution that nobody can repeat"
        }
        11 => {
            events.push(("artifact.executed", json!({ "artifact": sha256(b"program") })));
            "an execution without its engine"
        }
        12 => {
            events.push(settle("side_effect.planned"));
            events.push(settle("side_effect.executed"));
            let mut packet = world.sworn(run_id(1), events, policies, artifacts);
            packet.side_effects[0]["status"] = json!("suppressed");
            return Some(Tampered {
                what: "a side effect that did not stay undone",
                bytes: packet.to_bytes().ok()?,
                trust: world.trust_text(),
            });
        }
        13 => {
            artifacts.push("program".to_owned());
            events.push(("artifact.executed", artifact("program")));
            let mut packet = world.sworn(run_id(1), events, policies, artifacts);
            let text = packet.artifacts.values_mut().next()?;
            text.push(' ');
            return Some(Tampered {
                what: "altered artifact bytes",
                bytes: packet.to_bytes().ok()?,
                trust: world.trust_text(),
            });
        }
        _ => {
            let mut packet = world.sworn(run_id(1), events, policies, artifacts);
            // Signed by a witness that the trust file knows, and by no log at all.
            let (signer, key) = &world.witnesses[0];
            let proof: ledger::Proof = packet.leaves[0].proof.parse().ok()?;
            let line = ledger::note::SignatureLine::cosign(proof.note.text(), 1_790_000_100, key, signer);
            let mut lines = vec![line];
            let unsigned = dice.below(2) == 0;
            if !unsigned {
                lines.insert(0, proof.note.signatures()[0].clone());
            }
            let note = ledger::note::Note::new(proof.note.text().to_owned(), lines).ok()?;
            packet.leaves[0].proof = ledger::Proof::new(proof.index, proof.path, note).ok()?.to_string();
            world.quorum = 3;
            let what = if unsigned { "a checkpoint that its log did not sign" } else { "too few witnesses" };
            return Some(Tampered { what, bytes: packet.to_bytes().ok()?, trust: world.trust_text() });
        }
    };
    let packet = world.sworn(run_id(1), events, policies, artifacts);
    Some(Tampered { what, bytes: packet.to_bytes().ok()?, trust: world.trust_text() })
}
