//! What the binary has inside: the dashboard, packed and named before anything runs.
//!
//! `files.rs` says which files are served and as what, `embed.rs` packs them and writes the table that `src/asset.rs`
//! includes. A folder that is not there is an empty table: a gateway without pages still is a gateway.

mod embed;
mod files;

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo says where to write by OUT_DIR")?);
    println!("cargo::rerun-if-changed=build");
    let dashboard = root.join("dashboard");
    println!("cargo::rerun-if-changed={}", dashboard.display());
    embed::write(&out, "dashboard", &files::of_dashboard(&dashboard)?)?;
    Ok(())
}
