//! What somebody wants to do, and the patterns that rules name actions by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

    /// Telling a caller what a model said.
    #[must_use]
    pub fn model_answer() -> Self {
        Self("model:answer".to_owned())
    }

    /// Having a model turn texts into vectors.
    #[must_use]
    pub fn model_embed() -> Self {
        Self("model:embed".to_owned())
    }

    /// Calling a tool that nobody has named an action for. What a name cannot have in an action becomes `_`, so that a tool
    /// cannot pass for another verb, or for a pattern, by its name.
    #[must_use]
    pub fn execute(tool: &str) -> Self {
        let plain =
            |c: char| if c == ':' || c == '*' || c.is_control() || c.is_whitespace() { '_' } else { c };
        let name: String = tool.chars().map(plain).collect();
        Self(format!("execute:{}", if name.is_empty() { "_" } else { &name }))
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
pub(crate) fn halves(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(_, resource)| !resource.contains(':'))
}

/// Names actions: `*`, `read:*`, `*:email`, or one to the letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

/// The ways in which a pattern can match; rules are found by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape<'p> {
    Everything,
    Verb(&'p str),
    Resource(&'p str),
    Exactly(&'p str),
}

impl Pattern {
    /// The pattern of this text. Every text is one: what has no `*` in a half of its own matches itself.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The pattern as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shape(&self) -> Shape<'_> {
        match halves(&self.0) {
            _ if self.0 == "*" => Shape::Everything,
            // `*:*` is what has one colon, which every action has.
            Some(("*", "*")) => Shape::Everything,
            Some((verb, "*")) => Shape::Verb(verb),
            Some(("*", resource)) => Shape::Resource(resource),
            _ => Shape::Exactly(&self.0),
        }
    }

    /// Whether it names the action.
    #[must_use]
    pub fn matches(&self, action: &str) -> bool {
        match (self.shape(), halves(action)) {
            (Shape::Everything, _) => self.0 == "*" || halves(action).is_some(),
            (Shape::Verb(wanted), Some((verb, _))) => wanted == verb,
            (Shape::Resource(wanted), Some((_, resource))) => wanted == resource,
            (Shape::Exactly(wanted), _) => wanted == action,
            (Shape::Verb(_) | Shape::Resource(_), None) => self.0 == action,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_cannot_pass_for_another_action_by_its_name() {
        for (tool, action) in [
            ("send_email", "execute:send_email"),
            ("crm.lookup", "execute:crm.lookup"),
            ("read:*", "execute:read__"),
            ("a b\n", "execute:a_b_"),
            ("", "execute:_"),
        ] {
            assert_eq!(Action::execute(tool).as_str(), action);
            assert!(action.parse::<Action>().is_ok(), "{action}");
        }
    }

    #[test]
    fn a_pattern_names_what_it_says() {
        for (pattern, action, named) in [
            ("*", "read:crm", true),
            ("*", "no action at all", true),
            ("*:*", "read:crm", true),
            ("*:*", "no action at all", false),
            ("read:*", "read:crm", true),
            ("read:*", "write:crm", false),
            ("*:crm", "write:crm", true),
            ("read:crm", "read:crm", true),
            ("read:crm", "read:crm2", false),
            ("read:*", "read:a:b", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(action), named, "{pattern} on {action}");
        }
    }
}
