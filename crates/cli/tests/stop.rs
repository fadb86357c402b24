//! How `punk serve` comes to its end: what has begun is finished, nobody new gets in, and nobody holds it up for ever.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use world::World;
use world::asking::{By, Question, ask};
use world::gateway::try_request;
use world::process::{Process, Signal, until};
use world::upstream::Upstream;

/// A request that the gateway is waiting for the body of.
struct Unfinished {
    stream: TcpStream,
    body: String,
}

impl Unfinished {
    fn begin(address: &str) -> Self {
        let message = json!({ "role": "user", "content": "take your time" });
        let body = json!({ "model": "gpt-4o", "messages": [message] }).to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // It says "continue" once a handler asks for the body: the request has begun.
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(&body.as_bytes()[..10]).unwrap();
        Self { stream, body }
    }

    /// Sends the rest and reads the answer to the end of the connection.
    fn finish(mut self) -> String {
        self.stream.write_all(&self.body.as_bytes()[10..]).unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn serve(world: &World, environment: &[(&str, &str)]) -> Process {
    Process::start(world, &["serve", "--port", "0"], environment)
}

fn refuses_connections(address: &str) -> bool {
    TcpStream::connect(address).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

#[test]
fn what_has_begun_is_finished_after_the_signal_while_nobody_new_gets_in() {
    let world = World::new();
    let mut punk = serve(&world, &[]);
    let address = punk.address().to_owned();
    let slow = Unfinished::begin(&address);
    punk.send(Signal::TERM);
    until("new connections are refused", || refuses_connections(&address));
    assert!(punk.is_running(), "a request is in progress");

    let answer = slow.finish();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let ended = punk.ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "stopped\n"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("cut connections"), "{}", ended.stderr);

    let ledger = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(ledger.code, 0, "{}", ledger.told());
    let restarted = serve(&world, &[]);
    let run = answer.lines().find_map(|line| line.strip_prefix("x-punk-run-id: ")).unwrap();
    let kept = try_request(restarted.address(), "GET", &format!("/api/v1/runs/{run}"), &[], "").unwrap();
    assert_eq!(kept.status, 200, "what was answered is recorded");
}

#[test]
fn a_client_that_never_finishes_is_cut_at_the_deadline() {
    let world = World::new();
    let punk = serve(&world, &[("PUNK_DRAIN_SECONDS", "1")]);
    let mut stuck = [Unfinished::begin(punk.address()), Unfinished::begin(punk.address())];
    #[expect(clippy::disallowed_methods, reason = "a test of a deadline, in real time")]
    let asked = Instant::now();
    punk.send(Signal::TERM);
    let ended = punk.ended();
    let took = asked.elapsed();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "stopped\n"), "{}", ended.stderr);
    assert!(took >= Duration::from_secs(1), "they had a second: {took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(ended.stderr.contains("cut connections that did not finish within 1 s"), "{}", ended.stderr);
    assert!(ended.stderr.contains(r#""connections":2"#), "{}", ended.stderr);
    for client in &mut stuck {
        let mut rest = Vec::new();
        // Closed or reset: either way it is told, and gets no answer.
        let _ = client.stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
}

#[test]
fn streams_of_every_wire_that_have_begun_are_finished_after_the_signal() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::start());
    let world = World::new().file("punk.toml", &upstream.settings());
    let punk = serve(&world, &[]);
    let wires = [By::Chat, By::Messages, By::Responses];
    let streams: Vec<_> = wires
        .map(|by| {
            let address = punk.address().to_owned();
            let question = Question { by, text: "stream 8 100".to_owned(), stream: true, cached: false };
            runtime.spawn(async move {
                let mut answer = ask(&address, &question).await.unwrap();
                answer.finish().await.unwrap();
                answer
            })
        })
        .into();
    until("all of them flow", || upstream.open() == wires.len());
    punk.send(Signal::TERM);
    for stream in streams {
        let answer = runtime.block_on(stream).unwrap();
        assert!(answer.is_whole_stream(), "{}", answer.text());
    }
    let ended = punk.ended();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("cut connections"), "{}", ended.stderr);
}

#[test]
fn a_stream_that_does_not_end_is_cut_at_the_deadline_and_its_run_says_so() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::start());
    let world = World::new().file("punk.toml", &upstream.settings());
    let punk = serve(&world, &[("PUNK_DRAIN_SECONDS", "1")]);
    let text = "stream 9 100000".to_owned();
    let question = Question { by: By::Chat, text, stream: true, cached: false };
    let mut answer = runtime.block_on(ask(punk.address(), &question)).unwrap();
    punk.send(Signal::TERM);
    // Closed or reset: either way it is told, and it does not look like an end.
    let _ = runtime.block_on(answer.finish());
    assert!(!answer.is_whole_stream(), "{}", answer.text());
    let ended = punk.ended();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("cut connections that did not finish within 1 s"), "{}", ended.stderr);
    let restarted = serve(&world, &[]);
    let path = format!("/api/v1/runs/{}", answer.run.unwrap());
    let kept = try_request(restarted.address(), "GET", &path, &[], "").unwrap();
    assert_eq!((kept.status, &kept.json()["run"]["status"]), (200, &json!("cancelled")));
}

#[test]
fn a_connection_without_a_request_holds_nobody_up() {
    let world = World::new();
    let punk = serve(&world, &[("PUNK_DRAIN_SECONDS", "3600")]);
    let fresh = TcpStream::connect(punk.address()).unwrap();
    let mut kept_alive = TcpStream::connect(punk.address()).unwrap();
    write!(kept_alive, "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    kept_alive.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    punk.send(Signal::INT);
    assert_eq!(punk.ended().code, 0);
    drop((fresh, kept_alive));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for second in [Signal::TERM, Signal::INT] {
        let world = World::new();
        let mut punk = serve(&world, &[("PUNK_DRAIN_SECONDS", "3600")]);
        let stuck = Unfinished::begin(punk.address());
        punk.send(Signal::TERM);
        let address = punk.address().to_owned();
        until("new connections are refused", || refuses_connections(&address));
        assert!(punk.is_running());
        punk.send(second);
        let ended = punk.ended();
        assert_eq!((ended.code, ended.stdout.as_str()), (3, ""));
        assert!(ended.stderr.contains("error: stopped at once by a second signal"), "{}", ended.stderr);
        drop(stuck);
    }
}
