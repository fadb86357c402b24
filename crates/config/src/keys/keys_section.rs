//! `[keys]`: where the signing and sealing keys lie.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "keys",
    doc: "Where the signing and sealing keys lie.",
    keys: &[Key::new("keys.dir", "PUNK_KEYS_DIR", Kind::Path, "Folder of the key ring; see `punk keys`.")
        .or_under("store.data_dir", "keys")],
};
