//! Patterns: runs of one kind, how alike they are answered, and where their learning stands.
//!
//! A pattern is folded from its runs in order; the same runs give the same pattern. Scores are made of what was counted, and
//! every score has its reasons in words.

use std::collections::BTreeMap;

use schema::Digest;
use serde::{Deserialize, Serialize};

use crate::course::Stage;

/// Where the learning of a pattern stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Seen.
    #[default]
    Observed,
    /// Often and steady enough to learn.
    Candidate,
    /// An artifact is being made.
    Synthesizing,
    /// It is tried on recorded runs.
    Replaying,
    /// It is compared with live.
    Shadow,
    /// Proven, not yet promoted.
    Eligible,
    /// It serves.
    Promoted,
    /// Nothing could be made of it; tried again when there is much more of it.
    Negative,
    /// An operator does not want it learned.
    Retired,
    /// A correction stopped it.
    Quarantined,
}

/// What happens to a pattern beside its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// An attempt to make an artifact began.
    Synthesize,
    /// The attempt made one.
    Synthesized,
    /// The attempt was aborted, or its artifact failed the replay.
    Failed,
    /// Recorded runs came out right.
    Replayed,
    /// The course of its artifact is here now.
    Course(Stage),
    /// An operator does not want it learned.
    Retire,
}

/// One run as a pattern sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The hash of its request.
    pub request: Digest,
    /// The hash of its answer.
    pub answer: Digest,
    /// The shape of its answer.
    pub shape: Digest,
    /// What it cost, in micro-dollars.
    pub cost: u64,
    /// How long it took, in milliseconds.
    pub latency: u64,
}

/// What kind of work a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskClass {
    /// Few answers, given again and again.
    Classification,
    /// JSON of one shape.
    SchemaDeterministic,
    /// Text, different every time.
    FreeText,
}

/// A pattern.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pattern {
    /// Where it stands.
    pub state: State,
    /// How many runs it has.
    pub run_count: u64,
    cost: u64,
    latency: u64,
    shapes: BTreeMap<Digest, u64>,
    answers: BTreeMap<Digest, u64>,
    corrections: u64,
    tried_at: u64,
}

/// Shapes and answers that are told apart; more of them only count as others.
const MOST_KEPT: usize = 256;
/// Runs before there is anything to learn, and the steadiness that is needed.
const FEWEST_RUNS: u64 = 16;
const STEADY: f64 = 0.8;
/// After a failure, so much more has to be seen before it is tried again.
const MORE: f64 = 1.5;

impl Pattern {
    /// Counts a run.
    pub fn observe(&mut self, run: &Observed) {
        self.run_count += 1;
        self.cost += run.cost;
        self.latency += run.latency;
        count(&mut self.shapes, run.shape);
        count(&mut self.answers, run.answer);
        let again = self.state == State::Negative && self.run_count as f64 >= self.tried_at as f64 * MORE;
        if (self.state == State::Observed || again)
            && self.run_count >= FEWEST_RUNS
            && self.stability() >= STEADY
        {
            self.state = State::Candidate;
        }
    }

    /// Counts a correction of one of its answers: the strongest sign that there is.
    pub fn correct(&mut self) {
        self.corrections += 1;
    }

    /// Takes a step; one that does not belong here changes nothing.
    pub fn take(&mut self, step: Step) {
        self.state = match (self.state, step) {
            (_, Step::Retire) | (State::Retired, _) => State::Retired,
            (State::Candidate | State::Negative, Step::Synthesize) => State::Synthesizing,
            (State::Synthesizing, Step::Synthesized) => State::Replaying,
            (State::Synthesizing | State::Replaying, Step::Failed) => {
                self.tried_at = self.run_count;
                State::Negative
            }
            (State::Replaying, Step::Replayed) => State::Shadow,
            (State::Shadow | State::Eligible | State::Promoted | State::Quarantined, Step::Course(stage)) => {
                match stage {
                    Stage::Shadow => State::Shadow,
                    Stage::Eligible => State::Eligible,
                    Stage::Promoted => State::Promoted,
                    Stage::Quarantined => State::Quarantined,
                }
            }
            (state, _) => state,
        };
    }

    /// How much of the runs has one shape of answer, less what was corrected, from 0 to 1.
    #[must_use]
    pub fn stability(&self) -> f64 {
        let all = self.run_count.max(1) as f64;
        let same = self.shapes.values().max().copied().unwrap_or(0) as f64 / all;
        (same - 5.0 * self.corrections as f64 / all).clamp(0.0, 1.0)
    }

