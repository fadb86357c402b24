//! The policies in force, as one value: read whole, replaced whole, recorded as one text.
//!
//! A set is made for being asked: policies are found by whom they are for, and their rules by the action, so that a verdict
//! costs the same whether there are ten rules or ten thousand that cannot apply.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::action::{Shape, halves};
use crate::cedar::Cedar;
use crate::facts::Facts;
use crate::load::{LoadError, PolicyFile};
use crate::policy::{ApprovalTerms, Exactness, Flaw, Policy, Rule, RuleEffect, is_name};

/// What verdicts name when no policy is for whoever asks.
const BUILT_IN: &str = "built-in";

/// Policies in force.
#[derive(Debug)]
pub struct PolicySet {
    /// What goes into the ledger: what the files mean, in one spelling.
    text: String,
    policies: Vec<Indexed>,
    by_agent: HashMap<String, Vec<usize>>,
    by_tag: HashMap<String, Vec<usize>>,
    by_tier: [Vec<usize>; 4],
    for_everybody: Vec<usize>,
    cedar: Cedar,
    /// What verdicts can name, beside the policies in YAML.
    cedar_names: Vec<String>,
}

/// The text of a set.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    policies: Vec<Policy>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cedar: Vec<PolicyFile>,
}

/// Why policies make no set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The text is not one that a set is recorded as.
    #[error("the text of the policies cannot be read")]
    Text(#[from] serde_json::Error),
    /// A policy says what it cannot.
    #[error("policy `{policy}`: {flaw}")]
    Flawed {
        /// Which.
        policy: String,
        /// What.
        flaw: Flaw,
    },
    /// Two policies have one name, and a verdict could not say which it means.
    #[error("two policies are named `{0}`")]
    Twice(String),
    /// A Cedar policy cannot be read.
    #[error(transparent)]
    Cedar(LoadError),
}

impl PolicySet {
    /// What a bare installation starts with: no policy, and so nothing that is held back.
    #[must_use]
    pub fn bare() -> Self {
        Self::index(Document { policies: Vec::new(), cedar: Vec::new() }, Cedar::none())
    }

    /// The set of these policies.
    ///
    /// # Errors
    /// One of them says what it cannot, or two have one name.
    pub fn new(policies: Vec<Policy>) -> Result<Self, SetError> {
        Self::with_cedar(policies, Vec::new())
    }

    /// The set of these policies and of what these files say in Cedar.
    pub(crate) fn with_cedar(policies: Vec<Policy>, cedar: Vec<PolicyFile>) -> Result<Self, SetError> {
        for policy in &policies {
            policy.check().map_err(|flaw| SetError::Flawed { policy: policy.name.clone(), flaw })?;
        }
        if let Some(file) = cedar.iter().find(|file| !is_name(&file.name)) {
            let message = Flaw::Text("name").to_string();
            return Err(SetError::Cedar(LoadError { file: file.name.clone(), place: None, message }));
        }
        let mut names = HashSet::new();
        let named = policies.iter().map(|policy| &policy.name).chain(cedar.iter().map(|file| &file.name));
        for name in named {
            // The names of what is no policy are taken: a verdict must not read like one of those.
            let reserved = name == BUILT_IN || name.contains(':');
            if reserved || !names.insert(name.as_str()) {
                return Err(SetError::Twice(name.clone()));
            }
        }
        let read = Cedar::read(&cedar).map_err(SetError::Cedar)?;
        Ok(Self::index(Document { policies, cedar }, read))
    }

    /// The set that was recorded as this text.
    ///
    /// # Errors
    /// It is no such text.
    pub fn parse(text: &str) -> Result<Self, SetError> {
        let Document { policies, cedar } = serde_json::from_str(text)?;
        Self::with_cedar(policies, cedar)
    }

    fn index(document: Document, cedar: Cedar) -> Self {
        // What a policy can say is JSON by its types; writing it out cannot fail.
        let text = serde_json::to_string(&document).unwrap_or_default();
        let mut set = Self {
            text,
            policies: Vec::new(),
            by_agent: HashMap::new(),
            by_tag: HashMap::new(),
            by_tier: Default::default(),
            for_everybody: Vec::new(),
            cedar,
            cedar_names: document.cedar.iter().map(|file| file.name.clone()).collect(),
        };
        for (place, policy) in document.policies.into_iter().enumerate() {
            let whom = &policy.applies_to;
            for agent in &whom.agent_ids {
                set.by_agent.entry(agent.clone()).or_default().push(place);
            }
            for tag in &whom.tags {
                set.by_tag.entry(tag.clone()).or_default().push(place);
            }
            for tier in &whom.trust_tiers {
                set.by_tier[*tier as usize].push(place);
            }
            if whom.names("", &[], schema::TrustTier::Unverified) == Some(Exactness::Everybody) {
                set.for_everybody.push(place);
            }
            set.policies.push(Indexed::new(policy));
        }
        set
    }

    /// The text that a verdict of this set is recorded with.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The policies in YAML, in the order in which they were read.
    pub fn policies(&self) -> impl ExactSizeIterator<Item = &Policy> {
        self.policies.iter().map(|indexed| &indexed.policy)
    }

