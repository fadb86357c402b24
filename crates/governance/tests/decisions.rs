//! Decisions of seeded random policies and facts, kept in `tests/vectors/decisions.jsonl`: the second verifier must say the
//! same of every one, and so must every later release.
//!
//! A line has the recorded `policies`, `facts` and `action`, and the `verdict`, or `null` where the question cannot be read.

#![cfg(feature = "cedar")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod common;

use expect_test::expect_file;
use governance::{ENGINE, Facts, PolicyFile, PolicySet, limits, load, replay};
use schema::{ApprovalId, Effect, GatewayMode, TrustTier};
use serde_json::{Value, json};

/// SplitMix64: the same numbers wherever and whenever it runs.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, sides: u64) -> u64 {
        self.roll() % sides
    }

    /// One time in `times`.
    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Clone>(&mut self, many: &[T]) -> T {
        many[usize::try_from(self.below(many.len() as u64)).unwrap()].clone()
    }

    fn some_of(&mut self, many: &[&str]) -> Vec<String> {
        (0..self.below(3)).map(|_| self.one_of(many).to_owned()).collect()
    }
}

const NAMES: [&str; 4] = ["ada", "bob", "batch", "night ☾"];
const TIERS: [TrustTier; 4] =
    [TrustTier::Unverified, TrustTier::Verified, TrustTier::Trusted, TrustTier::Privileged];
const ACTIONS: [&str; 6] =
    ["model:chat", "read:crm", "write:email", "write:payment", "delete:crm", "execute:shell"];
const PATTERNS: [&str; 9] =
    ["*", "*:*", "model:*", "write:*", "*:crm", "read:crm", "write:email", "delete:crm", "execute:shell"];

fn any_when(dice: &mut Dice) -> Value {
    let conditions = [
        json!({ "costUsd": "> 0.5" }),
        json!({ "costUsd": "<= 0.000250" }),
        json!({ "sideEffectLevel": ">= 2" }),
        json!({ "sideEffectLevel": "== 4" }),
        json!({ "trustScore": "< 0.45" }),
        json!({ "model": ["gpt-4*", "*-mini"] }),
        json!({ "tool": ["s*l*l"] }),
        json!({ "tool": ["*mail*"], "costUsd": ">= 1" }),
        json!({ "app": ["desk*"] }),
        json!({ "hour": "22-6" }),
        json!({ "hour": "8-24", "weekday": ["mon", "tue", "sun"] }),
        json!({ "tags": ["batch", "x"] }),
        json!({ "labels": ["pii"] }),
        json!({ "labels": ["secret"], "model": ["*"] }),
        json!({}),
        json!({}),
    ];
    dice.one_of(&conditions)
}

fn any_rule(dice: &mut Dice) -> Value {
    let actions: Vec<&str> = (0..=dice.below(2)).map(|_| dice.one_of(&PATTERNS)).collect();
    let mut rule = match dice.below(8) {
        0..=2 => json!({ "effect": "deny" }),
        3 => json!({ "effect": "allow", "requiresApproval": true }),
        4 => json!({ "effect": "allow", "approval": { "needed": 2, "roles": ["admin"] } }),
        5 => {
            let soft = dice.once_in(3);
            json!({ "budget": { "limitUsd": dice.one_of(&[0.5, 3.0, 0.000_007]), "per": "app", "soft": soft } })
        }
        6 => json!({ "rate": { "limit": 3, "window": "minute" } }),
        _ => json!({ "effect": "allow" }),
    };
    rule["actions"] = json!(actions);
    rule["when"] = any_when(dice);
    rule
}

fn any_file(dice: &mut Dice, name: &str) -> PolicyFile {
    let whom = match dice.below(8) {
        0 => json!({ "agentIds": [dice.one_of(&NAMES)] }),
        1 => json!({ "tags": [dice.one_of(&NAMES), "x"] }),
        2 => json!({ "trustTiers": [dice.one_of(&TIERS), dice.one_of(&TIERS)] }),
        3 => json!({ "agentIds": ["nobody"], "tags": ["batch"], "trustTiers": ["privileged"] }),
        _ => json!({}),
    };
    let rules: Vec<Value> = (0..dice.below(5)).map(|_| any_rule(dice)).collect();
    let text = json!({
        "name": name, "version": "1", "appliesTo": whom, "rules": rules,
        "defaultEffect": dice.one_of(&["allow", "allow", "deny"]),
    });
    // JSON is YAML.
    PolicyFile { name: format!("{name}.yaml"), text: text.to_string() }
}

