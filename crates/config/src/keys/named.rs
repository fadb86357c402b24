//! Tables whose names are the user's: `[upstreams.NAME]`, `[models."NAME"]`, `[prices."MODEL"]`, `[sinks.NAME]`, `[issuers.NAME]`.

use super::NAMED;
use crate::key::Key;

/// A kind of table of which there may be several, each with a name of its own.
#[derive(Debug)]
pub struct Named {
    /// What the paths start with.
    pub name: &'static str,
    /// A name as an example, as the file writes it.
    pub example: &'static str,
    /// What it is for, for the reference.
    pub doc: &'static str,
    /// Which names may be given.
    pub(crate) names: NameRule,
    /// What may stand in each; `NAME` in their paths stands for the name.
    pub keys: &'static [Key],
}

/// Which names may be given to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// What can be a prefix of a model and a part of a variable, and is not built in.
    Upstream,
    /// What can be a part of a variable.
    Plain,
    /// Anything printable.
    Any,
}

/// What stands for the name of a table in the name of a variable.
const PLACEHOLDER: &str = "<NAME>";

/// The upstreams that have a section of their own.
pub(crate) const BUILT_IN: [&str; 4] = ["openai", "anthropic", "openrouter", "mock"];

impl NameRule {
    /// Whether a table may have this name.
    pub(crate) fn takes(self, name: &str) -> bool {
        match self {
            Self::Upstream => Self::Plain.takes(name) && !BUILT_IN.contains(&name),
            // No `_`: with it, two tables could share a variable.
            Self::Plain => {
                name.len() <= 40
                    && name.starts_with(|first: char| first.is_ascii_lowercase())
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            }
            Self::Any => !name.is_empty() && name.len() <= 200 && !name.chars().any(char::is_control),
        }
    }

    /// What is allowed, as the end of a sentence that begins "must be".
    pub(crate) fn allowed(self) -> &'static str {
        match self {
            Self::Upstream => {
                "lower-case letters, digits and dashes, beginning with a letter, 40 at most; openai, anthropic and openrouter \
                 are set below [providers], and mock is built in"
            }
            Self::Plain => "lower-case letters, digits and dashes, beginning with a letter, 40 at most",
            Self::Any => "printable text, 200 bytes at most",
        }
    }
}

/// Every kind of named table, in the order of the reference.
pub fn named_tables() -> &'static [&'static Named] {
    &NAMED
}

impl Named {
    /// The key called `field`.
    pub(crate) fn key(&self, field: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| last(key.path) == field)
    }

    /// The fields that may stand in it.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| last(key.path))
    }
}

/// The path of a key in the table called `name`.
pub(crate) fn path(key: &Key, name: &str) -> String {
    key.path.replacen("NAME", name, 1)
}

/// Whether the environment sets a key of named tables too, by a variable with the table's name in it.
pub(crate) fn is_named_variable(key: &Key) -> bool {
    key.env.contains(PLACEHOLDER)
}

/// The variable that sets `key` in the table called `name`.
pub(crate) fn variable(key: &Key, name: &str) -> String {
    key.env.replace(PLACEHOLDER, &name.to_ascii_uppercase().replace('-', "_"))
}

fn last(path: &'static str) -> &'static str {
    path.rsplit('.').next().unwrap_or(path)
}
