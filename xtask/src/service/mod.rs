//! Servers for one run: private, on a free port of the loopback address, with their data in the run's folder.
//!
//! [`start`] gives a [`Server`]; dropping it stops the process. A server never touches a well-known port, a
//! system folder or a server that the machine already runs.
//!
//! To add one: a file with a `spawn`, a [`Kind`], and the arms below.

mod nginx;
mod postgres;
mod redis;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Running;
use crate::stop::{Stop, TICK};
use crate::tool;

/// The servers that a step can ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Postgres,
    Redis,
    Nginx,
}

/// A server that runs until this is dropped.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) port: u16,
    _running: Running,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::Redis => "redis",
            Kind::Nginx => "nginx",
        }
    }
}

impl Server {
    /// The environment variable by which the tests find this server, and its value.
    pub(crate) fn variable(&self) -> Option<(&'static str, String)> {
        match self.kind {
            Kind::Postgres => Some(("PUNK_TEST_POSTGRES_URL", postgres::url(self.port))),
            Kind::Redis => Some(("PUNK_TEST_REDIS_URL", format!("redis://127.0.0.1:{}", self.port))),
            Kind::Nginx => None,
        }
    }
}

/// Where one server keeps its files.
struct Place {
    folder: PathBuf,
    log: PathBuf,
}

/// Starts a server and waits until it answers.
pub(crate) fn start(kind: Kind, folder: &Path, stop: &Stop) -> Result<Server, String> {
    let mut last = String::new();
    // A free port is only a guess: another program may take it before the server does.
    for attempt in 0..3 {
        let folder = folder.join(format!("{}-{attempt}", kind.name()));
        fs::create_dir(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let place = Place { log: folder.with_extension("log"), folder };
        let port = free_port()?;
        let running = match kind {
            Kind::Postgres => postgres::spawn(&place, port)?,
            Kind::Redis => redis::spawn(&place, port)?,
            Kind::Nginx => nginx::spawn(&place, port)?,
        };
        match answering(kind, port, running, stop) {
            Ok(running) => {
                return Ok(Server { kind, port, _running: running });
            }
            Err(reason) if stop.requested() => return Err(reason),
            Err(reason) => last = format!("{reason}\n{}", fs::read_to_string(&place.log).unwrap_or_default()),
        }
    }
    Err(format!("{} does not start: {last}", kind.name()))
}

fn answering(kind: Kind, port: u16, mut running: Running, stop: &Stop) -> Result<Running, String> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let answers = match kind {
            Kind::Postgres => postgres::answers(port),
            Kind::Redis | Kind::Nginx => TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok(),
        };
        // Asked after the connection: one that succeeded while our process was ending went to another's port.
        match running.ended() {
            Some(status) => return Err(format!("it ended with {status}")),
            None if stop.requested() => return Err("interrupted".into()),
            None if answers => return Ok(running),
            None => stop.pause(TICK),
        }
    }
    Err("it did not answer within 60 s".into())
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// A server's command, logging to its file. Where Linux's `setpriv` is at hand the kernel is asked to end the
/// server if we are killed without a chance to do it.
fn command(program: &str, place: &Place) -> Result<Command, String> {
    let path = tool::find(program).ok_or_else(|| format!("{program} is not installed"))?;
    let mut command = match tool::find("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(path);
            command
        }
        None => Command::new(path),
    };
    let open = || File::options().create(true).append(true).open(&place.log);
    let log = open().and_then(|out| Ok((out, open()?)));
    let (out, err) = log.map_err(|error| format!("cannot write {}: {error}", place.log.display()))?;
    command.current_dir(&place.folder).stdout(Stdio::from(out)).stderr(Stdio::from(err));
    Ok(command)
}

/// Sends `request` to a port of the loopback address and gives back all that comes until the peer closes.
pub(crate) fn exchange(port: u16, request: &str) -> Result<String, String> {
    let talk = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    talk().map_err(|error| format!("port {port}: {error}"))
}
