//! `[ledger]`: how this installation signs its history.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "ledger",
    doc: "How this installation signs its history.",
    keys: &[Key::new(
        "ledger.name",
        "PUNK_LOG_NAME",
        Kind::LogName,
        "What the names of the transparency logs start with. Changing it starts new logs.",
    )
    .or("punk.local")],
};
