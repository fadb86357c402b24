//! What a tick came to, for whoever asked for it.

use learning::course::Stage;
use schema::ArtifactId;
use serde::Serialize;

use crate::desk::{Counted, Desk};
use crate::study::Changed;

/// What a tick came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Leaves of the log that were read.
    pub leaves: u64,
    /// Live answers that taught something.
    pub lessons: u64,
    /// Patterns that were seen for the first time.
    pub patterns_discovered: u64,
    /// Attempts to make an artifact.
    pub attempts: u64,
    /// Artifacts that were made.
    pub artifacts_synthesized: u64,
    /// Artifacts that passed every gate, and wait for somebody.
    pub promotions_eligible: Vec<ArtifactId>,
    /// Artifacts that were promoted without being asked for.
    pub auto_promoted: Vec<ArtifactId>,
    /// Artifacts that no longer serve, because they differed from live.
    pub demoted: Vec<ArtifactId>,
    /// Artifacts that no longer serve, because they were corrected or an operator said so.
    pub quarantined: Vec<ArtifactId>,
}

impl Report {
    /// Adds what came of a page.
    pub(crate) fn note(&mut self, desk: &Desk) {
        let Counted { lessons, discovered } = desk.counted;
        self.lessons += lessons;
        self.patterns_discovered += discovered;
        self.attempts += desk.out.attempts.len() as u64;
        self.artifacts_synthesized +=
            desk.out.attempts.iter().filter(|attempt| attempt.outcome == "synthesized").count() as u64;
        for (artifact, changed) in &desk.out.changes {
            let list = match changed.stage {
                Stage::Eligible => &mut self.promotions_eligible,
                Stage::Quarantined => &mut self.quarantined,
                Stage::Shadow if is_demotion(changed) => &mut self.demoted,
                Stage::Shadow | Stage::Promoted => continue,
            };
            if !list.contains(artifact) {
                list.push(*artifact);
            }
        }
    }
}

/// Whether it served until then, and nobody had said that it should not.
fn is_demotion(changed: &Changed) -> bool {
    changed.reason.contains("audited") || changed.reason.contains("side effects")
}
