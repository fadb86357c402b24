//! Attempts to make an artifact, in the words of who made them.

use learning::classify::Learner;
use learning::synthesis::{SynthesisAttempt, Verdict};
use learning::tag::Extractor;
use learning::threshold::Choice;

/// An attempt to make an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Whether it can answer anything.
    pub answers: bool,
    /// Why, in a line.
    pub reason: String,
    /// What was done, line by line.
    pub report: Vec<String>,
    /// How many lessons it had.
    pub samples: usize,
    /// Of the newer lessons, the share of the answered ones that came out right.
    pub holdout: Option<f64>,
}

/// What a tagger says of its newest version.
pub(super) fn tagged(extractor: &Extractor) -> Attempt {
    let choice = extractor.choice();
    let (answers, reason) = (choice.threshold.is_some(), stops_at(choice));
    let mut report =
        vec![format!("version {}: a tagger of {}", extractor.version(), extractor.fields().join(", "))];
    report.extend(extractor.alignment());
    report.push(reason.clone());
    let samples = extractor.sample_count();
    Attempt { answers, reason, report, samples, holdout: answers.then_some(1.0 - choice.expected) }
}

/// What a classifier says of its newest version.
pub(super) fn classified(learner: &Learner) -> Attempt {
    let (choice, classifier) = (learner.choice(), learner.classifier());
    let (answers, reason) = (choice.threshold.is_some(), stops_at(choice));
    let report = vec![
        format!("version {}: a classifier of {} answers", learner.version(), classifier.labels.len()),
        format!("{} n-grams are known", classifier.vocabulary.len()),
        reason.clone(),
    ];
    let samples = classifier.support.len();
    Attempt { answers, reason, report, samples, holdout: answers.then_some(1.0 - choice.expected) }
}

/// What the compiler says of an attempt. A plan of which a part is not known is none: nobody completes it.
pub(super) fn compiled(attempt: &SynthesisAttempt, whole: bool) -> Attempt {
    let synthesized = attempt.outcome == Verdict::Synthesized;
    let mut reason = attempt.reason.clone();
    if synthesized && !whole {
        reason = "an argument of a call has no deterministic program".to_owned();
    }
    Attempt {
        answers: synthesized && whole,
        reason,
        report: attempt.report.iter().map(|line| line.replace('\u{1f}', " ")).collect(),
        samples: attempt.sample_count,
        holdout: attempt.holdout_accuracy,
    }
}

/// Where what abstains stops answering, in a line.
fn stops_at(choice: &Choice) -> String {
    let (share, expected) = (choice.share * 100.0, choice.expected * 100.0);
    if choice.threshold.is_some() {
        format!("sure of {share:.0} % of the requests, of which {expected:.2} % are expected to differ")
    } else {
        format!("no threshold: the surest {share:.0} % are expected to differ in {expected:.2} %")
    }
}
