//! `punk.toml`: its tables walked against the table of keys, with the place of everything.

use super::{Assignment, FileSource};
use crate::key::{Key, Kind};
use crate::keys::{self, NameRule, Named};
use crate::nearest::{nearest, owned};
use crate::origin::Origin;
use crate::problem::{Fault, Problem, shortened};
use crate::value::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) assignments: Vec<Assignment>,
    /// The named tables that it has, also those that set nothing.
    pub(crate) tables: Vec<Table>,
}

/// A named table of the file.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) kind: &'static Named,
    pub(crate) name: String,
    /// Where it begins.
    pub(crate) place: String,
}

impl Read {
    /// The names of the upstreams.
    pub(crate) fn upstreams(&self) -> Vec<String> {
        let upstreams = self.tables.iter().filter(|table| table.kind.names == NameRule::Upstream);
        upstreams.map(|table| table.name.clone()).collect()
    }
}

pub(crate) fn read(file: &FileSource, problems: &mut Vec<Problem>) -> Read {
    let (name, text) = match file {
        FileSource::Absent => return Read::default(),
        FileSource::Unreadable { name, place, reason } => {
            let fault = Fault::Unreadable { file: name.clone(), reason: reason.clone() };
            problems.push(Problem::new(place, fault));
            return Read::default();
        }
        FileSource::Text { name, text } => (name, text),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { name, text, problems, read: Read::default() };
    for error in &errors {
        // Only the message: the parser's own rendering shows the line, which may hold a secret.
        let place = reader.place(error.span().map_or(0, |span| span.start));
        reader.problems.push(Problem::new(place, Fault::Syntax { message: error.message().to_owned() }));
    }
    // What the parser made of a broken file is guesswork; judging it would only add noise.
    if errors.is_empty() {
        reader.table("", table.get_ref());
        super::named::check(&reader.read, reader.problems);
    }
    reader.read
}

struct Reader<'r> {
    name: &'r str,
    text: &'r str,
    problems: &'r mut Vec<Problem>,
    read: Read,
}

