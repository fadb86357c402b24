//! The steps of `cargo xtask test`, in the order in which they run: cheap and telling first.
//!
//! A step is an entry in [`STEPS`] and a function that takes the [`World`] and gives an [`Outcome`]. Tools are
//! installed and servers started before the first step, from what the chosen steps say they need.

mod browser;
mod checks;
mod clients;
mod dashboard;
mod docs;
pub(crate) mod fuzz;
mod listener;
mod packages;
mod rust;
mod schemathesis;
mod sdk;
mod services;

use crate::junit::TestCase;
use crate::process::Trouble;
use crate::service::Kind;
use crate::tool::{
    CHROMIUM, CLIPPY, CURL, CXX, DENY, FUZZ, JQ, MACHETE, NEXTEST, NGINX, NODE, NPM, POSTGRES, PYTHON, REDIS,
    RUSTFMT, Tool, VALGRIND,
};
use crate::world::World;

/// One part of the test run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tools: &'static [&'static Tool],
    pub(crate) services: &'static [Kind],
    pub(crate) run: fn(&World, &Chosen) -> Outcome,
}

pub(crate) const STEPS: &[Step] = &[
    Step { name: "fmt", about: "the code is formatted", tools: &[&RUSTFMT], services: &[], run: checks::fmt },
    Step {
        name: "machete",
        about: "every declared dependency is used",
        tools: &[&MACHETE],
        services: &[],
        run: checks::machete,
    },
    Step {
        name: "deny",
        about: "licences, banned crates, sources, advisories",
        tools: &[&DENY],
        services: &[],
        run: checks::deny,
    },
    Step {
        name: "services",
        about: "the private servers answer",
        tools: &[&POSTGRES, &REDIS, &NGINX],
        services: &[Kind::Postgres, Kind::Redis, Kind::Nginx],
        run: services::run,
    },
    Step {
        name: "browser",
        about: "a page works in a real browser",
        tools: &[&NODE, &NPM, &CHROMIUM],
        services: &[],
        run: browser::run,
    },
    Step {
        name: "verifier",
        about: "the second verifier's own tests",
        tools: &[&NODE],
        services: &[],
        run: browser::verifier,
    },
    Step {
        name: "clippy",
        about: "no warning in any target",
        tools: &[&CLIPPY],
        services: &[],
        run: checks::clippy,
    },
    Step {
        name: "rust",
        about: "all Rust tests",
        tools: &[&NEXTEST, &NODE, &NPM, &POSTGRES, &REDIS],
        services: &[Kind::Postgres, Kind::Redis],
        run: rust::run,
    },
    Step {
        name: "clients",
        about: "the official clients, unchanged, through Punk",
        tools: &[&NODE, &NPM, &PYTHON],
        services: &[],
        run: clients::run,
    },
    Step {
        name: "sdk",
        about: "the TypeScript SDK in Node, Bun, Deno and a browser",
        tools: &[&NODE, &NPM, &CHROMIUM],
        services: &[],
        run: sdk::run,
    },
    Step {
        name: "dashboard",
        about: "people find, understand, decide and verify, in a real browser",
        tools: &[&NODE, &NPM, &CHROMIUM],
        services: &[],
        run: dashboard::run,
    },
    Step {
        name: "docs",
        about: "every command in the documents does what it says",
        tools: &[&NODE, &NPM, &PYTHON, &CURL, &JQ, &POSTGRES, &REDIS],
        services: &[Kind::Postgres, Kind::Redis],
        run: docs::run,
    },
    Step {
        name: "schemathesis",
        about: "the REST API does what its description says",
        tools: &[&PYTHON],
        services: &[],
        run: schemathesis::run,
    },
    Step {
        name: "instructions",
        about: "no request needs a tenth more instructions than on record",
        tools: &[&VALGRIND],
        services: &[],
        run: checks::instructions,
    },
    Step {
        name: "doc",
        about: "the examples in the documentation",
        tools: &[],
        services: &[],
        run: checks::doc,
    },
    Step {
        name: "fuzz",
        about: "five seconds of each fuzz target",
        tools: &[&FUZZ, &CXX],
        services: &[],
        run: fuzz::short,
    },
];

/// Which steps to run, and which of the Rust tests.
pub(crate) struct Chosen {
    pub(crate) steps: Vec<&'static Step>,
    pub(crate) test_filter: Option<String>,
}

/// A filter that names a step chooses that step; any other text chooses Rust tests by name.
pub(crate) fn choose(filter: Option<&str>) -> Chosen {
    let named = |name: &str| STEPS.iter().filter(|step| step.name == name).collect::<Vec<_>>();
    match filter {
        None => Chosen { steps: STEPS.iter().collect(), test_filter: None },
        Some(filter) => match named(filter) {
            steps if steps.is_empty() => Chosen { steps: named("rust"), test_filter: Some(filter.into()) },
            steps => Chosen { steps, test_filter: None },
        },
    }
}

/// How a step went.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// What a reader of the summary must know although nothing failed.
    pub(crate) notes: Vec<String>,
    /// The tests that the step ran, if it can tell them apart.
    pub(crate) tests: Vec<TestCase>,
}

#[derive(Debug, Default)]
pub(crate) enum Ending {
    #[default]
    Passed,
    Skipped(String),
    Failed(String),
}

impl Outcome {
    pub(crate) fn failed(reason: impl Into<String>) -> Outcome {
        Outcome { ending: Ending::Failed(reason.into()), ..Outcome::default() }
    }

    pub(crate) fn skipped(reason: impl Into<String>) -> Outcome {
        Outcome { ending: Ending::Skipped(reason.into()), ..Outcome::default() }
    }
}

impl From<Result<(), Trouble>> for Outcome {
    fn from(result: Result<(), Trouble>) -> Outcome {
        match result {
            Ok(()) => Outcome::default(),
            Err(trouble) => Outcome::failed(trouble.to_string()),
        }
    }
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Outcome {
        result.map_err(Trouble::Failed).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(filter: Option<&str>) -> (Vec<&str>, Option<String>) {
        let chosen = choose(filter);
        (chosen.steps.iter().map(|step| step.name).collect(), chosen.test_filter)
    }

    #[test]
    fn no_filter_chooses_every_step() {
        assert_eq!(chosen(None).0.len(), STEPS.len());
    }

    #[test]
    fn a_step_name_chooses_that_step() {
        assert_eq!(chosen(Some("deny")), (vec!["deny"], None));
    }

    #[test]
    fn other_text_chooses_rust_tests_by_name() {
        assert_eq!(chosen(Some("denying")), (vec!["rust"], Some("denying".into())));
    }

    #[test]
    fn step_names_are_distinct() {
        for (index, step) in STEPS.iter().enumerate() {
            assert!(STEPS[..index].iter().all(|earlier| earlier.name != step.name), "{}", step.name);
        }
    }
}
