//! What folding news into a study leaves to be kept beside it.

use schema::{ArtifactId, Digest, PatternId, Timestamp};
use serde::{Deserialize, Serialize};

use super::made::{Changed, Made, ProgramName};

/// What a study has to have kept beside itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Attempts, with what came of them.
    pub attempts: Vec<AttemptMade>,
    /// Texts of programs, with the artifacts they belong to.
    pub programs: Vec<(ArtifactId, ProgramName, String)>,
    /// Texts of versions that nobody needs any more.
    pub pruned: Vec<(ArtifactId, u32)>,
    /// Artifacts whose stage changed.
    pub changes: Vec<(ArtifactId, Changed)>,
    /// An artifact that is over: another takes its place.
    pub given_up: Vec<Made>,
    /// What is not to be tried again for a while.
    pub negatives: Vec<Negative>,
    /// Whether there is a new version of anything.
    pub version: bool,
}

/// Something that is not to be tried again before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Negative {
    /// The kind of work, or the kind of work and an input.
    pub key: Digest,
    /// Why.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
    /// Until when.
    pub until: Timestamp,
}

/// An attempt to make an artifact, for the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptMade {
    /// The how-manieth of its pattern, from 1.
    pub number: u32,
    /// The pattern.
    pub pattern: PatternId,
    /// When.
    pub at: Timestamp,
    /// What came of it: `synthesized`, `aborted`, `replay_failed`.
    pub outcome: String,
    /// Why, in a line.
    pub reason: String,
    /// What the compiler said, line by line.
    pub report: Vec<String>,
    /// How many samples it had.
    pub sample_count: u64,
    /// Of the newer samples that were answered, the share that came out right.
    pub holdout_accuracy: Option<f64>,
    /// What was made.
    pub artifact: Option<ArtifactId>,
    /// Who wanted it: `punk`, or whoever asked.
    pub by: String,
}
