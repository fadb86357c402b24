//! The body of a request, which must be here in time: one that comes byte by byte would hold its place for ever.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::alarm::Alarm;

/// A piece that is shorter than this is copied out of the buffer that it was read into. Kept as it is, for as long as the
/// request lasts, it would keep all of that buffer, and the connection would take another to go on.
const SHORT: usize = 4 * 1024;

/// The body of a request did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not come within {0:?}")]
pub(crate) struct Late(Duration);

/// A body that must be here in time, from when it is first waited for.
pub(super) struct Timed {
    body: Incoming,
    patience: Duration,
    due: Option<Instant>,
    alarm: Alarm,
}

impl Timed {
    pub(super) fn new(body: Incoming, patience: Duration) -> Self {
        Self { body, patience, due: None, alarm: Alarm::default() }
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            let short = |data: Bytes| if data.len() < SHORT { Bytes::copy_from_slice(&data) } else { data };
            return Poll::Ready(
                frame.map(|frame| frame.map(|frame| frame.map_data(short)).map_err(Into::into)),
            );
        }
        // Whoever sends all of it at once never gets here.
        let due = *this.due.get_or_insert_with(|| Instant::now() + this.patience);
        ready!(this.alarm.poll(due, cx));
        Poll::Ready(Some(Err(Late(this.patience).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
