//! A Postgres server of one test's own, to be stopped, killed and started again, with durability as it comes.
//!
//! It listens on the loopback address only, lets everybody in unless a test changes that, and ends with the test: when
//! this is dropped, and, where Linux's `setpriv` is at hand, when the test's process is killed.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The superuser's.
pub(crate) const PASSWORD: &str = "hunter2";

pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    server: Option<Child>,
}

impl Cluster {
    /// Makes a cluster and starts its server.
    pub(crate) fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("punk-postgres-").tempdir().unwrap();
        let mut cluster = Self { folder, port: free_port(), server: None };
        cluster.write("password", PASSWORD);
        cluster.give(cluster.folder.path());
        let mut initdb = cluster.command("initdb");
        initdb.arg("--pgdata").arg(cluster.file("data"));
        initdb.args(["--username=punk", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        initdb.arg("--pwfile").arg(cluster.file("password"));
        let made = initdb.stdout(Stdio::null()).status().unwrap();
        assert!(made.success(), "initdb ends with {made}");
        cluster.start_again();
        cluster
    }

    pub(crate) fn url(&self, host: &str, rest: &str) -> String {
        format!("postgres://punk:{PASSWORD}@{host}:{}/{rest}", self.port)
    }

    /// Where a file of the cluster is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that only the server's user can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        self.give(&path);
        path
    }

    /// Starts the server on what its folder holds, and waits until it answers.
    pub(crate) fn start_again(&mut self) {
        for _ in 0..50 {
            let mut server = self.command("postgres");
            server.arg("-D").arg(self.file("data")).args(["-p", &self.port.to_string()]);
            server.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
            let log = std::fs::File::options().create(true).append(true).open(self.file("log")).unwrap();
            let mut server = server.stdout(Stdio::null()).stderr(log).spawn().unwrap();
            // One that ends at once has met what is left of its predecessor.
            while server.try_wait().unwrap().is_none() {
                if self.answers() {
                    self.server = Some(server);
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("it does not start: {}", std::fs::read_to_string(self.file("log")).unwrap());
    }

    /// Postgres' own way to stop without finishing anything: `pg_ctl stop -m immediate`.
    pub(crate) fn stop_at_once(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["stop", "-m", "immediate", "-D"]).arg(self.file("data"));
        let stopped = stop.stdout(Stdio::null()).status().unwrap();
        assert!(stopped.success(), "pg_ctl stop ends with {stopped}");
        self.server.take().unwrap().wait().unwrap();
    }

    /// `kill -9` for the server and every process of it.
    pub(crate) fn kill(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let (all, mut family) = (processes(), vec![server.id()]);
        family.extend(all.iter().filter(|(_, parent)| *parent == server.id()).map(|(id, _)| *id));
        let ids = family.iter().map(u32::to_string);
        // One of them may have ended by itself.
        let _ = Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status();
        server.wait().unwrap();
    }

    /// What a statement of the superuser answers; `None` if it does not succeed.
    pub(crate) fn ask(&self, statement: &str) -> Option<String> {
        let mut psql = self.command("psql");
        psql.args([&self.url("127.0.0.1", "postgres"), "-qAtc", statement]);
        let answer = psql.stderr(Stdio::null()).output().unwrap();
        answer.status.success().then(|| String::from_utf8(answer.stdout).unwrap().trim().to_owned())
    }

    fn answers(&self) -> bool {
        let mut asking = self.command("pg_isready");
        asking.args(["--quiet", "--host=127.0.0.1", "--port", &self.port.to_string()]);
        asking.status().unwrap().success()
    }

    /// A program of Postgres', as the user that the server runs as: it refuses to run as root.
    fn command(&self, program: &str) -> Command {
        let path = programs().join(program);
        // The kernel then ends the server when the thread that started it is gone.
        let mut command = match (program, Path::new("/usr/bin/setpriv").exists()) {
            ("postgres", true) => {
                let mut command = Command::new("/usr/bin/setpriv");
                command.args(["--pdeathsig", "KILL", "--"]).arg(path);
                command
            }
            _ => Command::new(path),
        };
        if let Some((user, group)) = owner() {
            command.uid(user).gid(group);
        }
        // Our own home is not for that user to look into, and psql looks for certificates there.
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    fn give(&self, path: &Path) {
        if let Some((user, group)) = owner() {
            std::os::unix::fs::chown(path, Some(user), Some(group)).unwrap();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Every process and its parent.
fn processes() -> Vec<(u32, u32)> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    };
    listed.lines().map(pair).collect()
}

/// Where Postgres' programs are: Debian keeps them out of the path.
fn programs() -> PathBuf {
    let told = Command::new("pg_config").arg("--bindir").output();
    let told = told.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let told = told.map(|folder| PathBuf::from(folder.trim()));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    installed.sort();
    let mut folders = told.into_iter().chain(installed.into_iter().rev());
    let found = folders.find(|folder| folder.join("initdb").exists());
    found.expect("Postgres is installed; `cargo xtask test` installs it")
}

/// Whom to run as, when we are root.
fn owner() -> Option<(u32, u32)> {
    let id = |which: &str, name: &str| -> Option<u32> {
        let output = Command::new("id").args([which, name]).stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    let user = ["postgres", "nobody"].into_iter().find_map(|name| Some((id("-u", name)?, id("-g", name)?)));
    let own = Command::new("id").arg("-u").output().unwrap().stdout;
    (own == b"0\n").then(|| user.expect("there is a user `postgres` or `nobody`"))
}

/// Outside the range from which the kernel takes ports for clients: it stays free while the server is down.
fn free_port() -> u16 {
    let begin = u16::try_from(std::process::id() % 10_000).unwrap();
    let ports = (0..10_000).map(|step| 20_000 + (begin + step) % 10_000);
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    ports.into_iter().find(free).unwrap()
}
