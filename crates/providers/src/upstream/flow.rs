//! A stream that flows through an HTTP/1 connection, and nothing else of that connection.
//!
//! Streams last for minutes and are thousands at once. hyper's connection holds 25 KB for the request that has long been sent,
//! for the next one, and for what may come; a stream holds the socket and where it is in a chunk. What has come is read
//! into a buffer on the stack, and what was read together goes on together.
//!
//! The head, where most can go wrong, is still hyper's to read, and so is the next answer: after the stream, the
//! connection becomes what it was.

use super::connect::Io;
use super::error::BoxError;
use super::kept::Kept;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::response::Parts;
use http::{HeaderMap, Version};
use hyper::rt::{Read as _, ReadBuf};
use std::future::Future as _;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use wire::chunked::{BrokenChunks, Chunks};

/// What is read at once: dozens of pieces of a stream.
const READ_AT_ONCE: usize = 8192;

/// A connection that a stream flows through.
#[derive(Debug)]
pub(super) struct Flow {
    io: Io,
    chunks: Chunks,
    /// What had come with the head.
    read: Bytes,
    /// Whether another request may follow the stream.
    stays: bool,
    /// What it ends with when what came before that is handed on.
    broken: Option<BrokenChunks>,
}

impl Flow {
    /// The stream whose head came by `kept`; or that connection as it was, if it is none that can flow.
    pub(super) fn begin(kept: Box<Kept>, head: &Parts) -> Result<Self, Box<Kept>> {
        let (io, read) = if is_flow(head) { kept.into_parts()? } else { return Err(kept.read_on()) };
        Ok(Self { io, chunks: Chunks::default(), read, stays: stays(&head.headers), broken: None })
    }

    /// The next piece.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        let mut body = Vec::new();
        while body.is_empty() && !self.chunks.is_over() {
            if let Some(broken) = self.broken {
                return Poll::Ready(Some(Err(broken.into())));
            }
            if self.read.is_empty() {
                let mut place = [MaybeUninit::uninit(); READ_AT_ONCE];
                let mut place = ReadBuf::uninit(&mut place);
                if let Err(error) = ready!(Pin::new(&mut self.io).poll_read(cx, place.unfilled())) {
                    return Poll::Ready(Some(Err(error.into())));
                }
                if place.filled().is_empty() {
                    return Poll::Ready(Some(Err("the connection ended in the middle of a stream".into())));
                }
                self.take(place.filled(), &mut body);
            } else {
                let read = std::mem::take(&mut self.read);
                self.take(&read, &mut body);
            }
        }
        Poll::Ready((!body.is_empty()).then(|| Ok(Bytes::from(body))))
    }

    fn take(&mut self, bytes: &[u8], body: &mut Vec<u8>) {
        body.reserve(bytes.len());
        match self.chunks.read(bytes, body) {
            // Whoever goes on talking after the end of its answer is not asked again.
            Ok(read) => self.stays &= read == bytes.len(),
            Err(broken) => self.broken = Some(broken),
        }
    }

    /// Whether all of it has come.
    pub(super) fn is_over(&self) -> bool {
        self.chunks.is_over()
    }

    /// The connection, for the next call, if it can have one.
    pub(super) fn over(self, cx: &mut Context<'_>) -> Option<Box<Kept>> {
        if !self.stays || !self.chunks.is_over() {
            return None;
        }
        // Nothing is waited for: it is only made.
        match pin!(Kept::new(self.io)).poll(cx) {
            Poll::Ready(Ok(kept)) => Some(kept),
            Poll::Ready(Err(_)) | Poll::Pending => None,
        }
    }
}

/// Whether this is the head of a stream that can flow: events, in chunks and nothing else.
fn is_flow(Parts { version, headers, .. }: &Parts) -> bool {
    const EVENTS: &[u8] = b"text/event-stream";
    let begins = |kind: &[u8]| kind.get(..EVENTS.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(EVENTS));
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    *version == Version::HTTP_11
        && headers.get(CONTENT_TYPE).is_some_and(|kind| begins(kind.as_bytes()))
        && !headers.contains_key(CONTENT_LENGTH)
        && encodings.next().is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        && encodings.next().is_none()
}

/// Whether whoever sent this head wants the connection to go on.
fn stays(headers: &HeaderMap) -> bool {
    let mut said =
        headers.get_all(CONNECTION).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    !said.any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close"))
}
