use std::sync::LazyLock;

use cedar_policy::{
    AuthorizationError, Authorizer, Context, Decision, Entities, EntityUid, PolicyId, PolicySet, Request,
    Schema,
};
use expect_test::expect;
use proptest::prelude::*;
use proptest::sample::select;
use schema::{Effect, GatewayMode, SideEffectLevel, TenantId, TrustTier};
use serde_json::json;

use super::{Answer, Cedar};
use crate::{Action, Facts, Granted, PolicyFile, PolicySet as Set, decide, explain, load, replay};

fn file(text: &str) -> PolicyFile {
    PolicyFile { name: "house.cedar".to_owned(), text: text.to_owned() }
}

fn facts() -> Facts {
    let noon = "2026-11-16T12:00:00.000Z".parse().unwrap();
    let mut facts = Facts::of(TenantId::NIL, "desk", "ada", GatewayMode::Enforce, noon);
    facts.tags = vec!["batch".to_owned()];
    facts.cost_micro_usd = Some(10_000);
    facts
}

fn said(set: &Set, facts: &Facts, action: &str) -> String {
    let verdict = decide(set, facts, &action.parse().unwrap());
    let rule = verdict.rule.map_or_else(String::new, |rule| format!(" {rule}"));
    format!("{:?} {}{rule}", verdict.effect, verdict.policy)
}

const HOUSE: &str = r#"
permit (principal, action in [Punk::Action::"model", Punk::Action::"read"], resource);
@approval_needed("2") @approval_roles("admin, reviewer")
permit (principal in Punk::Tier::"trusted", action == Punk::Action::"write", resource);
forbid (principal in Punk::Tag::"batch", action, resource == Punk::Resource::"crm")
  unless { context has costMicroUsd && context.costMicroUsd <= 500000 };
permit (principal == Punk::Agent::"bob", action == Punk::Action::"other", resource) when { context.verb == "fax" };
forbid (principal, action == Punk::Action::"execute", resource) when { context.hour * 9000000000000000000 > 0 };
"#;

#[test]
fn what_nothing_permits_is_denied_and_what_is_forbidden_is_whatever_permits_it() {
    let set = load(&[file(HOUSE)]).unwrap();
    let mut facts = facts();
    assert_eq!(said(&set, &facts, "read:crm"), "Allow house.cedar 0");
    assert_eq!(said(&set, &facts, "delete:crm"), "Deny house.cedar");
    facts.cost_micro_usd = None;
    assert_eq!(said(&set, &facts, "read:crm"), "Deny house.cedar 2");
    facts.tags.clear();
    assert_eq!(said(&set, &facts, "read:crm"), "Allow house.cedar 0");
    assert_eq!(said(&set, &facts, "fax:office"), "Deny house.cedar");
    facts.agent = "bob".to_owned();
    assert_eq!(said(&set, &facts, "fax:office"), "Allow house.cedar 3");
}

#[test]
fn a_statement_that_cannot_be_evaluated_denies_in_its_own_name() {
    let set = load(&[file(HOUSE)]).unwrap();
    assert_eq!(said(&set, &facts(), "execute:shell"), "Deny house.cedar 4");
}

#[test]
fn a_permit_that_asks_is_a_question_with_its_terms_and_an_approval_answers_it() {
    let set = load(&[file(HOUSE)]).unwrap();
    let mut facts = facts();
    facts.trust_tier = TrustTier::Trusted;
    assert_eq!(said(&set, &facts, "write:email"), "Ask house.cedar 1");
    let terms = set.approval_terms("house.cedar", 1).unwrap();
    assert_eq!((terms.needed, terms.roles.join(" ")), (2, "admin reviewer".to_owned()));
    assert_eq!(set.approval_terms("house.cedar", 0), None);
    let granted = Granted { id: schema::ApprovalId::NIL, policy: "house.cedar".to_owned(), rule: Some(1) };
    facts.approvals = vec![granted];
    assert_eq!(decide(&set, &facts, &"write:email".parse().unwrap()).effect, Effect::Allow);
}

#[test]
fn of_several_that_ask_the_one_that_wants_most_people_is_named() {
    let text = r#"
        permit (principal, action, resource);
        @requiresApproval("true") permit (principal, action, resource);
        @approval_needed("2") permit (principal, action, resource) when { context.hour == 12 };
    "#;
    assert_eq!(said(&load(&[file(text)]).unwrap(), &facts(), "write:email"), "Ask house.cedar 2");
}

