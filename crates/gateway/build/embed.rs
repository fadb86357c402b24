//! Packs files and writes the table of them.
//!
//! gzip and not brotli: browsers offer brotli over https alone, and a gateway is mostly looked at over plain http on the
//! machine it runs on.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::files::File;

/// Writes `NAME.rs`, an expression that is a sorted slice of `Asset`, and beside it what it includes.
pub(crate) fn write(out: &Path, name: &str, files: &[File]) -> io::Result<()> {
    let folder = out.join(name);
    // What was served before and is no more must not stay behind.
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut table = String::from("&[\n");
    for (index, File { path, media, bytes }) in files.iter().enumerate() {
        fs::write(folder.join(index.to_string()), bytes)?;
        let packed = packed(bytes)?;
        // What does not get shorter, such as a picture, is sent as it is.
        let is_shorter = packed.len() < bytes.len();
        if is_shorter {
            fs::write(folder.join(format!("{index}.gz")), packed)?;
        }
        let include =
            |file: String| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}/{file}\"))");
        let packed =
            if is_shorter { format!("Some({})", include(format!("{index}.gz"))) } else { "None".to_owned() };
        let plain = include(index.to_string());
        let tag = tag(bytes);
        let _ = writeln!(
            table,
            "    Asset {{ path: {path:?}, media: {media:?}, tag: {tag:?}, plain: {plain}, packed: {packed} }},"
        );
    }
    table.push(']');
    fs::write(out.join(format!("{name}.rs")), table)
}

fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// What tells one content from another, short enough for a header.
fn tag(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
