//! The study of one pattern: what its runs come to, step by step, from the first one to an artifact that serves.
//!
//! It is folded from the news of the log in their order, and from nothing else: no clock, no store. The same log gives the same
//! study, so everything here can be made again. What has to be decided by people or by the configuration comes as news too.
//! `making.rs` is how an artifact comes about, `comparing.rs` what comparisons and people say of it, `order.rs` what was decided,
//! `asking.rs` what becomes of it when it leaves fields open;
//! `made.rs` is the artifact itself, and `outcome.rs` what is left to be kept beside the study.
//!
//! - Nothing is served before it is proven and somebody said so on record.
//! - A comparison counts only for what was said before live's answer was known.

mod asking;
mod comparing;
mod made;
mod making;
mod order;
mod outcome;

pub use made::{Changed, Correction, Evaluation, Made, Occasion, ProgramName, Version};
pub use outcome::{AttemptMade, Negative, Outcome};

use artifact::fingerprint::{digest, loose_shape};
use learning::comparator::Comparator;
use learning::course::Stage;
use learning::pattern::{Observed, Pattern, State};
use learning::proof::Promise;
use learning::threshold::Aim;
use ledger::sha256;
use schema::{Digest, PatternId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::executable::{Executable, Style};
use crate::news::{Lesson, Served};
use crate::template::Skeleton;
use crate::tutor::Tutor;

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
    /// The highest level of side effects of what its answers call; above zero an operator has to promote.
    #[serde(default)]
    pub side_effects: u8,
    /// When two answers are the same; what somebody declared, or else to the letter, blanks and the order of fields aside.
    #[serde(default)]
    pub comparator: Comparator,
    /// What its requests have in common, where that was mined.
    #[serde(default)]
    pub template: Option<Skeleton>,
    /// The small model that may be asked for what a program leaves open, as the log said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small: Option<String>,
    /// The artifact, kept apart.
    #[serde(skip)]
    pub artifact: Option<Made>,
}

/// For how long something that failed, or an input, is left alone the first time.
const REST_MS: u64 = 24 * 3_600_000;

impl Study {
    /// The pattern that `lesson` is the first run of.
    #[must_use]
    pub fn begin(lesson: &Lesson) -> Self {
        let Lesson { task, model, style, at, .. } = lesson;
        Self::new(task.key, task.name.clone(), model.clone(), *style, *at)
    }

    /// The pattern of an artifact that was made elsewhere, of which no run is known here.
    #[must_use]
    pub fn of_elsewhere(key: Digest, executable: &Executable, at: Timestamp) -> Self {
        let Executable { model, style, .. } = executable;
        Self::new(key, "imported".to_owned(), model.clone(), *style, at)
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
            side_effects: 0,
            comparator: Comparator::default(),
            template: None,
            small: None,
            artifact: None,
        }
    }

    /// Live answered.
    pub fn lesson(&mut self, tutor: &mut Tutor, lesson: &Lesson, choice: u64, out: &mut Outcome) {
        self.updated_at = lesson.at;
        self.style = self.style.with(lesson.style);
        self.pattern.observe(&Observed {
            request: lesson.request,
            answer: digest(&lesson.output),
            shape: loose_shape(&lesson.output),
            cost: lesson.cost,
            latency: lesson.latency,
        });
        if self.pattern.state == State::Retired {
            return;
        }
        self.affecting(lesson, out);
        self.asking((lesson.run, lesson.at), out);
        // What widens its template would not have been served.
        let fitted = lesson.template.as_ref().is_none_or(|(_, fitted)| *fitted);
        self.template = lesson.template.as_ref().map(|(skeleton, _)| skeleton.clone());
        let opinion = tutor.meet(&lesson.task.input);
        let is_answerable = opinion.said.is_some() || opinion.part.is_some();
        self.met(is_answerable && fitted, (lesson.run, lesson.at), out);
        if let Some(compared) = &lesson.compared {
            self.audited(compared, lesson, choice, out);
        } else if let Some(said) = opinion.said.as_ref().filter(|_| fitted) {
            let agreed = self.comparator.agree(said, &lesson.output);
            let version = self.artifact.as_ref().map_or(0, |made| made.version);
            self.shadowed((agreed, opinion.expected), version, lesson, choice, out);
        }
        let learned = tutor.learn(lesson.run, &lesson.task.input, &lesson.output, &opinion, self.aim());
        self.learned(tutor, learned.attempt, learned.version, (lesson.run, lesson.at), "punk", out);
        if let Some(replay) = learned.replay {
            self.replayed(replay, (lesson.run, lesson.at), out);
        }
        // Whoever is to decide can look at it, try it and take it along.
        if self
            .artifact
            .as_ref()
            .is_some_and(|made| made.course.stage() == Stage::Eligible && made.program.is_none())
        {
            self.keep_program(tutor, (lesson.run, lesson.at), out);
        }
        // What failed is tried again when there is much more of it, which the pattern knows, or after a while.
        let rested =
            self.pattern.state == State::Negative && self.left_until.is_some_and(|until| lesson.at >= until);
        if self.pattern.state == State::Candidate || rested {
            self.synthesize(tutor, (lesson.run, lesson.at), "punk", out);
        }
    }

    /// An artifact answered.
    pub fn served(&mut self, tutor: &mut Tutor, served: &Served, choice: u64) {
        tutor.meet(&served.input);
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == served.artifact) else { return };
        made.served += 1;
        if let Some(version) = made.versions.iter_mut().find(|one| one.program.version == served.version) {
            version.served += 1;
        }
        made.saved_micro_usd += served.saved;
        if made.course.stage() == Stage::Promoted {
            made.course.met(comparing::USUAL);
            // What was done is on record; this counts it.
            let _ = made.course.turn(choice, served.run.as_bytes());
        }
    }

    /// What the thresholds of its learner are for.
    #[must_use]
    pub fn aim(&self) -> Aim {
        self.artifact.as_ref().map_or(Aim::Prove(Promise::default().disagreement), |made| made.course.aim())
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
