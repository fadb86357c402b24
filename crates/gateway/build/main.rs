//! What the binary has inside: the dashboard and the documentation, packed and named before anything runs.
//!
//! `files.rs` says which files of the dashboard are served and as what, `pages.rs` makes pages of `docs/`, `embed.rs` packs them and writes the table that `src/asset.rs`
//! includes. A folder that is not there is an empty table: a gateway without pages still is a gateway.

mod embed;
mod files;
mod pages;

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo says where to write by OUT_DIR")?);
    println!("cargo::rerun-if-changed=build");
    let dashboard = root.join("dashboard");
    println!("cargo::rerun-if-changed={}", dashboard.display());
    embed::write(&out, "dashboard", &files::of_dashboard(&dashboard)?)?;
    let (docs, parts) = (root.join("docs"), Path::new("src/docs"));
    println!("cargo::rerun-if-changed={}", docs.display());
    println!("cargo::rerun-if-changed={}", parts.display());
    embed::write(&out, "docs", &pages::of(&docs, parts)?)?;
    Ok(())
}