fn any_facts(dice: &mut Dice, set: &PolicySet, action: &str) -> Facts {
    let mut facts = common::facts();
    facts.agent = dice.one_of(&NAMES).to_owned();
    facts.app = dice.one_of(&["desk", "desk-2", "shop"]).to_owned();
    facts.tags = dice.some_of(&["batch", "x", "ada"]);
    facts.labels = dice.some_of(&["pii", "secret"]);
    facts.trust_tier = dice.one_of(&TIERS);
    facts.trust_score_milli = u16::try_from(dice.below(1001)).unwrap();
    facts.level = u8::try_from(dice.below(5)).unwrap().try_into().unwrap();
    facts.hour = u8::try_from(dice.below(24)).unwrap();
    facts.gateway_mode = dice.one_of(&[GatewayMode::Observe, GatewayMode::Enforce]);
    facts.model = dice.one_of(&[None, Some("gpt-4o".to_owned()), Some("o4-mini".to_owned())]);
    facts.tool = dice.one_of(&[None, Some("shell".to_owned()), Some("send_mail".to_owned())]);
    facts.cost_micro_usd =
        dice.one_of(&[None, Some(0), Some(250), Some(500_000), Some(500_001), Some(2_000_000)]);
    facts.shaped = None;
    if dice.once_in(6) {
        common::shape(&mut facts);
    }
    if dice.once_in(8) {
        facts.remote = Some(common::remote(dice.one_of(&[Effect::Allow, Effect::Ask, Effect::Deny])));
    }
    if dice.once_in(9) {
        facts.barred = vec![dice.one_of(&["tripwire:canary", "redaction:card"]).to_owned()];
    }
    let level = |dice: &mut Dice, policy: &str, rule: Option<u32>, limit: u64| {
        let amount = dice.one_of(&[Some(1), Some(1), Some(limit), None]);
        let used = dice.one_of(&[0, 0, limit - 1, limit]);
        governance::Meter { policy: policy.to_owned(), rule, limit, used, amount, hard: dice.once_in(2) }
    };
    let asked = action.parse().unwrap();
    let bounds: Vec<_> = limits(set, &facts, &asked).map(|limit| (limit.policy.to_owned(), limit)).collect();
    let mut meters = Vec::new();
    for (policy, limit) in &bounds {
        let known = if dice.once_in(9) { limit.limit + 1 } else { limit.limit };
        if !dice.once_in(7) {
            meters.push(level(dice, policy, Some(limit.rule), known));
        }
    }
    if dice.once_in(5) {
        meters.push(level(dice, "budget:bud_1", None, 100));
    }
    facts.meters = meters;
    facts
}

/// What people have said of it: now and then about exactly what the verdict named.
fn lift(dice: &mut Dice, facts: &mut Facts, verdict: &Value) {
    let policy = verdict["policy"].as_str().unwrap().to_owned();
    let rule = verdict["rule"].as_u64().map(|rule| u32::try_from(rule).unwrap());
    if dice.once_in(2) {
        let rule = dice.one_of(&[rule, rule, None, Some(0)]);
        let mut excepted = common::excepted(&policy, rule);
        excepted.actions = vec![governance::Pattern::new(dice.one_of(&["*", "*", "*:crm", "write:*"]))];
        facts.exceptions.push(excepted);
    }
    if verdict["effect"] != "deny" || dice.once_in(4) {
        let id: ApprovalId = "apr_01j0000000000000000000000a".parse().unwrap();
        facts.approvals.push(governance::Granted { id, policy, rule: dice.one_of(&[rule, rule, None]) });
    }
}

const CEDAR: &str = r#"permit (principal, action, resource) when { principal.tierRank >= 1 };
@requiresApproval("true") permit (principal, action == Punk::Action::"write", resource);
forbid (principal in Punk::Tag::"batch", action, resource) unless { context has costMicroUsd };
"#;

fn line(policies: &str, facts: &Value, action: &str) -> String {
    let verdict = replay(ENGINE, &[policies], facts, &json!(action)).unwrap_or(Value::Null);
    format!("{}\n", json!({ "policies": policies, "facts": facts, "action": action, "verdict": verdict }))
}

#[test]
fn every_release_and_the_second_verifier_decide_alike() {
    let mut dice = Dice(10);
    let mut lines = String::new();
    for round in 0..300 {
        let mut files: Vec<_> = (0..dice.below(6)).map(|n| any_file(&mut dice, &format!("p{n}"))).collect();
        if round % 20 == 19 {
            files.push(PolicyFile { name: "house.cedar".to_owned(), text: CEDAR.to_owned() });
        }
        let set = load(&files).unwrap();
        let action = dice.one_of(&ACTIONS);
        let mut facts = any_facts(&mut dice, &set, action);
        let verdict = replay(ENGINE, &[set.text()], &json!(facts), &json!(action)).unwrap();
        if verdict["effect"] != "allow" {
            lift(&mut dice, &mut facts, &verdict);
        }
        lines += &line(set.text(), &json!(facts), action);
    }
    lines += &what_cannot_be_read();
    expect_file!["../../../tests/vectors/decisions.jsonl"].assert_eq(&lines);
}

