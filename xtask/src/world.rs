//! The world of one run: where things are, what is started, and how a command is run in it.
//!
//! [`World`] owns everything that must not outlive the run: the servers and the temporary folder. It is
//! dropped at the end of `main`'s call, on every way out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use crate::process::{Running, Trouble};
use crate::service::{self, Kind, Server};
use crate::stop::Stop;
use crate::tool;

/// What a step may use. The servers come before the folder: fields are dropped in order, and a server writes
/// into the folder until it is stopped.
pub(crate) struct World {
    servers: Vec<Server>,
    folder: Folder,
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) cache: PathBuf,
    pub(crate) stop: Stop,
}

impl World {
    /// Finds the repository and its folders, and makes the temporary one. Starts nothing.
    pub(crate) fn open(stop: Stop) -> Result<World, String> {
        let manifest = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().map(PathBuf::from).ok_or("xtask is not in a repository")?;
        let cache = cache_folder().join("punk");
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(chosen) => root.join(chosen),
            // CI gets a fresh checkout each time; a folder outside of it makes the second run warm.
            None if env::var_os("CI").is_some_and(|ci| ci == "true") => cache.join("target"),
            None => root.join("target"),
        };
        let folder =
            Folder::create().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
        Ok(World { servers: Vec::new(), folder, root, target, cache, stop })
    }

    /// The temporary folder of this run, gone when the run ends.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Starts the servers of `kinds` that do not run yet.
    pub(crate) fn start(&mut self, kinds: &[Kind]) -> Result<(), String> {
        for &kind in kinds {
            if self.server(kind).is_none() {
                let server = service::start(kind, &self.folder.0, &self.stop)?;
                println!("started {} on port {}", kind.name(), server.port);
                self.servers.push(server);
            }
        }
        Ok(())
    }

    pub(crate) fn server(&self, kind: Kind) -> Option<&Server> {
        self.servers.iter().find(|server| server.kind == kind)
    }

    /// A command at the root of the repository, with the environment that the tests rely on.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).env("TMPDIR", self.folder());
        // `cargo run` describes the xtask package to us; cargo below us must not inherit that description.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_")
                || text.starts_with("CARGO_MANIFEST_")
                || text == "LD_LIBRARY_PATH"
            {
                command.env_remove(&name);
            }
        }
        for server in &self.servers {
            if let Some((variable, url)) = server.variable() {
                command.env(variable, url);
            }
        }
        if let Some(chromium) = tool::CHROMIUM.find() {
            command.env("PUNK_TEST_CHROMIUM", chromium);
        }
        command
    }

    /// `cargo` with `arguments`: the cargo that started us, so that a chosen toolchain stays chosen.
    pub(crate) fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments);
        command
    }

    /// Shows the command, runs it with its output streamed, and waits for it.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), Trouble> {
        self.run_within(command, None)
    }

    /// As [`World::run`], but stopped after `limit`.
    pub(crate) fn run_within(&self, command: &mut Command, limit: Option<Duration>) -> Result<(), Trouble> {
        println!("$ {}", shown(command));
        Running::start(command).map_err(Trouble::CannotStart)?.wait(&self.stop, limit)
    }

    /// As [`World::run`], for commands that download: registries throttle and networks stumble.
    pub(crate) fn run_patiently(&self, command: &mut Command) -> Result<(), Trouble> {
        let mut patience = [5, 15, 45].into_iter();
        loop {
            match (self.run(command), patience.next()) {
                (Err(Trouble::Failed(how)), Some(seconds)) => {
                    println!("{how}; trying again in {seconds} s");
                    self.stop.pause(Duration::from_secs(seconds));
                }
                (result, _) => return result,
            }
        }
    }

    /// Downloads what a workspace's lock file names: once and patiently, instead of by chance in whichever command comes first.
    pub(crate) fn fetch(&self, manifest: &str) -> Result<(), Trouble> {
        let log = self.folder().join("fetch.log");
        let mut patience = [5, 15, 45].into_iter();
        loop {
            let file = fs::File::create(&log)
                .map_err(|error| Trouble::CannotStart(format!("cannot log: {error}")))?;
            let mut command = self.cargo(["fetch", "--locked", "--manifest-path", manifest]);
            let result = self.run(command.stderr(file));
            let said = fs::read_to_string(&log).unwrap_or_default();
            let Err(Trouble::Failed(_)) = result else {
                return result;
            };
            eprint!("{said}");
            // No patience helps against a lock file that is out of date.
            if said.contains("--locked") {
                return Err(Trouble::Failed(format!(
                    "the lock file beside {manifest} is out of date: update and commit it"
                )));
            }
            match patience.next() {
                Some(seconds) => self.stop.pause(Duration::from_secs(seconds)),
                None => return result,
            }
        }
    }

    /// The standard output of a command that answers at once.
    pub(crate) fn output(&self, command: &mut Command) -> Result<String, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let output = command.output().map_err(|error| format!("cannot start {name}: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!(
            "{} ended with {}: {}",
            name,
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut text = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        // A script passed as an argument would fill the screen.
        text.push_str(if argument.contains('\n') { " …" } else { " " });
        text.push_str(if argument.contains('\n') { "" } else { &argument });
    }
    text
}

fn cache_folder() -> PathBuf {
    match (env::var_os("XDG_CACHE_HOME"), env::var_os("HOME")) {
        (Some(folder), _) if !folder.is_empty() => folder.into(),
        (_, Some(home)) => Path::new(&home).join(".cache"),
        _ => env::temp_dir(),
    }
}

/// A temporary folder that is removed with everything in it when dropped.
struct Folder(PathBuf);

impl Folder {
    fn create() -> io::Result<Folder> {
        // `create_dir` refuses what exists, so a leftover of a killed run with our process id is never reused.
        let mut attempt = 0;
        loop {
            let path = env::temp_dir().join(format!("punk-xtask-{}-{attempt}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("could not remove {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_the_world() {
        let world = World::open(Stop::default()).unwrap();
        let path = world.folder().to_path_buf();
        fs::write(path.join("file"), "x").unwrap();
        drop(world);
        assert!(!path.exists());
    }

    #[test]
    fn two_worlds_have_two_folders() {
        let (one, two) = (World::open(Stop::default()).unwrap(), World::open(Stop::default()).unwrap());
        assert_ne!(one.folder(), two.folder());
    }
}
