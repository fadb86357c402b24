//! `[governance]`: what actions are allowed to do.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "governance",
    doc: "What actions are allowed to do.",
    keys: &[
        Key::new("governance.policies_dir", "PUNK_POLICIES_DIR", Kind::Path, "Folder of policy files.")
            .or("policies")
            .reserved("policies from files"),
        Key::new(
            "governance.meshguard_url",
            "MESHGUARD_URL",
            Kind::Url(&["http", "https"]),
            "Outside policy service to ask as well.",
        )
        .reserved("the governance bridge"),
        Key::new(
            "governance.meshguard_api_key",
            "MESHGUARD_API_KEY",
            Kind::Token,
            "Key for the outside policy service.",
        )
        .secret()
        .reserved("the governance bridge"),
    ],
};
