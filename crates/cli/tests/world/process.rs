//! A command that stays, as a process that can be sent signals.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use super::{Ended, World};

/// A running command; it is killed when the test is over, if it has not ended by then.
pub(crate) struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
    log: std::path::PathBuf,
    /// The line that it announces itself with.
    pub(crate) announced: String,
}

impl Process {
    /// Starts `punk` and waits for the line that it announces itself with.
    pub(crate) fn start(world: &World, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let log = world.path(&format!("{}.log", arguments[0]));
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("punk"))
            .args(arguments)
            .current_dir(world.path(""))
            .env_clear()
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut announced = String::new();
        stdout.read_line(&mut announced).unwrap();
        Self { child, stdout, log, announced: announced.trim_end().to_owned() }
    }

    /// The same with a listening socket that it is handed over, as systemd does. Its file stays with whoever started it.
    pub(crate) fn start_on(
        world: &World,
        socket: &std::net::TcpListener,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let log = world.path(&format!("{}.log", arguments[0]));
        let mut child = Command::new("/bin/sh")
            // The shell becomes the process, so that its id is the one that is named.
            .args(["-c", r#"exec env LISTEN_PID=$$ LISTEN_FDS=1 "$0" "$@" 3<&0 0</dev/null"#])
            .arg(assert_cmd::cargo::cargo_bin!("punk"))
            .args(arguments)
            .current_dir(world.path(""))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .envs(environment.iter().copied())
            .stdin(std::os::fd::OwnedFd::from(socket.try_clone().unwrap()))
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log).unwrap())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut announced = String::new();
        stdout.read_line(&mut announced).unwrap();
        Self { child, stdout, log, announced: announced.trim_end().to_owned() }
    }

    /// What it holds in memory of its own, in KiB. Pages of its program are left out: the system maps and drops them as it likes, and a
    /// process lets go of them itself once it has started.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// How many files it has open.
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Where a gateway listens.
    pub(crate) fn address(&self) -> &str {
        self.announced.strip_prefix("Punk listens on http://").unwrap()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits for its end; `stdout` is what came after the announcement.
    pub(crate) fn ended(mut self) -> Ended {
        until("the process ends", || !self.is_running());
        let code = self.child.wait().unwrap().code().unwrap();
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        Ended { code, stdout, stderr: self.log() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a condition.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "a test waits for a real process, in real time")]
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
