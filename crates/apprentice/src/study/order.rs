//! What somebody decided about a pattern or its artifact.

use learning::course::Stage;
use learning::pattern::{State, Step};
use schema::{RunId, Timestamp};

use super::{Outcome, Study};
use crate::executable::Executable;
use crate::news::Order;
use crate::tutor::{Attempt, Tutor};

impl Study {
    /// Somebody decided. What does not fit where things stand changes nothing.
    pub fn ordered(
        &mut self,
        tutor: &mut Tutor,
        order: &Order,
        (run, at): (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) {
        let stage = self.artifact.as_ref().map(|made| made.course.stage());
        match order {
            Order::Retire(_) => {
                self.pattern.take(Step::Retire);
                tutor.stop();
                self.give_up(at, out);
            }
            Order::Synthesize(_) if matches!(self.pattern.state, State::Candidate | State::Negative) => {
                self.synthesize(tutor, (run, at), actor, out);
            }
            Order::Synthesize(_) => self.synthesized_already(tutor, at, actor, out),
            Order::Compare(_, comparator) if *comparator != self.comparator => {
                self.comparator = comparator.clone();
                let again = tutor.compare_by(comparator, self.pattern.task_class(), self.aim());
                self.learned(tutor, None, again, (run, at), actor, out);
                // What was proven was proven of another sameness.
                if let Some(made) = &mut self.artifact {
                    made.course.roll_back();
                }
                self.changed((run, at), format!("compared otherwise by {actor}"), out);
            }
            Order::Promote(_) => {
                if let Some(made) = &mut self.artifact
                    && made.course.promote().is_ok()
                {
                    self.keep_program(tutor, (run, at), out);
                    self.changed((run, at), format!("promoted by {actor}"), out);
                }
            }
            Order::RollBack(_) if matches!(stage, Some(Stage::Promoted | Stage::Eligible)) => {
                if let Some(made) = &mut self.artifact {
                    made.course.roll_back();
                }
                self.changed((run, at), format!("rolled back by {actor}"), out);
            }
            Order::Quarantine(_) if stage.is_some_and(|stage| stage != Stage::Quarantined) => {
                if let Some(made) = &mut self.artifact {
                    made.course.corrected();
                }
                self.changed((run, at), format!("quarantined by {actor}"), out);
            }
            Order::Release(_) if stage == Some(Stage::Quarantined) => {
                if let Some(made) = &mut self.artifact {
                    made.course.release();
                }
                self.changed((run, at), format!("released by {actor}"), out);
            }
            Order::Compare(..)
            | Order::RollBack(_)
            | Order::Quarantine(_)
            | Order::Release(_)
            | Order::Import(_)
            | Order::Ask(_) => {}
        }
    }

    /// Somebody wants an attempt where there is nothing to begin: what stands is told.
    fn synthesized_already(&mut self, tutor: &mut Tutor, at: Timestamp, actor: &str, out: &mut Outcome) {
        let (answered, right) = tutor.replay();
        let answers = answered > 0;
        let reason = match self.pattern.state {
            State::Observed => "there is too little of it to learn from".to_owned(),
            State::Retired => "an operator does not want it learned".to_owned(),
            _ => "it is being learned already, with every live answer".to_owned(),
        };
        let mut report = vec![reason.clone()];
        report.extend(self.pattern.reasons());
        report.push(format!("on recorded runs: {answered} answered, {right} as live did"));
        let holdout = answers.then(|| right as f64 / answered as f64);
        let attempt = Attempt { answers, reason, report, samples: tutor.bundle().count(), holdout };
        self.note(&attempt, if answers { "synthesized" } else { "aborted" }, at, actor, out);
    }

    /// An artifact from elsewhere is tried here: it begins in the shadow, whatever was proven where it was made.
    pub fn imported(
        &mut self,
        tutor: &mut Tutor,
        executable: Executable,
        (run, at): (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) {
        self.give_up(at, out);
        // What it may have called is not known here yet: that somebody calls something is reason enough to be asked.
        self.side_effects = self.side_effects.max(u8::from(executable.may_call()) * UNKNOWN_LEVEL);
        *tutor = Tutor::given(executable, self.comparator.clone());
        // It takes the steps that one of our own takes, the synthesis elsewhere.
        self.pattern.state = State::Candidate;
        for step in [Step::Synthesize, Step::Synthesized, Step::Replayed] {
            self.pattern.take(step);
        }
        self.make(tutor, (run, at), (0, 0));
        self.keep_program(tutor, (run, at), out);
        self.changed((run, at), format!("imported by {actor}"), out);
    }

    /// The artifact is over.
    fn give_up(&mut self, at: Timestamp, out: &mut Outcome) {
        if let Some(mut made) = self.artifact.take() {
            made.course.roll_back();
            self.before += 1;
            out.pruned.extend(made.prune(at).into_iter().map(|version| (made.id, version)));
            out.given_up.push(made);
        }
    }
}

/// What a call is taken for whose level nobody has told.
const UNKNOWN_LEVEL: u8 = schema::SideEffectLevel::UNDECLARED as u8;
