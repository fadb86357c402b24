//! A small world to make packets in: keys from fixed seeds, salts from a counter, a log with other runs in it.
//!
//! Everything is deterministic, so that the vectors made here are the same bytes on every machine.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several test files, each of which uses a part of it"
)]

use ed25519_dalek::SigningKey;
use ledger::note::{KeyKind, Note, SignatureLine, VerifierKey};
use ledger::packet::{Broken, Exporter, Packet, Report, RunRecord, verify};
use ledger::trust::Trust;
use ledger::{Chain, Checkpoint, Event, Leaf, Log, LoggedLeaf, Salt, origin, sha256};
use schema::{Digest, RunId, TenantId, Timestamp};
use serde_json::{Value, json};

pub const POLICY: &str = r#"{"name":"test","version":"1","rules":[{"effect":"allow","actions":["model:chat"]},{"effect":"allow","actions":["write:*"],"requiresApproval":true}],"defaultEffect":"deny"}"#;

/// Pseudo-random numbers for mutations (SplitMix64); never used for anything secret.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }
}

/// One tenant's log and the key it is signed with.
pub struct World {
    pub tenant: TenantId,
    pub signer: SigningKey,
    pub key: VerifierKey,
    pub witnesses: Vec<(SigningKey, VerifierKey)>,
    pub log: Log,
    /// How many of the witnesses are listed as the quorum.
    pub quorum: usize,
    salts: u64,
}

impl World {
    pub fn new(tenant: u8, key_seed: u8) -> Self {
        let tenant = TenantId::from_bytes([tenant; 16]);
        let signer = SigningKey::from_bytes(&[key_seed; 32]);
        let key =
            VerifierKey::new(origin("punk.test", tenant).unwrap(), KeyKind::Log, signer.verifying_key());
        let witnesses = (0..3)
            .map(|i| {
                let signer = SigningKey::from_bytes(&[200 + i; 32]);
                let name = format!("witness.test/w{i}").parse().unwrap();
                let key = VerifierKey::new(name, KeyKind::Witness, signer.verifying_key());
                (signer, key)
            })
            .collect();
        Self {
            tenant,
            signer,
            key,
            witnesses,
            log: Log::default(),
            quorum: 0,
            salts: u64::from(key_seed) << 32,
        }
    }

    pub fn trust_text(&self) -> String {
        let mut text = format!("# whose word counts\nlog {}\n", self.key);
        for (i, (_, key)) in self.witnesses.iter().enumerate() {
            text += &format!("witness w{i} {key}\n");
        }
        if self.quorum == 0 {
            return text + "quorum none\n";
        }
        text + &format!("group enough {} w0 w1 w2\nquorum enough\n", self.quorum)
    }

    pub fn trust(&self) -> Trust {
        Trust::parse(&self.trust_text()).unwrap()
    }

    /// Other runs, so that proofs have paths.
    pub fn fill(&mut self, leaves: u64) {
        for i in 0..leaves {
            let run = run_id(1_000_000 + i);
            self.log.push(Leaf { run, seq: schema::Seq(1), head: sha256(&i.to_be_bytes()) });
        }
    }

    pub fn salt(&mut self) -> Salt {
        self.salts += 1;
        let digest = sha256(&self.salts.to_be_bytes());
        Salt::from_bytes(*digest.as_bytes().first_chunk().unwrap())
    }

