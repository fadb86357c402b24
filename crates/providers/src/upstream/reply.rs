//! An upstream's answer, on its way.
//!
//! [`ReplyBody`] is the body as it arrives, watched by two clocks: it may not stand still, and it may not go on for ever.
//! Dropping it ends the upstream's call: over HTTP/1 the connection is closed, over HTTP/2 the stream is reset.

use super::coming::Coming;
use super::error::UpstreamError;
use super::live::Passage;
use super::target::Target;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// An upstream's answer: the head, and a body that may still be coming.
#[derive(Debug)]
pub struct Reply {
    /// The upstream's status, whatever it is.
    pub status: StatusCode,
    /// Those of its headers that a caller may see.
    pub headers: HeaderMap,
    /// Its body.
    pub body: ReplyBody,
    /// Who answered.
    pub target: Target,
    /// How long the upstream asked us to wait.
    pub retry_after: Option<Duration>,
    /// `x-should-retry: false`: the upstream knows that another try would end the same.
    pub(super) final_word: bool,
}

/// A body as it arrives. An error is the last thing that comes out of it.
#[derive(Debug)]
pub struct ReplyBody {
    /// Gone when the body ended, in whatever way.
    coming: Option<Coming>,
    /// What was looked at and not taken.
    peeked: Bytes,
    passage: Passage,
    /// How long the next piece may take.
    patience: Duration,
    /// Since when we have been waiting for it. Only a reader who waits starts the clock: a slow reader is not the
    /// upstream's fault.
    waiting: Option<Instant>,
    /// From the beginning of the try to the end of all patience.
    span: Range<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl ReplyBody {
    pub(super) fn new(coming: Coming, passage: Passage, span: Range<Instant>) -> Self {
        let timeouts = passage.upstream.timeouts;
        Self {
            coming: Some(coming),
            peeked: Bytes::new(),
            patience: timeouts.first_byte.max(timeouts.idle),
            passage,
            waiting: None,
            span,
            timer: None,
        }
    }

    /// The next piece, or nothing at the end.
    pub async fn data(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        loop {
            match self.frame().await? {
                Ok(frame) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Some(Ok(data)),
                    Err(_trailers) => {}
                },
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Looks at the beginning without taking it: reads until `enough` says so of what there is, until the end, or until
    /// `limit` bytes are there. What was looked at comes out again as the first piece.
    pub async fn peek(
        &mut self,
        limit: usize,
        mut enough: impl FnMut(&[u8]) -> bool,
    ) -> Result<&Bytes, UpstreamError> {
        while self.peeked.len() < limit && (self.peeked.is_empty() || !enough(&self.peeked)) {
            let before = std::mem::take(&mut self.peeked);
            let Some(more) = self.data().await.transpose()? else {
                self.peeked = before;
                break;
            };
            self.peeked = if before.is_empty() { more } else { [before, more].concat().into() };
        }
        Ok(&self.peeked)
    }

    /// Takes what was looked at: it does not come out again.
    pub fn take_peeked(&mut self) -> Bytes {
        std::mem::take(&mut self.peeked)
    }

    /// The whole body, if it has at most `limit` bytes.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, UpstreamError> {
        let expected = usize::try_from(self.size_hint().lower()).unwrap_or(usize::MAX);
        if expected > limit {
            return Err(self.too_large(limit));
        }
        let Some(first) = self.data().await.transpose()? else { return Ok(Bytes::new()) };
        if first.len() > limit {
            return Err(self.too_large(limit));
        }
        let mut whole = BytesMut::new();
        while let Some(piece) = self.data().await.transpose()? {
            if whole.is_empty() {
                whole.reserve(expected.max(first.len() + piece.len()));
                whole.extend_from_slice(&first);
            }
            if piece.len() > limit - whole.len() {
                return Err(self.too_large(limit));
            }
            whole.extend_from_slice(&piece);
        }
        // The usual body is one piece, and is not copied.
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }

    fn too_large(&self, limit: usize) -> UpstreamError {
        UpstreamError::TooLarge { upstream: Arc::clone(&self.passage.upstream.name), limit }
    }

    /// The upstream turned out not to work.
    pub(super) fn blame(&mut self) {
        self.passage.failed(Instant::now());
    }

    /// The upstream works, as far as can be seen.
    pub(super) fn praise(&mut self) {
        self.passage.succeeded(Instant::now());
    }

    /// Ends the body with an error; the connection goes with it.
    fn end(&mut self, error: UpstreamError) -> UpstreamError {
        self.coming = None;
        self.timer = None;
        // A limit on the whole is ours; everything else is the upstream's.
        if !matches!(error, UpstreamError::Total { .. }) {
            self.blame();
        }
        error
    }

    /// Ready with an error when a clock has run out.
    fn poll_clocks(&mut self, cx: &mut Context<'_>) -> Poll<UpstreamError> {
        let since = *self.waiting.get_or_insert_with(Instant::now);
        let stale = since + self.patience;
        let due = stale.min(self.span.end);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        loop {
            // The timer is left where it is while pieces come, and only looked after when it rings: moving it for every
            // piece would cost more than the piece.
            if timer.deadline() > due {
                timer.as_mut().reset(due);
            }
            ready!(timer.as_mut().poll(cx));
            if timer.deadline() >= due {
                let upstream = Arc::clone(&self.passage.upstream.name);
                let error = if due == self.span.end {
                    UpstreamError::Total { upstream, after: self.span.end - self.span.start }
                } else {
                    UpstreamError::Idle { upstream, after: self.patience }
                };
                return Poll::Ready(error);
            }
            timer.as_mut().reset(due);
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        let this = &mut *self;
        if !this.peeked.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut this.peeked)))));
        }
        let Some(coming) = &mut this.coming else { return Poll::Ready(None) };
        match coming.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.waiting = None;
                this.patience = this.passage.upstream.timeouts.idle;
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                let upstream = Arc::clone(&this.passage.upstream.name);
                Poll::Ready(Some(Err(this.end(UpstreamError::Reset { upstream, cause: error }))))
            }
            Poll::Ready(None) => {
                if let Some(coming) = this.coming.take() {
                    coming.over(cx);
                }
                this.timer = None;
                Poll::Ready(None)
            }
            Poll::Pending => {
                let error = ready!(this.poll_clocks(cx));
                Poll::Ready(Some(Err(this.end(error))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.peeked.is_empty() && self.coming.as_ref().is_none_or(Coming::is_over)
    }

    fn size_hint(&self) -> SizeHint {
        let coming = self.coming.as_ref().map(Coming::size_hint);
        let mut hint = coming.unwrap_or_else(|| SizeHint::with_exact(0));
        let peeked = self.peeked.len() as u64;
        if peeked > 0 {
            let upper = hint.upper().map(|upper| upper + peeked);
            let lower = hint.lower() + peeked;
            hint = SizeHint::new();
            hint.set_lower(lower);
            if let Some(upper) = upper {
                hint.set_upper(upper);
            }
        }
        hint
    }
}

#[cfg(test)]
#[path = "reply/tests.rs"]
mod tests;
