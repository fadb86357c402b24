//! Files in, a set out. Whole or not at all: a file that cannot be read is named with its line and column, and the set that
//! is in force stays so.

use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_saphyr::{Options, Spanned};

use crate::cedar;
use crate::policy::{Flaw, Policy};
use crate::set::{PolicySet, SetError};

/// A file of policies, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// How people find it.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Why files make no set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct LoadError {
    /// The file.
    pub file: String,
    /// The line and the column in it, from 1; absent when it is about the file as a whole.
    pub place: Option<(u64, u64)>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Reads policies: YAML files, one policy each, and files in the Cedar language, which end in `.cedar`.
///
/// # Errors
/// The first thing that is wrong with any of them.
pub fn load(files: &[PolicyFile]) -> Result<PolicySet, LoadError> {
    let (cedar, yaml): (Vec<&PolicyFile>, Vec<_>) = files.iter().partition(|file| is_cedar(&file.name));
    let cedar: Vec<PolicyFile> = cedar.into_iter().cloned().collect();
    let policies = yaml.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = policies.iter().map(|policy| policy.name.clone()).collect();
    cedar::check(&cedar)?;
    PolicySet::with_cedar(policies, cedar).map_err(|error| match error {
        SetError::Flawed { policy, flaw } => {
            let at = names.iter().position(|known| *known == policy).unwrap_or(0);
            flawed(yaml[at], &flaw)
        }
        SetError::Twice(name) => {
            let file = names.iter().rposition(|known| *known == name).map(|at| &yaml[at].name);
            let message = format!("the name `{name}` is taken: by another file, or by the governor itself");
            LoadError { file: file.unwrap_or(&name).clone(), place: None, message }
        }
        SetError::Text(error) => LoadError { file: String::new(), place: None, message: error.to_string() },
        SetError::Cedar(error) => error,
    })
}

fn is_cedar(name: &str) -> bool {
    name.ends_with(".cedar")
}

fn read(file: &PolicyFile) -> Result<Policy, LoadError> {
    serde_saphyr::from_str_with_options(&file.text, options()).map_err(|error| {
        let place = error.location().map(|location| (location.line(), location.column()));
        // The library draws the place into its message over several lines, and repeats it; the first says what is wrong.
        let message = error.without_snippet().to_string();
        let first = message.lines().next().unwrap_or_default();
        let first = first.rsplit_once(" at line ").map_or(first, |(what, _)| what);
        let first = first.split_once(", set DuplicateKeyPolicy").map_or(first, |(what, _)| what);
        LoadError { file: file.name.clone(), place, message: first.to_owned() }
    })
}

/// A file of ten thousand rules is read; one that is made to be endless is not.
fn options() -> Options {
    let mut options = Options::default();
    if let Some(budget) = &mut options.budget {
        budget.max_events = 4_000_000;
        budget.max_nodes = 2_000_000;
        budget.max_aliases = 1_000;
    }
    options
}

/// Where the rules of a file are.
#[derive(Deserialize)]
struct Places {
    rules: Vec<Spanned<IgnoredAny>>,
}

fn flawed(file: &PolicyFile, flaw: &Flaw) -> LoadError {
    let rule = match flaw {
        Flaw::Text(_) => None,
        Flaw::Pattern { rule, .. } => Some(*rule),
        Flaw::Kind(rule)
        | Flaw::NoActions(rule)
        | Flaw::Approval(rule)
        | Flaw::Terms(rule)
        | Flaw::Limit(rule) => Some(*rule),
    };
    let places: Option<Places> = serde_saphyr::from_str_with_options(&file.text, options()).ok();
    let place = places.zip(rule).and_then(|(places, rule)| {
        let location = places.rules.get(rule)?.referenced;
        Some((location.line(), location.column()))
    });
    LoadError { file: file.name.clone(), place: place.or(Some((1, 1))), message: flaw.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_line_and_column() {
        let head = "name: office\nversion: '1'\ndefaultEffect: deny\n";
        let refused: String = [
            "rules: [\n",
            "rules:\n  - effect: alow\n    actions: ['*']\n",
            "rules: []\nrulez: []\n",
            "rules:\n  - effect: deny\n    actions: ['a b']\n",
            "rules:\n  - effect: deny\n    actions: ['*']\n    when: {hour: 9}\n",
            "rules:\n  - actions: ['*']\n",
            "rules:\n  - actions: ['*']\n    budget: {limitUsd: -1}\n",
            "name: again\nrules: []\n",
            "",
        ]
        .map(|rest| {
            let text = format!("{head}{rest}");
            let error = load(&[PolicyFile { name: "office.yaml".to_owned(), text }]).unwrap_err();
            format!("{error}\n")
        })
        .concat();
        expect![[r#"
            office.yaml:4:8: unclosed bracket '['
            office.yaml:5:13: unknown variant `alow`, expected one of allow, deny
            office.yaml:5:1: unknown field `rulez`, expected one of name, version, description, appliesTo, rules, defaultEffect
            office.yaml:5:5: rule 0: `a b` names no action; write `verb:resource`, with `*` for either half
            office.yaml:7:18: expected hours of the day such as `22-6`
            office.yaml:5:5: rule 0: say exactly one of `effect`, `budget` and `rate`
            office.yaml:5:5: rule 0: a limit wants a number above zero
            office.yaml:4:1: duplicate mapping key: name
            office.yaml:3:1: missing field `rules`
        "#]].assert_eq(&refused);
    }

    #[test]
    fn two_files_cannot_share_a_name() {
        let text = "name: office\nversion: '1'\ndefaultEffect: deny\nrules: []\n";
        let file = |name: &str| PolicyFile { name: name.to_owned(), text: text.to_owned() };
        let error = load(&[file("a.yaml"), file("b.yaml")]).unwrap_err();
        assert_eq!(error.file, "b.yaml");
    }
}
