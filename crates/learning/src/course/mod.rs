//! The course of one artifact from its first comparison to its last: shadow, proof, promotion, audit, demotion.
//!
//! It does not know what answers: a program, a classifier, a cached plan, a cheaper model. It hears that something could
//! answer a request ([`Course::turn`]) and what a comparison with live said ([`Course::compared`]), and decides. Nothing here
//! can act; the same calls in the same order give the same state.

mod terms;
#[cfg(test)]
mod tests;

pub use terms::{Change, Stage, Terms, Turn};

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, STEADY, youth};
use crate::drift::Watch;
use crate::gate::{Gate, Gates};
use crate::inputs::Inputs;
use crate::proof::{Attempt, Promise, Proof, Tally};
use crate::threshold::Aim;

/// The course of one artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    terms: Terms,
    stage: Stage,
    proof: Proof,
    audit: Audit,
    audited: Tally,
    watch: Watch,
    #[serde(default)]
    inputs: Inputs,
    corrections: u32,
    served: u64,
}

/// In so many served requests, a sound artifact is demoted with a chance of at most [`FALSE_ALARM`].
const HORIZON: f64 = 10_000.0;
const FALSE_ALARM: f64 = 0.01;

impl Course {
    /// A course that begins in the shadow.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            stage: Stage::Shadow,
            proof: Proof::new(terms.means),
            audit: Audit::new(terms.means),
            audited: Tally::default(),
            watch: watch(&terms),
            inputs: Inputs::default(),
            corrections: 0,
            served: 0,
            terms,
        }
    }

    /// A request came, from usual (0) to wholly strange (1), whether it can be answered or not. When requests become stranger than
    /// they were, what could be served is compared for a while; says whether that begins.
    pub fn met(&mut self, strangeness: f64) -> bool {
        let is_alarm = self.stage == Stage::Promoted && self.inputs.met(strangeness);
        if is_alarm {
            self.audit.look_closely();
        }
        is_alarm
    }

    /// What to do with request `id`, which the artifact could answer.
    pub fn turn(&mut self, key: u64, id: &[u8]) -> Turn {
        match self.stage {
            Stage::Shadow | Stage::Eligible => Turn::Compare,
            Stage::Quarantined => Turn::Live,
            Stage::Promoted if self.audit.takes(key, id) => Turn::Compare,
            Stage::Promoted => {
                self.served += 1;
                Turn::Serve
            }
        }
    }

    /// A comparison with live said whether the answers agree; before it, they were expected to differ with chance `expected`.
    /// What cannot tell says zero: that makes the proof short, and dear when it fails.
    pub fn compared(&mut self, agreed: bool, expected: f64) -> Option<Change> {
        match self.stage {
            Stage::Quarantined => None,
            Stage::Shadow | Stage::Eligible => self.compared_in_shadow(agreed, expected),
            Stage::Promoted => self.compared_in_audit(agreed),
        }
    }

    fn compared_in_shadow(&mut self, agreed: bool, expected: f64) -> Option<Change> {
        self.proof.add(agreed, expected, &self.terms.promise);
        self.look_at_proof()
    }

    /// The version in force was replayed over what is recorded. Nothing that was demoted is proven by that again.
    pub fn replayed(&mut self, replay: Attempt) -> Option<Change> {
        if !matches!(self.stage, Stage::Shadow | Stage::Eligible) {
            return None;
        }
        self.proof.replayed(replay, &self.terms.promise);
        self.look_at_proof()
    }

    fn look_at_proof(&mut self) -> Option<Change> {
        if self.corrections > 0 || !self.proof.holds(&self.terms.promise) {
            self.stage = Stage::Shadow;
            return None;
        }
        let was = self.stage;
        self.stage = Stage::Eligible;
        if self.terms.auto_promote && self.terms.side_effects == 0 {
            self.begin_serving();
            return Some(Change::Promoted);
        }
        (was == Stage::Shadow).then_some(Change::Eligible)
    }

    fn compared_in_audit(&mut self, agreed: bool) -> Option<Change> {
        self.audited.add(agreed);
        if !agreed {
            self.audit.disagreed();
        }
        if !self.watch.add(!agreed) {
            return None;
        }
        self.back_to_shadow();
        Some(Change::Demoted)
    }

    /// Somebody corrected an answer that was served. One correction is enough.
    pub fn corrected(&mut self) -> Change {
        self.corrections += 1;
        self.back_to_shadow();
        self.stage = Stage::Quarantined;
        Change::Quarantined
    }

    /// An operator has looked at the corrections: the proof begins anew.
    pub fn release(&mut self) {
        self.corrections = 0;
        self.back_to_shadow();
    }

    /// An operator promotes; refused, with the gates, unless every one is passed.
    pub fn promote(&mut self) -> Result<Change, Gates> {
        let gates = self.gates();
        if self.stage != Stage::Eligible || !gates.all_pass() {
            return Err(gates);
        }
        self.begin_serving();
        Ok(Change::Promoted)
    }

    /// An operator takes it out of service.
    pub fn roll_back(&mut self) -> Change {
        self.back_to_shadow();
        Change::Demoted
    }

    /// What it answers turned out to have side effects of `level`. What was promoted before anybody knew is taken back: an
    /// operator has to promote it now.
    pub fn affects(&mut self, level: u8) -> Option<Change> {
        let was_harmless = self.terms.side_effects == 0;
        self.terms.side_effects = self.terms.side_effects.max(level);
        if self.stage != Stage::Promoted || !was_harmless || level == 0 {
            return None;
        }
        self.back_to_shadow();
        Some(Change::Demoted)
    }

    /// The highest level of side effects of what it answers.
    #[must_use]
    pub const fn side_effects(&self) -> u8 {
        self.terms.side_effects
    }

    /// The gates before promotion, one by one.
    #[must_use]
    pub fn gates(&self) -> Gates {
        let Promise { disagreement, doubt } = self.terms.promise;
        let (Attempt { number, tally, .. }, bound) = self.proof.best(doubt);
        let by = match number {
            0 if tally.compared == 0 => "nothing is compared yet".to_owned(),
            0 => "by what is recorded".to_owned(),
            number => format!("attempt {number}"),
        };
        Gates(vec![
            Gate::new(
                "proof",
                bound <= disagreement,
                format!(
                    "{} of {} answers differed from live: at most {:.2} % differ ({by}), {:.2} % are allowed",
                    tally.disagreed,
                    tally.compared,
                    bound * 100.0,
                    disagreement * 100.0
                ),
            ),
            Gate::new("corrections", self.corrections == 0, format!("{} unresolved", self.corrections)),
            Gate::new(
                "side effects",
                true,
                match self.terms.side_effects {
                    0 => "none: may be promoted without being asked for, where that is on".to_owned(),
                    level => format!("level {level}: an operator has to promote"),
                },
            ),
        ])
    }

    /// What the thresholds of whatever is proven are for: first a short proof; then as much as an audit finds sound, with
    /// room between that and the promise.
    #[must_use]
    pub fn aim(&self) -> Aim {
        let most = self.terms.promise.disagreement;
        if self.stage == Stage::Promoted { Aim::Serve(most) } else { Aim::Prove(most) }
    }

    /// Where it stands.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// What the audit has seen since promotion.
    #[must_use]
    pub const fn audited(&self) -> Tally {
        self.audited
    }

    /// The attempt that is nearest to the promise.
    #[must_use]
    pub fn proof(&self) -> Attempt {
        self.proof.best(self.terms.promise.doubt).0
    }

    /// The share of what it could answer that it serves.
    #[must_use]
    pub fn served_share(&self) -> f64 {
        if self.stage == Stage::Promoted { self.audit.served_share() } else { 0.0 }
    }

    fn begin_serving(&mut self) {
        self.stage = Stage::Promoted;
        self.audit = Audit::new(self.terms.means);
        self.audited = Tally::default();
        self.watch = watch(&self.terms);
        self.inputs = Inputs::default();
    }

    fn back_to_shadow(&mut self) {
        self.stage = Stage::Shadow;
        self.proof.start_over();
    }
}

fn watch(terms: &Terms) -> Watch {
    // One in `STEADY` is audited besides those of its youth, and what follows a disagreement comes on top.
    let audits = HORIZON / STEADY as f64 + youth(terms.means) as f64;
    Watch::new(terms.promise.disagreement, audits * 1.5, FALSE_ALARM)
}
