//! The folder of a key ring: what is read, and in which order things reach the disk.
//!
//! A new file is written under a temporary name, synced, renamed, and the folder synced: a crash leaves
//! the file whole or absent. Temporary files of an earlier crash are ignored by readers and removed by
//! the next writer. Writers take turns by a lock on the folder itself, which the system releases when
//! a process dies.

use super::file::KeyFile;
use super::{KeyId, Purpose};
use crate::random::RandomError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// What temporary files start with. The dot keeps them out of listings.
const TEMPORARY: &str = ".new-";

/// Why a ring was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder or a file in it could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Others than the owner could have read or replaced the key.
    #[error("{} has mode {mode:03o}, so others may get at the key; run `chmod {wanted:o} {}`", path.display(), path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// The bits it should have.
        wanted: u32,
    },
    /// A key file is not what this program writes.
    #[error("{}:{line} {problem}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with the line.
        problem: &'static str,
    },
}

/// Why a key was not made or retired.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The ring has an active key of this purpose; a second first key would be a mistake.
    #[error("{id} is already the active {purpose} key; replace it with `punk keys rotate {purpose}`")]
    AlreadyActive {
        /// The purpose asked for.
        purpose: Purpose,
        /// The key in the way.
        id: KeyId,
    },
    /// There is no active key to replace.
    #[error("there is no active {purpose} key to rotate; make the first with `punk keys generate {purpose}`")]
    NothingToRotate {
        /// The purpose asked for.
        purpose: Purpose,
    },
    /// The file is there already. Nothing was written over.
    #[error("{} exists already, and a key is never written over", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The disk refused.
    #[error("cannot {action} {}", path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The ring could not be read before writing.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No key could be made.
    #[error(transparent)]
    Random(RandomError),
}

/// A folder that holds keys.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Every key file, in no order. A folder that does not exist holds none.
    pub(super) fn read(&self) -> Result<Vec<(PathBuf, KeyFile)>, OpenError> {
        let unreadable = |source| OpenError::Unreadable { path: self.0.clone(), source };
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unreadable)?,
        };
        // Who may write into the folder may put another key in place of ours.
        refuse_exposed(&self.0, 0o022, 0o700)?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !hidden && path.extension().is_some_and(|extension| extension == "key") {
                let file = read_file(&path)?;
                files.push((path, file));
            }
        }
        Ok(files)
    }

    /// Creates the folder where needed and waits for its turn to write; the turn ends when the result
    /// is dropped. Clears away what crashed writers left.
    pub(super) fn lock(&self) -> Result<File, WriteError> {
        create_private(&self.0).map_err(|source| self.failed("create", source))?;
        let lock = File::open(&self.0).map_err(|source| self.failed("open", source))?;
        lock.lock().map_err(|source| self.failed("lock", source))?;
        for entry in fs::read_dir(&self.0).map_err(|source| self.failed("read", source))?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                fs::remove_file(entry.path()).map_err(|source| disk("remove", &entry.path(), source))?;
            }
        }
        Ok(lock)
    }

    /// Writes a new key. Needs the lock, which is what makes looking first enough.
    pub(super) fn create(&self, file: &KeyFile) -> Result<PathBuf, WriteError> {
        let path = self.0.join(file.name());
        if path.symlink_metadata().is_ok() {
            return Err(WriteError::Exists { path });
        }
        self.put(&path, file)?;
        Ok(path)
    }

    /// Marks the key at `path` as retired. Needs the lock. The file is replaced by the same key.
    pub(super) fn retire(&self, path: &Path) -> Result<(), WriteError> {
        let file = read_file(path)?;
        match file.state {
            super::KeyState::Retired => Ok(()),
            super::KeyState::Active => self.put(path, &file.retired()),
        }
    }

    fn put(&self, path: &Path, file: &KeyFile) -> Result<(), WriteError> {
        let temporary = self.0.join(format!("{TEMPORARY}{}", file.name()));
        let mut handle =
            create_new_private(&temporary).map_err(|source| disk("create", &temporary, source))?;
        handle
            .write_all(file.print().as_bytes())
            .and_then(|()| handle.sync_all())
            .map_err(|source| disk("write", &temporary, source))?;
        fs::rename(&temporary, path).map_err(|source| disk("put in place", path, source))?;
        File::open(&self.0).and_then(|folder| folder.sync_all()).map_err(|source| self.failed("sync", source))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> WriteError {
        disk(action, &self.0, source)
    }
}

fn disk(action: &'static str, path: &Path, source: io::Error) -> WriteError {
    WriteError::Disk { action, path: path.to_owned(), source }
}

/// What a file holds that only its owner may read.
///
/// # Errors
/// It cannot be read, or others may read it.
pub fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    refuse_exposed(path, 0o077, 0o600)?;
    let bytes = fs::read(path).map_err(|source| OpenError::Unreadable { path: path.to_owned(), source })?;
    Ok(Zeroizing::new(bytes))
}

fn read_file(path: &Path) -> Result<KeyFile, OpenError> {
    let text = read_private(path)?;
    let corrupt = |line, problem| OpenError::Corrupt { path: path.to_owned(), line, problem };
    let file = str::from_utf8(&text)
        .map_err(|_| corrupt(1, "is not text: the file is damaged or not a key file"))
        .and_then(|text| KeyFile::parse(text).map_err(|error| corrupt(error.line, error.problem)))?;
    if path.file_name().is_none_or(|name| name != file.name().as_str()) {
        return Err(corrupt(2, "names another key than the file name; a key file is not to be renamed"));
    }
    Ok(file)
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, forbidden: u32, wanted: u32) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata =
        fs::metadata(path).map_err(|source| OpenError::Unreadable { path: path.to_owned(), source })?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & forbidden == 0 {
        return Ok(());
    }
    Err(OpenError::Exposed { path: path.to_owned(), mode, wanted })
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn create_new_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

// Elsewhere the folder's own access list has to do; there are no modes to look at.
#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: u32, _: u32) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn create_new_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
