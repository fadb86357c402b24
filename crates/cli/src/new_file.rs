//! A file that appears under its name when it is whole, and never in the place of another.

use crate::exit::Exit;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is being written, under another name. Gone when it is never finished.
pub(crate) struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Begins the file at `path`, which must not exist.
    pub(crate) fn begin(path: &Path) -> Result<Self, Failure> {
        if path.exists() {
            return Err(exists(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        let file = tempfile::Builder::new().prefix(&name).suffix(".partial").tempfile_in(folder);
        let file = file.map_err(|error| unwritable(&path.display().to_string(), &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Where to write.
    pub(crate) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Puts it under its name: all that was written is on the disk before.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { file, path } = self;
        let shown = path.display().to_string();
        file.as_file().sync_all().map_err(|error| unwritable(&shown, &error))?;
        let persisted = file.persist_noclobber(&path);
        persisted.map(|_| ()).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => exists(&path),
            _ => unwritable(&shown, &error.error),
        })
    }
}

fn exists(path: &Path) -> Failure {
    let message = format!("{} exists already, and nothing is overwritten", path.display());
    Failure::new(Exit::Environment, "punk_exists", message).hint("name a file that does not exist yet")
}

/// What cannot be written, and why.
pub(crate) fn unwritable(to: &str, error: &io::Error) -> Failure {
    Failure::new(Exit::Environment, "punk_unwritable", format!("{to}: {error}"))
        .hint("name a file in a folder that exists and has room")
}