impl Reader<'_> {
    /// Walks a table. The file's tables nest at most as deep as the paths of the keys, because
    /// nothing unknown is entered.
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in in_order(table) {
            let path = match section {
                "" => name.get_ref().to_string(),
                section => format!("{section}.{}", name.get_ref()),
            };
            // A quoted "server.port" is one name with a dot in it, and no key has one.
            let dotted = name.get_ref().contains('.');
            let named = keys::named_tables().iter().find(|named| section.is_empty() && named.name == path);
            match (keys::by_path(&path).filter(|_| !dotted), value.get_ref()) {
                (Some(key), _) => self.value(key, key.path.into(), name.span().start, value),
                (None, DeValue::Table(tables)) if let Some(named) = named => self.named(named, tables),
                (None, _) if let Some(named) = named => {
                    let fault = Fault::NotASection {
                        name: format!("{}.{}", named.name, named.example),
                        allowed: named.fields().map(str::to_owned).collect(),
                    };
                    self.refuse(name.span().start, fault);
                }
                (None, DeValue::Table(table)) if !dotted && is_section(&path) => self.table(&path, table),
                (None, _) if !dotted && is_section(&path) => {
                    let fault = Fault::NotASection { allowed: allowed_in(&path), name: path };
                    self.refuse(name.span().start, fault);
                }
                (None, _) => self.unknown(section, name.get_ref(), &path, name.span().start),
            }
        }
    }

    /// Walks the tables of one kind, whose names are the user's.
    fn named(&mut self, kind: &'static Named, tables: &DeTable<'_>) {
        for (name, value) in in_order(tables) {
            let start = name.span().start;
            if !kind.names.takes(name.get_ref()) {
                let (shown, allowed) = (shortened(name.get_ref()), kind.names.allowed());
                self.refuse(start, Fault::BadName { table: kind.name, shown, allowed });
                continue;
            }
            let path = format!("{}.{}", kind.name, quoted(name.get_ref()));
            let DeValue::Table(fields) = value.get_ref() else {
                let allowed = kind.fields().map(str::to_owned).collect();
                self.refuse(start, Fault::NotASection { name: path, allowed });
                continue;
            };
            let table = Table { kind, name: name.get_ref().to_string(), place: self.place(start) };
            self.read.tables.push(table);
            for (field, value) in in_order(fields) {
                match kind.key(field.get_ref()) {
                    Some(key) => {
                        let path = keys::path(key, name.get_ref());
                        self.value(key, path.into(), field.span().start, value);
                    }
                    None => {
                        let near = owned(nearest(field.get_ref(), kind.fields()));
                        let name = format!("{path}.{}", quoted(field.get_ref()));
                        let allowed = kind.fields().map(str::to_owned).collect();
                        self.refuse(field.span().start, Fault::UnknownKey { name, nearest: near, allowed });
                    }
                }
            }
        }
    }

    fn value(
        &mut self,
        key: &'static Key,
        path: Cow<'static, str>,
        start: usize,
        value: &Spanned<DeValue<'_>>,
    ) {
        if let Some(value) = read_value(key, value.get_ref()) {
            let (line, column) = position(self.text, start);
            let origin = Origin::File { name: self.name.to_owned(), line, column };
            self.read.assignments.push(Assignment { key, path, value, origin });
        } else {
            let source = self.text.get(value.span()).unwrap_or_default();
            let shown = value.get_ref().as_str().unwrap_or(source);
            let quoted = key.kind.is_bare() && value.get_ref().is_str();
            let mut problem = Problem::bad_value_at(self.place(value.span().start), key, path, shown);
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
        let sections = keys::sections().iter().map(|section| section.name);
        let tables = keys::named_tables().iter().map(|table| table.name);
        let mut near = nearest(path, paths.clone().chain(sections).chain(tables));
        if near.is_empty() {
            // The right name in the wrong section.
            let names = nearest(name, paths.clone().map(last));
            near = paths.filter(|path| names.contains(&last(path))).take(3).collect();
        }
        let fault = Fault::UnknownKey { name: written, nearest: owned(near), allowed: allowed_in(section) };
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

/// A value of `key`, if that is what the file holds.
fn read_value(key: &'static Key, value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Integer(number) if key.kind == Kind::Dollars && number.radix() == 10 => {
            Value::from_text(key, number.as_str())
        }
        DeValue::Integer(number) => {
            Value::from_integer(key, u64::from_str_radix(number.as_str(), number.radix()).ok()?)
        }
        DeValue::Float(number) if key.kind == Kind::Dollars => Value::from_text(key, number.as_str()),
        DeValue::Boolean(boolean) if key.kind == Kind::Boolean => Some(Value::Boolean(*boolean)),
        // A number or a boolean in quotes is refused: the file has types of its own for them.
        DeValue::String(text) if !key.kind.is_bare() => Value::from_text(key, text),
        DeValue::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            Value::from_items(key, &items?)
        }
        DeValue::Table(headers) => {
            let text = |(name, value): (&'_ Spanned<DeString<'_>>, &'_ Spanned<DeValue<'_>>)| {
                Some((name.get_ref().to_string(), value.get_ref().as_str()?.to_owned()))
            };
            let headers: Option<Vec<_>> = in_order(headers).map(text).collect();
            let headers = headers?;
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            Value::from_headers(key, &headers)
        }
        _ => None,
    }
}

/// The entries of a table as they stand in the file.
fn in_order<'t, 'd>(
    table: &'t DeTable<'d>,
) -> impl Iterator<Item = (&'t Spanned<DeString<'d>>, &'t Spanned<DeValue<'d>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries.into_iter()
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
    let tables = keys::named_tables().iter().filter(|_| section.is_empty());
    names.into_iter().chain(tables.map(|table| format!("[{}.NAME]", table.name))).collect()
}

/// Line and column of a byte offset, both from one; the column counts characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
