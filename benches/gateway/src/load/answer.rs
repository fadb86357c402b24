//! Reads one answer from a connection, and notes when its parts came.

use std::time::{Duration, Instant};

use memchr::memmem;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::http::Head;

/// When the parts of one answer came.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Timing {
    /// From the question to the end of the answer.
    pub(super) whole: Duration,
    /// From the question to the first byte of the body.
    pub(super) first_byte: Duration,
    /// The longest time between two reads inside the body. The one before the final frame counts only if several frames of
    /// text came with it: then it was the stream that stood still, and not its end.
    pub(super) largest_gap: Duration,
    /// The time before the read that brought the final frame.
    pub(super) final_gap: Duration,
}

/// What the frames of a stream have in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frames {
    /// The final one, and no other.
    pub(super) last: &'static [u8],
    /// Those that carry text.
    pub(super) text: &'static [u8],
}

/// The answers of one connection, one after another.
pub(super) struct Answer {
    read: Vec<u8>,
    /// Nothing for answers in one piece.
    frames: Option<Frames>,
}

impl Answer {
    pub(super) fn new(frames: Option<Frames>) -> Self {
        Self { read: Vec::with_capacity(64 * 1024), frames }
    }

    /// Reads one answer to its end.
    pub(super) async fn read(&mut self, stream: &mut TcpStream, asked: Instant) -> Result<Timing, String> {
        self.read.clear();
        let mut parts = Parts::default();
        let mut head: Option<Head> = None;
        loop {
            if stream.read_buf(&mut self.read).await.map_err(|error| error.to_string())? == 0 {
                return Err("the connection was closed inside an answer".to_owned());
            }
            let now = asked.elapsed();
            if head.is_none() {
                head = Head::parse(&self.read);
            }
            let Some(head) = &head else { continue };
            let body = &self.read[head.length..];
            parts.came(now, body, self.frames);
            if is_whole(head, body) {
                if head.status() != Some(200) {
                    let text: String = String::from_utf8_lossy(body).chars().take(160).collect();
                    return Err(format!("{}: {text}", head.first_line));
                }
                if self.frames.is_some() && !parts.final_frame {
                    return Err("the stream ended without its final frame".to_owned());
                }
                return Ok(Timing { whole: now, ..parts.timing });
            }
        }
    }
}

/// Whether all of the body is there. A chunk of nothing ends a stream; nothing else that is sent here looks like one.
fn is_whole(head: &Head, body: &[u8]) -> bool {
    if head.chunked { body.ends_with(b"0\r\n\r\n") } else { body.len() >= head.content_length.unwrap_or(0) }
}

/// The parts so far.
#[derive(Debug, Default)]
struct Parts {
    timing: Timing,
    last: Option<Duration>,
    seen: usize,
    final_frame: bool,
}

impl Parts {
    /// `body` is all that has come by `now`.
    fn came(&mut self, now: Duration, body: &[u8], frames: Option<Frames>) {
        if body.len() == self.seen {
            return;
        }
        let gap = match self.last.replace(now) {
            None => {
                self.timing.first_byte = now;
                Duration::ZERO
            }
            Some(last) => now - last,
        };
        let seen = std::mem::replace(&mut self.seen, body.len());
        // Behind the final frame there is only the end of the chunks.
        let Some(frames) = frames.filter(|_| !self.final_frame) else { return };
        // The mark may have begun in the read before.
        let from = seen.saturating_sub(frames.last.len());
        self.final_frame = memmem::find(&body[from..], frames.last).is_some();
        if self.final_frame {
            self.timing.final_gap = gap;
        }
        if !self.final_frame || memmem::find_iter(&body[seen..], frames.text).nth(1).is_some() {
            self.timing.largest_gap = self.timing.largest_gap.max(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"data: text\n\ndata: text\n\ndata: text\n\ndata: [DONE]\n\n0\r\n\r\n";

    /// What is told of a body of which so many bytes had come at these microseconds.
    fn timing(reads: &[(u64, usize)]) -> (u64, u64, u64) {
        let mut parts = Parts::default();
        for (time, length) in reads {
            let frames = Frames { last: b"[DONE]", text: b"text" };
            parts.came(Duration::from_micros(*time), &BODY[..*length], Some(frames));
        }
        assert!(parts.final_frame);
        let Timing { first_byte, largest_gap, final_gap, .. } = parts.timing;
        let [first, largest, last] = [first_byte, largest_gap, final_gap].map(|time| time.as_micros() as u64);
        (first, largest, last)
    }

    #[test]
    fn the_gap_before_the_final_frame_counts_apart() {
        // The frame itself in two reads, and the end of the chunks long after it.
        assert_eq!(
            timing(&[(100, 12), (130, 36), (135, 44), (935, 50), (2_000, BODY.len())]),
            (100, 30, 800)
        );
    }

    #[test]
    fn a_stream_that_stands_still_and_comes_with_its_end_has_a_gap() {
        assert_eq!(timing(&[(100, 12), (940, BODY.len())]), (100, 840, 840));
        assert_eq!(
            timing(&[(100, 24), (940, BODY.len())]),
            (100, 0, 840),
            "one frame may go with the final one"
        );
    }

    #[test]
    fn an_answer_is_whole_at_its_length_or_at_the_last_chunk() {
        let head = |text: &str| Head::parse(format!("HTTP/1.1 200 OK\r\n{text}\r\n\r\n").as_bytes()).unwrap();
        assert!(!is_whole(&head("content-length: 3"), b"ab"));
        assert!(is_whole(&head("content-length: 3"), b"abc"));
        assert!(!is_whole(&head("transfer-encoding: chunked"), b"1\r\na\r\n"));
        assert!(is_whole(&head("transfer-encoding: chunked"), b"1\r\na\r\n0\r\n\r\n"));
    }
}
