//! What holds of every verdict, whatever the policies, the facts and the action.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod common;

use common::{facts, file, set};
use governance::{Action, Facts, PolicySet, Remote, decide, explain, load, replay};
use proptest::prelude::*;
use schema::{Effect, SideEffectLevel, TrustTier, Verdict};
use serde_json::json;

fn rank(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny => 2,
    }
}

fn any_rule() -> impl Strategy<Value = String> {
    let pattern = "(\\*|(\\*|[a-c]):(\\*|[a-c]))";
    let when = prop_oneof![
        Just("{}"),
        Just("{costUsd: '> 0.5'}"),
        Just("{sideEffectLevel: '>= 2'}"),
        Just("{hour: '22-6'}"),
        Just("{labels: [pii]}"),
        Just("{model: ['gpt*']}"),
        Just("{tool: ['t*']}"),
    ];
    (pattern, any::<bool>(), any::<bool>(), when).prop_map(|(pattern, allow, asks, when)| {
        let effect = if allow { "allow" } else { "deny" };
        let asks = allow && asks;
        format!("  - {{effect: {effect}, actions: ['{pattern}'], requiresApproval: {asks}, when: {when}}}\n")
    })
}

fn policy(name: &str, whom: &str, rules: &[String], default: &str) -> String {
    let rules = if rules.is_empty() { " []\n".to_owned() } else { format!("\n{}", rules.concat()) };
    format!("name: {name}\nversion: '1'\nappliesTo: {whom}\ndefaultEffect: {default}\nrules:{rules}")
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let cost = proptest::option::of(0i64..1_000_000);
    (cost, 0u8..5, 0u8..24, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(cost, level, hour, pii, model, shaped, trusted)| {
            let mut facts = facts();
            facts.cost_micro_usd = cost;
            facts.level = SideEffectLevel::try_from(level).unwrap();
            facts.hour = hour;
            facts.labels = if pii { vec!["pii".into()] } else { Vec::new() };
            facts.model = model.then(|| "gpt-4o".to_owned());
            facts.trust_tier = if trusted { TrustTier::Trusted } else { TrustTier::Unverified };
            if shaped {
                common::shape(&mut facts);
            }
            facts
        },
    )
}

fn read(texts: &[&str]) -> PolicySet {
    let files: Vec<_> =
        texts.iter().enumerate().map(|(at, text)| file(&format!("{at}.yaml"), text)).collect();
    load(&files).unwrap()
}

fn asked(set: &PolicySet, facts: &Facts, action: &str) -> Verdict {
    decide(set, facts, &action.parse().unwrap())
}

