//! A server that behaves as it is told, byte by byte, and remembers what it was sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// What the server does with one request. The last act is for all that follow.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answers with a status, headers and a body.
    Answer(u16, &'static [(&'static str, &'static str)], &'static str),
    /// Answers, and closes the connection without having said so.
    Leave(&'static str),
    /// Never answers.
    Silence,
    /// Begins a stream with this piece, and then says nothing.
    Stall(&'static str),
    /// Begins a stream with this piece, and then closes the connection.
    Break(&'static str),
    /// Streams these pieces, and ends as it should.
    Stream(&'static [&'static str]),
    /// Sends just this, piece by piece, and keeps the connection.
    Raw(&'static [&'static str]),
}

/// A plain answer of a model.
pub(crate) const FINE: Act = Act::Answer(200, &[("content-type", "application/json")], "{\"ok\":true}");

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line =
            self.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        Some(line.split_once(':')?.1.trim())
    }
}

#[derive(Debug)]
struct State {
    acts: VecDeque<Act>,
    seen: Vec<Seen>,
    connections: usize,
}

/// The server. It ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Told when a request has arrived whole.
    pub(crate) arrived: UnboundedReceiver<()>,
    /// Told when a client closes a connection that the server has left open.
    closed: UnboundedReceiver<()>,
    /// Told when the server has closed a connection itself.
    pub(crate) left: UnboundedReceiver<()>,
}

impl Server {
    pub(crate) async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { acts: acts.into_iter().collect(), seen: Vec::new(), connections: 0 };
        let state = Arc::new(Mutex::new(state));
        let (arrived_sender, arrived) = unbounded_channel();
        let (closed_sender, closed) = unbounded_channel();
        let (left_sender, left) = unbounded_channel();
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.lock().unwrap().connections += 1;
                let connection = Connection {
                    stream,
                    state: Arc::clone(&shared),
                    arrived: arrived_sender.clone(),
                    closed: closed_sender.clone(),
                    left: left_sender.clone(),
                };
                tokio::spawn(connection.serve());
            }
        });
        Self { address, state, arrived, closed, left }
    }

    /// Waits until the client has closed a connection: at once, on a busy machine too, and far before any time-out.
    pub(crate) async fn closed(&mut self) {
        timeout(Duration::from_secs(2), self.closed.recv())
            .await
            .expect("the client closes the connection")
            .unwrap();
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }
}

struct Connection {
    stream: TcpStream,
    state: Arc<Mutex<State>>,
    arrived: UnboundedSender<()>,
    closed: UnboundedSender<()>,
    left: UnboundedSender<()>,
}

impl Connection {
    async fn serve(mut self) {
        let mut buffer = Vec::new();
        while let Some(seen) = self.request(&mut buffer).await {
            let act = {
                let mut state = self.state.lock().unwrap();
                state.seen.push(seen);
                if state.acts.len() > 1 { state.acts.pop_front() } else { state.acts.front().cloned() }
            };
            self.arrived.send(()).ok();
            if !self.perform(act.expect("there is an act")).await {
                return;
            }
        }
        self.closed.send(()).ok();
    }

    /// Reads one request. Nothing, when the client has closed.
    async fn request(&mut self, buffer: &mut Vec<u8>) -> Option<Seen> {
        loop {
            if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
                let seen = Seen { head, body: String::new() };
                let length: usize = seen.header("content-length").map_or(0, |text| text.parse().unwrap());
                if buffer.len() >= end + 4 + length {
                    let body = String::from_utf8(buffer[end + 4..end + 4 + length].to_vec()).unwrap();
                    buffer.drain(..end + 4 + length);
                    return Some(Seen { body, ..seen });
                }
            }
            match self.stream.read_buf(buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Whether the connection is to be kept.
    async fn perform(&mut self, act: Act) -> bool {
        let stream_head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk = |piece: &str| format!("{:x}\r\n{piece}\r\n", piece.len());
        let text = match act {
            Act::Answer(status, headers, body) => {
                let lines: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                format!("HTTP/1.1 {status} Status\r\n{lines}content-length: {}\r\n\r\n{body}", body.len())
            }
            Act::Leave(body) => {
                let text = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                self.stream.write_all(text.as_bytes()).await.ok();
                self.stream.shutdown().await.ok();
                self.left.send(()).ok();
                return false;
            }
            Act::Silence => String::new(),
            Act::Stall(piece) => format!("{stream_head}{}", chunk(piece)),
            Act::Break(piece) => {
                let text = format!("{stream_head}{}", chunk(piece));
                self.stream.write_all(text.as_bytes()).await.ok();
                return false;
            }
            Act::Stream(pieces) => {
                self.stream.write_all(stream_head.as_bytes()).await.ok();
                for piece in pieces {
                    self.stream.write_all(chunk(piece).as_bytes()).await.ok();
                    self.stream.flush().await.ok();
                    tokio::task::yield_now().await;
                }
                "0\r\n\r\n".to_owned()
            }
            Act::Raw(pieces) => {
                self.stream.set_nodelay(true).ok();
                for piece in pieces {
                    self.stream.write_all(piece.as_bytes()).await.ok();
                    // Long enough for the client to read it alone; what it finds is the same if it does not.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                String::new()
            }
        };
        self.stream.write_all(text.as_bytes()).await.is_ok()
    }
}
