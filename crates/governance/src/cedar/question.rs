//! What is known, in the words of `punk.cedarschema`.
//!
//! Made of the evaluator's own values: the way through expressions, which it would first evaluate, takes four times as long.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cedar_policy::EntityTypeName;
use cedar_policy_core::ast::{Context, Eid, Entity, EntityUID, EntityUIDEntry, PartialValue, Request, Value};
use cedar_policy_core::entities::{Entities, NoEntitiesSchema, TCComputation};
use cedar_policy_core::extensions::Extensions;
use schema::{GatewayMode, TrustTier};

use crate::action::halves;
use crate::facts::Facts;
use crate::policy::Weekday;

/// The verbs that are actions of their own. The last is every other.
pub(super) const VERBS: [&str; 7] = ["model", "read", "write", "delete", "execute", "operate", "other"];

/// The types of the schema.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) agent: EntityTypeName,
    pub(super) tenant: EntityTypeName,
    pub(super) app: EntityTypeName,
    pub(super) tag: EntityTypeName,
    pub(super) tier: EntityTypeName,
    pub(super) resource: EntityTypeName,
    pub(super) action: EntityTypeName,
}

impl Names {
    /// Nothing, if Cedar cannot read a name of ours; it can.
    pub(super) fn new() -> Option<Self> {
        let name = |text: &str| text.parse().ok();
        Some(Self {
            agent: name("Punk::Agent")?,
            tenant: name("Punk::Tenant")?,
            app: name("Punk::App")?,
            tag: name("Punk::Tag")?,
            tier: name("Punk::Tier")?,
            resource: name("Punk::Resource")?,
            action: name("Punk::Action")?,
        })
    }
}

/// One question to Cedar.
#[derive(Debug)]
pub(super) struct Question {
    /// The place of the action among the verbs.
    pub(super) verb: usize,
    pub(super) resource: String,
    pub(super) tenant: String,
    pub(super) request: Request,
    /// Who asks. Nobody else has anything to be looked up.
    pub(super) entities: Entities,
}

impl Question {
    /// Nothing, if it cannot be put; it always can, and whoever asks denies if not.
    pub(super) fn new(types: &Names, facts: &Facts, action: &str) -> Option<Self> {
        // A recorded action may be any text.
        let (verb_said, resource) = halves(action).unwrap_or(("", action));
        let others = VERBS.len() - 1;
        let verb = VERBS[..others].iter().position(|verb| *verb == verb_said).unwrap_or(others);
        let tenant = facts.tenant.to_string();
        let uid = |kind: &EntityTypeName, id: &str| {
            EntityUID::from_components(kind.as_ref().clone(), Eid::new(id), None)
        };
        let agent = uid(&types.agent, &facts.agent);
        let tier = tier(facts.trust_tier);
        let mut parents =
            HashSet::from([uid(&types.tenant, &tenant), uid(&types.app, &facts.app), uid(&types.tier, tier)]);
        parents.extend(facts.tags.iter().map(|tag| uid(&types.tag, tag)));
        let attributes = [
            ("app", Value::from(facts.app.as_str())),
            ("tier", Value::from(tier)),
            ("tierRank", Value::from(facts.trust_tier as i64)),
            ("scoreMilli", Value::from(i64::from(facts.trust_score_milli))),
            ("tags", texts(&facts.tags)),
        ];
        let attributes = attributes.map(|(name, value)| (name.into(), PartialValue::Value(value)));
        let asking =
            Entity::new_with_attr_partial_value(agent.clone(), attributes, HashSet::new(), parents, []);
        // What an agent is in is in nothing else: its parents are all that it is in.
        let all = TCComputation::AssumeAlreadyComputed;
        let entities =
            Entities::from_entities([asking], None::<&NoEntitiesSchema>, all, Extensions::all_available());
        let request = Request::new_unchecked(
            EntityUIDEntry::from(agent),
            EntityUIDEntry::from(uid(&types.action, VERBS[verb])),
            EntityUIDEntry::from(uid(&types.resource, resource)),
            Some(context(facts, verb_said)),
        );
        Some(Self { verb, resource: resource.to_owned(), tenant, request, entities: entities.ok()? })
    }
}

fn context(facts: &Facts, verb: &str) -> Context {
    let known = [
        ("verb", Value::from(verb)),
        ("sideEffectLevel", Value::from(i64::from(u8::from(facts.level)))),
        ("hour", Value::from(i64::from(facts.hour))),
        ("weekday", Value::from(weekday(facts.weekday))),
        ("labels", texts(&facts.labels)),
        ("observing", Value::from(facts.gateway_mode == GatewayMode::Observe)),
        ("shaped", Value::from(facts.shaped.is_some())),
    ];
    let perhaps = [
        ("costMicroUsd", facts.cost_micro_usd.map(Value::from)),
        ("model", facts.model.as_deref().map(Value::from)),
        ("tool", facts.tool.as_deref().map(Value::from)),
    ];
    let perhaps = perhaps.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let all = known.into_iter().chain(perhaps).map(|(name, value)| (name.into(), value));
    Context::Value(Arc::new(all.collect::<BTreeMap<_, _>>()))
}

fn texts(texts: &[String]) -> Value {
    Value::set(texts.iter().map(|text| Value::from(text.as_str())), None)
}

/// As `Tier` has them.
pub(super) fn tier(tier: TrustTier) -> &'static str {
    match tier {
        TrustTier::Unverified => "unverified",
        TrustTier::Verified => "verified",
        TrustTier::Trusted => "trusted",
        TrustTier::Privileged => "privileged",
    }
}

fn weekday(day: Weekday) -> &'static str {
    match day {
        Weekday::Mon => "mon",
        Weekday::Tue => "tue",
        Weekday::Wed => "wed",
        Weekday::Thu => "thu",
        Weekday::Fri => "fri",
        Weekday::Sat => "sat",
        Weekday::Sun => "sun",
    }
}
