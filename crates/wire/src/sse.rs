//! Server-sent events: bytes into frames and back.
//!
//! [`Decoder`] finds the frames in whatever pieces the bytes come and gives each with its own bytes, so that a stream
//! can be passed on untouched while it is read.

use std::ops::Range;

use memchr::memchr2;

use crate::wire::Broken;

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of event, if the frame names one.
    pub name: Option<&'a str>,
    /// Its data; lines are joined with `\n`.
    pub data: &'a str,
}

/// A frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// All of its bytes, the empty line at its end included. The frames of a stream, one after the other, are the stream.
    pub raw: &'a [u8],
    /// What it says; a frame of comments says nothing.
    pub event: Option<Event<'a>>,
}

/// Finds the frames of a stream: [`Decoder::feed`] it, take frames until there is none, and at the end of the stream
/// [`Decoder::finish`] it and take the last.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where the frame begins that is not given out yet.
    begin: usize,
    /// Where its unfinished line begins.
    line: usize,
    /// How far that line was looked at.
    seen: usize,
    /// Whether anything was given out; a byte order mark is one only at the very beginning.
    started: bool,
    finished: bool,
    limit: usize,
    /// Where the name of the event is, counted from the beginning of the frame.
    name: Option<Range<usize>>,
    said: Said,
    /// Data that is not to be found in one place; its room is used again for the next frame.
    joined: String,
    /// The same for a name.
    spelled: String,
    /// A frame was given out, so what it said is to be forgotten.
    stale: bool,
}

/// What the lines of a frame have said so far.
#[derive(Debug, Clone, Default)]
enum Said {
    #[default]
    Nothing,
    /// One line, which is here, counted from the beginning of the frame.
    Line(Range<usize>),
    /// Several, which are joined.
    Lines,
}

/// Longer than any frame a vendor sends; pictures in frames reach a few megabytes.
pub const MAX_FRAME: usize = 32 * 1024 * 1024;

impl Default for Decoder {
    fn default() -> Self {
        Self::new(MAX_FRAME)
    }
}

impl Decoder {
    /// A decoder of frames of at most so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            begin: 0,
            line: 0,
            seen: 0,
            started: false,
            finished: false,
            limit,
            name: None,
            said: Said::Nothing,
            joined: String::new(),
            spelled: String::new(),
            stale: false,
        }
    }

    /// Takes more bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.begin > 0 {
            self.buffer.drain(..self.begin);
            self.line -= self.begin;
            self.seen -= self.begin;
            self.begin = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// No more bytes come: what is left is a frame, even without the empty line at its end.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next frame, if it is complete.
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows from the decoder, which no iterator can say"
    )]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, Broken> {
        if std::mem::take(&mut self.stale) {
            (self.name, self.said) = (None, Said::Nothing);
            self.joined.clear();
        }
        while let Some((end, next)) = self.line_end() {
            let line = self.line..end;
            self.line = next;
            self.seen = next;
            let empty = line.is_empty();
            self.take_line(line);
            if empty {
                return Ok(Some(self.frame(next)));
            }
        }
        if self.buffer.len() - self.begin > self.limit {
            return Err(Broken::new(format!("a frame of the stream is longer than {} bytes", self.limit)));
        }
        if self.finished && self.begin < self.buffer.len() {
            let end = self.buffer.len();
            self.take_line(self.line..end);
            (self.line, self.seen) = (end, end);
            return Ok(Some(self.frame(end)));
        }
        Ok(None)
    }

    /// Where the line ends, and where the next begins. A `\r` in the last place waits: a `\n` may belong to it.
    fn line_end(&mut self) -> Option<(usize, usize)> {
        let rest = self.buffer.get(self.seen..)?;
        let Some(offset) = memchr2(b'\n', b'\r', rest) else {
            self.seen = self.buffer.len();
            return None;
        };
        let end = self.seen + offset;
        match (self.buffer.get(end), self.buffer.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => Some((end, end + 2)),
            (Some(b'\r'), None) if !self.finished => {
                self.seen = end;
                None
            }
            _ => Some((end, end + 1)),
        }
    }

    fn take_line(&mut self, at: Range<usize>) {
        let mut line = self.buffer.get(at.clone()).unwrap_or_default();
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let place = at.end - value.len() - self.begin..at.end - self.begin;
        match field {
            b"data" => match std::mem::replace(&mut self.said, Said::Lines) {
                Said::Nothing => self.said = Said::Line(place),
                Said::Line(first) => {
                    let frame = self.buffer.get(self.begin..).unwrap_or_default();
                    self.joined.push_str(&String::from_utf8_lossy(frame.get(first).unwrap_or_default()));
                    self.joined.push('\n');
                    self.joined.push_str(&String::from_utf8_lossy(value));
                }
                Said::Lines => {
                    self.joined.push('\n');
                    self.joined.push_str(&String::from_utf8_lossy(value));
                }
            },
            b"event" => self.name = Some(place),
            // Comments, ids and reconnection times mean nothing to us; they are in the raw bytes.
            _ => {}
        }
    }

    fn frame(&mut self, end: usize) -> Frame<'_> {
        let raw = self.buffer.get(self.begin..end).unwrap_or_default();
        self.begin = end;
        self.stale = true;
        let data = match self.said.clone() {
            Said::Nothing => None,
            Said::Line(place) => Some(text(raw, place, &mut self.joined)),
            Said::Lines => Some(&*self.joined),
        };
        let name = self.name.clone().map(|place| text(raw, place, &mut self.spelled));
        let name = name.filter(|name| !name.is_empty());
        Frame { raw, event: data.map(|data| Event { name, data }) }
    }
}

/// The text at a place of a frame: itself, or its nearest spelling in `room` if it is none.
fn text<'t>(raw: &'t [u8], place: Range<usize>, room: &'t mut String) -> &'t str {
    let bytes = raw.get(place).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_else(|_| {
        room.clear();
        room.push_str(&String::from_utf8_lossy(bytes));
        room
    })
}

/// Adds a frame to `out`.
pub fn write_frame(name: Option<&str>, data: &str, out: &mut Vec<u8>) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    for line in data.split('\n') {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
}