/// Texts, facts and actions that are nearly right.
fn what_cannot_be_read() -> String {
    let rule = r#"{"effect":"deny","actions":["*"]}"#;
    let policy = |members: &str| {
        format!(r#"{{"policies":[{{"name":"p","version":"1",{members},"defaultEffect":"deny"}}]}}"#)
    };
    let rules = |rules: &str| policy(&format!(r#""rules":[{rules}]"#));
    let good = rules(rule);
    let facts = json!(common::facts());
    let mut lines = String::new();
    let mut refused = |policies: &str, facts: &Value, action: &str| {
        let line = line(policies, facts, action);
        assert!(line.ends_with("\"verdict\":null}\n"), "{line}");
        lines += &line;
    };
    for text in [
        "".to_owned(),
        "{}".to_owned(),
        "[[]]".to_owned(),
        r#"{"policies":[],"cedar":[]}"#.to_owned(),
        r#"{"policies":[],"policies":[]}"#.to_owned(),
        r#"{"policies":[["p","1","",{},[],"deny"]]}"#.to_owned(),
        format!(
            r#"{{"policies":[{0},{0}]}}"#,
            r#"{"name":"p","version":"1","rules":[],"defaultEffect":"deny"}"#
        ),
        good.replace(r#""name":"p""#, r#""name":"built-in""#),
        good.replace(r#""name":"p""#, r#""name":"a:b""#),
        good.replace(r#""name":"p""#, r#""name":"""#),
        good.replace(r#""version":"1""#, r#""version":"\u0085""#),
        good.replace(r#""name":"p""#, &format!(r#""name":"{}""#, "☾".repeat(121))),
        policy(r#""description":"","rules":[]"#),
        policy(r#""appliesTo":{},"rules":[]"#),
        policy(r#""appliesTo":{"tags":[]},"rules":[]"#),
        policy(r#""appliesTo":{"trustTiers":["some"]},"rules":[]"#),
        rules(r#"{"actions":["*"]}"#),
        rules(r#"{"effect":"deny","actions":[]}"#),
        rules(r#"{"effect":"deny","actions":["a"]}"#),
        rules(r#"{"effect":"deny","actions":["a:b*"]}"#),
        rules(r#"{"effect":"deny","actions":["a:b:c"]}"#),
        rules(r#"{"effect":"deny","actions":["*"],"requiresApproval":true}"#),
        rules(r#"{"effect":"allow","actions":["*"],"requiresApproval":false}"#),
        rules(r#"{"effect":null,"actions":["*"],"rate":{"limit":1,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"rate":{"limit":1}}"#),
        rules(r#"{"actions":["*"],"rate":{"limit":1.0,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"rate":{"limit":0,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"rate":{"limit":4294967296,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"budget":{"limitUsd":0.0000001,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"budget":{"limitUsd":1.0000001,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"budget":{"limitUsd":-1,"per":"agent","window":"day"}}"#),
        rules(r#"{"actions":["*"],"budget":{"limitUsd":1,"per":"agent","window":"day","soft":false}}"#),
        rules(r#"{"effect":"allow","actions":["*"],"approval":{"needed":0,"expiresMinutes":1}}"#),
        rules(r#"{"effect":"allow","actions":["*"],"approval":{"needed":1,"expiresMinutes":43201}}"#),
        rules(r#"{"effect":"allow","actions":["*"],"approval":{"needed":1,"roles":[],"expiresMinutes":1}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"costUsd":"> 0.50"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"costUsd":">0.5"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"sideEffectLevel":"> 0.5"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"trustScore":"> 01"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"hour":"09-10"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"hour":"9-9"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"hour":"24-9"}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"weekday":["Mon"]}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"when":{"labels":null}}"#),
        rules(r#"{"effect":"deny","actions":["*"],"more":1}"#),
        r#"{"policies":[],"cedar":[{"name":"a:b","text":""}]}"#.to_owned(),
        r#"{"policies":[],"cedar":[{"name":"x","text":""},{"name":"x","text":""}]}"#.to_owned(),
        r#"{"policies":[],"cedar":[{"name":"x","text":"","more":1}]}"#.to_owned(),
    ] {
        refused(&text, &facts, "read:crm");
    }
    for action in ["", "read", "read:", ":crm", "a:b:c", "read:*"] {
        refused(&good, &facts, action);
    }
    for (member, value) in [
        ("more", json!(1)),
        ("tenant", json!("ten_x")),
        ("key", json!("apr_01j0000000000000000000000a")),
        ("trustTier", json!("Trusted")),
        ("trustScoreMilli", json!(1001)),
        ("level", json!(5)),
        ("hour", json!(24)),
        ("weekday", json!("monday")),
        ("costMicroUsd", json!(0.5)),
        ("gatewayMode", json!("other")),
        ("tags", json!(null)),
        ("shaped", json!([2, []])),
        ("barred", json!("tripwire:canary")),
        ("remote", json!({ "effect": "ask", "policy": "x" })),
        ("meters", json!([{ "policy": "p", "limit": 1, "used": 0, "amount": 1, "hard": true }])),
        ("approvals", json!([{ "id": "apr_x", "policy": "p", "rule": null }])),
        ("exceptions", json!([{ "id": "x", "policy": "p", "rule": -1, "actions": [] }])),
    ] {
        let mut facts = facts.clone();
        facts[member] = value;
        refused(&good, &facts, "read:crm");
    }
    let mut without = facts.clone();
    without.as_object_mut().unwrap().remove("key");
    refused(&good, &without, "read:crm");
    refused(&good, &json!([]), "read:crm");
    lines
}
