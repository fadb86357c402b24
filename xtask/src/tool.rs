//! The programs that steps need, where each comes from, and installing those that are absent.
//!
//! A tool that is there is used as it is; versions are chosen only for what this program installs itself.
//! To add a tool: a constant here, and its name in the steps that need it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::World;

/// A program that a step needs.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Any one of these will do.
    programs: &'static [&'static str],
    source: Source,
}

/// Where a tool comes from when it is absent.
#[derive(Debug)]
enum Source {
    Debian(&'static str),
    Crate(&'static str),
    /// A part of the Rust toolchain. Its program may exist without it, as rustup's empty shell.
    Component(&'static str),
    /// A Debian package that adds modules to Python. Its program may exist without them.
    Module {
        package: &'static str,
        modules: &'static str,
    },
}

use Source::{Component, Crate, Debian, Module};

const fn tool(name: &'static str, programs: &'static [&'static str], source: Source) -> Tool {
    Tool { name, programs, source }
}

pub(crate) const RUSTFMT: Tool = tool("rustfmt", &["cargo-fmt"], Component("rustfmt"));
pub(crate) const CLIPPY: Tool = tool("clippy", &["cargo-clippy"], Component("clippy"));
pub(crate) const NEXTEST: Tool = tool("cargo-nextest", &["cargo-nextest"], Crate("cargo-nextest@0.9.143"));
pub(crate) const DENY: Tool = tool("cargo-deny", &["cargo-deny"], Crate("cargo-deny@0.20.2"));
pub(crate) const MACHETE: Tool = tool("cargo-machete", &["cargo-machete"], Crate("cargo-machete@0.9.2"));
pub(crate) const FUZZ: Tool = tool("cargo-fuzz", &["cargo-fuzz"], Crate("cargo-fuzz@0.13.2"));
/// libFuzzer itself is C++, compiled with each fuzz target.
pub(crate) const CXX: Tool = tool("c++", &["c++", "g++", "clang++"], Debian("g++"));
pub(crate) const NODE: Tool = tool("node", &["node"], Debian("nodejs"));
/// What the documents have their readers use.
pub(crate) const CURL: Tool = tool("curl", &["curl"], Debian("curl"));
pub(crate) const JQ: Tool = tool("jq", &["jq"], Debian("jq"));
pub(crate) const NPM: Tool = tool("npm", &["npm"], Debian("npm"));
/// Debian has what makes virtual environments in a package of its own.
pub(crate) const PYTHON: Tool =
    tool("python3-venv", &["python3"], Module { package: "python3-venv", modules: "ensurepip, venv" });
pub(crate) const CHROMIUM: Tool =
    tool("chromium", &["chromium", "chromium-browser", "google-chrome"], Debian("chromium"));
pub(crate) const POSTGRES: Tool = tool("postgres", &["initdb"], Debian("postgresql"));
pub(crate) const REDIS: Tool = tool("redis-server", &["redis-server"], Debian("redis-server"));
pub(crate) const NGINX: Tool = tool("nginx", &["nginx"], Debian("nginx"));
/// With vgdb, by which a program is told when to count.
pub(crate) const VALGRIND: Tool = tool("valgrind", &["valgrind"], Debian("valgrind"));

impl Tool {
    /// Where the tool is, if it is there.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        self.programs.iter().find_map(|program| find(program))
    }

    fn is_absent(&self) -> bool {
        match self.source {
            Component(_) => !answers(self.programs, &["--version"]),
            Module { modules, .. } => !answers(self.programs, &["-c", &format!("import {modules}")]),
            Debian(_) | Crate(_) => self.find().is_none(),
        }
    }
}

fn answers(programs: &[&str], arguments: &[&str]) -> bool {
    programs.iter().any(|program| {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

/// The full path of `program`: on the path, or where Debian and cargo put what an ordinary user's path lacks.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    folders.extend(cargo_home.or(home).map(|cargo| cargo.join("bin")));
    folders.extend(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.extend(postgres_folders());
    folders.into_iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Debian keeps the server's programs off the path, one folder for each major version; the newest comes first.
fn postgres_folders() -> Vec<PathBuf> {
    let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") else {
        return Vec::new();
    };
    let mut versions: Vec<(u32, PathBuf)> = versions
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

/// Installs those of `tools` that are absent, by their ordinary clients. When it returns without error, all are there.
pub(crate) fn install_absent(world: &World, tools: &[&Tool]) -> Result<(), String> {
    let absent: Vec<&Tool> = tools.iter().copied().filter(|tool| tool.is_absent()).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = absent.iter().map(|tool| tool.name).collect();
    println!("absent, to be installed: {}", names.join(", "));
    let packages: Vec<&str> = absent
        .iter()
        .filter_map(|tool| match tool.source {
            Debian(package) | Module { package, .. } => Some(package),
            Crate(_) | Component(_) => None,
        })
        .collect();
    if !packages.is_empty() {
        install_packages(world, &packages)?;
    }
    for tool in &absent {
        let mut command = match tool.source {
            Component(component) => {
                let mut command = world.command("rustup");
                command.args(["component", "add", component]);
                command
            }
            Crate(spec) => {
                let mut command = world.cargo(["install", "--locked", spec]);
                // Its build folder is of no use afterwards: let cargo take a temporary one.
                command.env_remove("CARGO_TARGET_DIR");
                command
            }
            Debian(_) | Module { .. } => continue,
        };
        world
            .run_patiently(&mut command)
            .map_err(|trouble| format!("cannot install {}: {trouble}", tool.name))?;
    }
    match absent.iter().find(|tool| tool.is_absent()) {
        Some(tool) => {
            Err(format!("{} was installed and still cannot be found; install it by hand", tool.name))
        }
        None => Ok(()),
    }
}

fn install_packages(world: &World, packages: &[&str]) -> Result<(), String> {
    let list = packages.join(" ");
    let by_hand = format!("install these packages and run again: {list}");
    if find("apt-get").is_none() {
        return Err(format!("this machine has no apt-get; {by_hand}"));
    }
    let mut command = if rustix::process::geteuid().is_root() {
        world.command("sh")
    } else {
        let may = Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null()).status();
        if !may.is_ok_and(|status| status.success()) {
            return Err(format!("installing needs root, or sudo without a password; {by_hand}"));
        }
        let mut command = world.command("sudo");
        command.args(["-n", "sh"]);
        command
    };
    command.args(["-c", include_str!("apt-install.sh"), "apt-install"]).args(packages);
    world.run_patiently(&mut command).map_err(|trouble| format!("apt-get: {trouble}; {by_hand}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_full_path() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-program-anywhere"), None);
    }

    #[test]
    fn what_this_program_installs_from_crates_has_a_version() {
        for tool in [&NEXTEST, &DENY, &MACHETE, &FUZZ] {
            assert!(matches!(tool.source, Crate(spec) if spec.contains('@')), "{}", tool.name);
        }
    }
}
