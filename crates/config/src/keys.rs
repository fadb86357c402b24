//! The table of everything that can be set, a file per section.

use crate::key::Key;

pub(crate) use named::{BUILT_IN, NameRule, is_named_variable, path, variable};
pub use named::{Named, named_tables};

mod auth;
mod cache;
mod chorus;
mod governance;
mod issuers;
mod jobs;
mod keys_section;
mod learning;
mod ledger;
mod limits;
mod log;
mod mcp;
mod models;
mod named;
mod oidc;
mod prices;
mod providers;
mod redaction;
mod server;
pub(crate) mod sinks;
mod store;
mod upstreams;
mod vault;
mod web;
mod webhooks;

/// Keys that belong together; in `punk.toml` a table, in the reference a heading.
#[derive(Debug)]
pub struct Section {
    /// What the paths of its keys start with.
    pub name: &'static str,
    /// One line for the reference.
    pub doc: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: &'static [Key],
}

static NAMED: [&Named; 5] =
    [&upstreams::TABLE, &models::TABLE, &prices::TABLE, &sinks::TABLE, &issuers::TABLE];

static SECTIONS: [&Section; 19] = [
    &server::SECTION,
    &store::SECTION,
    &keys_section::SECTION,
    &vault::SECTION,
    &ledger::SECTION,
    &log::SECTION,
    &auth::SECTION,
    &oidc::SECTION,
    &limits::SECTION,
    &providers::SECTION,
    &cache::SECTION,
    &governance::SECTION,
    &redaction::SECTION,
    &learning::SECTION,
    &jobs::SECTION,
    &web::SECTION,
    &webhooks::SECTION,
    &chorus::SECTION,
    &mcp::SECTION,
];

/// Every section, in the order of the reference.
pub fn sections() -> &'static [&'static Section] {
    &SECTIONS
}

/// Every key, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Key> + Clone {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key at `path`.
pub fn by_path(path: &str) -> Option<&'static Key> {
    all().find(|key| key.path == path)
}

/// The key that a variable sets.
pub(crate) fn by_variable(name: &str) -> Option<&'static Key> {
    all().find(|key| key.variables().any(|variable| variable == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{DefaultValue, Kind};
    use crate::value::Value;
    use std::collections::HashSet;

    #[test]
    fn no_two_keys_share_a_path_or_a_variable() {
        let paths: HashSet<_> = all().map(|key| key.path).collect();
        let variables: HashSet<_> = all().flat_map(Key::variables).collect();
        assert_eq!(paths.len(), all().count());
        assert_eq!(variables.len(), all().flat_map(Key::variables).count());
    }

    #[test]
    fn a_key_lies_in_the_section_that_lists_it() {
        for section in sections() {
            for key in section.keys {
                assert!(key.path.starts_with(&format!("{}.", section.name)), "{}", key.path);
            }
        }
    }

    #[test]
    fn a_key_of_a_named_table_lies_in_it_and_no_section_has_its_name() {
        for table in named_tables() {
            assert!(sections().iter().all(|section| section.name != table.name), "{}", table.name);
            for key in table.keys {
                assert!(key.path.starts_with(&format!("{}.NAME.", table.name)), "{}", key.path);
            }
        }
    }

    #[test]
    fn every_default_is_a_value_the_key_takes() {
        for key in all().chain(named_tables().iter().flat_map(|table| table.keys)) {
            match key.default {
                DefaultValue::Text(text) => assert!(Value::from_text(key, text).is_some(), "{}", key.path),
                DefaultValue::Under { folder, .. } => {
                    assert_eq!(by_path(folder).map(|folder| folder.kind), Some(Kind::Path), "{}", key.path);
                }
                DefaultValue::SameAs(path) => {
                    assert_eq!(by_path(path).map(|other| other.kind), Some(key.kind), "{}", key.path);
                }
                DefaultValue::Unset | DefaultValue::Inferred(_) => {}
            }
        }
    }

    #[test]
    fn what_sounds_secret_is_secret() {
        for key in all().chain(named_tables().iter().flat_map(|table| table.keys)) {
            let sounds =
                ["api_key", "password", "token", "secret"].iter().any(|word| key.path.contains(word));
            assert!(!sounds || key.secret, "{}", key.path);
            assert!(!key.kind.may_hold_credentials() || key.secret, "{}", key.path);
        }
    }
}
