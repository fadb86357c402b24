//! Figures: numbers that are computed from numbers in the input.

use artifact::normal::Read;
use artifact::program::{Find, Input, Limits, Operation, Outcome, Program, run};
use artifact::token::Kind;
use serde_json::Value;

use super::extraction::{cover, never_wrong};

const OPERATIONS: [Operation; 4] =
    [Operation::Multiply, Operation::Add, Operation::Subtract, Operation::Divide];
/// Numbers of one text that are combined.
const MOST_NUMBERS: usize = 12;

/// A computation that gives every output it answers.
pub(super) fn learn(inputs: &[Input], outputs: &[&Value]) -> Option<Program> {
    outputs.iter().all(|output| output.is_number()).then_some(())?;
    let mut tried: Vec<(Program, Vec<bool>)> = Vec::new();
    for (input, output) in inputs.iter().zip(outputs).take(16) {
        let numbers = numbers(input);
        for left in &numbers {
            for right in &numbers {
                for operation in OPERATIONS {
                    let program = Program::Arithmetic {
                        operation,
                        left: Box::new(left.clone()),
                        right: Box::new(right.clone()),
                        digits: 2,
                    };
                    let known = tried.iter().any(|(known, _)| *known == program);
                    if left == right
                        || known
                        || run(&program, input, Limits::default()) != Outcome::Answer((*output).clone())
                    {
                        continue;
                    }
                    if let Some(right) = never_wrong(&program, inputs, outputs)
                        && right.iter().filter(|right| **right).count() >= 4
                    {
                        tried.push((program, right));
                    }
                }
            }
        }
    }
    cover(tried, inputs.len())
}

/// Ways to find each number of `input`.
fn numbers(input: &Input) -> Vec<Program> {
    let tokens: Vec<_> = input.tokens().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let (kind, read) = match token.kind {
            Some(Kind::Number) => (Kind::Number, Read::Number),
            Some(Kind::Money) => (Kind::Money, Read::Amount),
            _ => continue,
        };
        let mut finds = vec![Find::Only { kind }];
        if at > 0 && tokens[at - 1].kind.is_none() {
            finds.push(Find::After { kind, before: vec![tokens[at - 1].text.to_lowercase()] });
        }
        found.extend(finds.into_iter().map(|find| Program::Extract { find, read }));
    }
    found.truncate(MOST_NUMBERS);
    found.dedup();
    found
}
