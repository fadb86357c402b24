//! What sinks have to say that depends on their kind: what is missing, and what belongs to another kind. Looked at when the
//! environment has been read, which may have brought a secret.

use super::Assignment;
use super::file::{Read, Table};
use super::named::is_told;
use crate::keys::{self, sinks::FIELDS};
use crate::problem::{Fault, Problem};
use crate::value::Value;

pub(crate) fn check(file: &Read, environment: &[Assignment], problems: &mut Vec<Problem>) {
    let set = |path: &str| {
        let mut all = environment.iter().chain(&file.assignments);
        all.find(|assignment| assignment.path == path)
    };
    for table in file.tables.iter().filter(|table| table.kind.name == "sinks") {
        let path = |field: &str| format!("sinks.{}.{field}", table.name);
        let kind = set(&path("kind")).map(|assignment| &assignment.value);
        let Some(Value::Text(kind)) = kind else { continue };
        let Some((_, needed, _)) = FIELDS.iter().find(|(name, ..)| name == kind) else { continue };
        for field in *needed {
            let path = path(field);
            if set(&path).is_none() && !is_told(problems, &path) {
                let allowed = table.kind.key(field).map(|key| key.kind.allowed()).unwrap_or_default();
                problems.push(Problem::new(&table.place, Fault::Missing { key: path, allowed }));
            }
        }
        for assignment in foreign(table, kind, environment.iter().chain(&file.assignments)) {
            let fault = Fault::OtherKind {
                key: assignment.path.to_string(),
                kind: kind.clone(),
                allowed: table.kind.fields().filter(|field| is_of(kind, field)).map(str::to_owned).collect(),
            };
            problems.push(Problem::new(assignment.origin.place(), fault));
        }
    }
}

/// What is set in `table` and has no meaning for its kind.
fn foreign<'a>(
    table: &'a Table,
    kind: &'a str,
    all: impl Iterator<Item = &'a Assignment>,
) -> impl Iterator<Item = &'a Assignment> {
    all.filter(move |assignment| {
        let mut others = table.kind.fields().filter(|field| !is_of(kind, field));
        others.any(|field| {
            table.kind.key(field).is_some_and(|key| keys::path(key, &table.name) == assignment.path)
        })
    })
}

/// Whether a field has a meaning for a kind: it is one of its own, or of nobody's.
fn is_of(kind: &str, field: &str) -> bool {
    let has = |(_, needed, more): &(&str, &[&str], &[&str])| needed.contains(&field) || more.contains(&field);
    let own = FIELDS.iter().find(|(name, ..)| *name == kind).is_some_and(has);
    own || !FIELDS.iter().any(has)
}
