//! Problems: what is wrong with a configuration, where, and what to do about it.

use crate::key::Key;

/// Everything that is wrong, in the order file, environment, flags.
#[derive(Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `punk.toml:3:8`, a variable or a flag.
    pub place: String,
    /// What.
    pub fault: Fault,
}

/// What is wrong. No variant holds any part of a secret value.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file has a key that nothing reads.
    UnknownKey {
        /// The key as written.
        name: String,
        /// What was probably meant.
        nearest: Vec<String>,
        /// What may stand in that place.
        allowed: Vec<String>,
    },
    /// A `PUNK_…` variable that nothing reads.
    UnknownVariable {
        /// What was probably meant.
        nearest: Vec<String>,
    },
    /// A table has a name that it cannot have.
    BadName {
        /// The kind of table.
        table: &'static str,
        /// The name.
        shown: String,
        /// What names may be.
        allowed: &'static str,
    },
    /// A table lacks what it cannot do without.
    Missing {
        /// The key.
        key: String,
        /// What the key takes.
        allowed: String,
    },
    /// A table has what only one of another kind has.
    OtherKind {
        /// The key.
        key: String,
        /// The kind that the table is.
        kind: String,
        /// What may stand in one of that kind.
        allowed: Vec<String>,
    },
    /// A model is served by an upstream that is not there.
    NoSuchUpstream {
        /// The key that names it.
        key: String,
        /// The upstream, as written.
        shown: String,
        /// What was probably meant.
        nearest: Vec<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// Aliases that lead back to where they started.
    AliasLoop {
        /// The model, as written.
        shown: String,
    },
    /// A flag for what only the file sets.
    OnlyInFile {
        /// The kind of table.
        table: &'static str,
    },
    /// The key does not take the value.
    BadValue {
        /// The key.
        key: String,
        /// The value, or that it is hidden.
        shown: String,
        /// What the key takes.
        allowed: String,
    },
    /// A value stands where a section belongs.
    NotASection {
        /// The section.
        name: String,
        /// What may stand in it.
        allowed: Vec<String>,
    },
    /// The value of a variable is not text.
    NotUtf8 {
        /// The key it would set.
        key: String,
    },
    /// The file is not TOML.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// The file was named and could not be read.
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// Two flags set the same key.
    GivenTwice {
        /// The key.
        key: &'static str,
    },
    /// A secret on the command line, where every user of the machine can see it.
    SecretFlag {
        /// The key.
        key: &'static str,
        /// The variable to use in its place.
        variable: &'static str,
    },
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, fault: Fault) -> Self {
        Self { place: place.into(), fault }
    }

    pub(crate) fn bad_value(place: impl Into<String>, key: &'static Key, given: &str) -> Self {
        Self::bad_value_at(place, key, key.path, given)
    }

    /// The same for a key of a named table, whose path the table's name completes.
    pub(crate) fn bad_value_at(
        place: impl Into<String>,
        key: &'static Key,
        path: impl Into<String>,
        given: &str,
    ) -> Self {
        let shown = if key.secret { "the value (hidden)".to_owned() } else { shortened(given) };
        Self::new(place, Fault::BadValue { key: path.into(), shown, allowed: key.kind.allowed() })
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let or = |names: &[String]| names.join(" or ");
        match &self.fault {
            Fault::UnknownKey { nearest, allowed, .. } if nearest.is_empty() => {
                format!("allowed here: {}", allowed.join(", "))
            }
            Fault::UnknownKey { nearest, allowed, .. } => {
                format!("did you mean {}? allowed here: {}", or(nearest), allowed.join(", "))
            }
            Fault::UnknownVariable { nearest } if nearest.is_empty() => {
                "unset it; `punk config` lists every variable that is read".to_owned()
            }
            Fault::UnknownVariable { nearest } => {
                format!("did you mean {}? `punk config` lists every variable that is read", or(nearest))
            }
            Fault::BadName { table, allowed, .. } => format!("a name in [{table}] must be {allowed}"),
            Fault::Missing { key, allowed } => format!("set {key} to {allowed}"),
            Fault::OtherKind { kind, allowed, .. } => {
                format!(
                    "take it out, or set another kind; with kind {kind} there may be: {}",
                    allowed.join(", ")
                )
            }
            Fault::NoSuchUpstream { nearest, known, .. } => {
                let guess = if nearest.is_empty() {
                    String::new()
                } else {
                    format!("did you mean {}? ", or(nearest))
                };
                format!("{guess}there are: {}", known.join(", "))
            }
            Fault::AliasLoop { .. } => "let one of them name a model of an upstream".to_owned(),
            Fault::OnlyInFile { table } => format!("write it below [{table}.NAME] in punk.toml"),
            Fault::BadValue { key, allowed, .. } => format!("{key} must be {allowed}"),
            Fault::NotASection { name, allowed } => {
                format!("write a line [{name}] and below it any of: {}", allowed.join(", "))
            }
            Fault::NotUtf8 { key } => format!("write the value of {key} in UTF-8"),
            Fault::Syntax { .. } => {
                "the file must be TOML: [section] lines and name = value lines".to_owned()
            }
            Fault::Unreadable { .. } => "name a file that can be read, or leave it out".to_owned(),
            Fault::GivenTwice { .. } => "keep one of them".to_owned(),
            Fault::SecretFlag { variable, .. } => format!("set {variable} in its place"),
        }
    }
}

/// What is wrong, without place and advice.
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownKey { name, .. } => write!(f, "unknown key `{name}`"),
            Self::UnknownVariable { .. } => f.write_str("unknown variable"),
            Self::BadName { table, shown, .. } => write!(f, "{shown} cannot be a name in [{table}]"),
            Self::Missing { key, .. } => write!(f, "{key} is not set"),
            Self::OtherKind { key, kind, .. } => write!(f, "{key} means nothing for the kind {kind}"),
            Self::NoSuchUpstream { key, shown, .. } => write!(f, "{key} names {shown}, which is no upstream"),
            Self::AliasLoop { shown } => write!(f, "the aliases of model {shown} lead back to it"),
            Self::OnlyInFile { table } => write!(f, "[{table}.NAME] is set only in the file"),
            Self::BadValue { key, shown, .. } => write!(f, "{shown} is not a value of {key}"),
            Self::NotASection { name, .. } => write!(f, "`{name}` is a section, not a value"),
            Self::NotUtf8 { .. } => f.write_str("the value is not UTF-8"),
            Self::Syntax { message } => f.write_str(message),
            Self::Unreadable { file, reason } => write!(f, "cannot read {file}: {reason}"),
            Self::GivenTwice { key } => write!(f, "{key} is set by two flags"),
            Self::SecretFlag { key, .. } => {
                write!(f, "{key} is secret, and other users can see a command line")
            }
        }
    }
}

/// `place: what; advice`, one line.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.fault, self.hint())
    }
}

/// A line each.
impl std::fmt::Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The text in quotes, escaped and cut, so that a stray binary file cannot flood or repaint a terminal.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    let head: String = text.chars().take(SHOWN).collect();
    let more = if head.len() < text.len() { "…" } else { "" };
    format!("{head:?}{more}")
}