#[test]
fn an_exception_lifts_the_statement_it_names_and_no_other() {
    let text = r#"
        forbid (principal, action == Punk::Action::"delete", resource);
        forbid (principal, action, resource == Punk::Resource::"file") when { context.hour < 13 };
    "#;
    let set = load(&[file(text)]).unwrap();
    let mut facts = facts();
    let excepted = |rule| crate::Excepted {
        id: format!("exc_{rule}"),
        policy: "house.cedar".to_owned(),
        rule: Some(rule),
        actions: vec![crate::Pattern::new("delete:*")],
    };
    assert_eq!(said(&set, &facts, "delete:file"), "Deny house.cedar 0");
    facts.exceptions = vec![excepted(0)];
    assert_eq!(said(&set, &facts, "delete:file"), "Deny house.cedar 1");
    facts.exceptions.push(excepted(1));
    assert_eq!(said(&set, &facts, "delete:file"), "Allow exception:exc_0");
}

#[test]
fn yaml_and_cedar_are_both_asked_and_the_stricter_decides() {
    let yaml = |effect: &str| PolicyFile {
        name: "office.yaml".to_owned(),
        text: format!("name: office\nversion: '1'\ndefaultEffect: {effect}\nrules: []\n"),
    };
    let permits = file("permit (principal, action, resource);");
    for (effect, verdict) in [("deny", "Deny office"), ("allow", "Allow office")] {
        assert_eq!(said(&load(&[permits.clone(), yaml(effect)]).unwrap(), &facts(), "read:crm"), verdict);
    }
    let set = load(&[file(HOUSE), yaml("allow")]).unwrap();
    assert_eq!(said(&set, &facts(), "delete:crm"), "Deny house.cedar");
    let voices: Vec<_> =
        explain(&set, &facts(), &Action::model_chat()).iter().map(|said| said.voice).collect();
    assert_eq!(voices, [crate::Voice::Policy, crate::Voice::Cedar]);
}

