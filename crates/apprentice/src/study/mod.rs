//! The study of one pattern: what its runs come to, step by step, from the first one to an artifact that serves.
//!
//! It is folded from the news of the log in their order, and from nothing else: no clock, no store. The same log gives the same
//! study, so everything here can be made again. What has to be decided by people or by the configuration comes as news too.
//!
//! - Nothing is served before it is proven and somebody said so on record.
//! - A comparison counts only for what was said before live's answer was known.

use std::collections::VecDeque;

use artifact::fingerprint::{digest, shape};
use learning::course::{Change, Course, Stage, Terms};
use learning::gate::Gates;
use learning::pattern::{Observed, Pattern, State, Step};
use learning::proof::Promise;
use learning::threshold::Aim;
use ledger::sha256;
use schema::{ArtifactId, Digest, PatternId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::executable::{ENGINE, Executable, Style};
use crate::news::{Compared, Lesson, Order, Served};
use crate::tutor::{Attempt, Tutor, agree};

/// A pattern, with the artifact that is made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Study {
    /// The pattern.
    pub id: PatternId,
    /// What its requests have in common.
    pub key: Digest,
    /// What people may call it.
    pub name: String,
    /// The model's one name.
    pub model: String,
    /// When its first run ended.
    pub created_at: Timestamp,
    /// When its last run ended.
    pub updated_at: Timestamp,
    /// What was counted, and where it stands.
    pub pattern: Pattern,
    /// How live writes its answers.
    pub style: Style,
    /// How many attempts were made.
    pub attempts: u32,
    /// Versions without an answer since learning began.
    pub silent: u32,
    /// How often nothing came of it, and until when it is left alone unless there is much more of it.
    pub failures: u32,
    /// See `failures`.
    pub left_until: Option<Timestamp>,
    /// How many artifacts there were before.
    pub before: u32,
    /// The artifact, kept apart.
    #[serde(skip)]
    pub artifact: Option<Made>,
}

/// An artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    /// Its id.
    pub id: ArtifactId,
    /// The pattern it is made of.
    pub pattern: PatternId,
    /// What makes it: `classifier`, `program`, `imported`.
    pub kind: String,
    /// Its version, from 1.
    pub version: u32,
    /// From its first comparison to its last.
    pub course: Course,
    /// When it was made.
    pub created_at: Timestamp,
    /// What would serve, or does.
    pub program: Option<ProgramName>,
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

/// What a study has to have kept beside itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Attempts, with what came of them.
    pub attempts: Vec<AttemptMade>,
    /// Texts of programs, with the artifacts they belong to.
    pub programs: Vec<(ArtifactId, ProgramName, String)>,
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

/// So many comparisons and changes are shown.
const MOST_SHOWN: usize = 32;
/// Right answers among those given on recorded runs; below it there is no artifact.
const REPLAY_FLOOR: f64 = 0.95;
/// So many versions may know no answer before learning is given up.
const MOST_SILENT: u32 = 24;
/// For how long something that failed is left alone, the first time, and how often that doubles.
const REST_MS: u64 = 24 * 3_600_000;
const MOST_DOUBLINGS: u32 = 5;
/// Inputs of one artifact that are avoided.
const MOST_AVOIDED: usize = 256;

impl Study {
    /// The pattern that `lesson` is the first run of.
    #[must_use]
    pub fn begin(lesson: &Lesson) -> Self {
        let Lesson { task, model, style, at, .. } = lesson;
        Self::new(task.key, task.name.clone(), model.clone(), *style, *at)
    }

    /// The pattern of an artifact that was made elsewhere, of which no run is known here.
    #[must_use]
    pub fn of_elsewhere(executable: &Executable, at: Timestamp) -> Self {
        let Executable { task, model, style, .. } = executable;
        Self::new(*task, "imported".to_owned(), model.clone(), *style, at)
    }

    fn new(key: Digest, name: String, model: String, style: Style, at: Timestamp) -> Self {
        Self {
            id: PatternId::new(at.as_millis(), ten(&[b"pattern", key.as_bytes()])),
            key,
            name,
            model,
            created_at: at,
            updated_at: at,
            pattern: Pattern::default(),
            style,
            attempts: 0,
            silent: 0,
            failures: 0,
            left_until: None,
            before: 0,
            artifact: None,
        }
    }

