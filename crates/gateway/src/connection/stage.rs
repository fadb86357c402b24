//! Whose turn it is on a connection: the client's, who is to say what it wants, or ours.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

/// The turns of a connection, by their numbers: even while the client is to say something, odd while it is answered.
#[derive(Debug)]
pub(super) struct Stage {
    turn: AtomicU64,
    /// When the connection was made,
    made: Instant,
    /// and when the client's turn began, in milliseconds after that.
    since: AtomicU64,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { turn: AtomicU64::new(0), made: Instant::now(), since: AtomicU64::new(0) }
    }

    /// The turn at hand. Two different numbers are two different turns.
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Since when it has been the client's turn, when it is.
    pub(super) fn since(&self) -> Instant {
        self.made + Duration::from_millis(self.since.load(Ordering::Relaxed))
    }

    /// Whether it is the client's turn.
    pub(super) fn is_clients(turn: u64) -> bool {
        turn.is_multiple_of(2)
    }
}

/// A request that is being answered, until this is gone.
#[derive(Debug)]
pub(super) struct Answering(Arc<Stage>);

impl Answering {
    /// The head of a request is there.
    pub(super) fn begin(stage: &Arc<Stage>) -> Self {
        stage.turn.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(stage))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let stage = &*self.0;
        let since = u64::try_from(stage.made.elapsed().as_millis()).unwrap_or(u64::MAX);
        stage.since.store(since, Ordering::Relaxed);
        stage.turn.fetch_add(1, Ordering::Relaxed);
    }
}

/// The body of an answer. When it is gone it is the client's turn.
pub(super) struct Answer {
    body: Body,
    _answering: Answering,
}

impl Answer {
    pub(super) fn new(body: Body, answering: Answering) -> Self {
        Self { body, _answering: answering }
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
