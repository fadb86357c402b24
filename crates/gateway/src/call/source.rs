//! Where a streamed answer comes from: an upstream, or something known already that is told piece by piece.

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::Body as _;
use providers::upstream::ReplyBody;
use tokio::time::{Sleep, sleep};
use wire::sse::Decoder;
use wire::{Broken, Delta, Reader, Wire};

/// Where pieces come from.
pub(crate) enum Source {
    /// An upstream's stream.
    Upstream(Box<Upstream>),
    /// An answer that is known, told in pieces with pauses between them.
    Told {
        /// What is left to tell.
        left: VecDeque<(Duration, Delta)>,
        /// The pause before the next piece.
        pause: Option<Pin<Box<Sleep>>>,
    },
}

/// An upstream's stream while it is read.
pub(crate) struct Upstream {
    body: ReplyBody,
    decoder: Decoder,
    reader: Reader,
    /// Nothing more comes from the body.
    drained: bool,
}

/// Why a stream ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cut {
    /// The connection, or our patience.
    #[error(transparent)]
    Transport(#[from] providers::upstream::UpstreamError),
    /// What came makes no sense.
    #[error(transparent)]
    Broken(#[from] Broken),
}

impl Source {
    pub(crate) fn upstream(wire: Wire, body: ReplyBody) -> Self {
        let upstream = Upstream { body, decoder: Decoder::default(), reader: wire.reader(), drained: false };
        Self::Upstream(Box::new(upstream))
    }

    pub(crate) fn told(pieces: impl IntoIterator<Item = (Duration, Delta)>) -> Self {
        Self::Told { left: pieces.into_iter().collect(), pause: None }
    }

    /// The next frame or piece: what it says is added to `deltas`, and the bytes that said it, if it came by a wire, to
    /// `raw`. `None` when nothing more comes.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        deltas: &mut Vec<Delta>,
        raw: &mut Vec<u8>,
    ) -> Poll<Option<Result<(), Cut>>> {
        match self {
            Self::Upstream(upstream) => upstream.poll_next(cx, deltas, raw),
            Self::Told { left, pause } => {
                if let Some(waiting) = pause {
                    ready!(waiting.as_mut().poll(cx));
                    *pause = None;
                } else if let Some((wait, _)) = left.front()
                    && !wait.is_zero()
                {
                    let mut waiting = Box::pin(sleep(*wait));
                    if waiting.as_mut().poll(cx).is_pending() {
                        *pause = Some(waiting);
                        return Poll::Pending;
                    }
                }
                let Some((_, delta)) = left.pop_front() else { return Poll::Ready(None) };
                deltas.push(delta);
                Poll::Ready(Some(Ok(())))
            }
        }
    }

    /// Reads on to the end of an upstream's body, so that its connection can be used again.
    pub(crate) fn poll_drained(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self::Upstream(upstream) = self else { return Poll::Ready(()) };
        while !upstream.drained {
            match ready!(Pin::new(&mut upstream.body).poll_frame(cx)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => upstream.drained = true,
            }
        }
        Poll::Ready(())
    }
}

impl Upstream {
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        deltas: &mut Vec<Delta>,
        raw: &mut Vec<u8>,
    ) -> Poll<Option<Result<(), Cut>>> {
        loop {
            match self.decoder.next() {
                Err(broken) => return Poll::Ready(Some(Err(broken.into()))),
                Ok(Some(frame)) => {
                    raw.extend_from_slice(frame.raw);
                    let read = frame.event.as_ref().map_or(Ok(()), |event| self.reader.read(event, deltas));
                    return Poll::Ready(Some(read.map_err(Cut::from)));
                }
                Ok(None) if self.drained => {
                    let before = deltas.len();
                    self.reader.close(deltas);
                    return Poll::Ready((deltas.len() > before).then_some(Ok(())));
                }
                Ok(None) => {}
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.decoder.feed(&data);
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => {
                    self.drained = true;
                    self.decoder.finish();
                }
            }
        }
    }
}
