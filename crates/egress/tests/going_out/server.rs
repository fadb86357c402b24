//! A server that answers as it is told, and remembers what it was sent.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Answers one request a connection with the next of its answers; the last is for all that follow.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server on 127.0.0.1. `{self}` in an answer is its port.
    pub(crate) async fn start(answers: impl IntoIterator<Item = String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut answers: Vec<String> =
            answers.into_iter().map(|answer| answer.replace("{self}", &port.to_string())).collect();
        answers.reverse();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() };
                tokio::spawn(serve(stream, answer, Arc::clone(&shared)));
            }
        });
        Self { port, seen }
    }

    /// The requests so far, heads and bodies, in the order of their arrival.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answer: String, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        match stream.read_buf(&mut request).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    seen.lock().unwrap().push(String::from_utf8(request).unwrap());
    stream.write_all(answer.as_bytes()).await.ok();
    // Open until the client has had enough.
    stream.read_u8().await.ok();
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        body.len() >= length.map_or(0, |length| length.parse().unwrap())
    })
}

pub(crate) fn fine(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}
