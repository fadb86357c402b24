//! `[vault]`: where the key comes from that secrets at rest are sealed under.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "vault",
    doc: "Where the master key of the vault comes from: a command, else a file, else a variable, else the sealing key of the \
          key ring. It is 32 bytes, as 44 characters of base64 or 64 hexadecimal digits.",
    keys: &[
        Key::new(
            "vault.master_key_command",
            "PUNK_VAULT_KEY_COMMAND",
            Kind::Texts,
            "Program with its arguments that prints the key; run once at the start, without a shell, for ten seconds at most.",
        ),
        Key::new(
            "vault.master_key_file",
            "PUNK_VAULT_KEY_FILE",
            Kind::Path,
            "File with the key, which only its owner may read (mode 0600).",
        ),
        Key::new("vault.master_key", "PUNK_VAULT_KEY", Kind::Token, "The key itself.").secret(),
        Key::new(
            "vault.old_key_files",
            "PUNK_VAULT_OLD_KEY_FILES",
            Kind::Texts,
            "Files with keys from before, which still open what they sealed until `punk vault rotate` is done.",
        ),
    ],
};
