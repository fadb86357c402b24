//! How far long work has come: one line on standard error, for people who watch.

use std::io::{IsTerminal as _, Write as _};
use store::sqlite::Progress;

/// A line that is written over again and again, and is gone at the end. Silent when nobody watches.
pub(crate) struct ProgressLine {
    is_watched: bool,
}

impl ProgressLine {
    pub(crate) fn new() -> Self {
        Self { is_watched: std::io::stderr().is_terminal() }
    }

    pub(crate) fn tell(&self, progress: Progress) {
        match progress {
            Progress::Copying { bytes, of } => {
                self.write(&format!("copying: {} of about {}", size(bytes), size(of)));
            }
            Progress::Verifying => self.write("verifying every event, leaf and row"),
        }
    }

    pub(crate) fn write(&self, text: &str) {
        if self.is_watched {
            // To the beginning of the line, and nothing after the text. Nobody has to see it.
            let _ = write!(std::io::stderr().lock(), "\r{text}\x1b[K");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.write("");
    }
}

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
