//! The environment: the variables of the table, and no other that starts with `PUNK_`.
//!
//! - An empty variable counts as unset: that is what container tools make of a variable without a value.
//! - `PUNK_TEST_…` is ignored, for test harnesses; the names that others own (`OPENAI_API_KEY`) are
//!   read when they are in the table, and their neighbours are none of our business.

use super::file::Table;
use super::{APPROVER_KEY_VARIABLE, Assignment, FILE_VARIABLE};
use crate::keys;
use crate::nearest::{nearest, owned};
use crate::origin::Origin;
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

/// Reads the variables of the table, and those of the named tables that the file has.
pub(crate) fn read(
    environment: &[(OsString, OsString)],
    tables: &[Table],
    problems: &mut Vec<Problem>,
) -> Vec<Assignment> {
    let of_table = |table: &Table| -> Vec<_> {
        let named = table.kind.keys.iter().filter(|key| keys::is_named_variable(key));
        named.map(|key| (key, keys::path(key, &table.name), keys::variable(key, &table.name))).collect()
    };
    let of_tables: Vec<_> = tables.iter().flat_map(of_table).collect();
    let known: Vec<&str> = of_tables.iter().map(|(_, _, variable)| variable.as_str()).collect();
    let set = environment.iter().filter(|(_, value)| !value.is_empty());
    problems.extend(set.filter_map(|(name, _)| unknown(name, &known)));
    let plain = keys::all().filter_map(|key| {
        let set = |variable: &&'static str| get(environment, variable).is_some();
        Some((key, Cow::Borrowed(key.path), Cow::Borrowed(key.variables().find(set)?)))
    });
    let named = of_tables
        .iter()
        .map(|(key, path, variable)| (*key, Cow::Owned(path.clone()), Cow::Owned(variable.clone())));
    plain
        .chain(named)
        .filter_map(|(key, path, variable)| {
            let value = get(environment, &variable)?;
            let Some(text) = value.to_str() else {
                problems.push(Problem::new(variable, Fault::NotUtf8 { key: path.into_owned() }));
                return None;
            };
            let Some(value) = Value::from_text(key, text) else {
                problems.push(Problem::bad_value_at(variable, key, path, text));
                return None;
            };
            Some(Assignment { key, path, value, origin: Origin::Environment(variable) })
        })
        .collect()
}

/// The value of a variable; like the system, the first of several.
fn get<'e>(environment: &'e [(OsString, OsString)], variable: &str) -> Option<&'e OsStr> {
    let (_, value) = environment.iter().find(|(name, _)| name == variable)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}

fn unknown(name: &OsStr, of_tables: &[&str]) -> Option<Problem> {
    // Lossy is enough: a name that is not UTF-8 is not in the table, and this only shows it.
    let name = name.to_string_lossy();
    let ours = name.starts_with("PUNK_") && !name.starts_with("PUNK_TEST_");
    if !ours
        || [FILE_VARIABLE, APPROVER_KEY_VARIABLE].contains(&name.as_ref())
        || keys::by_variable(&name).is_some()
        || of_tables.contains(&name.as_ref())
    {
        return None;
    }
    let table = keys::all().flat_map(|key| key.variables()).map(|variable| variable as &str);
    let known = table.chain([FILE_VARIABLE, APPROVER_KEY_VARIABLE]).chain(of_tables.iter().copied());
    let nearest = owned(nearest(&name, known.filter(|name| name.starts_with("PUNK_"))));
    let place = shortened(&name);
    Some(Problem::new(place.trim_matches('"'), Fault::UnknownVariable { nearest }))
}