    /// Live answered.
    pub fn lesson(&mut self, tutor: &mut Tutor, lesson: &Lesson, choice: u64, out: &mut Outcome) {
        self.updated_at = lesson.at;
        self.style = lesson.style;
        self.pattern.observe(&Observed {
            request: lesson.request,
            answer: digest(&lesson.output),
            shape: shape(&lesson.output),
            cost: lesson.cost,
            latency: lesson.latency,
        });
        if self.pattern.state == State::Retired {
            return;
        }
        let opinion = tutor.meet(&lesson.task.input);
        if let Some(compared) = &lesson.compared {
            self.audited(compared, lesson, choice, out);
        } else if let Some(said) = &opinion.said {
            self.shadowed(agree(said, &lesson.output), lesson, choice, out);
        }
        let learned = tutor.learn(lesson.run, &lesson.task.input, &lesson.output, &opinion, self.aim());
        self.learned(tutor, learned.attempt, learned.version, (lesson.run, lesson.at), "punk", out);
        // What failed is tried again when there is much more of it, which the pattern knows, or after a while.
        let rested =
            self.pattern.state == State::Negative && self.left_until.is_some_and(|until| lesson.at >= until);
        if self.pattern.state == State::Candidate || rested {
            self.synthesize(tutor, (lesson.run, lesson.at), "punk", out);
        }
    }

