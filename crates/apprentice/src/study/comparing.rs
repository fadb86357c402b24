//! What comes of comparing an artifact with live, and of what people say about its answers.

use learning::course::{Change, Stage};
use learning::pattern::Step;
use learning::proof::Attempt;
use schema::{ArtifactId, RunId, Timestamp};

use super::made::{Changed, Correction, Evaluation, Occasion};
use super::{Outcome, REST_MS, Study, avoided_key, later};
use crate::news::{Compared, Lesson};
use crate::study::outcome::Negative;

/// How strange a request is that the program can answer, and one that it cannot.
pub(super) const USUAL: f64 = 0.0;
const STRANGE: f64 = 1.0;
/// What is told of a proof that rests on a replay.
const BY_REPLAY: &str = ", by what is recorded";

impl Study {
    /// Somebody corrected an answer.
    pub fn corrected(&mut self, run: RunId, at: Timestamp, by: Option<(ArtifactId, u32)>, out: &mut Outcome) {
        self.pattern.correct();
        let Some((artifact, version)) = by else { return };
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == artifact) else { return };
        made.corrections.push(Correction { run, at, version });
        made.course.corrected();
        self.changed((run, at), format!("an answer of version {version} was corrected"), out);
    }

    /// Somebody did not like an answer of an artifact, and did not say what it should have been: that counts as a comparison
    /// that differed, and the input goes live for a while.
    pub fn disliked(
        &mut self,
        (run, at): (RunId, Timestamp),
        (artifact, version): (ArtifactId, u32),
        input: &str,
        out: &mut Outcome,
    ) {
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == artifact) else { return };
        if made.course.stage() != Stage::Promoted {
            return;
        }
        let change = made.course.compared(false, 0.0);
        made.evaluated(Evaluation { run, at, kind: Occasion::Feedback, version, agreed: false });
        let (key, until) = (avoided_key(self.key, input), later(at, REST_MS));
        made.avoid(key, until);
        out.negatives.push(Negative { key, reason: "somebody did not like it".to_owned(), at, until });
        self.demoted(change, (run, at), out);
    }

    /// What an artifact would have said, and was recorded before live answered: in the place of serving, or of what leaves fields open
    /// also beside live.
    pub(super) fn audited(&mut self, compared: &Compared, lesson: &Lesson, choice: u64, out: &mut Outcome) {
        let Some(made) = self.artifact.as_mut().filter(|made| made.id == compared.artifact_id) else {
            return;
        };
        // What one small model told says nothing of another.
        if made.is_hybrid() && made.asks != compared.small {
            return;
        }
        if made.is_hybrid() && made.course.stage() != Stage::Promoted {
            let agreed = self.comparator.agree(&compared.said, &lesson.output);
            return self.shadowed((agreed, 0.0), compared.version, lesson, choice, out);
        }
        if made.course.stage() != Stage::Promoted {
            return;
        }
        let agreed = self.comparator.agree(&compared.said, &lesson.output);
        let _ = made.course.turn(choice, lesson.run.as_bytes());
        let change = made.course.compared(agreed, 0.0);
        made.compared(lesson, Occasion::Audit, compared.version, agreed);
        if !agreed {
            let (key, until) = (avoided_key(self.key, &lesson.task.input), later(lesson.at, REST_MS));
            made.avoid(key, until);
            let reason = "live said something else".to_owned();
            out.negatives.push(Negative { key, reason, at: lesson.at, until });
        }
        self.demoted(change, (lesson.run, lesson.at), out);
    }

    /// A request came, which the program could answer or not. When more and more come that it cannot, requests are no longer what
    /// they were when it was proven: what it still answers is compared more often for a while.
    pub(super) fn met(&mut self, is_answerable: bool, place: (RunId, Timestamp), out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        if made.course.met(if is_answerable { USUAL } else { STRANGE }) {
            self.changed(place, "requests are no longer what they were: more is compared".to_owned(), out);
        }
    }

    fn demoted(&mut self, change: Option<Change>, place: (RunId, Timestamp), out: &mut Outcome) {
        if change == Some(Change::Demoted)
            && let Some(made) = &self.artifact
        {
            let audited = made.course.audited();
            let reason =
                format!("{} of {} audited answers differed from live", audited.disagreed, audited.compared);
            self.changed(place, reason, out);
        }
    }

    /// Whether it agreed with live, and with which chance it was expected not to.
    pub(super) fn shadowed(
        &mut self,
        (agreed, expected): (bool, f64),
        version: u32,
        lesson: &Lesson,
        choice: u64,
        out: &mut Outcome,
    ) {
        let Some(made) = &mut self.artifact else { return };
        if !matches!(made.course.stage(), Stage::Shadow | Stage::Eligible) {
            return;
        }
        let _ = made.course.turn(choice, lesson.run.as_bytes());
        let was = made.course.stage();
        made.course.compared(agreed, expected);
        made.compared(lesson, Occasion::Shadow, version, agreed);
        // The first look at a replay goes on in the shadow: what it proves rests on what is recorded too.
        let rests_on_replay = made.course.stage() == Stage::Eligible && made.course.proof().number == 0;
        let how = if rests_on_replay { BY_REPLAY } else { "" };
        self.looked_at(was, how, (lesson.run, lesson.at), out);
    }

    /// The version in force was tried on what is recorded, each run judged as if it had never been learned.
    pub(super) fn replayed(&mut self, replay: Attempt, place: (RunId, Timestamp), out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        let was = made.course.stage();
        made.course.replayed(replay);
        self.looked_at(was, BY_REPLAY, place, out);
    }

    /// Tells whether a comparison, made `how`, has brought the artifact before its gates or back.
    fn looked_at(&mut self, was: Stage, how: &str, place: (RunId, Timestamp), out: &mut Outcome) {
        let Some(is) = self.artifact.as_ref().map(|made| made.course.stage()).filter(|is| *is != was) else {
            return;
        };
        let what = if is == Stage::Eligible { "every gate is passed" } else { "a gate is no longer passed" };
        self.changed(place, format!("{what}{how}"), out);
    }

    /// What it answers has more side effects than was known: what nobody was asked about serves no more.
    pub(super) fn affecting(&mut self, lesson: &Lesson, out: &mut Outcome) {
        if lesson.side_effects <= self.side_effects {
            return;
        }
        self.side_effects = lesson.side_effects;
        let Some(made) = &mut self.artifact else { return };
        if made.course.affects(lesson.side_effects) == Some(Change::Demoted) {
            let reason = format!("what it calls has side effects of level {}", lesson.side_effects);
            self.changed((lesson.run, lesson.at), reason, out);
        }
    }

    /// Notes where the artifact stands now, and what of it has to be kept.
    pub(super) fn changed(&mut self, (run, at): (RunId, Timestamp), reason: String, out: &mut Outcome) {
        let Some(made) = &mut self.artifact else { return };
        let stage = made.course.stage();
        let changed = Changed { at, stage, reason, run };
        made.note(changed.clone());
        out.changes.push((made.id, changed));
        self.pattern.take(Step::Course(stage));
    }
}
