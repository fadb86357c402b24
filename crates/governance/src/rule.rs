//! The vocabulary of rules: the engine `punk.rules/1`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// The name under which verdicts of these rules are recorded. Its meaning never changes; a new meaning is a new name.
pub const ENGINE: &str = "punk.rules/1";

/// What somebody wants to do, as `verb:resource`, such as `model:chat` or `write:email`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Action(String);

/// The text is not an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an action such as `model:chat`: a verb, one colon, a resource")]
pub struct ActionError;

impl Action {
    /// Asking a model.
    #[must_use]
    pub fn model_chat() -> Self {
        Self("model:chat".to_owned())
    }

    /// Having a model turn texts into vectors.
    #[must_use]
    pub fn model_embed() -> Self {
        Self("model:embed".to_owned())
    }

    /// The action as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl FromStr for Action {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, ActionError> {
        match halves(text) {
            Some((verb, resource)) if !verb.is_empty() && !resource.is_empty() && !text.contains('*') => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(ActionError),
        }
    }
}
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The two halves of a text with exactly one colon.
fn halves(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(_, resource)| !resource.contains(':'))
}

/// Rules in force, with the text they were read from: that text is what goes into the ledger.
#[derive(Debug, Clone)]
pub struct RuleSet {
    text: String,
    policy: Policy,
}

/// Why a rule set is refused. Nothing is allowed by rules that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the policy cannot be read")]
pub struct RuleSetError(#[from] serde_json::Error);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Policy {
    name: String,
    #[serde(rename = "version")]
    _version: String,
    #[serde(rename = "description", default)]
    _description: String,
    rules: Vec<Rule>,
    default_effect: RuleEffect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) effect: RuleEffect,
    actions: Vec<String>,
    #[serde(default)]
    pub(crate) requires_approval: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleEffect {
    Allow,
    Deny,
}

impl RuleSet {
    /// The rules a bare installation starts with: a model may be asked, nothing else may be done.
    ///
    /// # Errors
    /// Never: a test reads the same text.
    pub fn built_in() -> Result<Self, RuleSetError> {
        Self::parse(include_str!("built_in.json").trim_end())
    }

    /// Reads a policy text.
    ///
    /// # Errors
    /// It is not JSON, or says something that rules cannot say.
    pub fn parse(text: &str) -> Result<Self, RuleSetError> {
        Ok(Self { text: text.to_owned(), policy: serde_json::from_str(text)? })
    }

    /// The text it was read from, to the byte.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn name(&self) -> &str {
        &self.policy.name
    }
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.policy.rules
    }
    pub(crate) fn default_effect(&self) -> RuleEffect {
        self.policy.default_effect
    }
}

impl Rule {
    /// Whether one of the rule's patterns matches the action.
    pub(crate) fn covers(&self, action: &str) -> bool {
        self.actions.iter().any(|pattern| matches(pattern, action))
    }
}

fn matches(pattern: &str, action: &str) -> bool {
    if pattern == "*" || pattern == action {
        return true;
    }
    match (halves(pattern), halves(action)) {
        (Some((verb, resource)), Some((wanted_verb, wanted_resource))) => {
            (verb == "*" || verb == wanted_verb) && (resource == "*" || resource == wanted_resource)
        }
        _ => false,
    }
}
