//! A client's connection, watched by two clocks: it must say what it wants, and it must take what it gets.
//!
//! A client that waits for its answer is given all the time there is, so a stream may be silent for as long as its model
//! thinks. Clocks run only while it is the client's turn, or while something is there that it does not take.

use std::io::{Error, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::alarm::Alarm;
use super::bounds::Bounds;
use super::stage::Stage;

/// What somebody is told who began a request and did not go on. It is no answer of a wire: nobody knows yet which.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\n\
    connection: close\r\ncontent-length: 132\r\n\r\n\
    {\"error\":{\"code\":\"punk_request_late\",\"message\":\"the head of the request took too long\",\
    \"hint\":\"send it at once, or open a new one\"}}";

/// A connection whose client must not keep it for nothing.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    stage: Arc<Stage>,
    bounds: Bounds,
    /// The turn that was seen last.
    turn: u64,
    /// Since when the client has begun to say something.
    begun: Option<Instant>,
    reading: Alarm,
    /// Since when it takes nothing.
    blocked: Option<Instant>,
    /// When it last took something that had waited for it.
    taken: Option<Instant>,
    writing: Alarm,
}

impl Watched {
    pub(super) fn new(stream: TcpStream, stage: Arc<Stage>, bounds: Bounds) -> Self {
        Self {
            stream,
            stage,
            bounds,
            turn: 0,
            begun: None,
            reading: Alarm::default(),
            blocked: None,
            taken: None,
            writing: Alarm::default(),
        }
    }

    /// Notes whose turn it is; whether it is the client's.
    fn look(&mut self) -> bool {
        let turn = self.stage.turn();
        if turn != self.turn {
            (self.turn, self.begun) = (turn, None);
        }
        Stage::is_clients(turn)
    }

    /// How long the client may take from here on, and since when it has.
    fn patience(&self) -> (Instant, Duration) {
        let Bounds { header, idle, .. } = self.bounds;
        match self.begun {
            Some(begun) => (begun, header),
            None => {
                let since = self.stage.since();
                let since = self.taken.map_or(since, |taken| since.max(taken));
                // Nobody opens a connection to say nothing.
                (since, if self.turn == 0 { header } else { idle })
            }
        }
    }

    /// Ready with an error when the client has taken nothing for too long.
    fn poll_blocked(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let since = *self.blocked.get_or_insert_with(Instant::now);
        ready!(self.writing.poll(since + self.bounds.stalled, cx));
        // What it did not take is not kept for it either.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Error::new(ErrorKind::TimedOut, "the client does not take its answer"))
    }

    fn written(
        &mut self,
        written: Poll<std::io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<usize>> {
        if written.is_ready() {
            if self.blocked.take().is_some() {
                self.taken = Some(Instant::now());
            }
            return written;
        }
        self.poll_blocked(cx).map(Err)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let (clients, before) = (this.look(), buffer.filled().len());
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if read.is_ready() {
            if clients && buffer.filled().len() > before {
                this.begun.get_or_insert_with(Instant::now);
            }
            return read;
        }
        // It may still be reading what was said to it last, and that has a clock of its own.
        if !clients || this.blocked.is_some() {
            // Nobody asks again when the turn changes while nothing comes.
            this.reading.keep_ringing(this.bounds.idle, cx);
            return Poll::Pending;
        }
        let (since, patience) = this.patience();
        ready!(this.reading.poll(since + patience, cx));
        if this.begun.is_some() {
            // A courtesy; whoever does not take it is cut off all the same.
            let _ = this.stream.try_write(TOO_SLOW);
        }
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not say what it wants")))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(written, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
