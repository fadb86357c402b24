//! An HTTP/1 connection that one call at a time has for itself.
//!
//! Nobody else looks after it: whoever waits for its answer reads it, in the same task. So a piece that has come is handed
//! on without waking anybody, and pieces that came together go on together.

use super::connect::{Io, SendError};
use super::line::{Line, Stand};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use std::future::{Future as _, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// A connection, and the way to it.
pub(super) struct Kept {
    sender: SendRequest<Full<Bytes>>,
    /// Gone when it ended.
    connection: Option<Connection>,
    stand: Arc<Stand>,
}

type Connection = http1::Connection<Line, Full<Bytes>>;

/// Why a request was not answered.
pub(super) struct Unsent {
    pub(super) error: hyper::Error,
    /// The request, if nothing of it has left.
    pub(super) request: Option<Request<Full<Bytes>>>,
}

impl From<Unsent> for SendError {
    fn from(unsent: Unsent) -> Self {
        Self::Lost(unsent.error)
    }
}

impl Kept {
    pub(super) async fn new(io: Io) -> hyper::Result<Box<Self>> {
        let (line, stand) = Line::new(io);
        let (sender, connection) = http1::handshake(line).await?;
        Ok(Box::new(Self { sender, connection: Some(connection), stand }))
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unsent> {
        self.stand.expect_head();
        let mut answer = pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        let answer = poll_fn(|cx| {
            go_on(connection, cx);
            answer.as_mut().poll(cx)
        });
        answer
            .await
            .map_err(|mut unsent| Unsent { request: unsent.take_message(), error: unsent.into_error() })
    }

    /// The next piece of an answer that came by this connection.
    pub(super) fn poll_frame(
        &mut self,
        answer: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        // It says first that it wants something: the connection reads nothing on behalf of nobody.
        let frame = Pin::new(&mut *answer).poll_frame(cx);
        if frame.is_ready() {
            return frame;
        }
        go_on(&mut self.connection, cx);
        Pin::new(answer).poll_frame(cx)
    }

    /// After the head of an answer: what the connection is made of, and what has come of the body. It stays whole unless that is
    /// a stream of which hyper has taken nothing.
    pub(super) fn into_parts(mut self: Box<Self>) -> Result<(Io, Bytes), Box<Self>> {
        match self.connection.take() {
            Some(connection) if self.stand.is_before_stream() => Ok(connection.into_parts().io.into_parts()),
            connection => {
                self.connection = connection;
                Err(self.read_on())
            }
        }
    }

    /// It brings the body of the answer itself.
    pub(super) fn read_on(self: Box<Self>) -> Box<Self> {
        self.stand.read_on();
        self
    }

    /// After the last piece of an answer: whether another request can be sent.
    pub(super) fn is_free(&mut self, cx: &mut Context<'_>) -> bool {
        go_on(&mut self.connection, cx);
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Lets a connection read and write what it can.
fn go_on(connection: &mut Option<Connection>, cx: &mut Context<'_>) {
    let Some(open) = connection else { return };
    // What it ended with is told to whoever waits for the answer.
    if Pin::new(open).poll(cx).is_ready() {
        *connection = None;
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("open", &self.connection.is_some()).finish_non_exhaustive()
    }
}
