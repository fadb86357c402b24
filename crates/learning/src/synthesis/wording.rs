//! Wording: texts that are always the same but for values of other fields.

use artifact::program::{Input, Limits, Outcome, Part, Program, run};
use serde_json::Value;

use super::extraction::never_wrong;

/// A template over `others` that gives every text it answers.
pub(super) fn learn(inputs: &[Input], outputs: &[&Value], others: &[(String, Program)]) -> Option<Program> {
    for (input, output) in inputs.iter().zip(outputs).take(4) {
        let program = Program::Template { parts: parts(output.as_str()?, input, others) };
        if never_wrong(&program, inputs, outputs)
            .is_some_and(|right| right.iter().filter(|right| **right).count() * 10 >= right.len() * 3)
        {
            return Some(program);
        }
    }
    None
}

fn parts(text: &str, input: &Input, others: &[(String, Program)]) -> Vec<Part> {
    let mut values: Vec<(String, &Program)> = others
        .iter()
        .filter_map(|(_, program)| match run(program, input, Limits::default()) {
            Outcome::Answer(Value::String(text)) if text.len() > 1 => Some((text, program)),
            Outcome::Answer(value @ Value::Number(_)) => Some((value.to_string(), program)),
            _ => None,
        })
        .collect();
    values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    let mut parts = vec![Part::Text(text.to_owned())];
    for (value, program) in values {
        parts = parts.into_iter().flat_map(|part| split(part, &value, program)).collect();
    }
    parts
}

fn split(part: Part, value: &str, program: &Program) -> Vec<Part> {
    let Part::Text(text) = part else { return vec![part] };
    let mut pieces = Vec::new();
    for (at, piece) in text.split(value).enumerate() {
        if at > 0 {
            pieces.push(Part::Slot(program.clone()));
        }
        if !piece.is_empty() {
            pieces.push(Part::Text(piece.to_owned()));
        }
    }
    pieces
}
