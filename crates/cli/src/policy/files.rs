//! Policies from a folder or from files, read as the gateway reads them: the same names, the same order, the same digest.

use crate::args::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings;
use governance::{LoadError, PolicyFile, PolicySet, load};
use ledger::sha256;
use schema::Digest;
use std::path::{Path, PathBuf};

/// How names of files of policies end.
const ENDINGS: [&str; 3] = ["yaml", "yml", "cedar"];
/// More than any file of policies has.
const LONGEST: u64 = 16 << 20;

/// A set, with where it came from.
pub(super) struct Read {
    pub(super) set: PolicySet,
    /// The hash of the set's text: what decisions are recorded with.
    pub(super) digest: Digest,
    pub(super) files: Vec<PathBuf>,
}

/// The set of these folders and files; of the configured folder, if none is named.
pub(super) fn read(common: &Common, paths: &[PathBuf]) -> Result<Read, Failure> {
    let configured;
    let paths = if paths.is_empty() {
        configured = [folder(common)?];
        // A gateway starts without the folder, and holds nothing back.
        if !configured[0].is_dir() {
            return Err(none_in(&configured));
        }
        &configured[..]
    } else {
        paths
    };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(listed(path, &ENDINGS)?);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        return Err(none_in(paths));
    }
    let texts = files.iter().map(|path| Ok(PolicyFile { name: name(path), text: text(path)? }));
    let texts = texts.collect::<Result<Vec<_>, Failure>>()?;
    let set = load(&texts).map_err(|error| refused(&error, &files))?;
    let digest = sha256(set.text().as_bytes());
    Ok(Read { set, digest, files })
}

/// `governance.policies_dir`.
pub(super) fn folder(common: &Common) -> Result<PathBuf, Failure> {
    Ok(settings::load(common)?.policies_dir().to_owned())
}

/// The files in a folder whose names end so, by name.
pub(super) fn listed(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if !name(&path).starts_with('.') && ending.is_some_and(|ending| endings.contains(&ending)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What a file says.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let known = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if known.len() > LONGEST {
        return Err(unreadable(path, &format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn none_in(paths: &[PathBuf]) -> Failure {
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let message = format!("there are no policies in {}, and so nothing would be held back", shown.join(", "));
    Failure::new(Exit::No, "punk_no_policies", message)
        .hint("write one as docs/how-to/policies.md shows, or name another folder")
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Environment, "punk_unreadable", format!("{}: {why}", path.display()))
}

/// A file that is no policy, by the path that it was read from: editors open that at the place.
fn refused(error: &LoadError, files: &[PathBuf]) -> Failure {
    let path = files.iter().rfind(|path| name(path) == error.file);
    let file = path.map_or_else(|| error.file.clone(), |path| path.display().to_string());
    let error = LoadError { file, ..error.clone() };
    Failure::new(Exit::No, "punk_policy_invalid", error.to_string())
        .hint("docs/reference/policies.md has everything that a policy can say")
}
