//! Extraction: programs that find a piece of the input, from examples of what was found.

use std::collections::BTreeSet;

use artifact::normal::Read;
use artifact::program::{Find, Input, Limits, Outcome, Program, run};
use serde_json::Value;

/// Programs that are tried, and that one field may have.
const MOST_TRIED: usize = 240;
const MOST_KEPT: usize = 24;
/// A program for fewer samples may be an accident.
const LEAST_SUPPORT: usize = 3;
/// The share of samples that has to be found.
const LEAST_COVERAGE: f64 = 0.3;

/// Programs that together find `outputs`, of which none was ever wrong.
pub(super) fn learn(inputs: &[Input], outputs: &[&Value]) -> Option<Program> {
    let mut candidates = BTreeSet::new();
    for (input, output) in inputs.iter().zip(outputs) {
        if candidates.len() < MOST_TRIED {
            propose(input, output, &mut candidates);
        }
    }
    let mut tried: Vec<(Program, Vec<bool>)> = Vec::new();
    for (_, find, read) in candidates {
        let program = Program::Extract { find, read };
        if let Some(right) = never_wrong(&program, inputs, outputs)
            && right.iter().filter(|right| **right).count() >= LEAST_SUPPORT
        {
            tried.push((program, right));
        }
    }
    cover(tried, inputs.len())
}

/// Which samples `program` gets right; `None` if it is ever wrong.
pub(super) fn never_wrong(program: &Program, inputs: &[Input], outputs: &[&Value]) -> Option<Vec<bool>> {
    inputs
        .iter()
        .zip(outputs)
        .map(|(input, output)| match run(program, input, Limits::default()) {
            Outcome::Answer(answer) => (answer == **output).then_some(true),
            _ => Some(false),
        })
        .collect()
}

/// The fewest of `tried` that together get as many right as all do.
pub(super) fn cover(tried: Vec<(Program, Vec<bool>)>, samples: usize) -> Option<Program> {
    let mut covered = vec![false; samples];
    let mut kept = Vec::new();
    let mut left = tried;
    while kept.len() < MOST_KEPT {
        let gain = |right: &[bool]| {
            right.iter().zip(&covered).filter(|(right, covered)| **right && !**covered).count()
        };
        let best = (0..left.len()).max_by(|a, b| gain(&left[*a].1).cmp(&gain(&left[*b].1)).then(b.cmp(a)));
        let Some(at) = best.filter(|at| gain(&left[*at].1) > 0) else { break };
        let (program, right) = left.remove(at);
        covered.iter_mut().zip(right).for_each(|(covered, right)| *covered |= right);
        kept.push(program);
    }
    let share = covered.iter().filter(|covered| **covered).count() as f64 / samples.max(1) as f64;
    if kept.is_empty() || share < LEAST_COVERAGE {
        return None;
    }
    Some(if kept.len() == 1 { kept.remove(0) } else { Program::Consensus { of: kept } })
}

/// Ways to find `output` in `input`, each with how plain it is: the plainest are tried first.
fn propose(input: &Input, output: &Value, candidates: &mut BTreeSet<(u8, Find, Read)>) {
    let tokens: Vec<_> = input.tokens().collect();
    for (at, token) in tokens.iter().enumerate() {
        let Some(kind) = token.kind else { continue };
        for read in Read::ALL {
            if read.apply(token.text).as_ref() != Some(output) {
                continue;
            }
            candidates.insert((0, Find::Only { kind }, read));
            for back in 1..=3.min(at) {
                let before = &tokens[at - back..at];
                if before.iter().all(|token| token.kind.is_none()) {
                    let before = before.iter().map(|token| token.text.to_lowercase()).collect();
                    candidates.insert((1, Find::After { kind, before }, read));
                }
            }
        }
    }
    let Some(text) = output.as_str().filter(|text| !text.is_empty()) else { return };
    let whole = input.text();
    for (start, _) in whole.match_indices(text).take(4) {
        let end = start + text.len();
        let rest = &whole[end..];
        let mut afters = vec![String::new()];
        if let Some(next) = rest.chars().next() {
            afters.push(next.to_string());
            afters.push(rest.chars().take(2).collect());
            let word: String = rest
                .chars()
                .take_while(|letter| !letter.is_alphanumeric())
                .chain(
                    rest.chars()
                        .skip_while(|letter| !letter.is_alphanumeric())
                        .take_while(|letter| letter.is_alphanumeric()),
                )
                .collect();
            afters.push(word);
        }
        let before: Vec<_> = tokens.iter().filter(|token| token.start < start).collect();
        for back in 1..=3.min(before.len()) {
            let from = before[before.len() - back].start;
            for after in &afters {
                let find = Find::Between {
                    before: whole[from..start].to_owned(),
                    after: after.clone(),
                    longest: 64,
                };
                candidates.insert((2, find, Read::Text));
            }
        }
    }
}
