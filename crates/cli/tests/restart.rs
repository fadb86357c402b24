//! One process after another behind one socket, under load: no request fails, and no stream is cut.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use world::World;
use world::asking::{By, Question, ask};
use world::process::{Process, Signal, until};
use world::upstream::Upstream;

const SERVE: [&str; 4] = [
    "serve",
    "--set=limits.requests_per_minute=0",
    "--set=limits.chat_requests_per_minute=0",
    "--set=limits.ip_requests_per_minute=0",
];

/// Asks over kept connections, and opens another when it is told that the one it has will close. Returns its runs.
fn keep_asking(address: &str, client: usize, over: &AtomicBool, answered: &AtomicUsize) -> Vec<String> {
    let (mut kept, mut runs) = (None, Vec::new());
    while !over.load(Ordering::Relaxed) {
        let (mut stream, mut reader) = kept.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(address).unwrap();
            let reader = BufReader::new(stream.try_clone().unwrap());
            (stream, reader)
        });
        let content = format!("whole {client} {}", runs.len());
        let body =
            json!({ "model": "chat-m", "messages": [{ "role": "user", "content": content }] }).to_string();
        let length = body.len();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-punk-cache: off";
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let (mut length, mut closes, mut lines) = (0, false, Vec::new());
        loop {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "an answer was cut after {lines:?}");
            let line = line.trim_end().to_owned();
            length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
            closes |= line == "connection: close";
            if let Some(run) = line.strip_prefix("x-punk-run-id: ") {
                runs.push(run.to_owned());
            }
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        assert_eq!(lines[0], "HTTP/1.1 200 OK");
        answered.fetch_add(1, Ordering::Relaxed);
        kept = (!closes).then_some((stream, reader));
    }
    runs
}

#[test]
fn a_restart_behind_a_socket_that_stays_fails_no_request_and_cuts_no_stream() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::start());
    let world = World::new().file("punk.toml", &upstream.settings());
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let mut punk = Process::start_on(&world, &socket, &SERVE, &[]);
    assert_eq!(punk.address(), address, "the socket that it was handed is what it listens on");

    let (over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let (address, over, answered) = (address.clone(), over.clone(), answered.clone());
            std::thread::spawn(move || keep_asking(&address, client, &over, &answered))
        })
        .collect();
    let mut streams = Vec::new();
    for restart in 0..3 {
        // A stream that is under way in the moment of the restart.
        let (address, by) = (address.clone(), if restart % 2 == 0 { By::Chat } else { By::Messages });
        let text = format!("stream 10 150 {restart}");
        let before = upstream.asked();
        streams.push(runtime.spawn(async move {
            let mut answer =
                ask(&address, &Question { by, text, stream: true, cached: false }).await.unwrap();
            answer.finish().await.unwrap();
            assert!(answer.is_whole_stream(), "{}", answer.text());
        }));
        let done = answered.load(Ordering::Relaxed);
        until("some are answered", || {
            answered.load(Ordering::Relaxed) > done + 20 && upstream.asked() > before
        });
        punk.send(Signal::TERM);
        let ended = punk.ended();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(!ended.stderr.contains("cut connections"), "{}", ended.stderr);
        punk = Process::start_on(&world, &socket, &SERVE, &[]);
    }
    let done = answered.load(Ordering::Relaxed);
    until("the last process answers", || answered.load(Ordering::Relaxed) > done + 20);
    over.store(true, Ordering::Relaxed);
    let runs: usize = clients.into_iter().map(|client| client.join().unwrap().len()).sum();
    for stream in streams {
        runtime.block_on(stream).unwrap();
    }
    assert_eq!(runs, answered.load(Ordering::Relaxed));
    let (recorded, cancelled) = world::streams::count(&address);
    assert_eq!((recorded, cancelled), (runs + 3, 0), "every answer is on record, and nothing else is");
    punk.send(Signal::TERM);
    assert_eq!(punk.ended().code, 0);
    let checked = world.punk(&["verify", "--ledger", "data/punk.db"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
}
