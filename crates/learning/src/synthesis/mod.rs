//! The inductive compiler: from samples of one pattern, the simplest program per field that holds.
//!
//! Samples are split by time: programs are made from the older ones and tried on the newer. A field for which nothing holds is
//! left open, with what is known of its values (`open.rs`); when too little of the newer samples comes out right, the attempt is aborted. Every attempt has its report.
//! Start at [`synthesize`]; `extraction.rs` finds pieces of the input, `decision.rs` tells values by words, `figures.rs` computes,
//! `wording.rs` makes texts of fields.
//!
//! - A program is kept for a field only if it was never wrong on the older samples.

mod compiler;
mod decision;
mod extraction;
mod figures;
mod open;
mod wording;

pub use compiler::Compiler;

use artifact::program::{Input, Open, Outcome, Program};
use artifact::{Artifact, Guard, word_hash};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::comparator::Comparator;

/// What live answered to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The variable part of the request.
    pub input: String,
    /// The answer: JSON where it is JSON, a string where it is text.
    pub output: Value,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There is an artifact, to be replayed.
    Synthesized,
    /// Too little came out right.
    Aborted,
}

/// An attempt to make an artifact, with the compiler's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SynthesisAttempt {
    /// What came of it.
    pub outcome: Verdict,
    /// Why, in a line.
    pub reason: String,
    /// What the compiler did, line by line.
    pub report: Vec<String>,
    /// How many samples it had.
    pub sample_count: usize,
    /// The share of newer samples that came out right, of those that were answered.
    pub holdout_accuracy: Option<f64>,
    /// The share of newer samples that were answered.
    pub holdout_coverage: Option<f64>,
}

/// Right answers among those given on the newer samples: below it there is no artifact.
pub const FLOOR: f64 = 0.95;
/// Answers given on the newer samples: below it an artifact is not worth its proof.
const LEAST_COVERAGE: f64 = 0.2;

/// Of a hundred samples, so many make a way to tell a field good enough to look no further.
const NEARLY_ALL: usize = 97;

/// Makes an artifact from `samples`, oldest first.
#[must_use]
pub fn synthesize(samples: &[Sample], comparator: &Comparator) -> (SynthesisAttempt, Option<Artifact>) {
    let cut = samples.len() * 7 / 10;
    let (older, newer) = samples.split_at(cut);
    let mut report =
        vec![format!("{} samples: {} to learn from, {} to try on", samples.len(), older.len(), newer.len())];
    let program = program(older, &mut report);
    let Some(program) = program else {
        return (
            attempt(Verdict::Aborted, "no field has a deterministic program", report, samples.len(), None),
            None,
        );
    };
    let made = Artifact { guard: guard(older, newer), program };
    let (mut answered, mut right) = (0, 0);
    for sample in newer {
        if let Some(agrees) = try_on(&made, sample, comparator) {
            answered += 1;
            right += usize::from(agrees);
        }
    }
    let (accuracy, coverage) =
        (right as f64 / f64::from(answered.max(1)), f64::from(answered) / newer.len().max(1) as f64);
    report
        .push(format!("on the newer samples: {answered} of {} answered, {right} of them right", newer.len()));
    let measured = Some((accuracy, coverage));
    if coverage < LEAST_COVERAGE {
        let reason = format!(
            "only {:.0} % of the newer samples are answered, {:.0} % are needed",
            coverage * 100.0,
            LEAST_COVERAGE * 100.0
        );
        return (attempt(Verdict::Aborted, &reason, report, samples.len(), measured), None);
    }
    if accuracy < FLOOR {
        let reason = format!(
            "{:.1} % of the answered newer samples are right, {:.0} % are needed",
            accuracy * 100.0,
            FLOOR * 100.0
        );
        return (attempt(Verdict::Aborted, &reason, report, samples.len(), measured), None);
    }
    // What was only tried on is as good to learn from: the artifact in force is made from everything.
    let whole =
        program_of_all(samples).map_or(made, |program| Artifact { guard: guard(samples, &[]), program });
    (
        attempt(Verdict::Synthesized, "every field that is answered held", report, samples.len(), measured),
        Some(whole),
    )
}

/// Whether the answer to `sample` is right; `None` when there is none.
fn try_on(artifact: &Artifact, sample: &Sample, comparator: &Comparator) -> Option<bool> {
    match artifact.answer(&Input::new(sample.input.as_str())) {
        Outcome::Answer(answer) => Some(comparator.agree(&answer, &sample.output)),
        Outcome::Partial(part, _) => {
            Some(agrees_in_part(&part, artifact.program.open(), &sample.output, comparator))
        }
        Outcome::Abstain(_) => None,
    }
}

/// Whether `part` says the same as `live` in its own fields, and what is open of it and nothing else is all the rest.
#[must_use]
pub fn agrees_in_part(
    part: &Map<String, Value>,
    open: &[Open],
    live: &Value,
    comparator: &Comparator,
) -> bool {
    let Value::Object(live) = live else { return false };
    let told: Map<String, Value> =
        open.iter().filter_map(|open| Some((open.name.clone(), live.get(&open.name)?.clone()))).collect();
    let mut whole = part.clone();
    whole.extend(told);
    comparator.agree(&Value::Object(whole), &Value::Object(live.clone()))
}

