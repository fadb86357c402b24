//! `[webhooks]`: telling others what happened.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "webhooks",
    doc: "Telling others what happened.",
    keys: &[Key::new(
        "webhooks.allow_private",
        "PUNK_ALLOW_PRIVATE_WEBHOOKS",
        Kind::Boolean,
        "Let webhooks reach private addresses.",
    )
    .or("false")],
};
