//! What an answer of a learned program costs the gateway, beside an answer that was kept: the real binary learns a kind of work from
//! its built-in model, promotes it, and is then asked in turns for what it learned, for what it has kept, and for what it has to
//! ask the model. CPU time is the process's own, as the kernel counts it; the program's own time is measured here, on the text that
//! the gateway exports.
//!
//! The bar: a learned answer costs no more than a kept one and 1.2 times the program.
//!
//! `cargo bench -p cli --bench learned`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail as a test does"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use apprentice::Executable;
use serde_json::{Value, json};

/// Requests of one turn, how often each has its turn, and how many requests are kept.
const REQUESTS: usize = 600;
const TURNS: usize = 7;
const KEPT: usize = 200;
/// A learned answer may cost a kept one and so many times its program.
const BAR: f64 = 1.2;

/// Three kinds of work that differ in a word; the first is learned.
const KINDS: [&str; 3] = ["label", "kept", "live"];

fn main() {
    let home = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(home.path(), "100");
    let mut at = 0;
    let mut client = gateway.client();
    // Until nearly all of it is served: what is audited costs what the model does.
    let mut share = 0.0;
    while share < 0.9 {
        let turn = client.turn((at..at + REQUESTS).map(|at| body(KINDS[0], at)));
        at += REQUESTS;
        share = turn.of("artifact") as f64 / REQUESTS as f64;
        // Learning gives way to requests, and there is always one.
        client.ask("POST", "/api/v1/learning/tick", "");
        assert!(at < 60 * REQUESTS, "nothing is served after {at} requests");
    }
    let artifact = client.get("/api/v1/artifacts")["artifacts"][0]["id"].as_str().unwrap().to_owned();
    let export = client.get(&format!("/api/v1/artifacts/{artifact}/export"));
    let program = Executable::read(export["program"].as_str().unwrap()).unwrap();
    drop(client);
    drop(gateway);

    // Again without ticks, which are work of their own.
    let gateway = Gateway::start(home.path(), "3600000");
    std::thread::sleep(Duration::from_secs(3));
    let mut client = gateway.client();
    client.turn((0..KEPT).map(|at| body(KINDS[1], at)));
    let mut turns = Vec::new();
    for turn in 0..=TURNS {
        let live = gateway.cost(&mut client, (0..REQUESTS).map(|one| body(KINDS[2], turn * REQUESTS + one)));
        let kept = gateway.cost(&mut client, (0..REQUESTS).map(|one| body(KINDS[1], one % KEPT)));
        assert_eq!(kept.1.of("exact_cache"), REQUESTS, "{:?}", kept.1);
        let learned = gateway.cost(&mut client, (0..REQUESTS).map(|one| body(KINDS[0], at + one)));
        at += REQUESTS;
        let served = learned.1.of("artifact");
        assert!(served * 2 > REQUESTS, "{:?}", learned.1);
        // What was not served, the model answered.
        let of_served = (learned.0 - (REQUESTS - served) as f64 * live.0 / REQUESTS as f64) / served as f64;
        // The first turn is for connections, pages and caches.
        if turn > 0 {
            turns.push([live.0 / REQUESTS as f64, kept.0 / REQUESTS as f64, of_served]);
        }
    }
    let [live, kept, learned] = [0, 1, 2].map(|which| median(turns.iter().map(|turn| turn[which]).collect()));
    let inputs: Vec<String> = (0..REQUESTS).map(|one| text(one + 7_000_000)).collect();
    let own = median((0..TURNS).map(|_| own_cost(&program, &inputs)).collect());
    let allowed = kept + BAR * own;
    println!("CPU time of a request, in µs; median of {TURNS} turns of {REQUESTS} requests each");
    println!("{:>24} {live:>8.1}", "the model is asked");
    println!("{:>24} {kept:>8.1}", "a kept answer");
    println!("{:>24} {own:>8.1}", "the program alone");
    println!("{:>24} {learned:>8.1}", "a learned answer");
    println!("{:>24} {allowed:>8.1}", "allowed");
    if learned > allowed {
        println!("a learned answer is dearer than it may be");
        std::process::exit(1);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn own_cost(program: &Executable, inputs: &[String]) -> f64 {
    #[expect(clippy::disallowed_methods, reason = "a bench measures")]
    let begun = Instant::now();
    let answered = inputs.iter().filter(|input| program.says(input).is_ok()).count();
    let spent = begun.elapsed().as_secs_f64() * 1e6;
    assert!(answered * 2 > inputs.len(), "{answered} of {} are answered", inputs.len());
    spent / inputs.len() as f64
}

fn text(at: usize) -> String {
    let draw = at.wrapping_mul(0x9e37_79b9) >> 7;
    let (colour, thing) =
        (["red", "green", "blue"][draw % 3], ["door", "lamp", "chair", "table"][draw / 3 % 4]);
    format!("please paint the {thing} number {at} {colour} today")
}

fn body(kind: &str, at: usize) -> String {
    let system = format!(
        "Choose one of these labels: red, green, blue. Answer with the label alone. This is {kind} work."
    );
    let messages = json!([{ "role": "system", "content": system }, { "role": "user", "content": text(at) }]);
    json!({ "model": "gpt-4o", "temperature": 0, "messages": messages }).to_string()
}

/// A gateway as a process.
struct Gateway {
    process: Child,
    address: String,
}

impl Gateway {
    fn start(home: &std::path::Path, every: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_punk"))
            .args(["serve", "--set", "server.port=0"])
            .args(
                [
                    "limits.requests_per_minute=0",
                    "limits.chat_requests_per_minute=0",
                    "limits.ip_requests_per_minute=0",
                ]
                .map(|set| format!("--set={set}")),
            )
            .current_dir(home)
            .env_clear()
            .env("PUNK_AUTO_PROMOTE", "true")
            .env("PUNK_LEARN_INTERVAL_MS", every)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        Self { process, address }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { reader: BufReader::new(stream.try_clone().unwrap()), stream, host: self.address.clone() }
    }

    /// The CPU time of a turn, in µs, and who answered.
    fn cost(&self, client: &mut Client, bodies: impl Iterator<Item = String>) -> (f64, Turn) {
        let before = self.cpu();
        let turn = client.turn(bodies);
        // What is recorded after the answer counts as well.
        std::thread::sleep(Duration::from_millis(100));
        (self.cpu() - before, turn)
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

/// Who answered, request by request.
#[derive(Debug)]
struct Turn(Vec<String>);

impl Turn {
    fn of(&self, route: &str) -> usize {
        self.0.iter().filter(|answered| *answered == route).count()
    }
}

/// One connection to a gateway.
struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    host: String,
}

impl Client {
    fn turn(&mut self, bodies: impl Iterator<Item = String>) -> Turn {
        Turn(bodies.map(|body| self.ask("POST", "/v1/chat/completions", &body).0).collect())
    }

    fn get(&mut self, path: &str) -> Value {
        serde_json::from_slice(&self.ask("GET", path, "").1).unwrap()
    }

    /// Asks, and says by which route that was answered, and what.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> (String, Vec<u8>) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let (mut line, mut route, mut length) = (String::new(), String::new(), 0);
        loop {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                assert!(rest.starts_with("200"), "{method} {path}: {rest}");
            }
            let line = line.to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix("content-length: ") {
                length = rest.trim().parse().unwrap();
            }
            if let Some(rest) = line.strip_prefix("x-punk-route: ") {
                rest.trim().clone_into(&mut route);
            }
        }
        let mut said = vec![0; length];
        self.reader.read_exact(&mut said).unwrap();
        (route, said)
    }
}