fn attempt(
    outcome: Verdict,
    reason: &str,
    report: Vec<String>,
    sample_count: usize,
    measured: Option<(f64, f64)>,
) -> SynthesisAttempt {
    SynthesisAttempt {
        outcome,
        reason: reason.to_owned(),
        report,
        sample_count,
        holdout_accuracy: measured.map(|(accuracy, _)| accuracy),
        holdout_coverage: measured.map(|(_, coverage)| coverage),
    }
}

fn program_of_all(samples: &[Sample]) -> Option<Program> {
    program(samples, &mut Vec::new())
}

fn program(samples: &[Sample], report: &mut Vec<String>) -> Option<Program> {
    let inputs: Vec<Input> = samples.iter().map(|sample| Input::new(sample.input.as_str())).collect();
    let names: Option<Vec<&String>> =
        samples.first().and_then(|sample| sample.output.as_object()).map(|object| object.keys().collect());
    let Some(names) = names else {
        let outputs: Vec<&Value> = samples.iter().map(|sample| &sample.output).collect();
        return field("the answer", &inputs, &outputs, &[], report);
    };
    let mut fields: Vec<(String, Program)> = Vec::new();
    let mut delegated = Vec::new();
    for (place, name) in names.into_iter().enumerate() {
        let outputs: Option<Vec<&Value>> = samples.iter().map(|sample| sample.output.get(name)).collect();
        let outputs = outputs.as_deref();
        match outputs.and_then(|outputs| field(name, &inputs, outputs, &fields, report)) {
            Some(program) => fields.push((name.clone(), program)),
            None => {
                let open = open::learn(name, place, outputs);
                report.push(match (outputs, open.values.len()) {
                    (None, _) => format!("{name}: not in every answer; left open"),
                    (_, 0) => format!("{name}: no deterministic program; left open"),
                    (_, few) => format!("{name}: no deterministic program; left open, one of {few} values"),
                });
                delegated.push(open);
            }
        }
    }
    (!fields.is_empty()).then_some(Program::Fields { fields, delegated })
}

/// The simplest program for one field: constant, extraction, computation, decision list, template.
fn field(
    name: &str,
    inputs: &[Input],
    outputs: &[&Value],
    others: &[(String, Program)],
    report: &mut Vec<String>,
) -> Option<Program> {
    let first = outputs.first()?;
    if outputs.len() >= 8 && outputs.iter().all(|output| output == first) {
        report.push(format!("{name}: always {first}"));
        return Some(Program::Constant { value: (*first).clone() });
    }
    let ways: [(&str, Option<Program>); 4] = [
        ("extracted", extraction::learn(inputs, outputs)),
        ("computed", figures::learn(inputs, outputs)),
        ("decided by words", decision::learn(inputs, outputs)),
        ("worded from other fields", wording::learn(inputs, outputs, others)),
    ];
    // The plainest that answers nearly everything; where none does, the one that answers most. A way that finds a value in
    // some texts by accident would otherwise hide one that tells it from all of them.
    let mut best: Option<(usize, &str, Program)> = None;
    for (way, program) in ways {
        let Some(program) = program else { continue };
        let answered = extraction::never_wrong(&program, inputs, outputs)
            .map_or(0, |right| right.iter().filter(|right| **right).count());
        if best.as_ref().is_none_or(|(most, ..)| answered > *most) {
            best = Some((answered, way, program));
        }
        if best.as_ref().is_some_and(|(most, ..)| most * 100 >= outputs.len() * NEARLY_ALL) {
            break;
        }
    }
    let (answered, way, program) = best?;
    report.push(format!("{name}: {way}, {answered} of {}", outputs.len()));
    Some(program)
}

/// What the samples have in common.
fn guard(older: &[Sample], newer: &[Sample]) -> Guard {
    let mut known: Vec<u64> = older
        .iter()
        .flat_map(|sample| artifact::text::words(&sample.input))
        .map(|word| word_hash(&word.text))
        .collect();
    known.sort_unstable();
    known.dedup();
    let longest = older.iter().map(|sample| sample.input.len()).max().unwrap_or(0);
    let kinds = artifact::token::Kind::VISIBLE
        .into_iter()
        .filter(|kind| {
            older.iter().all(|sample| {
                artifact::token::tokens(&sample.input).iter().any(|token| token.kind == Some(*kind))
            })
        })
        .collect();
    let mut guard = Guard { longest: longest * 2, kinds, known, most_unknown: 0.0 };
    // Where nothing is left to try on, names and the like are supposed to be as new as they were in the newest third.
    let (tried, trained) = if newer.is_empty() {
        let (old, new) = older.split_at(older.len() * 2 / 3);
        let mut words: Vec<u64> = old
            .iter()
            .flat_map(|sample| artifact::text::words(&sample.input))
            .map(|word| word_hash(&word.text))
            .collect();
        words.sort_unstable();
        words.dedup();
        (new, Guard { known: words, ..guard.clone() })
    } else {
        (newer, guard.clone())
    };
    let strangest = tried.iter().map(|sample| trained.unknown(&sample.input)).fold(0.0, f32::max);
    guard.most_unknown = (strangest * 1.25 + 0.02).min(1.0);
    guard
}
