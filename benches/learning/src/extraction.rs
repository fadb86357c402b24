//! A stream of texts to extract fields from: a field that is sure is served, the others go to the model.

use learning::course::{Course, Turn};
use learning::tag::{Gold, TagLearner};

use crate::stream::{KEY, terms};

/// Fields in all, served, and served wrongly.
pub(crate) fn extract(rows: &[(String, Vec<Gold>)], disagreement: f64) -> (usize, usize, usize, TagLearner) {
    let mut learner = TagLearner::default();
    let mut course = Course::new(terms(disagreement));
    let (mut all, mut served, mut wrong) = (0, 0, 0);
    for (at, (text, gold)) in rows.iter().enumerate() {
        all += gold.len();
        // What the learner hears: live's fields, but for those that were served, which are its own.
        let mut heard = gold.clone();
        for (number, span) in learner.meet(text).into_iter().enumerate() {
            let agreed = learner.agrees(&span, gold);
            if learner.tagger().is_sure(&span) {
                let id = [at.to_be_bytes(), number.to_be_bytes()].concat();
                match course.turn(KEY, &id) {
                    Turn::Serve => {
                        served += 1;
                        wrong += usize::from(!agreed);
                        heard.retain(|one| one.end <= span.start || one.start >= span.end);
                        let field = learner.tagger().fields[span.field as usize].clone();
                        heard.push(Gold { field, start: span.start, end: span.end });
                        continue;
                    }
                    Turn::Compare => {
                        course.compared(agreed, learner.choice().expects(span.trust));
                    }
                    Turn::Live => {}
                }
            }
            learner.compared(text, &span, agreed);
        }
        learner.learn(text, &heard, course.aim());
    }
    (all, served, wrong, learner)
}
