//! `[jobs]`: work in the background.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "jobs",
    doc: "Work in the background.",
    keys: &[Key::new(
        "jobs.poll_ms",
        "PUNK_WORKER_POLL_MS",
        Kind::Integer { min: 10, max: 60_000 },
        "Milliseconds between two looks at the queue.",
    )
    .or("500")
    .reserved("the job queue")],
};
