//! What named tables have to say together: what is missing, and who is named without being there.

use super::file::{Read, Table};
use crate::keys::{self, BUILT_IN};
use crate::nearest::{nearest, owned};
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;

pub(super) fn check(read: &Read, problems: &mut Vec<Problem>) {
    for table in &read.tables {
        missing(read, table, problems);
    }
    let upstreams = read.upstreams();
    let known: Vec<&str> = upstreams.iter().map(String::as_str).chain(BUILT_IN).collect();
    for table in read.tables.iter().filter(|table| table.kind.name == "models") {
        for field in ["upstream", "upstreams"] {
            unknown_upstreams(read, table, field, &known, problems);
        }
        if loops(read, &table.name) {
            let fault = Fault::AliasLoop { shown: shortened(&table.name) };
            problems.push(Problem::new(&table.place, fault));
        }
    }
}

fn missing(read: &Read, table: &Table, problems: &mut Vec<Problem>) {
    for key in table.kind.keys.iter().filter(|key| key.required) {
        let path = keys::path(key, &table.name);
        if !is_told(problems, &path) && value(read, &path).is_none() {
            let fault = Fault::Missing { key: path, allowed: key.kind.allowed() };
            problems.push(Problem::new(&table.place, fault));
        }
    }
}

/// Whether what stands at `path` was refused: then it has no assignment, and is not missing.
pub(super) fn is_told(problems: &[Problem], path: &str) -> bool {
    let mut faults = problems.iter().map(|problem| &problem.fault);
    faults.any(|fault| matches!(fault, Fault::BadValue { key, .. } if key == path))
}

fn unknown_upstreams(read: &Read, table: &Table, field: &str, known: &[&str], problems: &mut Vec<Problem>) {
    let path = format!("models.{}.{field}", table.name);
    let Some(assignment) = read.assignments.iter().find(|assignment| assignment.path == path) else { return };
    let named: Vec<&str> = match &assignment.value {
        Value::Text(text) => vec![text],
        Value::Texts(texts) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    for name in named.into_iter().filter(|name| !known.contains(name)) {
        let fault = Fault::NoSuchUpstream {
            key: path.clone(),
            shown: shortened(name),
            nearest: owned(nearest(name, known.iter().copied())),
            known: owned(known.to_vec()),
        };
        problems.push(Problem::new(assignment.origin.place(), fault));
    }
}

/// Whether following the aliases of `model` comes back to it.
fn loops(read: &Read, model: &str) -> bool {
    let mut next = model;
    for _ in 0..=read.tables.len() {
        match value(read, &format!("models.{next}.alias_of")) {
            Some(Value::Text(alias)) if alias == model => return true,
            Some(Value::Text(alias)) => next = alias,
            _ => return false,
        }
    }
    // Caught in a loop further on, which is told where it is.
    false
}

fn value<'r>(read: &'r Read, path: &str) -> Option<&'r Value> {
    read.assignments.iter().find(|assignment| assignment.path == path).map(|assignment| &assignment.value)
}
