//! The compiler of one pattern over time: samples come in, and when enough is new, the program is made again.

use std::collections::VecDeque;

use artifact::Artifact;
use serde::{Deserialize, Serialize};

use super::{Sample, SynthesisAttempt, synthesize};
use crate::comparator::Comparator;

/// Samples, the artifact in force, and the last attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiler {
    comparator: Comparator,
    samples: VecDeque<Sample>,
    fresh: usize,
    version: u32,
    artifact: Option<Artifact>,
    attempts: VecDeque<SynthesisAttempt>,
}

/// Fewest samples of a first attempt; samples that are kept; attempts whose report is kept.
const FEWEST: usize = 40;
const MOST_SAMPLES: usize = 320;
const MOST_ATTEMPTS: usize = 32;

impl Compiler {
    /// A compiler that compares answers by `comparator`.
    #[must_use]
    pub fn new(comparator: Comparator) -> Self {
        Self { comparator, ..Self::default() }
    }

    /// Learns what live answered. What the artifact in force already answers the same (`known`) is no reason for another.
    /// Says whether there is a new version.
    pub fn learn(&mut self, sample: Sample, known: bool) -> bool {
        self.samples.push_back(sample);
        if self.samples.len() > MOST_SAMPLES {
            self.samples.pop_front();
        }
        self.fresh += usize::from(!known);
        // When an eighth of all is new: the work per sample stays the same.
        if self.samples.len() < FEWEST || self.fresh < (self.samples.len() / 8).max(FEWEST / 5) {
            return false;
        }
        self.fresh = 0;
        let (attempt, artifact) = synthesize(self.samples.make_contiguous(), &self.comparator);
        self.attempts.push_back(attempt);
        if self.attempts.len() > MOST_ATTEMPTS {
            self.attempts.pop_front();
        }
        let Some(artifact) = artifact else { return false };
        self.version += 1;
        self.artifact = Some(artifact);
        true
    }

    /// The artifact in force.
    #[must_use]
    pub const fn artifact(&self) -> Option<&Artifact> {
        self.artifact.as_ref()
    }

    /// The last attempts, oldest first.
    pub fn attempts(&self) -> impl Iterator<Item = &SynthesisAttempt> {
        self.attempts.iter()
    }

    /// The samples that are kept, oldest first.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter()
    }

    /// How many versions there were.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// How answers are compared.
    #[must_use]
    pub const fn comparator(&self) -> &Comparator {
        &self.comparator
    }
}
