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
    ear: Box<Ear>,
    /// Nothing more comes from the body.
    drained: bool,
}

/// What understands an upstream's stream, and what it has heard ahead of those who listen.
pub(crate) struct Ear {
    decoder: Decoder,
    reader: Reader,
    /// How much it was given while the beginning was listened for.
    given: usize,
    ahead: VecDeque<Result<Ahead, Broken>>,
}

/// A frame: its bytes, and what they say.
type Ahead = (Vec<u8>, Vec<Delta>);

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
    /// The rest of a stream whose beginning was heard by `ear`.
    pub(crate) fn upstream(ear: Box<Ear>, body: ReplyBody) -> Self {
        Self::Upstream(Box::new(Upstream { body, ear, drained: false }))
    }

    pub(crate) fn told(pieces: impl IntoIterator<Item = (Duration, Delta)>) -> Self {
        Self::Told { left: pieces.into_iter().collect(), pause: None }
    }

    /// The next frame or piece: what it says in `deltas`, and the bytes that said it, if it came by a wire, in `raw`; both
    /// are empty before. `None` when nothing more comes.
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

impl Ear {
    pub(crate) fn of(wire: Wire) -> Self {
        Self { decoder: Decoder::default(), reader: wire.reader(), given: 0, ahead: VecDeque::new() }
    }

    /// Hears ahead in the beginning of a stream, of which all that has come is given each time, until `enough` says so of
    /// something that is said, or it makes no sense. What was heard is not lost: it comes first when the stream is read.
    pub(crate) fn hear<T>(&mut self, beginning: &[u8], enough: impl Fn(&Delta) -> Option<T>) -> Heard<T> {
        self.decoder.feed(beginning.get(self.given..).unwrap_or_default());
        self.given = self.given.max(beginning.len());
        loop {
            let (mut raw, mut deltas) = (Vec::new(), Vec::new());
            let heard = match self.next(&mut deltas, &mut raw) {
                // Whoever reads the stream is told so again.
                Ok(false) | Err(Nonsense::Frame(_)) => return Heard::Nothing,
                Ok(true) => deltas.iter().find_map(&enough).map(Heard::Said),
                Err(Nonsense::Event(broken)) => {
                    self.ahead.push_back(Err(broken));
                    return Heard::Nonsense;
                }
            };
            self.ahead.push_back(Ok((raw, deltas)));
            if let Some(heard) = heard {
                return heard;
            }
        }
    }

    /// The next frame, if all of it is there: whether it is.
    fn next(&mut self, deltas: &mut Vec<Delta>, raw: &mut Vec<u8>) -> Result<bool, Nonsense> {
        let Some(frame) = self.decoder.next().map_err(Nonsense::Frame)? else { return Ok(false) };
        raw.extend_from_slice(frame.raw);
        let read = frame.event.as_ref().map_or(Ok(()), |event| self.reader.read(event, deltas));
        read.map_err(Nonsense::Event).map(|()| true)
    }
}

/// What was heard in the beginning of a stream.
pub(crate) enum Heard<T> {
    /// Nothing yet.
    Nothing,
    /// Something.
    Said(T),
    /// Something that makes no sense.
    Nonsense,
}

/// What makes no sense.
enum Nonsense {
    /// A frame never ends.
    Frame(Broken),
    /// What a frame says.
    Event(Broken),
}

impl From<Nonsense> for Cut {
    fn from(nonsense: Nonsense) -> Self {
        match nonsense {
            Nonsense::Frame(broken) | Nonsense::Event(broken) => broken.into(),
        }
    }
}

impl Upstream {
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        deltas: &mut Vec<Delta>,
        raw: &mut Vec<u8>,
    ) -> Poll<Option<Result<(), Cut>>> {
        if let Some(heard) = self.ear.ahead.pop_front() {
            let heard = heard.map(|heard| (*raw, *deltas) = heard);
            return Poll::Ready(Some(heard.map_err(Cut::from)));
        }
        loop {
            match self.ear.next(deltas, raw) {
                Err(nonsense) => return Poll::Ready(Some(Err(nonsense.into()))),
                Ok(true) => return Poll::Ready(Some(Ok(()))),
                Ok(false) if self.drained => {
                    self.ear.reader.close(deltas);
                    return Poll::Ready((!deltas.is_empty()).then_some(Ok(())));
                }
                Ok(false) => {}
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.ear.decoder.feed(&data);
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => {
                    self.drained = true;
                    self.ear.decoder.finish();
                }
            }
        }
    }
}
