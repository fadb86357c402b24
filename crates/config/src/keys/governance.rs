//! `[governance]`: what actions are allowed to do.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "governance",
    doc: "What actions are allowed to do.",
    keys: &[
        Key::new("governance.policies_dir", "PUNK_POLICIES_DIR", Kind::Path, "Folder of policy files.")
            .or("policies"),
        Key::new(
            "governance.meshguard_url",
            "MESHGUARD_URL",
            Kind::Url(&["http", "https"]),
            "Outside policy service to ask as well; what it denies, or does not answer in time, is denied.",
        ),
        Key::new(
            "governance.meshguard_api_key",
            "MESHGUARD_API_KEY",
            Kind::Token,
            "Key for the outside policy service.",
        )
        .secret(),
        Key::new(
            "governance.meshguard_timeout_ms",
            "MESHGUARD_TIMEOUT_MS",
            Kind::Integer { min: 1, max: 60_000 },
            "Milliseconds that the outside policy service has to answer.",
        )
        .or("2000"),
    ],
};