    pub fn append(&mut self, chain: &mut Chain, millis: u64, r#type: &str, payload: Value) -> Event {
        let at = Timestamp::from_millis(1_790_000_000_000 + millis).unwrap();
        let Value::Object(fields) = payload else { panic!("a payload is an object") };
        chain.append(at, r#type, fields, || self.salt()).unwrap()
    }

    pub fn leaf(&mut self, run: RunId, chain: &Chain) {
        self.log.push(Leaf { run, seq: chain.seq(), head: chain.head() });
    }

    pub fn checkpoint(&self, cosigners: usize) -> Note {
        let checkpoint =
            Checkpoint { origin: self.key.name().clone(), size: self.log.size(), root: self.log.root() };
        let text = checkpoint.text();
        let mut lines = vec![SignatureLine::sign(&text, &self.key, &self.signer)];
        for (signer, key) in &self.witnesses[..cosigners] {
            lines.push(SignatureLine::cosign(&text, 1_790_000_100, key, signer));
        }
        Note::new(text, lines).unwrap()
    }

    /// The packet of a run, without looking whether it makes sense.
    pub fn packet(&self, run: RunId, events: Vec<Event>, cosigners: usize) -> Packet {
        let places = self.log.leaves().iter().enumerate().filter(|(_, leaf)| leaf.run == run);
        let leaves = places
            .map(|(index, leaf)| LoggedLeaf {
                leaf: *leaf,
                index: index as u64,
                path: self.log.prove_inclusion(index as u64).unwrap(),
            })
            .collect();
        let policies = if events.iter().any(|event| event.r#type == "policy.decided") {
            vec![POLICY.to_owned()]
        } else {
            vec![]
        };
        let record = RunRecord { tenant: self.tenant, run, events, leaves, policies, artifacts: vec![] };
        Packet::build(record, &self.checkpoint(cosigners), &Exporter { key: &self.key, signer: &self.signer })
            .unwrap()
    }

    /// A packet of whatever events the key holder chooses to record, under its own good signature.
    pub fn sworn(
        &mut self,
        run: RunId,
        events: Vec<(&str, Value)>,
        policies: Vec<String>,
        artifacts: Vec<String>,
    ) -> Packet {
        let mut chain = Chain::new(self.tenant, run);
        let events: Vec<Event> = events
            .into_iter()
            .zip(0..)
            .map(|((r#type, payload), i)| self.append(&mut chain, i, r#type, payload))
            .collect();
        let leaf = Leaf { run, seq: chain.seq(), head: chain.head() };
        let index = self.log.push(leaf);
        let leaves = vec![LoggedLeaf { leaf, index, path: self.log.prove_inclusion(index).unwrap() }];
        let record = RunRecord { tenant: self.tenant, run, events, leaves, policies, artifacts };
        Packet::build(record, &self.checkpoint(0), &Exporter { key: &self.key, signer: &self.signer })
            .unwrap()
    }

    /// A finished chat run of `events`: its chain, and everything but the leaf.
    pub fn chat(&mut self, run: RunId, subject: &str) -> (Chain, Vec<Event>) {
        let mut chain = Chain::new(self.tenant, run);
        let mut events = Vec::new();
        for (i, (r#type, payload)) in chat_events(self.tenant, subject).into_iter().enumerate() {
            events.push(self.append(&mut chain, i as u64 * 7, r#type, payload));
        }
        (chain, events)
    }

    pub fn verify(&self, packet: &Packet) -> Result<Report, Broken> {
        verify(&packet.to_bytes().unwrap(), &self.trust(), governance::replay)
    }
}

pub fn run_id(n: u64) -> RunId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&n.to_be_bytes());
    RunId::new(1_790_000_000_000, random)
}

pub fn policy_digest() -> Digest {
    sha256(POLICY.as_bytes())
}

pub fn decided(tenant: TenantId, action: &str, effect: &str, rule: Option<u32>) -> Value {
    json!({
        "engine": "punk.rules/1", "policies": [policy_digest()], "action": action,
        "facts": {"tenant": tenant, "app": "support", "agent": "triage", "trustTier": "verified", "gatewayMode": "enforce"},
        "verdict": {"effect": effect, "policy": "test", "rule": rule},
    })
}

pub fn chat_events(tenant: TenantId, subject: &str) -> Vec<(&'static str, Value)> {
    let verdict = json!({"effect": "allow", "policy": "test", "rule": 0});
    vec![
        (
            "run.started",
            json!({
                "kind": "chat", "app": "support", "agent": "triage", "subject": subject, "gatewayMode": "enforce", "model": "mock-small",
                "request": {"model": "mock-small", "temperature": 0.25, "messages": [{"role": "user", "content": "Wo ist mein Paket? 📦 \"№ 7\"\n"}]},
            }),
        ),
        ("policy.decided", decided(tenant, "model:chat", "allow", Some(0))),
        ("model.called", json!({"provider": "mock", "model": "mock-small"})),
        (
            "model.completed",
            json!({"costMicroUsd": 42, "inputTokens": 17, "outputTokens": 9, "finishReason": "stop"}),
        ),
        (
            "run.finished",
            json!({
                "status": "completed", "route": "live",
                "explanation": {"route": "live", "reason": "no cheaper route is proven", "rejected": [], "verdict": verdict},
                "costMicroUsd": 42, "savedMicroUsd": 0, "inputTokens": 17, "outputTokens": 9, "latencyMs": 31,
                "answer": {"role": "assistant", "content": "Unterwegs."},
            }),
        ),
    ]
}

/// A named packet with the trust file it is meant for.
pub struct Sample {
    pub name: &'static str,
    pub packet: Packet,
    pub trust: String,
}

/// Valid packets of every kind.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut add = |name, packet: Packet, world: &World| {
        samples.push(Sample { name, packet, trust: world.trust_text() });
    };

    let mut world = World::new(1, 1);
    let (chain, events) = world.chat(run_id(1), "user-1");
    world.leaf(run_id(1), &chain);
    add("the only leaf", world.packet(run_id(1), events, 0), &world);

    let mut world = World::new(1, 2);
    world.fill(700);
    let (chain, events) = world.chat(run_id(2), "user-2");
    world.leaf(run_id(2), &chain);
    world.fill(299);
    let packet = world.packet(run_id(2), events, 0);
    add("one of a thousand leaves", packet.clone(), &world);
    let mut hidden = packet;
    hidden.withhold(schema::Seq(1), "subject").unwrap();
    hidden.withhold(schema::Seq(1), "request").unwrap();
    add("subject and request withheld", hidden.clone(), &world);
    hidden.withhold(schema::Seq(2), "facts").unwrap();
    hidden.withhold(schema::Seq(4), "costMicroUsd").unwrap();
    add("facts and a cost withheld", hidden, &world);

    let mut world = World::new(2, 3);
    world.fill(5);
    add("later events, side effects and audit rows", with_side_effects(&mut world, run_id(3)), &world);

    let mut world = World::new(3, 4);
    world.quorum = 2;
    world.fill(12);
    let (chain, events) = world.chat(run_id(4), "user-4");
    world.leaf(run_id(4), &chain);
    add("two of three witnesses", world.packet(run_id(4), events, 2), &world);

    let mut world = World::new(4, 5);
    world.fill(3);
    add("refused by policy", blocked(&mut world, run_id(5)), &world);
    samples
}

/// Two leaves: one at the end of the run, one when feedback and tools had settled. The price is unknown.
fn with_side_effects(world: &mut World, run: RunId) -> Packet {
    let tenant = world.tenant;
    let mut chain = Chain::new(tenant, run);
    let mut events = Vec::new();
    let mut add = |world: &mut World, chain: &mut Chain, r#type: &str, payload: Value| {
        let event = world.append(chain, events.len() as u64 * 1000, r#type, payload);
        events.push(event);
    };
    let mut all = chat_events(tenant, "user-3");
    all[3].1["costMicroUsd"] = Value::Null;
    all[4].1["costMicroUsd"] = Value::Null;
    for (r#type, payload) in all {
        add(world, &mut chain, r#type, payload);
    }
    world.leaf(run, &chain);
    world.fill(3);
    let sfx = |n: u8| schema::SideEffectId::from_bytes([n; 16]).to_string();
    add(
        world,
        &mut chain,
        "side_effect.planned",
        json!({"sideEffect": sfx(1), "toolName": "send_mail", "level": 3, "payload": {"to": "⟨email:1⟩"}}),
    );
    add(world, &mut chain, "policy.decided", decided(tenant, "write:email", "approval_required", Some(1)));
    add(
        world,
        &mut chain,
        "audit.approval_decided",
        json!({"actor": "user_7", "decision": "approved", "reason": "known customer"}),
    );
    add(world, &mut chain, "side_effect.executed", json!({"sideEffect": sfx(1)}));
    add(
        world,
        &mut chain,
        "side_effect.planned",
        json!({"sideEffect": sfx(2), "toolName": "drop_table", "level": 4, "payload": null}),
    );
    add(
        world,
        &mut chain,
        "side_effect.planned",
        json!({"sideEffect": sfx(3), "toolName": "lookup", "level": 1, "payload": [1.5, -0.001, 1e30]}),
    );
    add(world, &mut chain, "side_effect.blocked", json!({"sideEffect": sfx(2), "reason": "level 4"}));
    add(
        world,
        &mut chain,
        "audit.feedback",
        json!({"actor": "user-3", "rating": -1, "\u{20ac}\u{1f600}\u{fb33}": true}),
    );
    add(world, &mut chain, "tool.completed", json!({}));
    world.leaf(run, &chain);
    world.packet(run, events, 0)
}

fn blocked(world: &mut World, run: RunId) -> Packet {
    let tenant = world.tenant;
    let mut chain = Chain::new(tenant, run);
    let mut events = Vec::new();
    let verdict = json!({"effect": "deny", "policy": "test", "rule": null});
    let started = json!({"kind": "chat", "app": "support", "agent": "anonymous", "gatewayMode": "enforce", "model": "mock-small"});
    let finished = json!({
        "status": "blocked", "route": "blocked", "explanation": {"route": "blocked", "reason": "policy", "rejected": [], "verdict": verdict},
        "costMicroUsd": 0, "savedMicroUsd": 0, "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
    });
    let all = [
        ("run.started", started),
        ("policy.decided", decided(tenant, "delete:file", "deny", None)),
        ("run.finished", finished),
    ];
    for (i, (r#type, payload)) in all.into_iter().enumerate() {
        events.push(world.append(&mut chain, i as u64, r#type, payload));
    }
    world.leaf(run, &chain);
    world.packet(run, events, 0)
}
