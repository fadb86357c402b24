//! The line to an upstream, as hyper has it: it knows what has left, and stops after the head of a stream.
//!
//! hyper says neither whether all of a request has been sent nor what it has taken of a body already, and both decide whether a
//! stream can go on without it ([`super::flow`]). hyper flushes only when it has written everything it has, so a flush that
//! came to its end says the first. For the second, what comes together with the head of an event stream is held back until
//! somebody says who is to have it.

use super::connect::Io;
use bytes::Bytes;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use memchr::memmem;
use std::io::{IoSlice, Result};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

/// A connection that hyper reads and writes.
pub(super) struct Line {
    io: Io,
    stand: Arc<Stand>,
    /// What came together with the head of a stream.
    held: Bytes,
}

/// Where a line stands. Its connection and whoever uses that are always in one task, so nothing is waited for here.
#[derive(Debug, Default)]
pub(super) struct Stand {
    /// Whether everything that was to be sent has left.
    all_left: AtomicBool,
    reading: AtomicU8,
}

/// What is read next: an answer from its head on, nothing, or anything.
const HEAD: u8 = 0;
const HELD: u8 = 1;
const ALL: u8 = 2;

/// What is read at once while a head is awaited.
const HEAD_AT_MOST: usize = 8192;

impl Stand {
    /// A request goes out, and the head of its answer comes next.
    pub(super) fn expect_head(&self) {
        self.reading.store(HEAD, Ordering::Relaxed);
    }

    /// Whether the head of a stream has come, nothing of its body was taken, and nothing is left to be sent.
    pub(super) fn is_before_stream(&self) -> bool {
        self.reading.load(Ordering::Relaxed) == HELD && self.all_left.load(Ordering::Relaxed)
    }

    /// Whoever has the line reads on.
    pub(super) fn read_on(&self) {
        self.reading.store(ALL, Ordering::Relaxed);
    }
}

impl Line {
    /// A line, and where it stands.
    pub(super) fn new(io: Io) -> (Self, Arc<Stand>) {
        let stand = Arc::<Stand>::default();
        (Self { io, stand: Arc::clone(&stand), held: Bytes::new() }, stand)
    }

    /// What it is made of, and what it held back.
    pub(super) fn into_parts(self) -> (Io, Bytes) {
        (self.io, self.held)
    }

    fn poll_read_head(&mut self, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<Result<()>> {
        let mut place = [MaybeUninit::uninit(); HEAD_AT_MOST];
        let most = HEAD_AT_MOST.min(buf.remaining());
        let mut place = ReadBuf::uninit(&mut place[..most]);
        ready!(Pin::new(&mut self.io).poll_read(cx, place.unfilled()))?;
        let read = place.filled();
        let end = end_of_stream_head(read);
        let (head, rest) = read.split_at(end.unwrap_or(read.len()));
        buf.put_slice(head);
        self.held = Bytes::copy_from_slice(rest);
        self.stand.reading.store(if end.is_some() { HELD } else { ALL }, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

/// Where the head ends, if these bytes begin with the whole head of an event stream. One that comes in pieces is not known for
/// what it is: its stream costs more, and that is all.
fn end_of_stream_head(bytes: &[u8]) -> Option<usize> {
    if !bytes.starts_with(b"HTTP/1.1 200") {
        return None;
    }
    let end = memmem::find(bytes, b"\r\n\r\n")? + 4;
    memmem::find(&bytes[..end], b"text/event-stream").map(|_| end)
}

impl Read for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        match self.stand.reading.load(Ordering::Relaxed) {
            HEAD => self.poll_read_head(cx, buf),
            // Nobody is woken for it: whoever decides what becomes of the stream asks again, if hyper is to read it.
            HELD => Poll::Pending,
            _ if !self.held.is_empty() => {
                let most = self.held.len().min(buf.remaining());
                buf.put_slice(&self.held.split_to(most));
                Poll::Ready(Ok(()))
            }
            _ => Pin::new(&mut self.io).poll_read(cx, buf),
        }
    }
}

impl Write for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        self.stand.all_left.store(false, Ordering::Relaxed);
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.stand.all_left.store(false, Ordering::Relaxed);
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.stand.all_left.store(true, Ordering::Relaxed);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
