//! Which statements can apply to a question, by what their scopes name.
//!
//! Cedar's own authorizer looks at every statement. Most name an action, a principal or a resource that the question is not
//! about, and are false before their conditions are looked at. Here every statement is in the one slice of what its scope
//! names, once for each action, and a question goes to the few slices that name what it is about: of those statements only
//! the conditions are left to be evaluated.

use std::collections::HashMap;

use cedar_policy::{ActionConstraint, EntityUid, PrincipalConstraint, ResourceConstraint};

use super::question::{Names, Question, VERBS, tier};
use super::read::Statement;
use crate::facts::Facts;

/// Statements by action.
#[derive(Debug, Default)]
pub(super) struct Slices {
    of_any_action: ByPrincipal,
    by_verb: [ByPrincipal; VERBS.len()],
}

#[derive(Debug, Default)]
struct ByPrincipal {
    anybody: ByResource,
    named: [HashMap<String, ByResource>; KINDS],
}

#[derive(Debug, Default)]
struct ByResource {
    anything: Vec<usize>,
    named: HashMap<String, Vec<usize>>,
}

/// What a scope can name an agent by.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Agent,
    Tenant,
    App,
    Tag,
    Tier,
}
const KINDS: usize = 5;

/// What a scope names of one of its three parts.
enum Scope<T> {
    Any,
    Only(T),
    /// Something that no question is about.
    Never,
}

impl Slices {
    pub(super) fn new(types: &Names, statements: &[Statement]) -> Self {
        let mut slices = Self::default();
        for (place, statement) in statements.iter().enumerate() {
            let (principal, resource) = (principal(types, statement), resource(types, statement));
            for by_principal in slices.of_actions(types, statement) {
                let by_resource = match &principal {
                    Scope::Any => &mut by_principal.anybody,
                    Scope::Only((kind, id)) => {
                        by_principal.named[*kind as usize].entry(id.clone()).or_default()
                    }
                    Scope::Never => continue,
                };
                let slice = match &resource {
                    Scope::Any => &mut by_resource.anything,
                    Scope::Only(id) => by_resource.named.entry(id.clone()).or_default(),
                    Scope::Never => continue,
                };
                slice.push(place);
            }
        }
        slices
    }

    /// The parts that a statement belongs to by its action.
    fn of_actions(&mut self, types: &Names, statement: &Statement) -> Vec<&mut ByPrincipal> {
        let actions = match statement.policy.action_constraint() {
            ActionConstraint::Any => return vec![&mut self.of_any_action],
            ActionConstraint::Eq(action) => vec![action],
            ActionConstraint::In(actions) => actions,
        };
        let is_named = |verb: &str| {
            actions
                .iter()
                .any(|action| *action.type_name() == types.action && action.id().unescaped() == verb)
        };
        VERBS.iter().zip(&mut self.by_verb).filter(|(verb, _)| is_named(verb)).map(|(_, part)| part).collect()
    }

    /// Calls `ask` with the place of every statement whose scope names what a question is about.
    pub(super) fn each_that_can_apply(&self, facts: &Facts, question: &Question, mut ask: impl FnMut(usize)) {
        for part in [Some(&self.of_any_action), self.by_verb.get(question.verb)].into_iter().flatten() {
            part.anybody.each(&question.resource, &mut ask);
            let mut named = |kind: Kind, id: &str| {
                if let Some(slices) = part.named[kind as usize].get(id) {
                    slices.each(&question.resource, &mut ask);
                }
            };
            named(Kind::Agent, &facts.agent);
            named(Kind::Tenant, &question.tenant);
            named(Kind::App, &facts.app);
            named(Kind::Tier, tier(facts.trust_tier));
            let tags = facts.tags.iter().enumerate();
            for (_, tag) in tags.filter(|(at, tag)| !facts.tags[..*at].contains(tag)) {
                named(Kind::Tag, tag);
            }
        }
    }
}

impl ByResource {
    fn each(&self, resource: &str, ask: &mut impl FnMut(usize)) {
        let named = self.named.get(resource).map_or(&[][..], Vec::as_slice);
        self.anything.iter().chain(named).copied().for_each(ask);
    }
}

/// The agent has no descendants and nothing that it is in is an agent, so that `in` and `==` are the same of an agent.
fn principal(types: &Names, statement: &Statement) -> Scope<(Kind, String)> {
    let (kind, id) = match statement.policy.principal_constraint() {
        PrincipalConstraint::Any => return Scope::Any,
        PrincipalConstraint::Is(kind) if kind == types.agent => return Scope::Any,
        PrincipalConstraint::Is(_) => return Scope::Never,
        PrincipalConstraint::IsIn(kind, _) if kind != types.agent => return Scope::Never,
        PrincipalConstraint::Eq(id) if *id.type_name() != types.agent => return Scope::Never,
        PrincipalConstraint::Eq(id) | PrincipalConstraint::In(id) | PrincipalConstraint::IsIn(_, id) => {
            (id.type_name().clone(), id.id().unescaped().to_owned())
        }
    };
    let kinds = [
        (&types.agent, Kind::Agent),
        (&types.tenant, Kind::Tenant),
        (&types.app, Kind::App),
        (&types.tag, Kind::Tag),
    ];
    let kinds = kinds.into_iter().chain([(&types.tier, Kind::Tier)]);
    match kinds.into_iter().find(|(known, _)| **known == kind) {
        Some((_, kind)) => Scope::Only((kind, id)),
        None => Scope::Never,
    }
}

/// A resource is in nothing but itself.
fn resource(types: &Names, statement: &Statement) -> Scope<String> {
    let named = |id: &EntityUid| {
        if *id.type_name() == types.resource {
            Scope::Only(id.id().unescaped().to_owned())
        } else {
            Scope::Never
        }
    };
    match statement.policy.resource_constraint() {
        ResourceConstraint::Any => Scope::Any,
        ResourceConstraint::Is(kind) if kind == types.resource => Scope::Any,
        ResourceConstraint::Is(_) => Scope::Never,
        ResourceConstraint::IsIn(kind, _) if kind != types.resource => Scope::Never,
        ResourceConstraint::Eq(id) | ResourceConstraint::In(id) | ResourceConstraint::IsIn(_, id) => {
            named(&id)
        }
    }
}
