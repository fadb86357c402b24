//! A stream of texts to extract fields from: a field that is sure is served, the others go to the model; or an answer is served
//! whole or not at all, as in the loop.

use artifact::tag::Layout;
use learning::comparator::Comparator;
use learning::course::{Change, Course, Turn};
use learning::proof::Means;
use learning::synthesis::Sample;
use learning::tag::{Extractor, Gold, TagLearner};
use serde_json::Value;

use crate::stream::{KEY, terms};

/// Fields in all, served, and served wrongly.
pub(crate) fn extract(rows: &[(String, Vec<Gold>)], disagreement: f64) -> (usize, usize, usize, TagLearner) {
    let mut learner = TagLearner::default();
    let mut course = Course::new(terms(disagreement, Means::Shadow));
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

/// What became of whole answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) all: usize,
    pub(crate) served: usize,
    pub(crate) wrong: usize,
    /// When it was first promoted.
    pub(crate) promoted: Option<usize>,
    pub(crate) extractor: Extractor,
}

/// So many answers are seen before it is known what kind of answers they are.
const BEFORE: usize = 40;

/// Serves whole answers to `rows`, which are of one kind of work.
pub(crate) fn answer(rows: &[(String, Vec<Gold>)], disagreement: f64) -> Answers {
    let samples: Vec<Sample> = rows.iter().map(sample).collect();
    let mut log = Answers { all: rows.len(), ..Answers::default() };
    let comparator = Comparator::Exact;
    let Ok(mut extractor) = Extractor::for_answers_like(&samples[..BEFORE.min(samples.len())], &comparator)
    else {
        return log;
    };
    let mut course = Course::new(terms(disagreement, Means::Shadow));
    for (at, Sample { input, output }) in samples.iter().enumerate() {
        let reading = extractor.meet(input);
        if let Some(said) = extractor.answer(input, &reading) {
            let agreed = comparator.agree(&said, output);
            match course.turn(KEY, &at.to_be_bytes()) {
                Turn::Serve => {
                    log.served += 1;
                    log.wrong += usize::from(!agreed);
                    continue;
                }
                Turn::Compare => {
                    let change = course.compared(agreed, extractor.choice().expects(reading.trust));
                    if change == Some(Change::Promoted) && log.promoted.is_none() {
                        log.promoted = Some(at);
                    }
                }
                Turn::Live => {}
            }
        }
        extractor.learn((input, output), &reading, &comparator, course.aim());
    }
    Answers { extractor, ..log }
}

/// What live would have answered.
fn sample((text, gold): &(String, Vec<Gold>)) -> Sample {
    let pieces = gold.iter().map(|one| (one.field.as_str(), &text[one.start..one.end]));
    Sample {
        input: text.clone(),
        output: Value::Object(Layout::default().object(pieces).unwrap_or_default()),
    }
}
