//! What a tenant says about secrets, personal data and whatever else it names.

use std::collections::BTreeMap;

use redaction::{Class, Detectors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// How many patterns and how many dictionaries a tenant may have.
const MOST_NAMED: usize = 64;
/// How many words there may be in a dictionary.
const MOST_WORDS: usize = 10_000;
/// How long the name of a pattern may be.
const LONGEST_NAME: usize = 64;

/// What is done with what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// It passes. What is recorded has a placeholder in its place all the same.
    Allow,
    /// It is taken out.
    Redact,
    /// The model gets a placeholder, and the caller gets the value back where the model uses it. On the way out, what did
    /// not come from the caller is taken out.
    Tokenize,
    /// Nothing passes that has it in it.
    Block,
}

/// What is done on the way to the model, and on the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measures {
    /// On the way to the model.
    pub(crate) r#in: Measure,
    /// On the way back to the caller.
    pub(crate) out: Measure,
}

impl Measures {
    const SECRET: Self = Self { r#in: Measure::Tokenize, out: Measure::Redact };
    const PERSONAL: Self = Self { r#in: Measure::Allow, out: Measure::Allow };
}

/// A pattern of the tenant's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnPattern {
    /// A regular expression in the syntax of Rust's `regex` crate; it must not match the empty text.
    pub(crate) regex: String,
    pub(crate) r#in: Measure,
    pub(crate) out: Measure,
}

/// Words of the tenant's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnWords {
    /// Whole words or phrases, whatever their case.
    pub(crate) words: Vec<String>,
    pub(crate) r#in: Measure,
    pub(crate) out: Measure,
}

/// What is done with secrets and personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RedactionSettings {
    /// Keys, passwords, tokens, private keys, connection strings.
    pub(crate) secrets: Measures,
    /// What is about people, where `classes` says nothing else.
    pub(crate) personal: Measures,
    /// Single classes, such as `card` or `email`.
    pub(crate) classes: BTreeMap<String, Measures>,
    /// Patterns of the tenant's own, by name.
    pub(crate) patterns: BTreeMap<String, OwnPattern>,
    /// Words of the tenant's own, by name.
    pub(crate) dictionaries: BTreeMap<String, OwnWords>,
    /// Whether personal data is recorded as it is. Secrets never are.
    pub(crate) record_personal: bool,
}

impl Default for RedactionSettings {
    fn default() -> Self {
        Self {
            secrets: Measures::SECRET,
            personal: Measures::PERSONAL,
            classes: BTreeMap::new(),
            patterns: BTreeMap::new(),
            dictionaries: BTreeMap::new(),
            record_personal: false,
        }
    }
}

impl RedactionSettings {
    /// What is done with a class that everybody has.
    pub(super) fn measures(&self, class: Class) -> Measures {
        let usual = if class.is_personal() { self.personal } else { self.secrets };
        self.classes.get(class.name()).copied().unwrap_or(usual)
    }

    /// What is done with what the tenant named, in the order in which its patterns and then its dictionaries are counted.
    pub(super) fn own(&self) -> Vec<Measures> {
        let patterns = self.patterns.values().map(|own| Measures { r#in: own.r#in, out: own.out });
        let words = self.dictionaries.values().map(|own| Measures { r#in: own.r#in, out: own.out });
        patterns.chain(words).collect()
    }

    /// Whether it can be carried out.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let refused = |param: String, why: &str| {
            let message = format!("{param}: {why}");
            Err(ApiError::Malformed { param, message })
        };
        for name in self.classes.keys() {
            if !Class::NAMES.contains(&name.as_str())
                || ["custom", "canary", "placeholder"].contains(&name.as_str())
            {
                let known: Vec<_> = Class::NAMES
                    .iter()
                    .filter(|name| !["custom", "canary", "placeholder"].contains(name))
                    .copied()
                    .collect();
                return refused(
                    format!("redaction.classes.{name}"),
                    &format!("there is no such class; there are {}", known.join(", ")),
                );
            }
        }
        if self.patterns.len() > MOST_NAMED || self.dictionaries.len() > MOST_NAMED {
            return refused(
                "redaction.patterns".to_owned(),
                "expected at most 64 patterns and 64 dictionaries",
            );
        }
        for name in self.patterns.keys().chain(self.dictionaries.keys()) {
            if !(1..=LONGEST_NAME).contains(&name.chars().count()) {
                return refused("redaction.patterns".to_owned(), "expected names of 1 to 64 characters");
            }
        }
        for (name, own) in &self.patterns {
            if let Err(error) = Detectors::builder().custom(name, &own.regex) {
                return refused(format!("redaction.patterns.{name}.regex"), &error.to_string());
            }
        }
        for (name, own) in &self.dictionaries {
            let fits = |word: &String| (1..=256).contains(&word.trim().len());
            if own.words.len() > MOST_WORDS || !own.words.iter().all(fits) {
                return refused(
                    format!("redaction.dictionaries.{name}.words"),
                    "expected at most 10000 words of 1 to 256 bytes",
                );
            }
        }
        Ok(())
    }
}
