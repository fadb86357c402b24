//! Where a setting comes from.

use std::borrow::Cow;

/// Where a setting comes from, the strongest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of the file.
    File {
        /// The file as it was named.
        name: String,
        /// Counted from one.
        line: usize,
        /// In characters, counted from one.
        column: usize,
    },
    /// An environment variable.
    Environment(Cow<'static, str>),
    /// A flag on the command line, with its dashes.
    Flag(String),
}

impl Origin {
    /// Where to look, for a problem with what came from there.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File { name, line, column } => format!("{name}:{line}:{column}"),
            Self::Environment(name) => name.to_string(),
            Self::Flag(name) => name.clone(),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { name, line, .. } => write!(f, "{name}:{line}"),
            Self::Environment(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}
