//! Processes that are measured: started in a group of their own, ended with all of it, charged with what all of it uses.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a process has to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process that is ended when its owner is dropped, with everything it started.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts `command`; what it says goes to the file `log`.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self, String> {
        let told = |error| format!("cannot start {}: {error}", command.get_program().display());
        let file = File::create(log).map_err(told)?;
        let errors = file.try_clone().map_err(told)?;
        command.stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
        let child = command.spawn();
        let child =
            child.map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
        Ok(Self { child, log: log.to_owned() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` gives something; an error when the process has ended, or the time is over.
    pub(crate) fn wait_until<T>(
        &mut self,
        patience: Duration,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let begun = Instant::now();
        loop {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            if let Some(it) = ready(&log) {
                return Ok(it);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("ended with {status}: {}", end_of(&log)));
            }
            if begun.elapsed() > patience {
                return Err(format!("not ready after {} s: {}", patience.as_secs(), end_of(&log)));
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Waits until somebody listens at `address`.
    pub(crate) fn wait_for_port(&mut self, patience: Duration, address: SocketAddr) -> Result<(), String> {
        self.wait_until(patience, |_| TcpStream::connect(address).is_ok().then_some(()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let Some(group) = group else { return };
        kill_process_group(group, Signal::TERM).ok();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            sleep(Duration::from_millis(20));
        }
        // Whatever it left behind in its group goes too.
        kill_process_group(group, Signal::KILL).ok();
        self.child.wait().ok();
    }
}

/// The last words of a log.
fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().filter(|line| !line.trim().is_empty()).take(2).collect();
    let end: String = lines.into_iter().rev().collect::<Vec<_>>().join(" / ");
    end.chars().take(300).collect()
}

/// Runs a command to its end, quietly. An error has its last words.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Err(format!("{name} ended with {}: {}", output.status, end_of(&said)))
    }
}

/// An address on loopback that nobody listens at now.
pub(crate) fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    listener.and_then(|listener| listener.local_addr()).map_err(|error| format!("no free port: {error}"))
}

/// A process and all that descend from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree {
    root: u32,
}

/// What a tree has used so far, and holds now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) rss_bytes: u64,
}

impl Tree {
    pub(crate) fn of(root: u32) -> Self {
        Self { root }
    }

    /// CPU of its processes and of the children that they have outlived; the memory of those that live.
    pub(crate) fn usage(self) -> Result<Usage, String> {
        let all: HashMap<u32, Stat> = fs::read_dir("/proc")
            .map_err(|error| format!("/proc: {error}"))?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(|id| Some((id, Stat::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?)))
            .collect();
        let tick =
            Duration::from_secs(1) / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100);
        let page = rustix::param::page_size() as u64;
        let mut usage = Usage::default();
        for stat in all.iter().filter(|(id, _)| self.holds(**id, &all)).map(|(_, stat)| stat) {
            usage.cpu += tick * u32::try_from(stat.ticks).unwrap_or(u32::MAX);
            usage.rss_bytes += stat.pages * page;
        }
        if usage.rss_bytes == 0 { Err(format!("process {} has ended", self.root)) } else { Ok(usage) }
    }

    fn holds(self, mut id: u32, all: &HashMap<u32, Stat>) -> bool {
        while id != self.root {
            match all.get(&id) {
                Some(stat) => id = stat.parent,
                None => return false,
            }
        }
        true
    }
}

/// What is read of `/proc/ID/stat`.
#[derive(Debug, PartialEq)]
struct Stat {
    parent: u32,
    ticks: u64,
    pages: u64,
}

impl Stat {
    fn parse(line: &str) -> Option<Self> {
        // The name, in brackets, may have spaces and brackets in it; what follows has none.
        let fields: Vec<&str> = line.get(line.rfind(')')? + 1..)?.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            ticks: number(11)? + number(12)? + number(13)? + number(14)?,
            pages: number(21)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_name() {
        let line =
            "42 (a b) c) S 7 42 42 0 -1 4194304 5 0 0 0 10 20 3 4 20 0 9 0 100 1000 256 18446744073709551615";
        assert_eq!(Stat::parse(line), Some(Stat { parent: 7, ticks: 37, pages: 256 }));
        assert_eq!(Stat::parse("no brackets"), None);
    }

    #[test]
    fn a_tree_holds_the_children_of_children() {
        let stat = |parent| Stat { parent, ticks: 0, pages: 1 };
        let all = HashMap::from([(1, stat(0)), (5, stat(1)), (6, stat(5)), (7, stat(1))]);
        let held = |id| Tree::of(5).holds(id, &all);
        assert_eq!([held(5), held(6), held(7), held(1)], [true, true, false, false]);
    }
}
