//! Calls of tools as something that can be learned: an answer that only calls is a plan, `[{"tool": …, "arguments": {…}}]`, which
//! is what `artifact::program::Program::Plan` answers.
//!
//! The compiler learns objects field by field, so a plan is laid out flat for it, a field for each argument of each call, and
//! what it made is put together again. Whether a planned call is made is not decided here: what is answered is judged like any
//! answer of a model.

use artifact::Artifact;
use artifact::program::{Call, Program};
use serde_json::{Map, Value, json};
use wire::{Part, ToolCall};

/// Between the place of a call, its tool and the name of an argument. No name of a tool or of an argument has it.
const BETWEEN: char = '\u{1f}';

/// The plan of an answer that only calls; `None` if it says something too, or if its arguments are no object.
#[must_use]
pub(crate) fn of_parts(parts: &[Part]) -> Option<Value> {
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::ToolCall(ToolCall { name, arguments, .. }) => {
                let arguments = match arguments.trim() {
                    "" => json!({}),
                    text => serde_json::from_str(text).ok().filter(Value::is_object)?,
                };
                calls.push(json!({ "tool": name, "arguments": arguments }));
            }
            Part::Text { text, .. } if text.trim().is_empty() => {}
            _ => return None,
        }
    }
    (!calls.is_empty()).then_some(Value::Array(calls))
}

/// The calls of a plan, if `value` is one.
#[must_use]
pub(crate) fn calls(value: &Value) -> Option<Vec<(&str, &Map<String, Value>)>> {
    let calls = value.as_array().filter(|calls| !calls.is_empty())?;
    let call = |call: &'_ Value| -> Option<()> {
        let members = call.as_object()?;
        (members.len() == 2 && members.get("tool")?.is_string() && members.get("arguments")?.is_object())
            .then_some(())
    };
    calls.iter().map(call).collect::<Option<()>>()?;
    calls.iter().map(|call| Some((call["tool"].as_str()?, call["arguments"].as_object()?))).collect()
}

/// The parts of an answer that wants the calls of a plan made. Their ids are for whoever tells it.
#[must_use]
pub(crate) fn to_parts(value: &Value) -> Option<Vec<Part>> {
    let parts = calls(value)?.into_iter().map(|(tool, arguments)| {
        let arguments = Value::Object(arguments.clone()).to_string();
        Part::ToolCall(ToolCall { id: String::new(), name: tool.to_owned(), arguments })
    });
    Some(parts.collect())
}

/// A plan as one object: a field that says that there is a call, and one for each of its arguments.
#[must_use]
pub(crate) fn flat(value: &Value) -> Option<Value> {
    let mut fields = Map::new();
    for (at, (tool, arguments)) in calls(value)?.into_iter().enumerate() {
        if tool.contains(BETWEEN) || arguments.keys().any(|name| name.contains(BETWEEN) || name.is_empty()) {
            return None;
        }
        fields.insert(field(at, tool, ""), Value::Null);
        for (name, argument) in arguments {
            fields.insert(field(at, tool, name), argument.clone());
        }
    }
    Some(Value::Object(fields))
}

fn field(at: usize, tool: &str, name: &str) -> String {
    format!("{at:04}{BETWEEN}{tool}{BETWEEN}{name}")
}

/// The plan that was laid out like this.
#[must_use]
pub(crate) fn unflat(value: &Value) -> Option<Value> {
    let mut calls: Vec<(String, Map<String, Value>)> = Vec::new();
    let mut fields: Vec<(&String, &Value)> = value.as_object()?.iter().collect();
    fields.sort_by_key(|(name, _)| name.as_str());
    for (name, argument) in fields {
        let (at, tool, name) = named(name)?;
        place(&mut calls, at, tool)?;
        if !name.is_empty() {
            calls.get_mut(at)?.1.insert(name.to_owned(), argument.clone());
        }
    }
    let calls = calls.into_iter().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments }));
    Some(Value::Array(calls.collect()))
}

