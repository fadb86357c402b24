//! Where a setting comes from.

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
    Environment(&'static str),
    /// A flag on the command line, with its dashes.
    Flag(String),
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
