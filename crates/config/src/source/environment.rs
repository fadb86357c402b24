//! The environment: the variables of the table, and no other that starts with `PUNK_`.
//!
//! - An empty variable counts as unset: that is what container tools make of a variable without a value.
//! - `PUNK_TEST_…` is ignored, for test harnesses; the names that others own (`OPENAI_API_KEY`) are
//!   read when they are in the table, and their neighbours are none of our business.

use super::{Assignment, FILE_VARIABLE};
use crate::keys;
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;
use std::ffi::{OsStr, OsString};

pub(crate) fn read(environment: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Vec<Assignment> {
    problems.extend(
        environment.iter().filter(|(_, value)| !value.is_empty()).filter_map(|(name, _)| unknown(name)),
    );
    keys::all()
        .filter_map(|key| {
            let (variable, value) =
                key.variables().find_map(|variable| Some((variable, get(environment, variable)?)))?;
            let Some(text) = value.to_str() else {
                problems.push(Problem::new(variable, Fault::NotUtf8 { key: key.path }));
                return None;
            };
            let Some(value) = Value::from_text(key, text) else {
                problems.push(Problem::bad_value(variable, key, text));
                return None;
            };
            Some(Assignment { key, value, origin: Origin::Environment(variable) })
        })
        .collect()
}

/// The value of a variable; like the system, the first of several.
fn get<'e>(environment: &'e [(OsString, OsString)], variable: &str) -> Option<&'e OsStr> {
    let (_, value) = environment.iter().find(|(name, _)| name == variable)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}

fn unknown(name: &OsStr) -> Option<Problem> {
    // Lossy is enough: a name that is not UTF-8 is not in the table, and this only shows it.
    let name = name.to_string_lossy();
    let ours = name.starts_with("PUNK_") && !name.starts_with("PUNK_TEST_");
    if !ours || name == FILE_VARIABLE || keys::by_variable(&name).is_some() {
        return None;
    }
    let known = keys::all().flat_map(|key| key.variables()).chain([FILE_VARIABLE]);
    let nearest = nearest(&name, known.filter(|name| name.starts_with("PUNK_")));
    let place = shortened(&name);
    Some(Problem::new(place.trim_matches('"'), Fault::UnknownVariable { nearest }))
}
