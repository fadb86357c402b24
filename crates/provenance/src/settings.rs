//! What an operator says about tools: how much they change, which of their fields outsiders write, and which arguments
//! say where something goes.

use std::collections::BTreeMap;

use schema::SideEffectLevel;
use serde::{Deserialize, Serialize};

/// How to judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// What to make of tools that nobody declared.
    pub undeclared: Undeclared,
    /// How much one vouched influence lifts.
    pub coverage: Coverage,
    /// From which level on an action is looked at. Egress is, whatever its level.
    pub threshold: SideEffectLevel,
    /// The declared tools, by name.
    pub tools: BTreeMap<String, Declaration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            undeclared: Undeclared::Strict,
            coverage: Coverage::Source,
            threshold: SideEffectLevel::ReversibleWrite,
            tools: BTreeMap::new(),
        }
    }
}

/// What to make of what nobody declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undeclared {
    /// Guess nothing: a tool is a level 3, all it returns is untrusted, every argument is a target.
    #[default]
    Strict,
    /// Guess from names, schemas and the look of values. What no guess covers is as strict as above.
    Infer,
}

/// How much one vouched influence lifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// What has its own source or its own digest.
    #[default]
    Source,
    /// All of the run: the wording of old, where one verified note makes every stranger's text harmless.
    Run,
}

/// What is known of one tool. A declared tool is not guessed at, but for the roles of arguments that are not listed, and
/// that only under [`Undeclared::Infer`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Declaration {
    /// How much it changes; absent is undeclared.
    pub level: Option<SideEffectLevel>,
    /// Whether it takes something out of the house, such as by fetching an address: counts as a write.
    pub egress: bool,
    /// What its fields are, by path below the record: `sender`, `owner.email`; `*` is all that is not listed.
    pub fields: BTreeMap<String, Label>,
    /// What its arguments are, by name.
    pub arguments: BTreeMap<String, Role>,
}

/// Who writes a field of a tool's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The user's own data: good as a target without further ado.
    Own,
    /// The system, or the user: ids, addresses in an address book. Good as a target if the user's words point at its record.
    Trusted,
    /// A label that people know the record by, such as a title. The user's words can point at the record by it.
    Name,
    /// Anybody.
    Untrusted,
}

/// What an argument does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Says whom or what the action reaches: a recipient, an account, an address, an id, a password.
    Target,
    /// How much of something valuable.
    Amount,
    /// What is said or stored.
    Content,
    /// Everything else: dates, flags, places.
    Detail,
}
