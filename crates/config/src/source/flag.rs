//! Flags: `--port 5000`, or `--set server.port=5000` for what has no flag of its own.

use super::Assignment;
use crate::keys;
use crate::nearest::{nearest, owned};
use crate::origin::Origin;
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;

/// One flag that sets a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The flag with its dashes, for messages.
    pub name: String,
    /// The path of the key that it sets.
    pub path: String,
    /// The value, as text.
    pub value: String,
}

pub(crate) fn read(flags: &[Flag], problems: &mut Vec<Problem>) -> Vec<Assignment> {
    let mut assignments: Vec<Assignment> = Vec::new();
    for flag in flags {
        match assignment(flag) {
            Ok(new) if assignments.iter().any(|old| std::ptr::eq(old.key, new.key)) => {
                problems.push(Problem::new(&flag.name, Fault::GivenTwice { key: new.key.path }));
            }
            Ok(new) => assignments.push(new),
            Err(problem) => problems.push(problem),
        }
    }
    assignments
}

fn assignment(flag: &Flag) -> Result<Assignment, Problem> {
    let Some(key) = keys::by_path(&flag.path) else {
        let table = flag.path.split('.').next().unwrap_or_default();
        if let Some(table) = keys::named_tables().iter().find(|known| known.name == table) {
            return Err(Problem::new(&flag.name, Fault::OnlyInFile { table: table.name }));
        }
        let nearest = owned(nearest(&flag.path, keys::all().map(|key| key.path)));
        let sections = keys::sections().iter().map(|section| format!("{}.…", section.name)).collect();
        let name = shortened(&flag.path).trim_matches('"').to_owned();
        return Err(Problem::new(&flag.name, Fault::UnknownKey { name, nearest, allowed: sections }));
    };
    if key.secret {
        return Err(Problem::new(&flag.name, Fault::SecretFlag { key: key.path, variable: key.env }));
    }
    let value =
        Value::from_text(key, &flag.value).ok_or_else(|| Problem::bad_value(&flag.name, key, &flag.value))?;
    Ok(Assignment { key, path: key.path.into(), value, origin: Origin::Flag(flag.name.clone()) })
}
