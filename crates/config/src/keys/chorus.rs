//! `[chorus]`: answers made of several models.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "chorus",
    doc: "Answers made of several models.",
    keys: &[Key::new(
        "chorus.synthesis_model",
        "PUNK_CHORUS_SOTA_SYNTHESIS_MODEL",
        Kind::Text,
        "Model that writes the synthesis.",
    )
    .or_inferred("from the provider keys that are set")
    .reserved("Chorus")],
};
