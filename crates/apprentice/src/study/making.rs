//! From lessons to an artifact: attempts, what comes of them, and the versions that are kept.

use std::collections::VecDeque;

use learning::course::{Course, Stage, Terms};
use learning::pattern::{State, Step};
use learning::proof::Promise;
use ledger::sha256;
use schema::{ArtifactId, RunId, Timestamp};

use super::made::{Made, ProgramName, Version};
use super::outcome::{AttemptMade, Negative, Outcome};
use super::{REST_MS, Study, later, ten};
use crate::executable::{ENGINE, Executable};
use crate::tutor::{Attempt, Tutor};

/// Right answers among those given on recorded runs; below it there is no artifact.
const REPLAY_FLOOR: f64 = 0.95;
/// So many versions may know no answer before learning is given up.
const MOST_SILENT: u32 = 24;
/// How often the rest after a failure doubles.
const MOST_DOUBLINGS: u32 = 5;

impl Study {
    pub(super) fn synthesize(
        &mut self,
        tutor: &mut Tutor,
        place: (RunId, Timestamp),
        by: &str,
        out: &mut Outcome,
    ) {
        self.pattern.take(Step::Synthesize);
        if self.pattern.state != State::Synthesizing {
            return;
        }
        self.silent = 0;
        let attempt = tutor.begin(self.pattern.task_class(), self.aim());
        let has_version = attempt.as_ref().is_some_and(|attempt| attempt.answers);
        if attempt.is_none() && by != "punk" {
            let reason = format!(
                "{} samples are too few; learning goes on with every live answer",
                tutor.bundle().count()
            );
            let report = vec![reason.clone()];
            let none =
                Attempt { answers: false, reason, report, samples: tutor.bundle().count(), holdout: None };
            self.note(&none, "aborted", place.1, by, out);
        }
        self.learned(tutor, attempt, has_version, place, by, out);
    }

    pub(super) fn learned(
        &mut self,
        tutor: &mut Tutor,
        attempt: Option<Attempt>,
        version: bool,
        place: (RunId, Timestamp),
        by: &str,
        out: &mut Outcome,
    ) {
        out.version |= version;
        if let Some(made) = &mut self.artifact {
            if version {
                made.version += 1;
                tutor.kind().clone_into(&mut made.kind);
                self.opened(tutor, place, out);
                if self.is_wanted() {
                    self.keep_program(tutor, place, out);
                }
            }
            return;
        }
        let Some(attempt) = attempt.map(|attempt| self.answerable(tutor, attempt)) else { return };
        if !attempt.answers {
            self.note(&attempt, "aborted", place.1, by, out);
            self.silent += 1;
            // What is sure or not becomes sure with more of the same; what cannot be compiled now cannot be.
            if !tutor.may_become_sure() || self.silent >= MOST_SILENT {
                self.fail(tutor, &attempt.reason, place.1, out);
            }
            return;
        }
        self.pattern.take(Step::Synthesized);
        let (answered, right) = tutor.replay();
        let mut attempt = attempt;
        attempt.report.push(format!("on recorded runs: {answered} answered, {right} as live did"));
        if answered > 0 && (right as f64) < REPLAY_FLOOR * answered as f64 {
            attempt.reason = format!("{right} of {answered} answers to recorded runs are as live's");
            self.note(&attempt, "replay_failed", place.1, by, out);
            self.fail(tutor, &attempt.reason, place.1, out);
            return;
        }
        self.pattern.take(Step::Replayed);
        self.make(tutor, place, (answered as u64, right as u64));
        if self.is_wanted() {
            self.keep_program(tutor, place, out);
        }
        self.note(&attempt, "synthesized", place.1, by, out);
        self.changed(place, "made, to be compared with live".to_owned(), out);
    }

    /// Whether anybody needs the text of the version in force: who serves it, who decides about it; and of what leaves fields open
    /// who asks for them, long before.
    fn is_wanted(&self) -> bool {
        self.artifact.as_ref().is_some_and(|made| match made.course.stage() {
            Stage::Promoted | Stage::Eligible => true,
            Stage::Shadow => made.is_hybrid(),
            Stage::Quarantined => false,
        })
    }

    pub(super) fn make(&mut self, tutor: &Tutor, (_, at): (RunId, Timestamp), replayed: (u64, u64)) {
        let number = self.before.to_be_bytes();
        // Whether what is proven serves by itself is decided elsewhere, and comes as an order.
        let terms = Terms {
            promise: Promise::default(),
            means: tutor.means(),
            auto_promote: false,
            side_effects: self.side_effects,
        };
        self.artifact = Some(Made {
            id: ArtifactId::new(at.as_millis(), ten(&[b"artifact", self.id.as_bytes(), &number])),
            pattern: self.id,
            kind: tutor.kind().to_owned(),
            asks: self.small.clone().filter(|_| !tutor.open().is_empty()),
            open: tutor.open(),
            version: 1,
            course: Course::new(terms),
            created_at: at,
            program: None,
            versions: Vec::new(),
            evaluations: VecDeque::new(),
            corrections: Vec::new(),
            changes: VecDeque::new(),
            served: 0,
            saved_micro_usd: 0,
            avoided: VecDeque::new(),
            replayed,
            last_replay: None,
        });
    }

    fn fail(&mut self, tutor: &mut Tutor, reason: &str, at: Timestamp, out: &mut Outcome) {
        self.pattern.take(Step::Failed);
        tutor.stop();
        self.failures += 1;
        let until = later(at, REST_MS << (self.failures - 1).min(MOST_DOUBLINGS));
        self.left_until = Some(until);
        out.negatives.push(Negative { key: self.key, reason: reason.to_owned(), at, until });
    }

    pub(super) fn note(
        &mut self,
        attempt: &Attempt,
        outcome: &str,
        at: Timestamp,
        by: &str,
        out: &mut Outcome,
    ) {
        self.attempts += 1;
        out.attempts.push(AttemptMade {
            number: self.attempts,
            pattern: self.id,
            at,
            outcome: outcome.to_owned(),
            reason: attempt.reason.clone(),
            report: attempt.report.clone(),
            sample_count: attempt.samples as u64,
            holdout_accuracy: attempt.holdout,
            artifact: self.artifact.as_ref().map(|made| made.id),
            by: by.to_owned(),
        });
    }

    /// Has the text of the version in force kept, and those given up that nobody needs any more.
    pub(super) fn keep_program(&mut self, tutor: &Tutor, (run, at): (RunId, Timestamp), out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        let Some(artifact) = tutor.artifact() else { return };
        let executable = Executable {
            format: ENGINE.to_owned(),
            model: self.model.clone(),
            task: self.key,
            style: self.style,
            template: self.template.clone(),
            artifact,
        };
        // What came from elsewhere serves as it came.
        let text = tutor.given_executable().map_or_else(|| executable.text(), Executable::text);
        let program =
            ProgramName { version: made.version, digest: sha256(text.as_bytes()), bytes: text.len() as u64 };
        let (samples, proof) = (self.pattern.run_count, made.course.proof().tally);
        made.supersede(Version { program, at, run, samples, proof, served: 0 });
        out.programs.push((made.id, program, text));
        out.pruned.extend(made.prune(at).into_iter().map(|version| (made.id, version)));
    }
}
