//! A server of a step: one that takes a free port by itself and says where it listens.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Running;
use crate::stop::TICK;
use crate::world::World;

/// A server that runs until this is dropped.
pub(super) struct Listener {
    /// `http://127.0.0.1:…`, as it said.
    pub(super) url: String,
    /// What it wrote on standard error.
    pub(super) log: PathBuf,
    _running: Running,
}

impl Listener {
    /// Starts `command` and waits for its `… listens on http://…`. `name` is for its files and for messages.
    pub(super) fn start(world: &World, name: &str, command: &mut Command) -> Result<Listener, String> {
        let (said, log) =
            (world.folder().join(format!("{name}.out")), world.folder().join(format!("{name}.log")));
        let file = |path: &PathBuf| {
            File::create(path).map(Stdio::from).map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut running = Running::start(command.stdout(file(&said)?).stderr(file(&log)?))?;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let words = fs::read_to_string(&said).unwrap_or_default();
            // Only a line that is whole: the address may still be being written.
            let line = words.split_inclusive('\n').find(|line| line.ends_with('\n'));
            if let Some((_, url)) = line.and_then(|line| line.trim_end().split_once(" listens on ")) {
                return Ok(Listener { url: url.into(), log, _running: running });
            }
            if let Some(status) = running.ended() {
                let why = fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("{name} ended with {status}: {}", why.trim()));
            }
            if world.stop.requested() {
                return Err("interrupted".into());
            }
            world.stop.pause(TICK);
        }
        Err(format!("{name} did not say within 60 s where it listens"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Stop;

    fn started(script: &str) -> Result<String, String> {
        let world = World::open(Stop::default()).unwrap();
        Listener::start(&world, "it", Command::new("sh").args(["-c", script])).map(|listener| listener.url)
    }

    #[test]
    fn the_address_is_what_the_server_says() {
        let url = started("echo 'It listens on http://127.0.0.1:5'; exec sleep 600");
        assert_eq!(url, Ok("http://127.0.0.1:5".into()));
    }

    #[test]
    fn a_server_that_ends_says_why() {
        assert_eq!(
            started("echo 'no room' >&2; exit 3"),
            Err("it ended with exit status: 3: no room".into())
        );
    }
}