#[test]
fn a_recorded_text_is_replayed_and_one_without_cedar_is_spelt_as_it_was() {
    let set = load(&[file(HOUSE)]).unwrap();
    assert!(!set.is_bare());
    let facts = facts();
    let verdict = decide(&set, &facts, &"read:crm".parse().unwrap());
    let known = json!(facts);
    let again = replay(crate::ENGINE, &[set.text()], &known, &json!("read:crm")).unwrap();
    assert_eq!(again, json!(verdict));
    assert_eq!(Set::bare().text(), r#"{"policies":[]}"#);
    assert!(Set::parse(r#"{"policies":[],"cedar":[{"name":"x.cedar","text":"permit"}]}"#).is_err());
    assert!(Set::parse(r#"{"policies":[],"cedar":[{"name":"a:b","text":""}]}"#).is_err());
    // What was never checked is evaluated all the same: what it asks for is not there, and so it denies.
    let unchecked = r#"{"policies":[],"cedar":[{"name":"x","text":"permit (principal, action, resource) when { principal.x };"}]}"#;
    assert_eq!(said(&Set::parse(unchecked).unwrap(), &facts, "read:crm"), "Deny x 0");
}

#[test]
fn what_is_wrong_with_a_cedar_file_is_named_with_line_and_column() {
    let refused: String = [
            "permit (principal, action, resource)",
            "// ok\npermit (principal, action, resource)\n  when { principal.tierRnk > 1 };",
            "permit (principal, action == Punk::Action::\"send\", resource);",
            "permit (principal in Punk::Tier::\"trustd\", action, resource);",
            "permit (principal in Punk::Team::\"x\", action, resource);",
            "permit (principal, action, resource) when { context.costMicroUsd > 1 };",
            "permit (principal, action, resource) when { context.hour > \"9\" };",
            "permit (principal == Punk::Tag::\"x\", action, resource);",
            "permit (principal, action, resource);\n@requiresAproval(\"true\")\npermit (principal, action, resource);",
            "@requiresApproval(\"yes\") permit (principal, action, resource);",
            "@requiresApproval(\"true\") forbid (principal, action, resource);",
            "@approval_needed(\"0\") permit (principal, action, resource);",
            "permit (principal == ?principal, action, resource);",
            "// nothing",
    ]
    .map(|text| format!("{}\n", load(&[file(text)]).unwrap_err()))
    .concat();
    expect![[r#"
            house.cedar:1:37: unexpected end of input: expected `;` or identifier
            house.cedar:3:10: attribute `tierRnk` on entity type `Punk::Agent` not found (did you mean `tierRank`?)
            house.cedar:1:30: unrecognized action `Punk::Action::"send"` (did you mean `Punk::Action::"read"`?)
            house.cedar:1:22: entity `Punk::Tier::"trustd"` is of an enumerated entity type, but `"trustd"` is not declared as a valid eid (valid entity eids: "unverified", "verified", "trusted", "privileged")
            house.cedar:1:22: unrecognized entity type `Punk::Team` (did you mean `Punk::Tag`?)
            house.cedar:1:45: unable to guarantee safety of access to optional attribute `costMicroUsd` in context for Punk::Action::"delete" (try testing for the attribute's presence with `context has costMicroUsd && ..`)
            house.cedar:1:60: unexpected type: expected Long but saw String
            house.cedar:1:1: policy is impossible: the policy expression evaluates to false for all valid requests
            house.cedar:2:1: unknown annotation `@requiresAproval`, expected one of `@requiresApproval`, `@approval_needed`, `@approval_roles`, `@approval_minutes`, `@id`, `@description`
            house.cedar:1:1: `@requiresApproval` wants "true" or "false"
            house.cedar:1:1: an approval goes with `permit`: what is forbidden is not asked about
            house.cedar:1:1: `@approval_needed` wants a number from "1" to "20"
            house.cedar:1:1: a template is for nobody until it is linked, and nothing links it: name whom it is for
            house.cedar:1:1: it permits nothing, and so everything would be denied: say what is permitted, or leave it out
        "#]].assert_eq(&refused);
}

#[test]
fn what_nests_deeper_than_anybody_writes_is_refused_or_denied_and_breaks_nothing() {
    let facts = facts();
    for depth in [19, 45, 300, 900, 20_000] {
        for condition in [
            format!("{}true{}", "(".repeat(depth), ")".repeat(depth)),
            vec!["true"; depth].join(" && "),
            format!("context.labels == {}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{}true", "if true then true else ".repeat(depth)),
            format!("{}1 == 1", "1 + ".repeat(depth)),
            format!("context{}", ".a".repeat(depth)),
            format!("{}true{}", "!(".repeat(depth), ")".repeat(depth)),
            format!("{}true{}", "{a: ".repeat(depth), "}".repeat(depth)),
            vec!["true"; depth].join(" || "),
        ] {
            let text = format!("permit (principal, action, resource) when {{ {condition} }};");
            let _ = load(&[file(&text)]);
            if let Ok(set) = Cedar::read(&[file(&text)]) {
                let _ = set.opinions(&facts, "read:crm");
            }
        }
    }
}

fn any_statement() -> impl Strategy<Value = String> {
    let principal = select(vec![
        "principal",
        "principal is Punk::Agent",
        "principal is Punk::App",
        "principal == Punk::Agent::\"a\"",
        "principal == Punk::Tag::\"a\"",
        "principal in Punk::Agent::\"b\"",
        "principal in Punk::Tag::\"a\"",
        "principal in Punk::Tag::\"b\"",
        "principal in Punk::App::\"a\"",
        "principal in Punk::Tier::\"trusted\"",
        "principal in Punk::Tenant::\"a\"",
        "principal in Punk::Tenant::\"ten_00000000000000000000000000\"",
        "principal in Punk::Resource::\"a\"",
        "principal is Punk::Agent in Punk::Tag::\"a\"",
        "principal is Punk::Tag in Punk::Tag::\"a\"",
    ]);
    let action = select(vec![
        "action",
        "action == Punk::Action::\"read\"",
        "action == Punk::Action::\"other\"",
        "action == Action::\"read\"",
        "action in Punk::Action::\"write\"",
        "action in [Punk::Action::\"read\", Punk::Action::\"write\", Punk::Action::\"read\"]",
        "action in []",
    ]);
    let resource = select(vec![
        "resource",
        "resource is Punk::Resource",
        "resource is Punk::Tag",
        "resource == Punk::Resource::\"a\"",
        "resource == Punk::Agent::\"a\"",
        "resource in Punk::Resource::\"b\"",
        "resource is Punk::Resource in Punk::Resource::\"a\"",
        "resource is Punk::Tag in Punk::Resource::\"a\"",
    ]);
    let when = select(vec![
        "",
        "when { context.hour < 12 }",
        "when { context has costMicroUsd && context.costMicroUsd > 500 }",
        "when { context.costMicroUsd > 500 }",
        "unless { principal.tags.contains(\"a\") }",
        "when { principal.tierRank >= 2 && principal.scoreMilli > 500 }",
        "when { principal in Punk::Tag::\"b\" || resource == Punk::Resource::\"b\" }",
        "when { context.verb like \"r*\" }",
        "when { context.model == \"m\" }",
        "when { principal.nothing }",
        "when { context.labels.containsAny([\"a\", \"b\"]) }",
        "when { context.hour * 9000000000000000000 > 1 }",
    ]);
    let effect = select(vec!["permit", "permit", "forbid"]);
    (effect, principal, action, resource, when).prop_map(|(effect, principal, action, resource, when)| {
        format!("{effect} ({principal}, {action}, {resource}) {when};\n")
    })
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let names = || select(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let some = || proptest::collection::vec(names(), 0..3);
    let tier = select(vec![TrustTier::Unverified, TrustTier::Trusted, TrustTier::Privileged]);
    let cost = proptest::option::of(0i64..1_000);
    (names(), names(), some(), some(), tier, cost, 0u8..24, 0u16..1000, 0u8..5).prop_map(
        |(agent, app, tags, labels, tier, cost, hour, score, level)| {
            let mut facts = facts();
            (facts.agent, facts.app, facts.tags, facts.labels) = (agent, app, tags, labels);
            (facts.trust_tier, facts.cost_micro_usd, facts.hour) = (tier, cost, hour);
            facts.trust_score_milli = score;
            facts.level = SideEffectLevel::try_from(level).unwrap();
            facts
        },
    )
}

/// What Cedar's own authorizer says of all statements at once, of a request made and checked by its own means.
fn by_the_book(cedar: &Cedar, facts: &Facts, action: &str) -> Answer {
    let named = cedar.statements.iter().enumerate();
    let all = named.map(|(place, statement)| statement.policy.new_id(PolicyId::new(place.to_string())));
    let all = PolicySet::from_policies(all).unwrap();
    let (verb, resource) = action.split_once(':').unwrap_or(("", action));
    let known = ["model", "read", "write", "delete", "execute", "operate"].contains(&verb);
    let uid = |kind: &str, id: &str| json!({ "type": format!("Punk::{kind}"), "id": id });
    let mut parents =
        vec![uid("Tenant", &facts.tenant.to_string()), uid("App", &facts.app), uid("Tier", "trusted")];
    parents[2]["id"] = json!(facts.trust_tier);
    parents.extend(facts.tags.iter().map(|tag| uid("Tag", tag)));
    let agent = json!({ "uid": uid("Agent", &facts.agent), "parents": parents, "attrs": {
        "app": facts.app, "tier": facts.trust_tier, "tierRank": facts.trust_tier as i64,
        "scoreMilli": facts.trust_score_milli, "tags": facts.tags,
    }});
    let mut context = json!({
        "verb": verb, "sideEffectLevel": facts.level, "hour": facts.hour, "weekday": facts.weekday,
        "labels": facts.labels, "observing": facts.gateway_mode == GatewayMode::Observe,
        "shaped": facts.shaped.is_some(),
    });
    for (name, value) in [
        ("costMicroUsd", json!(facts.cost_micro_usd)),
        ("model", json!(facts.model)),
        ("tool", json!(facts.tool)),
    ] {
        if !value.is_null() {
            context[name] = value;
        }
    }
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| include_str!("punk.cedarschema").parse().unwrap());
    let schema = &*SCHEMA;
    let entities = Entities::from_json_value(json!([agent]), Some(schema)).unwrap();
    let uid = |kind: &str, id: &str| EntityUid::from_json(uid(kind, id)).unwrap();
    let action = uid("Action", if known { verb } else { "other" });
    let context = Context::from_json_value(context, Some((schema, &action))).unwrap();
    let (agent, resource) = (uid("Agent", &facts.agent), uid("Resource", resource));
    let request = Request::new(agent, action, resource, context, Some(schema)).unwrap();
    let response = Authorizer::new().is_authorized(&request, &all, &entities);

    let place = |id: &PolicyId| -> usize { AsRef::<str>::as_ref(id).parse().unwrap() };
    let mut answer = Answer::default();
    for AuthorizationError::PolicyEvaluationError(error) in response.diagnostics().errors() {
        answer.denying.insert(place(error.policy_id()));
    }
    let determining = response.diagnostics().reason().map(place);
    match response.decision() {
        Decision::Allow => answer.permitting.extend(determining),
        Decision::Deny => answer.denying.extend(determining),
    }
    answer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn slicing_changes_no_answer(
        statements in proptest::collection::vec(any_statement(), 1..20),
        facts in any_facts(),
        action in "(read|write|model|fax|other):[a-c]|no action",
    ) {
        let cedar = Cedar::read(&[file(&statements.concat())]).unwrap();
        let sliced = cedar.engine.as_ref().unwrap().ask(&cedar.statements, &facts, &action).unwrap();
        let plain = by_the_book(&cedar, &facts, &action);
        prop_assert_eq!(&sliced.denying, &plain.denying);
        // Where something forbids, Cedar does not say what would have permitted.
        if plain.denying.is_empty() {
            prop_assert_eq!(&sliced.permitting, &plain.permitting);
        }
    }

    #[test]
    fn nothing_in_a_cedar_file_makes_it_panic(text in "\\PC{0,200}") {
        let _ = load(&[file(&text)]);
    }
}
