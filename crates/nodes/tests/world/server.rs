//! A Redis of one test's own, to be killed and started again. It keeps nothing, and ends with the test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

pub(crate) struct Server {
    folder: tempfile::TempDir,
    port: u16,
    process: Option<Child>,
}

impl Server {
    /// One that does not run yet.
    pub(crate) fn new() -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        Self { folder: tempfile::tempdir().unwrap(), port, process: None }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it, with nothing in it, and waits until it answers.
    pub(crate) fn start(&mut self) {
        // Where it is at hand, the kernel ends the server if the test's process is killed.
        let mut command = match Command::new("setpriv").arg("--version").stdout(Stdio::null()).status() {
            Ok(_) => {
                let mut command = Command::new("setpriv");
                command.args(["--pdeathsig", "KILL", "--", "redis-server"]);
                command
            }
            Err(_) => Command::new("redis-server"),
        };
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "no", "--dir"]).arg(self.folder.path()).stdout(Stdio::null());
        self.process = Some(command.spawn().expect("redis-server runs; `cargo xtask test` installs it"));
        for _ in 0..500 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("redis-server does not answer");
    }

    /// Ends it at once, with all that it knows.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
