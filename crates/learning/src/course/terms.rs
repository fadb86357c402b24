//! The words of a course: where an artifact stands, what is done with a request, what a comparison changes.

use serde::{Deserialize, Serialize};

use crate::proof::{Means, Promise};

/// Where an artifact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It answers beside live, and is compared.
    Shadow,
    /// Every gate is passed; somebody has to promote it.
    Eligible,
    /// It serves, and is audited.
    Promoted,
    /// Somebody corrected what it said: it neither serves nor is proven until an operator releases it.
    Quarantined,
}

/// What is to be done with a request that the artifact could answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The artifact's answer is given.
    Serve,
    /// Live answers, and the artifact's answer is compared with it.
    Compare,
    /// Live answers.
    Live,
}

/// What a comparison changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Every gate is passed.
    Eligible,
    /// It serves from now on.
    Promoted,
    /// Too many audits differed: it is back in the shadow, and has to be proven again.
    Demoted,
    /// It was corrected.
    Quarantined,
}

/// What an operator or the configuration says about one artifact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// What has to be proven.
    pub promise: Promise,
    /// How it is to be proven.
    #[serde(default)]
    pub means: Means,
    /// Whether an artifact that passes every gate serves without being asked for.
    pub auto_promote: bool,
    /// The highest side-effect level of what the artifact answers; above zero an operator has to promote.
    pub side_effects: u8,
}
