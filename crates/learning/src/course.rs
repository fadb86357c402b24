//! The course of one artifact from its first comparison to its last: shadow, proof, promotion, audit, demotion.
//!
//! It does not know what answers: a program, a classifier, a cached plan, a cheaper model. It hears that something could
//! answer a request ([`Course::turn`]) and what a comparison with live said ([`Course::compared`]), and decides. Nothing here
//! can act; the same calls in the same order give the same state.

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, STEADY};
use crate::drift::Watch;
use crate::gate::{Gate, Gates};
use crate::proof::{Attempt, Promise, Proof, Tally};
use crate::threshold::Aim;

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
    /// Whether an artifact that passes every gate serves without being asked for.
    pub auto_promote: bool,
    /// The highest side-effect level of what the artifact answers; above zero an operator has to promote.
    pub side_effects: u8,
}

/// The course of one artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    terms: Terms,
    stage: Stage,
    proof: Proof,
    audit: Audit,
    audited: Tally,
    watch: Watch,
    corrections: u32,
    served: u64,
}

/// In so many served requests, a sound artifact is demoted with a chance of at most [`FALSE_ALARM`].
const HORIZON: f64 = 10_000.0;
const FALSE_ALARM: f64 = 0.01;
/// The part of the promise that thresholds aim at while serving.
const ROOM: f64 = 0.5;

impl Course {
    /// A course that begins in the shadow.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            stage: Stage::Shadow,
            proof: Proof::default(),
            audit: Audit::default(),
            audited: Tally::default(),
            watch: watch(&terms),
            corrections: 0,
            served: 0,
            terms,
        }
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
        Gates(vec![
            Gate::new(
                "proof",
                bound <= disagreement,
                format!(
                    "{} of {} answers differed from live: at most {:.2} % differ (attempt {}), {:.2} % are allowed",
                    tally.disagreed,
                    tally.compared,
                    bound * 100.0,
                    number,
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
        if self.stage == Stage::Promoted { Aim::Serve(ROOM * most) } else { Aim::Prove(most) }
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
        self.audit = Audit::default();
        self.audited = Tally::default();
        self.watch = watch(&self.terms);
    }

    fn back_to_shadow(&mut self) {
        self.stage = Stage::Shadow;
        self.proof.start_over();
    }
}

fn watch(terms: &Terms) -> Watch {
    // One in `STEADY` is audited, and what follows a disagreement comes on top.
    Watch::new(terms.promise.disagreement, HORIZON / STEADY as f64 * 1.5, FALSE_ALARM)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(auto_promote: bool, side_effects: u8) -> Course {
        Course::new(Terms { promise: Promise::default(), auto_promote, side_effects })
    }

    fn agree(course: &mut Course, times: usize) -> Option<Change> {
        (0..times).find_map(|at| {
            let _ = course.turn(1, &at.to_be_bytes());
            course.compared(true, 0.0)
        })
    }

    #[test]
    fn nothing_is_served_before_it_is_proven() {
        let mut course = course(true, 0);
        for at in 0..340_u64 {
            assert_eq!(course.turn(1, &at.to_be_bytes()), Turn::Compare);
            assert_eq!(course.compared(true, 0.0), None);
        }
        assert_eq!(agree(&mut course, 100), Some(Change::Promoted));
    }

    #[test]
    fn what_is_proven_waits_for_an_operator_unless_it_may_promote_itself() {
        let mut waiting = course(false, 0);
        assert_eq!(agree(&mut waiting, 500), Some(Change::Eligible));
        assert_eq!(waiting.promote(), Ok(Change::Promoted));
        assert_eq!(agree(&mut course(true, 1), 500), Some(Change::Eligible));
    }

    #[test]
    fn what_turns_out_to_have_side_effects_serves_no_more_until_an_operator_says_so() {
        let mut course = course(true, 0);
        assert_eq!(agree(&mut course, 500), Some(Change::Promoted));
        assert_eq!(course.affects(3), Some(Change::Demoted));
        assert_eq!(agree(&mut course, 500), Some(Change::Eligible), "it does not promote itself any more");
        assert_eq!(course.promote(), Ok(Change::Promoted));
        assert_eq!(
            (course.affects(4), course.side_effects()),
            (None, 4),
            "who promoted it was told of the calls"
        );
    }

    #[test]
    fn an_operator_is_refused_with_the_gates() {
        let refused = course(false, 0).promote().unwrap_err();
        assert!(refused.to_string().starts_with("proof not passed: 0 of 0 answers differed"), "{refused}");
    }

    #[test]
    fn a_correction_quarantines_until_an_operator_releases() {
        let mut course = course(true, 0);
        agree(&mut course, 500);
        assert_eq!(course.corrected(), Change::Quarantined);
        assert_eq!(course.turn(1, b"x"), Turn::Live);
        course.release();
        assert_eq!((course.stage(), course.turn(1, b"x")), (Stage::Shadow, Turn::Compare));
    }

    #[test]
    fn what_differs_after_promotion_is_demoted_and_has_to_be_proven_anew() {
        let mut course = course(true, 0);
        agree(&mut course, 500);
        let demoted = (0..40).find_map(|_| course.compared(false, 0.0));
        assert_eq!(demoted, Some(Change::Demoted));
        assert!(!course.gates().all_pass());
        assert_eq!(course.roll_back(), Change::Demoted);
    }

    #[test]
    fn a_course_that_was_written_and_read_goes_on_as_before() {
        let mut course = course(true, 0);
        agree(&mut course, 450);
        let mut read: Course = serde_json::from_str(&serde_json::to_string(&course).unwrap()).unwrap();
        for at in 0..300_u64 {
            assert_eq!(course.turn(3, &at.to_be_bytes()), read.turn(3, &at.to_be_bytes()));
            assert_eq!(course.compared(at % 40 != 0, 0.0), read.compared(at % 40 != 0, 0.0));
        }
        assert_eq!(course, read);
    }
}
