//! What becomes of an artifact that leaves fields open: it is proven together with the small model that is asked for them.

use learning::course::Stage;
use schema::{RunId, Timestamp};

use super::{Outcome, Study};
use crate::tutor::{Attempt, Tutor};

impl Study {
    /// The log says who may be asked. Where nothing could be made, another try may come to more.
    pub(crate) fn may_ask(&mut self, small: Option<&String>) {
        if self.small.as_ref() == small {
            return;
        }
        self.small = small.cloned();
        if self.small.is_some() {
            self.left_until = self.left_until.map(|_| Timestamp::EPOCH);
        }
    }

    /// What was proven with one small model is not proven with another.
    pub(super) fn asking(&mut self, place: (RunId, Timestamp), out: &mut Outcome) {
        let Some(made) = self.artifact.as_mut().filter(|made| made.is_hybrid() && made.asks != self.small)
        else {
            return;
        };
        made.asks.clone_from(&self.small);
        // What is in quarantine is proven anew anyway, once somebody has looked at it.
        if made.course.stage() == Stage::Quarantined {
            return;
        }
        made.course.roll_back();
        let reason = match &self.small {
            Some(model) => {
                format!("`{model}` is asked for what it leaves open: what was proven was proven without")
            }
            None => "no small model may be asked for what it leaves open".to_owned(),
        };
        self.changed(place, reason, out);
    }

    /// A new version may leave open what the last one did not. While it is compared that is one more opinion; what serves is
    /// taken back, because such answers were never compared.
    pub(super) fn opened(&mut self, tutor: &Tutor, place: (RunId, Timestamp), out: &mut Outcome) {
        let open = tutor.open();
        let Some(made) = self.artifact.as_mut().filter(|made| made.open != open) else { return };
        made.open = open;
        made.asks = self.small.clone().filter(|_| made.is_hybrid());
        if matches!(made.course.stage(), Stage::Promoted | Stage::Eligible) {
            made.course.roll_back();
            self.changed(place, "its newest version leaves other fields open".to_owned(), out);
        }
    }

    /// Whether what an attempt made can come to an answer; if it leaves fields open, somebody has to be there to ask.
    pub(super) fn answerable(&self, tutor: &Tutor, attempt: Attempt) -> Attempt {
        let open = tutor.open();
        if !attempt.answers || open.is_empty() {
            return attempt;
        }
        let fields = open.join(", ");
        let reason = if !tutor.can_be_completed() {
            format!("{fields}: no deterministic program, and not in every answer alike")
        } else if self.small.is_none() {
            format!(
                "{fields}: no deterministic program, and no small model may be asked (`learning.small_model`)"
            )
        } else {
            let report = [attempt.report, vec![format!("a small model is asked for {fields}")]].concat();
            return Attempt { report, ..attempt };
        };
        Attempt { answers: false, reason, ..attempt }
    }
}
