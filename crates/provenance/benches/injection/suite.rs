//! The suites, as they are on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use provenance::{Call, Settings, Tool};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One suite.
#[derive(Debug, Deserialize)]
pub(crate) struct Suite {
    /// Its name.
    #[serde(skip)]
    pub(crate) name: String,
    /// The tools of its world.
    pub(crate) tools: Vec<Described>,
    /// What users want.
    pub(crate) user_tasks: Vec<Task>,
    /// What attackers want.
    pub(crate) injection_tasks: Vec<Task>,
}

/// A tool, and whether the export takes it for one that writes.
#[derive(Debug, Deserialize)]
pub(crate) struct Described {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) parameters: Value,
    #[serde(default)]
    pub(crate) writes: bool,
}

/// What somebody wants, and the calls that fulfil it.
#[derive(Debug, Deserialize)]
pub(crate) struct Task {
    pub(crate) id: String,
    #[serde(alias = "prompt", alias = "goal")]
    pub(crate) words: String,
    #[serde(default)]
    pub(crate) ground_truth_calls: Vec<Step>,
}

/// One call and what it gave.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Step {
    pub(crate) function: String,
    #[serde(default)]
    pub(crate) args: Map<String, Value>,
    #[serde(default)]
    pub(crate) output: Value,
}

impl Step {
    pub(crate) fn call(&self) -> Call {
        Call { id: None, tool: self.function.clone(), arguments: self.args.clone() }
    }
}

impl Suite {
    pub(crate) fn tools(&self) -> Vec<Tool> {
        let tool = |tool: &Described| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
        };
        self.tools.iter().map(tool).collect()
    }

    /// Whether the export takes a tool for one that writes.
    pub(crate) fn writes(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name && tool.writes)
    }

    /// Whether all of its tools are declared.
    pub(crate) fn is_declared_by(&self, settings: &Settings) -> bool {
        self.tools.iter().all(|tool| settings.tools.contains_key(&tool.name))
    }
}

/// All suites in a file, or in the files of a folder.
pub(crate) fn load(path: &Path) -> Result<Vec<Suite>, String> {
    let mut files = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
        files = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
    }
    let mut suites = Vec::new();
    for file in files {
        let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let found: BTreeMap<String, Suite> =
            serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        suites.extend(found.into_iter().map(|(name, suite)| Suite { name, ..suite }));
    }
    if suites.is_empty() { Err(format!("{}: no suite in it", path.display())) } else { Ok(suites) }
}
