//! `[cache]`: answers that are given again.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "cache",
    doc: "Answers that are given again.",
    keys: &[
        Key::new(
            "cache.exact_enabled",
            "PUNK_CACHE_EXACT",
            Kind::Boolean,
            "Whether a request that was answered before gets the same answer without a model.",
        )
        .or("true"),
        Key::new(
            "cache.exact_ttl_seconds",
            "PUNK_CACHE_EXACT_TTL_SECONDS",
            Kind::Integer { min: 1, max: 31_536_000 },
            "Seconds that an answer may be given again.",
        )
        .or("86400"),
        Key::new(
            "cache.exact_max_entries",
            "PUNK_CACHE_EXACT_MAX_ENTRIES",
            Kind::Integer { min: 1, max: 100_000_000 },
            "Answers kept for it; the oldest go first.",
        )
        .or("100000"),
        Key::new(
            "cache.deterministic_only",
            "PUNK_CACHE_DETERMINISTIC_ONLY",
            Kind::Boolean,
            "Give again only answers to requests that leave nothing to chance (temperature 0). `false` gives them \
             again for any temperature.",
        )
        .or("true"),
    ],
};