    /// An artifact answered.
    pub fn served(&mut self, tutor: &mut Tutor, served: &Served, choice: u64) {
        tutor.meet(&served.task.input);
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == served.artifact) else { return };
        made.served += 1;
        made.saved_micro_usd += served.saved;
        if made.course.stage() == Stage::Promoted {
            // What was done is on record; this counts it.
            let _ = made.course.turn(choice, served.run.as_bytes());
        }
    }

    /// Somebody corrected an answer.
    pub fn corrected(&mut self, run: RunId, at: Timestamp, by: Option<(ArtifactId, u32)>, out: &mut Outcome) {
        self.pattern.correct();
        let Some((artifact, version)) = by else { return };
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == artifact) else { return };
        made.corrections.push(Correction { run, at, version });
        made.course.corrected();
        self.changed((run, at), format!("an answer of version {version} was corrected"), out);
    }

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
                if let Some(mut made) = self.artifact.take() {
                    made.course.roll_back();
                    self.before += 1;
                    out.given_up.push(made);
                }
            }
            Order::Synthesize(_) if matches!(self.pattern.state, State::Candidate | State::Negative) => {
                self.synthesize(tutor, (run, at), actor, out);
            }
            Order::Synthesize(_) => self.synthesized_already(tutor, at, actor, out),
            Order::Promote(_) => {
                if let Some(made) = &mut self.artifact
                    && made.course.promote().is_ok()
                {
                    self.keep_program(tutor, out);
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
            Order::RollBack(_) | Order::Quarantine(_) | Order::Release(_) | Order::Import(_) => {}
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
        if let Some(made) = self.artifact.take() {
            self.before += 1;
            out.given_up.push(made);
        }
        *tutor = Tutor::given(executable);
        // It takes the steps that one of our own takes, the synthesis elsewhere.
        self.pattern.state = State::Candidate;
        for step in [Step::Synthesize, Step::Synthesized, Step::Replayed] {
            self.pattern.take(step);
        }
        self.make(tutor, (run, at), (0, 0));
        self.keep_program(tutor, out);
        self.changed((run, at), format!("imported by {actor}"), out);
    }

    fn audited(&mut self, compared: &Compared, lesson: &Lesson, choice: u64, out: &mut Outcome) {
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == compared.artifact_id) else {
            return;
        };
        if made.course.stage() != Stage::Promoted {
            return;
        }
        let agreed = agree(&compared.said, &lesson.output);
        let _ = made.course.turn(choice, lesson.run.as_bytes());
        let change = made.course.compared(agreed, 0.0);
        made.compared(lesson, Occasion::Audit, compared.version, agreed);
        if !agreed {
            let (key, until) = (avoided_key(self.key, &lesson.task.input), later(lesson.at, REST_MS));
            made.avoided.push_back((key, until));
            if made.avoided.len() > MOST_AVOIDED {
                made.avoided.pop_front();
            }
            let reason = "live said something else".to_owned();
            out.negatives.push(Negative { key, reason, at: lesson.at, until });
        }
        if change == Some(Change::Demoted) {
            let audited = made.course.audited();
            let reason =
                format!("{} of {} audited answers differed from live", audited.disagreed, audited.compared);
            self.changed((lesson.run, lesson.at), reason, out);
        }
    }

    fn shadowed(&mut self, agreed: bool, lesson: &Lesson, choice: u64, out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        if !matches!(made.course.stage(), Stage::Shadow | Stage::Eligible) {
            return;
        }
        let _ = made.course.turn(choice, lesson.run.as_bytes());
        let was = made.course.stage();
        made.course.compared(agreed, 0.0);
        made.compared(lesson, Occasion::Shadow, made.version, agreed);
        let is = made.course.stage();
        if is != was {
            let reason =
                if is == Stage::Eligible { "every gate is passed" } else { "a gate is no longer passed" };
            self.changed((lesson.run, lesson.at), reason.to_owned(), out);
        }
    }

    fn synthesize(&mut self, tutor: &mut Tutor, place: (RunId, Timestamp), by: &str, out: &mut Outcome) {
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

    fn learned(
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
                if matches!(made.course.stage(), Stage::Promoted | Stage::Eligible) {
                    self.keep_program(tutor, out);
                }
            }
            return;
        }
        let Some(attempt) = attempt else { return };
        if !attempt.answers {
            self.note(&attempt, "aborted", place.1, by, out);
            self.silent += 1;
            // A classifier becomes sure with more of the same; what cannot be compiled now cannot be.
            if tutor.kind() != "classifier" || self.silent >= MOST_SILENT {
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
        self.note(&attempt, "synthesized", place.1, by, out);
        self.changed(place, "made, to be compared with live".to_owned(), out);
    }

    fn make(&mut self, tutor: &Tutor, (_, at): (RunId, Timestamp), replayed: (u64, u64)) {
        let number = self.before.to_be_bytes();
        // Whether what is proven serves by itself is decided elsewhere, and comes as an order.
        let terms = Terms { promise: Promise::default(), auto_promote: false, side_effects: 0 };
        self.artifact = Some(Made {
            id: ArtifactId::new(at.as_millis(), ten(&[b"artifact", self.id.as_bytes(), &number])),
            pattern: self.id,
            kind: tutor.kind().to_owned(),
            version: 1,
            course: Course::new(terms),
            created_at: at,
            program: None,
            evaluations: VecDeque::new(),
            corrections: Vec::new(),
            changes: VecDeque::new(),
            served: 0,
            saved_micro_usd: 0,
            avoided: VecDeque::new(),
            replayed,
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

    fn note(&mut self, attempt: &Attempt, outcome: &str, at: Timestamp, by: &str, out: &mut Outcome) {
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

    /// Notes where the artifact stands now, and what of it has to be kept.
    fn changed(&mut self, (run, at): (RunId, Timestamp), reason: String, out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        let stage = made.course.stage();
        let changed = Changed { at, stage, reason, run };
        made.changes.push_back(changed.clone());
        if made.changes.len() > MOST_SHOWN {
            made.changes.pop_front();
        }
        out.changes.push((made.id, changed));
        self.pattern.take(Step::Course(stage));
    }

    fn keep_program(&mut self, tutor: &Tutor, out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        let Some(artifact) = tutor.artifact() else { return };
        let executable = Executable {
            format: ENGINE.to_owned(),
            model: self.model.clone(),
            task: self.key,
            style: self.style,
            artifact,
        };
        // What came from elsewhere serves as it came.
        let text = tutor.given_executable().map_or_else(|| executable.text(), Executable::text);
        let name =
            ProgramName { version: made.version, digest: sha256(text.as_bytes()), bytes: text.len() as u64 };
        made.program = Some(name);
        out.programs.push((made.id, name, text));
    }

    fn aim(&self) -> Aim {
        self.artifact.as_ref().map_or(Aim::Prove(Promise::default().disagreement), |made| made.course.aim())
    }
}

impl Made {
    /// The gates before promotion, one by one.
    #[must_use]
    pub fn gates(&self) -> Gates {
        self.course.gates()
    }

    /// The share of answers that surely agree with live, by what was compared.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let attempt = self.course.proof();
        1.0 - attempt.bound(Promise::default().doubt)
    }

    fn compared(&mut self, lesson: &Lesson, kind: Occasion, version: u32, agreed: bool) {
        self.evaluations.push_back(Evaluation { run: lesson.run, at: lesson.at, kind, version, agreed });
        if self.evaluations.len() > MOST_SHOWN {
            self.evaluations.pop_front();
        }
    }
}

/// What an input of a kind of work is avoided by.
#[must_use]
pub(crate) fn avoided_key(task: Digest, input: &str) -> Digest {
    sha256(&[task.as_bytes(), input.as_bytes()].concat())
}

fn later(at: Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_add(millis)).unwrap_or(Timestamp::LAST)
}

/// Ten bytes that follow from these.
fn ten(parts: &[&[u8]]) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&sha256(&parts.concat()).as_bytes()[..10]);
    bytes
}
