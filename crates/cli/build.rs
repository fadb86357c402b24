//! Tells the program what it was built from and for. Never fails: outside a git checkout the commit is
//! simply not known, and `PUNK_GIT_COMMIT` can say it (a release is built from a tarball).

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=PUNK_GIT_COMMIT");
    println!("cargo::rustc-env=PUNK_BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    let given = env::var("PUNK_GIT_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = given.or_else(|| checked_out(Path::new("../../.git"))) {
        println!("cargo::rustc-env=PUNK_BUILD_COMMIT={commit}");
    }
}

/// The commit that is checked out, read from the files of git, so that git need not be there.
fn checked_out(git: &Path) -> Option<String> {
    let read = |name: &str| {
        let path = git.join(name);
        // A path that does not exist would make cargo run this on every build.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        fs::read_to_string(path).ok()
    };
    let head = read("HEAD")?;
    // The first commit of a branch creates its file; until then this folder is all there is to watch.
    println!("cargo::rerun-if-changed={}", git.join("refs/heads").display());
    let commit = match head.trim().strip_prefix("ref: ") {
        None => head.trim().to_owned(),
        Some(reference) => match read(reference) {
            Some(commit) => commit.trim().to_owned(),
            None => read("packed-refs")?
                .lines()
                .find_map(|line| line.strip_suffix(reference).map(|commit| commit.trim().to_owned()))?,
        },
    };
    let looks_right = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    looks_right.then_some(commit)
}
