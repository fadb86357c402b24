//! `[web]`: reaching out to the web.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "web",
    doc: "Reaching out to the web.",
    keys: &[
        Key::new(
            "web.allow_private_fetch",
            "PUNK_ALLOW_PRIVATE_WEB_FETCH",
            Kind::Boolean,
            "Let web tools reach private addresses.",
        )
        .or("false")
        .reserved("the web runtime"),
        Key::new(
            "web.plasmate_url",
            "PLASMATE_URL",
            Kind::Url(&["http", "https", "ws", "wss"]),
            "Outside AWP engine.",
        )
        .reserved("the AWP client"),
    ],
};
