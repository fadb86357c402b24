//! What looking for secrets and personal data adds to a proxied request: the real gateway twice, with it and without, over
//! one upstream on this machine, asked in turns. CPU time is the processes' own, as the kernel counts it.
//!
//! `cargo bench -p cli --bench redaction`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail as a test does"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

/// Requests of one turn, and how often each has its turn.
const REQUESTS: usize = 600;
const TURNS: usize = 9;

/// By how much it may be dearer, by the size of what is said, each way.
const BARS: [(usize, f64); 2] = [(512, 1.10), (2048, 1.25)];

fn main() {
    let upstream = upstream();
    let [with, without] = ["true", "false"].map(|on| Gateway::start(&upstream, on));
    let mut failed = false;
    println!("CPU time of a proxied request, in µs; median of {TURNS} turns of {REQUESTS} requests each");
    println!("{:>8} {:>10} {:>10} {:>8} {:>6}", "size", "without", "with", "ratio", "bar");
    for (size, bar) in BARS {
        // Connections, pages and caches are there before anything is counted.
        for gateway in [&with, &without] {
            gateway.turn(size);
        }
        let mut turns: Vec<(f64, f64)> = (0..TURNS).map(|_| (without.turn(size), with.turn(size))).collect();
        turns.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
        let (plain, looked) = turns[TURNS / 2];
        let ratio = looked / plain;
        failed |= ratio > bar;
        println!("{size:>8} {plain:>10.1} {looked:>10.1} {ratio:>8.3} {bar:>6.2}");
    }
    drop((with, without));
    if failed {
        println!("looking is dearer than it may be");
        std::process::exit(1);
    }
}

/// A gateway as a process.
struct Gateway {
    process: Child,
    address: String,
    _home: tempfile::TempDir,
}

impl Gateway {
    fn start(upstream: &str, redaction: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_punk"))
            .args(["serve", "--set", "server.port=0"])
            .args(
                [
                    "limits.requests_per_minute=0",
                    "limits.chat_requests_per_minute=0",
                    "limits.ip_requests_per_minute=0",
                    &format!("redaction.enabled={redaction}"),
                ]
                .map(|set| format!("--set={set}")),
            )
            .current_dir(home.path())
            .env_clear()
            .env("OPENAI_API_KEY", "k-of-the-bench")
            .env("OPENAI_BASE_URL", format!("http://{upstream}/v1"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        Self { process, address, _home: home }
    }

    /// The CPU time of a request, in µs.
    fn turn(&self, size: usize) -> f64 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let before = self.cpu();
        for number in 0..REQUESTS {
            let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": prose(size, number) }] });
            let body = body.to_string();
            let mut request = String::new();
            let _ = write!(
                request,
                "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nx-punk-cache: off\r\ncontent-length: {}\r\n\r\n{body}",
                self.address,
                body.len(),
            );
            stream.write_all(request.as_bytes()).unwrap();
            assert_eq!(answered(&mut reader), 200);
        }
        // What is recorded after the answer counts as well.
        std::thread::sleep(Duration::from_millis(30));
        (self.cpu() - before) / REQUESTS as f64
    }

    /// All that its threads have run for, in µs.
    fn cpu(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let nanos = tasks.filter_map(|task| {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
        nanos.sum::<f64>() / 1_000.0
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Words as people write them, of this length and not twice the same.
fn prose(size: usize, number: usize) -> String {
    const WORDS: &str = "Could you please check whether the parcel that was sent on Tuesday has left the warehouse, and if \
        it has not, tell the customer that we are sorry and that a new one is on its way; the order number is in the note. ";
    let mut text = format!("Request {number}: ");
    while text.len() < size {
        text.push_str(WORDS);
    }
    text.truncate(size);
    text
}

/// Reads one answer, and says its status.
fn answered(reader: &mut impl std::io::BufRead) -> u16 {
    let (mut line, mut status, mut length) = (String::new(), 0, 0);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        }
        if let Some(rest) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = rest.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    status
}

/// An upstream that answers with as much as it was asked.
fn upstream() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(&stream));
        }
    });
    address
}

fn serve(mut stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            if let Some(rest) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = rest.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let message = json!({ "role": "assistant", "content": prose(length, 0) });
        let body = json!({
            "id": "chatcmpl-bench", "object": "chat.completion", "created": 1, "model": "gpt-4o",
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 },
        })
        .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}
