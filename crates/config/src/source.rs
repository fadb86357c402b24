//! The places that settings come from, a file each.

pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod flag;
mod named;
pub(crate) mod sink;

pub use flag::Flag;

use crate::key::Key;
use crate::origin::Origin;
use crate::value::Value;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Everything that was said about the configuration, as text.
#[derive(Debug, Default)]
pub struct Sources {
    /// The flags of the command line.
    pub flags: Vec<Flag>,
    /// The environment, as the system gives it.
    pub environment: Vec<(OsString, OsString)>,
    /// The file.
    pub file: FileSource,
}

/// What became of the file.
#[derive(Debug, Default)]
pub enum FileSource {
    /// There is none, which is fine unless one was named.
    #[default]
    Absent,
    /// Its text.
    Text {
        /// The file, as messages should name it.
        name: String,
        /// What it says.
        text: String,
    },
    /// It is there or was named, and could not be read.
    Unreadable {
        /// The file, as messages should name it.
        name: String,
        /// Who named it.
        place: String,
        /// What the system says.
        reason: String,
    },
}

/// Which file to read.
#[derive(Debug, PartialEq, Eq)]
pub enum FileChoice {
    /// `punk.toml` in the working directory, which may be missing.
    Default(PathBuf),
    /// A file that was named and has to be there.
    Named {
        /// The file.
        path: PathBuf,
        /// Who named it: `--config` or `PUNK_CONFIG`.
        place: &'static str,
    },
}

/// The variable that names the file. It is no key: a file cannot say where it is.
pub(crate) const FILE_VARIABLE: &str = "PUNK_CONFIG";

/// The key of the person at the terminal, for the commands that talk to a gateway. It is no setting of the gateway's, so it is
/// not in the table; but it is ours, and nobody's mistake.
pub const APPROVER_KEY_VARIABLE: &str = "PUNK_APPROVER_KEY";

/// Which file to read: the one that `flag` names, else the one that `PUNK_CONFIG` names, else
/// `punk.toml`. An empty name is no name.
pub fn file_choice(flag: Option<&OsStr>, environment: &[(OsString, OsString)]) -> FileChoice {
    let variable =
        environment.iter().find(|(name, _)| name == FILE_VARIABLE).map(|(_, value)| value.as_os_str());
    let named = |name: Option<&OsStr>, place| {
        let path = PathBuf::from(name.filter(|name| !name.is_empty())?);
        Some(FileChoice::Named { path, place })
    };
    named(flag, "--config")
        .or_else(|| named(variable, FILE_VARIABLE))
        .unwrap_or_else(|| FileChoice::Default(PathBuf::from("punk.toml")))
}

/// One thing that a source sets.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) key: &'static Key,
    /// The key's path, with the name of its table filled in.
    pub(crate) path: Cow<'static, str>,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}
