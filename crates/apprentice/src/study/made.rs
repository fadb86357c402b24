//! An artifact as its pattern's study has it: its versions, what it was compared with, what became of it.

use std::collections::VecDeque;

use learning::course::{Course, Stage};
use learning::gate::{Gate, Gates};
use learning::proof::{Promise, Tally};
use schema::{ArtifactId, Digest, PatternId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::news::{Lesson, Replay};

/// An artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    /// Its id.
    pub id: ArtifactId,
    /// The pattern it is made of.
    pub pattern: PatternId,
    /// What makes it: `classifier`, `program`, `hybrid`, `tagger`, `plan`, `imported`.
    pub kind: String,
    /// The fields that it leaves open: with any, it answers a part, and a small model the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The small model that it is proven with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// Its version, from 1.
    pub version: u32,
    /// From its first comparison to its last.
    pub course: Course,
    /// When it was made.
    pub created_at: Timestamp,
    /// What would serve, or does.
    pub program: Option<ProgramName>,
    /// The versions whose texts are kept, oldest first.
    #[serde(default)]
    pub versions: Vec<Version>,
    /// The last comparisons, oldest first.
    pub evaluations: VecDeque<Evaluation>,
    /// Answers that somebody corrected.
    pub corrections: Vec<Correction>,
    /// What became of it, oldest first.
    pub changes: VecDeque<Changed>,
    /// How many requests it answered.
    pub served: u64,
    /// What that saved, in micro-dollars.
    pub saved_micro_usd: u64,
    /// Inputs to which live said something else of late: they go live until then.
    #[serde(default)]
    pub avoided: VecDeque<(Digest, Timestamp)>,
    /// What came of the recorded runs it was tried on: how many it answered, and how many as live did.
    pub replayed: (u64, u64),
    /// What came of the last time that somebody had it tried on recorded runs.
    #[serde(default)]
    pub last_replay: Option<Replay>,
}

/// A program that is kept, by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramName {
    /// Its version.
    pub version: u32,
    /// The digest of its text.
    pub digest: Digest,
    /// The length of its text.
    pub bytes: u64,
}

/// A version whose text is kept: what it was made of, and what was proven when it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// What it is.
    pub program: ProgramName,
    /// When it was made.
    pub at: Timestamp,
    /// The run with which it was made; it knows nothing that came later.
    pub run: RunId,
    /// How many live answers its pattern had taught until then.
    pub samples: u64,
    /// What the proof had counted until then.
    pub proof: Tally,
    /// How many requests it answered.
    pub served: u64,
}

/// One comparison with live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    /// The run that live answered.
    pub run: RunId,
    /// When.
    pub at: Timestamp,
    /// On which occasion.
    pub kind: Occasion,
    /// The version that was compared.
    pub version: u32,
    /// Whether both said the same.
    pub agreed: bool,
}

/// On which occasion something was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// Beside live, before anything was served.
    Shadow,
    /// In the place of serving.
    Audit,
    /// Somebody did not like what was served.
    Feedback,
}

/// A correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Correction {
    /// The run whose answer it was.
    pub run: RunId,
    /// When somebody said so.
    pub at: Timestamp,
    /// The version that had answered.
    pub version: u32,
}

/// A change of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// When.
    pub at: Timestamp,
    /// Where it stands since.
    pub stage: Stage,
    /// Why, in a line.
    pub reason: String,
    /// The run that was the reason.
    pub run: RunId,
}

/// So many comparisons and changes are shown.
const MOST_SHOWN: usize = 32;
/// Inputs of one artifact that are avoided.
const MOST_AVOIDED: usize = 256;
/// A version that never served stays for so long after the next was made: a gateway may have it in memory still.
const LINGERS_MS: u64 = 3_600_000;

impl Made {
    /// The gates before promotion, one by one.
    #[must_use]
    pub fn gates(&self) -> Gates {
        let mut gates = self.course.gates();
        if self.is_hybrid() {
            let open = self.open.join(", ");
            let reason = match &self.asks {
                Some(model) => format!("`{model}` is asked for {open}"),
                None => format!("it answers a part: nobody may be asked for {open} (`learning.small_model`)"),
            };
            gates.0.push(Gate { name: "small model".to_owned(), passed: self.asks.is_some(), reason });
        }
        gates
    }

    /// Whether it leaves anything open.
    #[must_use]
    pub const fn is_hybrid(&self) -> bool {
        !self.open.is_empty()
    }

    /// The share of answers that surely agree with live, by what was compared.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let attempt = self.course.proof();
        1.0 - attempt.bound(Promise::default().doubt)
    }

    pub(super) fn compared(&mut self, lesson: &Lesson, kind: Occasion, version: u32, agreed: bool) {
        self.evaluated(Evaluation { run: lesson.run, at: lesson.at, kind, version, agreed });
    }

    pub(super) fn evaluated(&mut self, evaluation: Evaluation) {
        self.evaluations.push_back(evaluation);
        if self.evaluations.len() > MOST_SHOWN {
            self.evaluations.pop_front();
        }
    }

    pub(super) fn note(&mut self, changed: Changed) {
        self.changes.push_back(changed);
        if self.changes.len() > MOST_SHOWN {
            self.changes.pop_front();
        }
    }

    pub(super) fn avoid(&mut self, key: Digest, until: Timestamp) {
        self.avoided.push_back((key, until));
        if self.avoided.len() > MOST_AVOIDED {
            self.avoided.pop_front();
        }
    }

    /// Another version takes its place.
    pub(super) fn supersede(&mut self, version: Version) {
        self.program = Some(version.program);
        match self.versions.iter_mut().find(|known| known.program.version == version.program.version) {
            Some(known) => *known = Version { served: known.served, ..version },
            None => self.versions.push(version),
        }
    }

    /// Gives up the versions that never served and that no gateway can have in memory at this time, and says which.
    pub(super) fn prune(&mut self, at: Timestamp) -> Vec<u32> {
        let next: Vec<Timestamp> = self.versions.iter().skip(1).map(|next| next.at).collect();
        let is_over = |place: usize| {
            next.get(place)
                .is_some_and(|since| at.as_millis().saturating_sub(since.as_millis()) >= LINGERS_MS)
        };
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (place, known) in self.versions.drain(..).enumerate() {
            if known.served == 0 && is_over(place) {
                gone.push(known.program.version);
            } else {
                kept.push(known);
            }
        }
        self.versions = kept;
        gone
    }
}