/// What was learned of plans that were laid out flat, as a program that plans. `None` if a part of the plan is not known.
#[must_use]
pub(crate) fn planning(artifact: &Artifact) -> Option<Artifact> {
    let Program::Fields { fields, delegated } = &artifact.program else { return None };
    if !delegated.is_empty() {
        return None;
    }
    let mut fields: Vec<&(String, Program)> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| name.as_str());
    let mut calls: Vec<(String, Vec<(String, Program)>)> = Vec::new();
    for (name, program) in fields {
        let (at, tool, name) = named(name)?;
        place(&mut calls, at, tool)?;
        if !name.is_empty() {
            calls.get_mut(at)?.1.push((name.to_owned(), program.clone()));
        }
    }
    let calls = calls.into_iter().map(|(tool, arguments)| Call { tool, arguments }).collect();
    Some(Artifact { guard: artifact.guard.clone(), program: Program::Plan { calls } })
}

fn named(field: &str) -> Option<(usize, &str, &str)> {
    let mut parts = field.split(BETWEEN);
    let (at, tool, name) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some((at, tool, name))
}

/// Sees to it that there is a call of `tool` at this place; calls come in order.
fn place<T: Default>(calls: &mut Vec<(String, T)>, at: usize, tool: &str) -> Option<()> {
    if calls.len() == at {
        calls.push((tool.to_owned(), T::default()));
    }
    (calls.get(at)?.0 == tool).then_some(())
}

/// Whether a program can answer with calls.
#[must_use]
pub(crate) fn may_call(program: &Program) -> bool {
    let any = |programs: &[Program]| programs.iter().any(may_call);
    match program {
        Program::Constant { value } => calls(value).is_some(),
        Program::Lookup { table, .. } => table.values().any(|value| calls(value).is_some()),
        Program::DecisionList { rules, otherwise } => {
            rules.iter().any(|rule| calls(&rule.value).is_some())
                || otherwise.as_ref().is_some_and(|program| may_call(program))
        }
        Program::Classify { classifier } => classifier
            .labels
            .iter()
            .any(|label| serde_json::from_str(label).is_ok_and(|value: Value| calls(&value).is_some())),
        Program::Consensus { of } => any(of),
        // An object or a text is no plan.
        Program::Template { .. }
        | Program::Extract { .. }
        | Program::Tag { .. }
        | Program::Arithmetic { .. }
        | Program::Fields { .. } => false,
        // A plan; and whatever is not known to be harmless.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::Guard;
    use artifact::program::Input;

    fn plan() -> Value {
        json!([
            { "tool": "find", "arguments": { "city": "Bern", "days": 2 } },
            { "tool": "ping", "arguments": {} },
        ])
    }

    #[test]
    fn a_plan_laid_out_and_put_together_is_the_same() {
        assert_eq!(unflat(&flat(&plan()).unwrap()).unwrap(), plan());
        assert_eq!(of_parts(&to_parts(&plan()).unwrap()).unwrap(), plan());
    }

    #[test]
    fn what_is_learned_flat_plans_the_same() {
        let Value::Object(fields) = flat(&plan()).unwrap() else { panic!("an object") };
        let fields: Vec<_> =
            fields.into_iter().map(|(name, value)| (name, Program::Constant { value })).collect();
        let guard = Guard { longest: 9, most_unknown: 1.0, ..Guard::default() };
        let made = Artifact { guard, program: Program::Fields { fields, delegated: Vec::new() } };
        let planned = planning(&made).unwrap();
        assert!(may_call(&planned.program) && !may_call(&made.program));
        assert_eq!(planned.answer(&Input::new("x")), artifact::program::Outcome::Answer(plan()));
    }

    #[test]
    fn words_beside_calls_or_arguments_that_are_no_object_are_no_plan() {
        let call = |arguments: &str| {
            Part::ToolCall(ToolCall { id: "1".into(), name: "f".into(), arguments: arguments.into() })
        };
        assert!(of_parts(&[call("{}"), Part::text("Let me look.")]).is_none());
        assert!(of_parts(&[call("[1]")]).is_none());
        assert!(of_parts(&[Part::text("hello")]).is_none());
        assert!(calls(&json!([{ "tool": "f", "arguments": {}, "more": 1 }])).is_none());
    }
}
