//! Gates: what has to hold before promotion, each for itself and in words.

use serde::{Deserialize, Serialize};

/// One condition of promotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// Whether it is passed.
    pub passed: bool,
    /// What was found.
    pub reason: String,
}

impl Gate {
    pub(crate) fn new(name: &str, passed: bool, reason: String) -> Self {
        Self { name: name.to_owned(), passed, reason }
    }
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gates(pub Vec<Gate>);

impl Gates {
    /// Whether every gate is passed.
    #[must_use]
    pub fn all_pass(&self) -> bool {
        self.0.iter().all(|gate| gate.passed)
    }
}

impl std::fmt::Display for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, gate) in self.0.iter().enumerate() {
            let mark = if gate.passed { "passed" } else { "not passed" };
            write!(f, "{}{} {mark}: {}", if at == 0 { "" } else { "; " }, gate.name, gate.reason)?;
        }
        Ok(())
    }
}
