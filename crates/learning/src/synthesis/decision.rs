//! Decision lists: values that one word, or two together, give away.

use std::collections::{BTreeMap, BTreeSet};

use artifact::program::{Input, Program, Rule};
use artifact::text::words;
use serde_json::Value;

/// More values than this are no categories.
const MOST_VALUES: usize = 64;
const MOST_RULES: usize = 128;
/// A rule for fewer samples may be an accident.
const LEAST_SUPPORT: usize = 3;
const LEAST_COVERAGE: f64 = 0.3;

/// Rules that are never wrong on the samples and together decide most of them. What no rule knows has no answer.
pub(super) fn learn(inputs: &[Input], outputs: &[&Value]) -> Option<Program> {
    let values: BTreeSet<String> = outputs.iter().map(|output| output.to_string()).collect();
    if values.len() < 2 || values.len() > MOST_VALUES || values.len() * LEAST_SUPPORT > outputs.len() {
        return None;
    }
    let texts: Vec<BTreeSet<String>> =
        inputs.iter().map(|input| words(input.text()).into_iter().map(|word| word.text).collect()).collect();
    let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        for word in text.iter().filter(|word| word.chars().all(char::is_alphabetic)) {
            holders.entry(word).or_default().push(at);
        }
    }
    let mut left: BTreeSet<usize> = (0..inputs.len()).collect();
    let mut rules = Vec::new();
    while rules.len() < MOST_RULES {
        // The word that decides most of what is left, and is right wherever it occurs at all.
        let best = holders
            .iter()
            .filter(|(_, at)| {
                at.len() >= LEAST_SUPPORT && at.iter().all(|one| outputs[*one] == outputs[at[0]])
            })
            .map(|(word, at)| (at.iter().filter(|one| left.contains(one)).count(), word, at))
            .max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(a.1)));
        let Some((gain, word, at)) = best else { break };
        if gain == 0 {
            break;
        }
        rules.push(Rule {
            all_of: vec![(*word).to_owned()],
            none_of: Vec::new(),
            value: outputs[at[0]].clone(),
        });
        left.retain(|one| !at.contains(one));
    }
    let share = 1.0 - left.len() as f64 / inputs.len().max(1) as f64;
    if rules.is_empty() || share < LEAST_COVERAGE {
        return None;
    }
    // Words of different values in one text are a sign of something new: such a text has no answer.
    let of: Vec<Program> =
        rules.into_iter().map(|rule| Program::DecisionList { rules: vec![rule], otherwise: None }).collect();
    Some(Program::Consensus { of })
}
