//! Child processes that cannot be left behind.
//!
//! Each child leads a process group of its own, so that what it starts (cargo's rustc, npm's node) is
//! stopped with it; dropping a [`Running`] stops the group, first politely. Ctrl-C in a terminal does not
//! reach these groups by itself: `Running::wait` sees the stop flag and returns, and the drop does the rest.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::stop::{Stop, TICK};

/// A child process and its group. Dropping it stops them, and waits until the child is gone.
pub(crate) struct Running {
    child: Child,
    name: String,
    farewell: Signal,
    grace: Duration,
    ended: Option<ExitStatus>,
}

/// Why a process did not end in success by itself.
#[derive(Debug, PartialEq)]
pub(crate) enum Trouble {
    Interrupted,
    CannotStart(String),
    TooLong(Duration),
    Failed(String),
}

impl Running {
    /// Starts `command` in a group of its own, without standard input: a question from a tool would wait for ever.
    pub(crate) fn start(command: &mut Command) -> Result<Running, String> {
        let program = Path::new(command.get_program());
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        // nextest gives its tests ten seconds to end; a shorter grace would leave them orphaned.
        let grace = Duration::from_secs(15);
        Ok(Running { child, name, farewell: Signal::TERM, grace, ended: None })
    }

    /// The signal that ends this process cleanly, where that is not SIGTERM.
    pub(crate) fn ended_by(mut self, farewell: Signal) -> Running {
        self.farewell = farewell;
        self
    }

    /// The exit status, if the process has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Waits for the end, but not past a stop request or `limit`. In those two cases the process still runs, until it is dropped.
    pub(crate) fn wait(&mut self, stop: &Stop, limit: Option<Duration>) -> Result<(), Trouble> {
        let begun = Instant::now();
        loop {
            match self.ended() {
                Some(status) if status.success() => return Ok(()),
                // A child that ended because it got the same Ctrl-C did not fail by itself.
                Some(_) if stop.requested() => return Err(Trouble::Interrupted),
                Some(status) => return Err(Trouble::Failed(format!("{} ended with {status}", self.name))),
                None if stop.requested() => return Err(Trouble::Interrupted),
                None => match limit {
                    Some(limit) if begun.elapsed() > limit => return Err(Trouble::TooLong(limit)),
                    _ => sleep(TICK),
                },
            }
        }
    }

    /// Sends `signal` to the whole group. A group that is already gone is what we want, so errors say nothing.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.signal(self.farewell);
            let begun = Instant::now();
            while self.ended().is_none() && begun.elapsed() < self.grace {
                sleep(TICK);
            }
        }
        // Also after a normal end: what the child left in its group goes with it.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Interrupted => f.write_str("interrupted"),
            Trouble::TooLong(limit) => write!(f, "took longer than {} s", limit.as_secs()),
            Trouble::CannotStart(how) | Trouble::Failed(how) => f.write_str(how),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process;
    use std::io::Read;

    fn shell(script: &str) -> Running {
        Running::start(Command::new("sh").args(["-c", script])).unwrap()
    }

    fn is_alive(pid: Pid) -> bool {
        test_kill_process(pid).is_ok()
    }

    #[test]
    fn dropping_stops_the_child() {
        let running = shell("sleep 600");
        let pid = Pid::from_child(&running.child);
        assert!(is_alive(pid));
        drop(running);
        assert!(!is_alive(pid));
    }

    #[test]
    fn dropping_stops_what_the_child_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 30 & echo started"]).stdout(Stdio::piped());
        let mut running = Running::start(&mut command).unwrap();
        let mut output = running.child.stdout.take().unwrap();
        assert_eq!(running.wait(&Stop::default(), None), Ok(()));
        let begun = Instant::now();
        drop(running);
        // The pipe ends only when the last process that holds it is gone: the sleeping grandchild.
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert_eq!(text, "started\n");
        assert!(begun.elapsed() < Duration::from_secs(20), "the grandchild slept on");
    }

    #[test]
    fn a_stop_request_ends_the_wait() {
        let stop = Stop::default();
        stop.request();
        assert_eq!(shell("sleep 600").wait(&stop, None), Err(Trouble::Interrupted));
    }

    #[test]
    fn a_limit_ends_the_wait() {
        let limit = Duration::from_millis(1);
        assert_eq!(shell("sleep 600").wait(&Stop::default(), Some(limit)), Err(Trouble::TooLong(limit)));
    }

    #[test]
    fn a_failure_names_the_program() {
        let trouble = shell("exit 3").wait(&Stop::default(), None).unwrap_err();
        assert_eq!(trouble.to_string(), "sh ended with exit status: 3");
    }
}
