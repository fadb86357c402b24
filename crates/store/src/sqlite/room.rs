//! Whether there is room for a write.
//!
//! SQLite may take a small write into room that it holds already and fail on the next, so it is not asked: a file without
//! a name is written where the database is, and is gone again.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use super::backup::folder;
use crate::error::StoreError;

/// As much as an append of many events takes.
const WANTED: usize = 256 << 10;

/// Refuses when the disk of `database` has no room left.
pub(super) fn is_left(database: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder(database))?.write_all(&vec![0; WANTED])
}

/// What the operating system says of it, in the store's words.
pub(super) fn told(error: io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full(error.into()),
        _ => StoreError::unavailable(error),
    }
}
