//! `[jobs]`: work in the background.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "jobs",
    doc: "Work in the background.",
    keys: &[
        Key::new(
            "jobs.embedded",
            "PUNK_WORKER_EMBEDDED",
            Kind::Boolean,
            "Whether `punk serve` does this work itself. `false` leaves it to `punk worker`, which needs `store.url`.",
        )
        .or("true"),
        Key::new(
            "jobs.poll_ms",
            "PUNK_WORKER_POLL_MS",
            Kind::Integer { min: 10, max: 60_000 },
            "Milliseconds between two looks at the queue, at most; new work that the store tells of is looked at at once.",
        )
        .or("500"),
    ],
};
