//! `[redaction]`: what may not be told.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "redaction",
    doc: "Secrets and personal data in what is sent, answered and recorded. What is done with them is a setting of the tenant.",
    keys: &[Key::new(
        "redaction.enabled",
        "PUNK_REDACTION",
        Kind::Boolean,
        "Look for secrets and personal data. `false` looks only for the values in the vault, the secrets of this \
         configuration and canaries: for measuring, and where somebody else does it.",
    )
    .or("true")],
};
