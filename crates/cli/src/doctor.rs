//! `punk doctor`: whether this machine is ready to run Punk.
//!
//! Each check answers with one [`Finding`] or more; a finding that is not fine says what to do. Nothing is
//! left behind: what a check has to try (a file, a port) it takes back at once.

mod checks;
mod network;

use crate::answer::{Answer, columns};
use crate::args::Common;
use crate::clock;
use crate::exit::Exit;
use crate::failure::problems_json;
use crate::settings;
use config::Problems;
use serde_json::json;

/// What a check says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    check: &'static str,
    grade: Grade,
    what: String,
    fix: Option<String>,
}

/// How good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Ok,
    /// Punk runs, perhaps not as meant.
    Warn,
    /// Punk does not run.
    Fail,
}

impl Grade {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl Finding {
    fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, grade: Grade::Ok, what: what.into(), fix: None }
    }

    fn warn(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, grade: Grade::Warn, what: what.into(), fix: Some(fix.into()) }
    }

    fn fail(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, grade: Grade::Fail, what: what.into(), fix: Some(fix.into()) }
    }
}

pub(crate) fn run(common: &Common) -> Answer {
    let now = clock::now();
    match settings::problems_or_settings(common) {
        Ok(settings) => {
            let mut findings = checks::configuration(&settings);
            findings.extend(checks::data_folder(settings.data_dir()));
            findings.extend(checks::keys(&settings.keys_dir(), now));
            findings.extend(checks::clock(now));
            findings.extend(network::port(settings.host(), settings.port()));
            findings.extend(network::exposure(&settings));
            findings.extend(settings.secret("store.url").map(network::database));
            findings.extend(settings.secret("store.redis_url").map(network::redis));
            answer(&findings, None)
        }
        // Without settings there is nothing else to look at: every other check depends on one.
        Err(problems) => {
            let finding = |problem: &config::Problem| {
                let what = format!("{}: {}", problem.place, problem.fault);
                Finding::fail("configuration", what, problem.hint())
            };
            let findings: Vec<Finding> = problems.0.iter().map(finding).collect();
            answer(&findings, Some(&problems))
        }
    }
}

fn answer(findings: &[Finding], problems: Option<&Problems>) -> Answer {
    let mut rows = Vec::new();
    for finding in findings {
        rows.push([finding.grade.name().to_owned(), finding.check.to_owned(), finding.what.clone()]);
        if let Some(fix) = &finding.fix {
            rows.push([String::new(), String::new(), format!("→ {fix}")]);
        }
    }
    let ready = findings.iter().all(|finding| finding.grade != Grade::Fail);
    let verdict = if ready { "\nready\n" } else { "\nnot ready: see the lines that begin with fail\n" };
    let one = |finding: &Finding| json!({ "check": finding.check, "grade": finding.grade.name(), "what": finding.what, "fix": finding.fix });
    let mut json = json!({ "ready": ready, "findings": findings.iter().map(one).collect::<Vec<_>>() });
    if let Some(problems) = problems {
        json["problems"] = problems_json(problems);
    }
    Answer { text: columns(&rows) + verdict, json, exit: if ready { Exit::Success } else { Exit::No } }
}
