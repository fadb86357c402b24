//! Lines at the end of a file: on its own disk, on one that only takes additions, or watched by a program that carries them
//! elsewhere.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::ShipError;
use crate::document::Document;

/// A file that lines are added to.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
}

impl File {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Adds a line for each document. When this returns they are on the disk.
    pub(super) async fn append(&self, documents: Vec<Document>) -> Result<(), ShipError> {
        let path = self.path.clone();
        let lines: String = documents.into_iter().map(|document| document.json + "\n").collect();
        let written = tokio::task::spawn_blocking(move || append(&path, &lines)).await;
        written.unwrap_or_else(|panicked| Err(io::Error::other(panicked))).map_err(ShipError::File)
    }
}

fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let is_new = !path.exists();
    let mut file = options.open(path)?;
    // A crash may have left half a line, which must not take the next one with it. One write for all: others may append too.
    let cut = if ends_in_the_middle(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{cut}{lines}").as_bytes())?;
    file.sync_data()?;
    if is_new {
        // The file's name is on the disk when its folder is.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn ends_in_the_middle(file: &mut std::fs::File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_of_a_crash_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        append(&path, "{\"a\":1}\n").unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"b\"").unwrap();
        append(&path, "{\"c\":1}\n{\"d\":1}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\"\n{\"c\":1}\n{\"d\":1}\n");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        append(&path, "{}\n").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