proptest! {
    #[test]
    fn more_denials_never_allow_more(
        rules in proptest::collection::vec(any_rule(), 0..5),
        deny in "(\\*|[a-c]):(\\*|[a-c])",
        at in any::<prop::sample::Index>(),
        facts in any_facts(),
        action in "[a-c]:[a-c]",
        allows in any::<bool>(),
    ) {
        let default = if allows { "allow" } else { "deny" };
        let before = asked(&read(&[&policy("p", "{}", &rules, default)]), &facts, &action);
        let mut more = rules.clone();
        more.insert(at.index(rules.len() + 1), format!("  - {{effect: deny, actions: ['{deny}']}}\n"));
        let after = asked(&read(&[&policy("p", "{}", &more, default)]), &facts, &action);
        prop_assert!(rank(after.effect) >= rank(before.effect), "{before:?} became {after:?}");
    }

    #[test]
    fn another_voice_never_allows_more(
        rules in proptest::collection::vec(any_rule(), 0..5),
        others in proptest::collection::vec(any_rule(), 0..5),
        said in prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)],
        facts in any_facts(),
        action in "[a-c]:[a-c]",
    ) {
        let one = policy("p", "{}", &rules, "deny");
        let before = asked(&read(&[&one]), &facts, &action);
        let other = policy("q", "{}", &others, "allow");
        let with_policy = asked(&read(&[&one, &other]), &facts, &action);
        prop_assert!(rank(with_policy.effect) >= rank(before.effect));
        let remote = Some(Remote { effect: said, policy: "mesh".into() });
        let barred = vec!["tripwire:canary".to_owned()];
        let with_bar = asked(&read(&[&one]), &Facts { barred, ..facts.clone() }, &action);
        prop_assert_eq!(with_bar.effect, Effect::Deny);
        prop_assert_eq!(with_bar.policy, "tripwire:canary");
        let with_remote = asked(&read(&[&one]), &Facts { remote, ..facts }, &action);
        prop_assert!(rank(with_remote.effect) >= rank(before.effect));
        prop_assert!(rank(with_remote.effect) >= rank(said));
    }

    #[test]
    fn a_verdict_is_the_strictest_opinion_and_an_unknown_never_allows(
        rules in proptest::collection::vec(any_rule(), 0..6),
        facts in any_facts(),
        action in "[a-c]:[a-c]",
    ) {
        let set = read(&[&policy("p", "{}", &rules, "deny")]);
        let action: Action = action.parse().unwrap();
        let verdict = decide(&set, &facts, &action);
        let opinions = explain(&set, &facts, &action);
        prop_assert_eq!(Some(rank(verdict.effect)), opinions.iter().map(|opinion| rank(opinion.effect)).max());
        // Whatever is known cannot be stricter for being forgotten.
        let forgotten = Facts { cost_micro_usd: None, model: None, tool: None, ..facts.clone() };
        if decide(&set, &forgotten, &action).effect == Effect::Allow {
            // Allowed without knowing: no allowing rule leant on what is not known.
            let rule = decide(&set, &forgotten, &action).rule.and_then(|rule| set.rule("p", rule));
            let leans = rule.is_some_and(|rule| rule.when.cost_usd.is_some() || !rule.when.model.is_empty());
            prop_assert!(!leans);
        }
    }

    #[test]
    fn a_recorded_verdict_is_re_derived(
        rules in proptest::collection::vec(any_rule(), 0..6),
        facts in any_facts(),
        action in "[a-c]:[a-c]",
    ) {
        let set = read(&[&policy("p", "{}", &rules, "allow")]);
        let verdict = asked(&set, &facts, &action);
        let again = replay(governance::ENGINE, &[set.text()], &json!(facts), &json!(action)).unwrap();
        prop_assert_eq!(again, json!(verdict));
    }

    #[test]
    fn nothing_that_is_read_makes_it_panic(text in "\\PC{0,200}") {
        let _ = load(&[file("x.yaml", &text)]);
        let _ = PolicySet::parse(&text);
    }
}

#[test]
fn whoever_is_named_most_exactly_is_asked_by_that_policy_alone() {
    let everybody = policy("everybody", "{}", &[], "deny");
    let tier = policy("tier", "{trustTiers: [unverified]}", &[], "allow");
    let tag = policy("tag", "{tags: [x]}", &[], "deny");
    let agent = policy("agent", "{agentIds: [ada]}", &[], "allow");
    let mut texts = vec![everybody.as_str()];
    let mut facts = facts();
    facts.tags = vec!["x".into()];
    for (more, decides) in
        [(None, "everybody"), (Some(&tier), "tier"), (Some(&tag), "tag"), (Some(&agent), "agent")]
    {
        texts.extend(more.map(String::as_str));
        assert_eq!(asked(&read(&texts), &facts, "read:crm").policy, decides);
    }
    facts.agent = "somebody else".into();
    assert_eq!(asked(&read(&texts), &facts, "read:crm").policy, "tag");
}

#[test]
fn without_policies_nothing_is_held_back_and_with_them_whoever_is_named_by_none() {
    assert_eq!(asked(&PolicySet::bare(), &facts(), "delete:file").effect, Effect::Allow);
    let only_x = policy("x", "{agentIds: [x]}", &[], "deny");
    assert_eq!(asked(&read(&[&only_x]), &facts(), "delete:file").policy, "built-in");
}

#[test]
fn an_approval_lifts_the_question_it_answers_and_nothing_else() {
    let set = set();
    let mut facts = facts();
    facts.hour = 22;
    assert_eq!(asked(&set, &facts, "write:email").effect, Effect::Ask);
    facts.approvals = vec![common::granted("office", Some(2))];
    assert_eq!(asked(&set, &facts, "write:email").effect, Effect::Allow);
    // It is for a rule: another question stays, and so does a denial.
    facts.level = SideEffectLevel::HighImpact;
    assert_eq!(asked(&set, &facts, "write:payment").effect, Effect::Ask);
    facts.approvals = vec![common::granted("office", Some(0))];
    assert_eq!(asked(&set, &facts, "delete:file").effect, Effect::Deny);
}

#[test]
fn a_set_reads_as_it_is_written() {
    let set = set();
    assert_eq!(PolicySet::parse(set.text()).unwrap().text(), set.text());
}
