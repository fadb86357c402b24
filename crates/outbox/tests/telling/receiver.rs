//! Somebody who is told things: answers as a test says, and remembers what came.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

/// What came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// As it was written, with what was escaped.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no header {name}")).to_str().unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// How to answer.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    Status(u16),
    /// A redirect to here.
    Elsewhere(String),
    /// So many bytes, with 200.
    Much(usize),
    /// Nothing, ever.
    Nothing,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    seen: watch::Receiver<Vec<Seen>>,
}

struct Shared {
    answers: Mutex<Vec<Say>>,
    seen: watch::Sender<Vec<Seen>>,
}

impl Receiver {
    /// Answers in turn; the last answer is for all that follow.
    pub(crate) async fn start(answers: impl IntoIterator<Item = Say>) -> Self {
        let mut answers: Vec<Say> = answers.into_iter().collect();
        answers.reverse();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, seen) = watch::channel(Vec::new());
        let shared = Arc::new(Shared { answers: Mutex::new(answers), seen: sender });
        let router = Router::new().fallback(receive).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen }
    }

    pub(crate) async fn fine() -> Self {
        Self::start([Say::Status(200)]).await
    }

    /// What came so far, in the order of its arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    /// Waits until so much has come.
    pub(crate) async fn has_seen(&self, count: usize) -> Vec<Seen> {
        let mut seen = self.seen.clone();
        seen.wait_for(|seen| seen.len() >= count).await.unwrap().clone()
    }
}

/// An address at which nobody listens and nobody will: the port is taken.
pub(crate) struct Nobody {
    pub(crate) url: String,
    _taken: TcpSocket,
}

impl Nobody {
    pub(crate) fn new() -> Self {
        let taken = TcpSocket::new_v4().unwrap();
        taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { url: format!("http://{}", taken.local_addr().unwrap()), _taken: taken }
    }
}

async fn receive(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let seen =
        Seen { method: head.method.to_string(), path: head.uri.to_string(), headers: head.headers, body };
    let answer = {
        let mut answers = shared.answers.lock().unwrap();
        if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() }
    };
    shared.seen.send_modify(|all| all.push(seen));
    match answer {
        Say::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Say::Elsewhere(place) => (StatusCode::FOUND, [("location", place)]).into_response(),
        Say::Much(bytes) => "x".repeat(bytes).into_response(),
        Say::Nothing => std::future::pending().await,
    }
}
