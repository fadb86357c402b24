//! The real gateway as a process, and the few lines of HTTP it takes to talk to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::World;

/// A running gateway; it is killed, not asked, when the test is over.
pub(crate) struct Gateway {
    process: Child,
    pub(crate) address: String,
}

impl Gateway {
    pub(crate) fn start(world: &World, environment: &[(&str, &str)]) -> Self {
        Self::start_logging(world, environment, Stdio::null())
    }

    /// The same, with its log somewhere.
    pub(crate) fn start_logging(world: &World, environment: &[(&str, &str)], log: Stdio) -> Self {
        let mut process = Command::new(assert_cmd::cargo::cargo_bin!("punk"))
            .args(["serve", "--set", "server.port=0"])
            // Tests ask more often than people do.
            .args(
                [
                    "limits.requests_per_minute=0",
                    "limits.chat_requests_per_minute=0",
                    "limits.ip_requests_per_minute=0",
                ]
                .map(|set| format!("--set={set}")),
            )
            .current_dir(world.path(""))
            .env_clear()
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "it listens on loopback: {line}");
        Self { process, address }
    }

    /// One request over a connection of its own: status, headers, body.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        try_request(&self.address, method, path, headers, body).unwrap()
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// Asks about nobody, so that what is kept of it is not sealed.
    pub(crate) fn ask(&self, content: &str) -> Reply {
        let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": content }] });
        self.request("POST", "/v1/chat/completions", &[], &body.to_string())
    }

    pub(crate) fn chat(&self, content: &str) -> Reply {
        let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": content }] });
        self.request("POST", "/v1/chat/completions", &[("x-punk-subject", "user-7")], &body.to_string())
    }

    pub(crate) fn packet(&self, run: &str) -> Reply {
        self.request("GET", &format!("/api/v1/runs/{run}/evidence-packet"), &[], "")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.starts_with(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.head)).split_once(": ").unwrap().1
    }
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One request over a connection of its own. `None` when the server went away before it had answered in full.
pub(crate) fn try_request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).ok()?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let split = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..split].to_vec()).ok()?;
    let reply =
        Reply { status: head.split(' ').nth(1)?.parse().ok()?, head, body: bytes[split + 4..].to_vec() };
    let whole =
        reply.head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    (whole == Some(reply.body.len())).then_some(reply)
}
