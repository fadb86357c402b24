//! `[learning]`: what is made of the ledger.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "learning",
    doc: "What is made of the ledger.",
    keys: &[
        Key::new(
            "learning.auto_promote",
            "PUNK_AUTO_PROMOTE",
            Kind::Boolean,
            "Promote artifacts that pass every gate without asking; never those with side effects.",
        )
        .or("false"),
        Key::new(
            "learning.interval_ms",
            "PUNK_LEARN_INTERVAL_MS",
            Kind::Integer { min: 100, max: 86_400_000 },
            "Milliseconds between two learning ticks.",
        )
        .or("10000"),
    ],
};
