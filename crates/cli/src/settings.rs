//! Settings: the shell around `config::load`, which reads the file and the environment.

use crate::args::Common;
use crate::failure::Failure;
use config::{Fault, FileChoice, FileSource, Origin, Problem, Problems, Settings, Sources};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;

/// A configuration is a page of text; whatever is longer was named by mistake.
const LONGEST_FILE: u64 = 1 << 20;

/// What is configured, or why the start is refused. Reads; writes nothing.
pub(crate) fn load(common: &Common) -> Result<Settings, Failure> {
    problems_or_settings(common).map_err(Failure::configuration)
}

/// What these flags alone come to: neither a file nor the environment is looked at.
pub(crate) fn of_flags(flags: Vec<config::Flag>) -> Result<Settings, Failure> {
    config::load(&Sources { flags, ..Sources::default() }).map_err(Failure::configuration)
}

/// The same for who wants to look at the problems.
pub(crate) fn problems_or_settings(common: &Common) -> Result<Settings, Problems> {
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let file = match config::file_choice(common.config.as_deref(), &environment) {
        FileChoice::Default(path) => match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileSource::Absent,
            text => source(&path, &path.display().to_string(), text),
        },
        FileChoice::Named { path, place } => source(&path, place, read(&path)),
    };
    let settings = config::load(&Sources { flags: common.flags(), environment, file })?;
    // The grammar of filters belongs to the library that follows them, which `config` does not know.
    match telemetry::logs::filter(settings.log_filter()) {
        Ok(_) => Ok(settings),
        Err(error) => Err(Problems(vec![filter_problem(&settings, &error)])),
    }
}

fn filter_problem(settings: &Settings, error: &telemetry::logs::FilterError) -> Problem {
    let origin = settings.get("log.filter").map_or(&Origin::Default, |setting| &setting.origin);
    let place = match origin {
        Origin::File { name, line, column } => format!("{name}:{line}:{column}"),
        Origin::Environment(name) => name.to_string(),
        Origin::Flag(name) => name.clone(),
        Origin::Default => origin.to_string(),
    };
    let shown = format!("{:?}", error.directive());
    let allowed = telemetry::logs::FILTER_GRAMMAR.to_owned();
    Problem { place, fault: Fault::BadValue { key: "log.filter".to_owned(), shown, allowed } }
}

fn source(path: &Path, place: &str, text: io::Result<String>) -> FileSource {
    let name = path.display().to_string();
    match text {
        Ok(text) => FileSource::Text { name, text },
        Err(error) => FileSource::Unreadable { name, place: place.to_owned(), reason: error.to_string() },
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed, to tell a file that just fits from one that does not.
    let length = std::fs::File::open(path)?.take(LONGEST_FILE + 1).read_to_string(&mut text)?;
    if length as u64 > LONGEST_FILE {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}
