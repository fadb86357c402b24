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
        Key::new(
            "learning.small_model",
            "PUNK_SMALL_MODEL",
            Kind::Text,
            "Model that may be asked for the fields that a learned program leaves open; without one, nothing is learned in part.",
        ),
        Key::new(
            "learning.small_model_percent",
            "PUNK_SMALL_MODEL_PERCENT",
            Kind::Integer { min: 1, max: 100 },
            "Of a hundred live requests that an unproven artifact has a part of the answer for, so many also ask the small model.",
        )
        .or("20"),
    ],
};