    /// What could be saved by learning it, from 0 to 1: steady, frequent, and repetitive work.
    #[must_use]
    pub fn optimizable(&self) -> f64 {
        let often = 1.0 - 1.0 / (1.0 + self.run_count as f64 / 50.0);
        let class = match self.task_class() {
            TaskClass::Classification => 1.0,
            TaskClass::SchemaDeterministic => 0.9,
            TaskClass::FreeText => 0.3,
        };
        self.stability() * often * class
    }

    /// What kind of work it is, by how its answers repeat.
    #[must_use]
    pub fn task_class(&self) -> TaskClass {
        let known: u64 = self.answers.values().sum();
        if self.answers.len() < MOST_KEPT && self.answers.len() as u64 * 4 <= known {
            TaskClass::Classification
        } else if self.shapes.len() as f64 <= (self.run_count as f64).sqrt() && self.stability() >= STEADY {
            TaskClass::SchemaDeterministic
        } else {
            TaskClass::FreeText
        }
    }

    /// Mean cost in micro-dollars and mean latency in milliseconds.
    #[must_use]
    pub fn averages(&self) -> (u64, u64) {
        let runs = self.run_count.max(1);
        (self.cost / runs, self.latency / runs)
    }

    /// Why it stands where it stands, in words.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = vec![
            format!("{} runs; learning begins with {FEWEST_RUNS}", self.run_count),
            format!(
                "{:.0} % of the answers have one shape; {:.0} % are needed",
                self.stability() * 100.0,
                STEADY * 100.0
            ),
        ];
        if self.corrections > 0 {
            reasons.push(format!("{} answers were corrected", self.corrections));
        }
        if self.state == State::Negative {
            reasons
                .push(format!("nothing held; tried again from run {}", (self.tried_at as f64 * MORE).ceil()));
        }
        reasons
    }
}

fn count(counts: &mut BTreeMap<Digest, u64>, of: Digest) {
    if counts.len() < MOST_KEPT || counts.contains_key(&of) {
        *counts.entry(of).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(answer: u8) -> Observed {
        Observed {
            request: Digest::ZERO,
            answer: Digest::from_bytes([answer; 32]),
            shape: Digest::ZERO,
            cost: 10,
            latency: 100,
        }
    }

    fn candidate() -> Pattern {
        (0..20).fold(Pattern::default(), |mut pattern, at| {
            pattern.observe(&run(at % 3));
            pattern
        })
    }

    #[test]
    fn steady_repeated_work_becomes_a_candidate() {
        let pattern = candidate();
        assert_eq!(pattern.state, State::Candidate);
        assert_eq!(pattern.task_class(), TaskClass::Classification);
        assert_eq!(pattern.averages(), (10, 100));
    }

    #[test]
    fn nothing_is_promoted_past_the_steps_before() {
        let mut pattern = candidate();
        pattern.take(Step::Course(Stage::Promoted));
        assert_eq!(pattern.state, State::Candidate);
        for step in [
            Step::Synthesize,
            Step::Synthesized,
            Step::Replayed,
            Step::Course(Stage::Eligible),
            Step::Course(Stage::Promoted),
        ] {
            pattern.take(step);
        }
        assert_eq!(pattern.state, State::Promoted);
    }

    #[test]
    fn what_failed_is_tried_again_when_there_is_much_more() {
        let mut pattern = candidate();
        pattern.take(Step::Synthesize);
        pattern.take(Step::Failed);
        (0..9).for_each(|_| pattern.observe(&run(1)));
        assert_eq!(pattern.state, State::Negative);
        pattern.observe(&run(1));
        assert_eq!(pattern.state, State::Candidate);
    }

    #[test]
    fn a_retired_pattern_stays_retired() {
        let mut pattern = candidate();
        pattern.take(Step::Retire);
        pattern.take(Step::Synthesize);
        assert_eq!(pattern.state, State::Retired);
    }

    #[test]
    fn corrections_lower_stability() {
        let mut pattern = candidate();
        let before = pattern.stability();
        pattern.correct();
        assert!(pattern.stability() < before);
        assert!(pattern.reasons().iter().any(|reason| reason.contains("corrected")));
    }
}
