//! Failures: what went wrong, where, and what to do, in one shape for every command.

use crate::exit::Exit;
use config::Problems;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write as _;

/// Why a command did not do what it should.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the command ends.
    pub(crate) exit: Exit,
    code: &'static str,
    message: String,
    hint: Option<String>,
    /// More than one thing is wrong: each with its place.
    problems: Option<Problems>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), hint: None, problems: None }
    }

    /// The failure that `error` and its causes tell. Our messages end in `; what to do` where there is
    /// something to do, which becomes the hint.
    pub(crate) fn of(exit: Exit, code: &'static str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        match message.rsplit_once("; ") {
            Some((what, hint)) => Self::new(exit, code, what).hint(hint),
            None => Self::new(exit, code, message),
        }
    }

    /// Advice for a failure that has none yet.
    pub(crate) fn hint_if_none(self, hint: &str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A configuration that is refused.
    pub(crate) fn configuration(problems: Problems) -> Self {
        let message = match problems.0.len() {
            1 => "the configuration has a problem".to_owned(),
            count => format!("the configuration has {count} problems"),
        };
        let hint = "every setting is described in docs/reference/configuration.md";
        let failure = Self::new(Exit::Usage, "punk_config_invalid", message).hint(hint);
        Self { problems: Some(problems), ..failure }
    }

    pub(crate) fn print(&self, json: bool) {
        let text = if json { format!("{:#}\n", self.json()) } else { self.text() };
        // Nowhere is left to say that standard error is closed.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    fn text(&self) -> String {
        let mut text = String::new();
        match &self.problems {
            Some(problems) => {
                for problem in &problems.0 {
                    text.push_str(&format!("error: {}: {}\n", problem.place, problem.fault));
                    text.push_str(&format!("hint: {}\n", problem.hint()));
                }
            }
            None => {
                text.push_str(&format!("error: {}\n", self.message));
                if let Some(hint) = &self.hint {
                    text.push_str(&format!("hint: {hint}\n"));
                }
            }
        }
        text
    }

    fn json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message, "hint": self.hint });
        if let Some(problems) = &self.problems {
            error["problems"] = problems_json(problems);
        }
        json!({ "error": error })
    }
}

/// Problems of a configuration for machines.
pub(crate) fn problems_json(problems: &Problems) -> Value {
    let one = |problem: &config::Problem| json!({ "place": problem.place, "message": problem.fault.to_string(), "hint": problem.hint() });
    problems.0.iter().map(one).collect()
}
