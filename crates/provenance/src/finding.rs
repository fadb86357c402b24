//! What is found out about an action, in a form that a ledger keeps and a person reads.
//!
//! Values are not repeated here, only where they stand and where they came from: a finding is safe to record.

use std::fmt;

use schema::SideEffectLevel;
use serde::{Deserialize, Serialize};

use crate::settings::Role;

/// Where untrusted words stand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The tool, or the source of an influence.
    pub name: String,
    /// The field of its result; empty for all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
}

/// Where the value of an argument came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Origin {
    /// It is in the words of the user, or of whoever runs the agent.
    User,
    /// It is nothing that anybody chose: a flag, a default, one of the few values that the schema has.
    Constant,
    /// It is in a field of a tool's result that strangers do not write.
    TrustedField {
        /// The tool.
        tool: String,
        /// The field.
        path: String,
        /// Whether the user's words point at the record it is part of.
        pointed: bool,
    },
    /// It is in a text that anybody may have written.
    UntrustedText {
        /// Which text.
        source: Source,
    },
    /// It is nowhere: the model put it together.
    Composed,
}

impl Origin {
    /// Whether it is the user's own, or what the user's words point at.
    #[must_use]
    pub fn is_users(&self) -> bool {
        matches!(self, Self::User | Self::TrustedField { pointed: true, .. })
    }
}

/// One value of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// Where it stands: `recipients[0]`.
    pub path: String,
    /// What it does.
    pub role: Role,
    /// Where it came from.
    pub origin: Origin,
}

/// All that was found out about an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// The tool.
    pub tool: String,
    /// How much it changes, as it was declared or guessed.
    pub level: SideEffectLevel,
    /// Whether it takes something out of the house.
    pub egress: bool,
    /// Its values, in order.
    pub arguments: Vec<Argument>,
    /// What follows.
    pub finding: Finding,
}

/// Whether untrusted text could have shaped an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "verdict")]
pub enum Finding {
    /// It changes nothing, nothing untrusted was read, or the user's words account for it.
    Clean,
    /// It could have: a person has to look at it.
    Shaped {
        /// The untrusted texts that could have, by name.
        by: Vec<String>,
        /// The arguments that speak for it; empty if it is the action as such.
        arguments: Vec<String>,
        /// Why, in order.
        reasons: Vec<Reason>,
    },
}

impl Finding {
    /// Whether a person has to look at it.
    #[must_use]
    pub const fn needs_approval(&self) -> bool {
        matches!(self, Self::Shaped { .. })
    }
}

/// Why an action could have been shaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "reason")]
pub enum Reason {
    /// The user's words do not ask for this kind of action.
    Unasked,
    /// Whom or what it reaches is said by an untrusted text.
    UntrustedTarget {
        /// The argument.
        argument: String,
        /// The text.
        source: Source,
    },
    /// Whom or what it reaches is a trusted value, and nothing in the user's words points at it.
    UnpointedTarget {
        /// The argument.
        argument: String,
        /// Where the value stands.
        tool: String,
    },
    /// Whom or what it reaches is said nowhere.
    ComposedTarget {
        /// The argument.
        argument: String,
    },
    /// How much is said by an untrusted text.
    UntrustedAmount {
        /// The argument.
        argument: String,
        /// The text.
        source: Source,
    },
    /// How much is not in the user's words, and neither is whom it reaches.
    LooseAmount {
        /// The argument.
        argument: String,
    },
    /// The content leads to an address that the user did not give.
    PlantedAddress {
        /// The argument.
        argument: String,
        /// What it is: `web address`, `e-mail address`, `account number`.
        address: String,
    },
    /// Some of it was copied from an untrusted text, and none of it is the user's.
    NothingOfTheUsers,
}

impl Reason {
    /// The argument it is about, if it is about one.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        match self {
            Self::Unasked | Self::NothingOfTheUsers => None,
            Self::UntrustedTarget { argument, .. }
            | Self::UnpointedTarget { argument, .. }
            | Self::ComposedTarget { argument }
            | Self::UntrustedAmount { argument, .. }
            | Self::LooseAmount { argument }
            | Self::PlantedAddress { argument, .. } => Some(argument),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "`{}`", self.name),
            path => write!(f, "`{path}` of `{}`", self.name),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unasked => write!(f, "the user did not ask for this kind of action"),
            Self::UntrustedTarget { argument, source } => {
                write!(
                    f,
                    "`{argument}` says whom or what it reaches, and comes from {source}, which anybody may have written"
                )
            }
            Self::UnpointedTarget { argument, tool } => {
                write!(f, "`{argument}` is a value of `{tool}` that nothing in the user's words points at")
            }
            Self::ComposedTarget { argument } => {
                write!(f, "`{argument}` says whom or what it reaches, and the user did not say it")
            }
            Self::UntrustedAmount { argument, source } => {
                write!(f, "`{argument}` comes from {source}, which anybody may have written")
            }
            Self::LooseAmount { argument } => {
                write!(f, "the user said neither `{argument}` nor whom or what it reaches")
            }
            Self::PlantedAddress { argument, address } => {
                write!(f, "`{argument}` has a {address} in it that the user did not give")
            }
            Self::NothingOfTheUsers => {
                write!(
                    f,
                    "some of it is copied from text that anybody may have written, and none of it is the user's"
                )
            }
        }
    }
}
