//! Tables whose names are the user's: `[upstreams.NAME]`, `[models."NAME"]`, `[prices."MODEL"]`.

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
    /// Anything printable.
    Any,
}

/// The upstreams that have a section of their own.
pub(crate) const BUILT_IN: [&str; 4] = ["openai", "anthropic", "openrouter", "mock"];

impl NameRule {
    /// Whether a table may have this name.
    pub(crate) fn takes(self, name: &str) -> bool {
        match self {
            // No `_`: with it, two upstreams could share a variable.
            Self::Upstream => {
                name.len() <= 40
                    && name.starts_with(|first: char| first.is_ascii_lowercase())
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                    && !BUILT_IN.contains(&name)
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

/// The one key of upstreams that the environment sets too.
pub(crate) fn upstream_key() -> Option<&'static Key> {
    NAMED.iter().find(|table| table.names == NameRule::Upstream)?.key("api_key")
}

/// The variable that holds the key of the upstream called `name`.
pub(crate) fn upstream_variable(name: &str) -> String {
    format!("PUNK_UPSTREAM_{}_API_KEY", name.to_ascii_uppercase().replace('-', "_"))
}

fn last(path: &'static str) -> &'static str {
    path.rsplit('.').next().unwrap_or(path)
}
