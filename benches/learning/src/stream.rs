//! A stream of requests to classify, served by a learner as soon as its promise is proven.

use std::collections::BTreeSet;

use learning::classify::Learner;
use learning::course::{Change, Course, Terms, Turn};
use learning::proof::{Means, Promise};

use crate::data::{Labelled, draw, shuffled};

/// What became of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) served: bool,
    pub(crate) right: bool,
    /// How sure the learner was.
    pub(crate) trust: f32,
}

/// What became of a stream.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) done: Vec<Done>,
    /// When it was first promoted.
    pub(crate) promoted: Option<usize>,
    pub(crate) demoted: usize,
    /// How often requests had become strange.
    pub(crate) strange: usize,
    /// What stood in the way at the end.
    pub(crate) reason: String,
    pub(crate) learner: Learner,
}

pub(crate) const KEY: u64 = 0x005e_c2e7;

pub(crate) fn terms(disagreement: f64, means: Means) -> Terms {
    let promise = Promise { disagreement, ..Promise::default() };
    Terms { promise, means, auto_promote: true, side_effects: 0 }
}

/// Serves `rows`; what is in `late` is mixed into the rest once there was a promotion.
pub(crate) fn classify(rows: Vec<Labelled>, late: Vec<Labelled>, disagreement: f64, seed: u64) -> Log {
    classify_until(usize::MAX, rows, late, disagreement, seed)
}

/// The same, and ends when the learner is demoted after so many requests.
fn classify_until(
    end: usize,
    mut rows: Vec<Labelled>,
    late: Vec<Labelled>,
    disagreement: f64,
    seed: u64,
) -> Log {
    let mut log = Log::default();
    let mut course = Course::new(terms(disagreement, Means::Replay));
    let mut late = Some(late).filter(|late| !late.is_empty());
    let mut at = 0;
    while at < rows.len() {
        let (text, label) = rows[at].clone();
        let opinion = log.learner.meet(&text);
        let said =
            opinion.as_ref().and_then(|opinion| log.learner.classifier().labels.get(opinion.label as usize));
        let right = said.is_some_and(|said| *said == label);
        let sure = opinion.as_ref().is_some_and(|opinion| log.learner.classifier().is_sure(opinion));
        if course.met(opinion.as_ref().map_or(1.0, |opinion| f64::from(opinion.strangeness()))) {
            log.strange += 1;
        }
        let turn = if sure { course.turn(KEY, &(at as u64).to_be_bytes()) } else { Turn::Live };
        let trust = opinion.as_ref().map_or(f32::MIN, |opinion| opinion.trust);
        log.done.push(Done { served: turn == Turn::Serve, right, trust });
        at += 1;
        if turn == Turn::Serve {
            continue;
        }
        let compared = if turn == Turn::Compare {
            course.compared(right, log.learner.choice().expects(trust))
        } else {
            None
        };
        let is_new = log.learner.learn(&text, &label, opinion.as_ref(), course.aim());
        let replay = log.learner.replay().filter(|_| is_new);
        let change = replay.and_then(|replay| course.replayed(replay)).or(compared);
        log.demoted += usize::from(change == Some(Change::Demoted));
        if change == Some(Change::Demoted) && at > end {
            break;
        }
        if change == Some(Change::Promoted) && log.promoted.is_none() {
            log.promoted = Some(at);
            if let Some(late) = late.take() {
                let mut rest = rows.split_off(at);
                rest.extend(late);
                rows.extend(shuffled(&rest, seed));
            }
        }
    }
    let choice = log.learner.choice();
    log.reason = match choice.threshold {
        None => format!(
            "no threshold: the surest {:.0} % are expected to differ in {:.2} %",
            choice.share * 100.0,
            choice.expected * 100.0
        ),
        Some(_) => course.gates().to_string(),
    };
    log
}

/// How many were served until the learner was demoted, after live had begun to answer otherwise, whatever the text says, with a chance
/// of `after` from request `from` on. `None`: it did not serve by then, so nothing had to be noticed.
pub(crate) fn served_after_jump(rows: &[Labelled], seed: u64, from: usize, after: f64) -> Option<usize> {
    let labels: BTreeSet<&String> = rows.iter().map(|(_, label)| label).collect();
    let labels: Vec<&String> = labels.into_iter().collect();
    let changed = shuffled(rows, seed).into_iter().zip(0..).map(|((text, label), at)| {
        let jumps = at >= from && draw(seed ^ 0x1a7e, at as u64) < after;
        let other = labels[(draw(seed ^ 0x1abe1, at as u64) * labels.len() as f64) as usize];
        (text, if jumps { other.clone() } else { label })
    });
    let log = classify_until(from, changed.collect(), Vec::new(), 0.01, seed);
    log.promoted.filter(|promoted| *promoted < from)?;
    Some(log.done[from..].iter().filter(|one| one.served).count())
}

/// The share served, and the share of that which was right.
pub(crate) fn shares(done: &[Done]) -> (f64, f64) {
    let served = done.iter().filter(|one| one.served).count();
    let right = done.iter().filter(|one| one.served && one.right).count();
    (served as f64 / done.len().max(1) as f64, if served == 0 { 1.0 } else { right as f64 / served as f64 })
}

/// The share that the best threshold on trust, known only afterwards, would have served with so much agreement.
pub(crate) fn ideal(done: &[Done], agreement: f64) -> f64 {
    let mut sorted: Vec<&Done> = done.iter().collect();
    sorted.sort_by(|a, b| b.trust.total_cmp(&a.trust));
    let (mut right, mut best) = (0, 0);
    for (at, one) in sorted.iter().enumerate() {
        right += usize::from(one.right);
        if right as f64 >= agreement * (at + 1) as f64 {
            best = at + 1;
        }
    }
    best as f64 / done.len().max(1) as f64
}
