//! `punk.toml`: its tables walked against the table of keys, with the place of everything.

use super::{Assignment, FileSource};
use crate::key::{Key, Kind};
use crate::keys;
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) fn read(file: &FileSource, problems: &mut Vec<Problem>) -> Vec<Assignment> {
    let (name, text) = match file {
        FileSource::Absent => return Vec::new(),
        FileSource::Unreadable { name, place, reason } => {
            let fault = Fault::Unreadable { file: name.clone(), reason: reason.clone() };
            problems.push(Problem::new(place, fault));
            return Vec::new();
        }
        FileSource::Text { name, text } => (name, text),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { name, text, problems, assignments: Vec::new() };
    for error in &errors {
        // Only the message: the parser's own rendering shows the line, which may hold a secret.
        let place = reader.place(error.span().map_or(0, |span| span.start));
        reader.problems.push(Problem::new(place, Fault::Syntax { message: error.message().to_owned() }));
    }
    // What the parser made of a broken file is guesswork; judging it would only add noise.
    if errors.is_empty() {
        reader.table("", table.get_ref());
    }
    reader.assignments
}

struct Reader<'r> {
    name: &'r str,
    text: &'r str,
    problems: &'r mut Vec<Problem>,
    assignments: Vec<Assignment>,
}

impl Reader<'_> {
    /// Walks a table. The file's tables nest at most as deep as the paths of the keys, because
    /// nothing unknown is entered.
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            let path = match section {
                "" => name.get_ref().to_string(),
                section => format!("{section}.{}", name.get_ref()),
            };
            // A quoted "server.port" is one name with a dot in it, and no key has one.
            let dotted = name.get_ref().contains('.');
            match (keys::by_path(&path).filter(|_| !dotted), value.get_ref()) {
                (Some(key), _) => self.value(key, name.span().start, value),
                (None, DeValue::Table(table)) if !dotted && is_section(&path) => self.table(&path, table),
                (None, _) if !dotted && is_section(&path) => {
                    let fault = Fault::NotASection { allowed: allowed_in(&path), name: path };
                    self.refuse(name.span().start, fault);
                }
                (None, _) => self.unknown(section, name.get_ref(), &path, name.span().start),
            }
        }
    }

    fn value(&mut self, key: &'static Key, name_start: usize, value: &Spanned<DeValue<'_>>) {
        let read = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .and_then(|number| Value::from_integer(key, number)),
            DeValue::Boolean(boolean) if key.kind == Kind::Boolean => Some(Value::Boolean(*boolean)),
            // A number or a boolean in quotes is refused: the file has types of its own for them.
            DeValue::String(text) if !matches!(key.kind, Kind::Integer { .. } | Kind::Boolean) => {
                Value::from_text(key, text)
            }
            _ => None,
        };
        if let Some(value) = read {
            let (line, column) = position(self.text, name_start);
            let origin = Origin::File { name: self.name.to_owned(), line, column };
            self.assignments.push(Assignment { key, value, origin });
        } else {
            let source = self.text.get(value.span()).unwrap_or_default();
            let shown = value.get_ref().as_str().unwrap_or(source);
            let quoted = matches!(key.kind, Kind::Integer { .. } | Kind::Boolean) && value.get_ref().is_str();
            let mut problem = Problem::bad_value(self.place(value.span().start), key, shown);
            if let Fault::BadValue { allowed, .. } = &mut problem.fault
                && quoted
            {
                allowed.push_str(", without quotes");
            }
            self.problems.push(problem);
        }
    }

    fn unknown(&mut self, section: &str, name: &str, path: &str, start: usize) {
        let written = match section {
            "" => quoted(name),
            section => format!("{section}.{}", quoted(name)),
        };
        let paths = keys::all().map(|key| key.path);
        let mut near =
            nearest(path, paths.clone().chain(keys::sections().iter().map(|section| section.name)));
        if near.is_empty() {
            // The right name in the wrong section.
            let names = nearest(name, paths.clone().map(last));
            near = paths.filter(|path| names.contains(&last(path))).take(3).collect();
        }
        let fault = Fault::UnknownKey { name: written, nearest: near, allowed: allowed_in(section) };
        self.refuse(start, fault);
    }

    fn refuse(&mut self, start: usize, fault: Fault) {
        let place = self.place(start);
        self.problems.push(Problem::new(place, fault));
    }

    fn place(&self, offset: usize) -> String {
        let (line, column) = position(self.text, offset);
        format!("{}:{line}:{column}", self.name)
    }
}

/// A name as the file would have to write it, cut when it is long.
fn quoted(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let shown = shortened(name);
    if plain { shown.replace('"', "") } else { shown }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn is_section(path: &str) -> bool {
    keys::all().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The names that may stand directly in a section.
fn allowed_in(section: &str) -> Vec<String> {
    let inside = |path: &'static str| match section {
        "" => Some(path),
        section => path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
    };
    let names: BTreeSet<String> = keys::all()
        .filter_map(|key| inside(key.path))
        .map(|rest| match rest.split_once('.') {
            Some((table, _)) => {
                format!("[{}{table}]", if section.is_empty() { String::new() } else { format!("{section}.") })
            }
            None => rest.to_owned(),
        })
        .collect();
    names.into_iter().collect()
}

/// Line and column of a byte offset, both from one; the column counts characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