    /// The names that verdicts can name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.policies().map(|policy| policy.name.as_str()).chain(self.cedar_files())
    }

    /// The files in Cedar, by name, in the order in which they were read.
    pub fn cedar_files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.cedar_names.iter().map(String::as_str)
    }

    /// Whether a verdict may depend on what an action costs: to find that out is work.
    #[must_use]
    pub fn asks_for_cost(&self) -> bool {
        let asks = |rule: &Rule| rule.budget.is_some() || rule.when.cost_usd.is_some();
        !self.cedar.is_empty() || self.policies().flat_map(|policy| &policy.rules).any(asks)
    }

    /// Whether nothing is ever held back by it.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.policies.is_empty() && self.cedar.is_empty()
    }

    /// The policies that are asked about somebody: those that name them most exactly.
    pub(crate) fn for_whom(&self, facts: &Facts) -> impl Iterator<Item = &Indexed> {
        let by_tag = || facts.tags.iter().filter_map(|tag| self.by_tag.get(tag)).flatten();
        let (named, tagged): (&[usize], bool) = match self.by_agent.get(&facts.agent) {
            Some(places) => (places, false),
            None if by_tag().next().is_some() => (&[], true),
            None => {
                let tier = &self.by_tier[facts.trust_tier as usize];
                (if tier.is_empty() { &self.for_everybody } else { tier }, false)
            }
        };
        let mut seen = Vec::new();
        let tagged = tagged.then(by_tag).into_iter().flatten().filter(move |place| {
            let new = !seen.contains(*place);
            seen.push(**place);
            new
        });
        named.iter().chain(tagged).filter_map(|place| self.policies.get(*place))
    }

    /// The rule that a verdict names.
    #[must_use]
    pub fn rule(&self, policy: &str, rule: u32) -> Option<&Rule> {
        let policy = self.policies().find(|known| known.name == policy)?;
        policy.rules.get(usize::try_from(rule).ok()?)
    }

    /// Who must agree where a verdict asks in the name of this rule, or of this statement of a Cedar file.
    #[must_use]
    pub fn approval_terms(&self, policy: &str, rule: u32) -> Option<ApprovalTerms> {
        match self.rule(policy, rule) {
            Some(rule) => rule.asks().then(|| rule.approval.clone().unwrap_or_default()),
            None => self.cedar.terms(policy, rule).cloned(),
        }
    }

    pub(crate) fn cedar(&self) -> &Cedar {
        &self.cedar
    }

    pub(crate) fn built_in_name() -> &'static str {
        BUILT_IN
    }
}

/// A policy whose rules are found by the action.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) policy: Policy,
    /// Rules that decide.
    deciding: Lookup,
    /// Rules that set a bound.
    bounding: Lookup,
}

impl Indexed {
    fn new(policy: Policy) -> Self {
        let (mut deciding, mut bounding) = (Lookup::default(), Lookup::default());
        for (index, rule) in (0u32..).zip(&policy.rules) {
            let lookup = if rule.effect.is_some() { &mut deciding } else { &mut bounding };
            rule.actions.iter().for_each(|pattern| lookup.add(pattern.shape(), index));
        }
        Self { policy, deciding, bounding }
    }

    /// The first rule that covers an action, with its place.
    pub(crate) fn deciding(&self, facts: &Facts, action: &str) -> Option<(u32, &Rule)> {
        self.deciding.of(action).filter_map(|index| self.at(index)).find(|(_, rule)| rule.holds(facts))
    }

    /// Every rule that sets a bound to an action, with its place.
    pub(crate) fn bounding<'s>(
        &'s self,
        facts: &'s Facts,
        action: &'s str,
    ) -> impl Iterator<Item = (u32, &'s Rule)> {
        self.bounding.of(action).filter_map(|index| self.at(index)).filter(|(_, rule)| rule.holds(facts))
    }

    pub(crate) fn default_effect(&self) -> RuleEffect {
        self.policy.default_effect
    }

    fn at(&self, index: u32) -> Option<(u32, &Rule)> {
        Some((index, self.policy.rules.get(usize::try_from(index).ok()?)?))
    }
}

/// The places of rules by what their patterns name, each list in the order of the rules.
#[derive(Debug, Default)]
struct Lookup {
    everything: Vec<u32>,
    by_verb: HashMap<String, Vec<u32>>,
    by_resource: HashMap<String, Vec<u32>>,
    exactly: HashMap<String, Vec<u32>>,
}

impl Lookup {
    fn add(&mut self, shape: Shape<'_>, rule: u32) {
        let rules = match shape {
            Shape::Everything => &mut self.everything,
            Shape::Verb(verb) => self.by_verb.entry(verb.to_owned()).or_default(),
            Shape::Resource(resource) => self.by_resource.entry(resource.to_owned()).or_default(),
            Shape::Exactly(action) => self.exactly.entry(action.to_owned()).or_default(),
        };
        if rules.last() != Some(&rule) {
            rules.push(rule);
        }
    }

    /// The rules whose patterns name an action, in order, each once.
    fn of(&self, action: &str) -> impl Iterator<Item = u32> {
        let (verb, resource) = halves(action).unzip();
        let mut lists: [&[u32]; 4] = [
            &self.everything,
            verb.and_then(|verb| self.by_verb.get(verb)).map_or(&[], Vec::as_slice),
            resource.and_then(|resource| self.by_resource.get(resource)).map_or(&[], Vec::as_slice),
            self.exactly.get(action).map_or(&[], Vec::as_slice),
        ];
        std::iter::from_fn(move || {
            let next = lists.iter().filter_map(|list| list.first()).min().copied()?;
            for list in &mut lists {
                if let Some((first, rest)) = list.split_first()
                    && *first == next
                {
                    *list = rest;
                }
            }
            Some(next)
        })
    }
}
