//! Chunks: how HTTP/1.1 frames a body whose length nobody knows yet. Bytes as they came in, the body out.
//!
//! [`Chunks`] holds no part of the body, and of the framing only a line that has come in part: whoever waits for the next
//! piece of a stream needs no buffer for it.
//!
//! - Where the bytes are cut changes nothing (`wherever_chunks_are_cut_the_body_is_the_same`).
//! - What is not framed as RFC 9112 says is refused: a second reading of it would be somebody else's answer.

use memchr::memchr;

/// The longest line of framing, and all trailers together.
const LONGEST_LINE: usize = 1024;
const MOST_TRAILERS: usize = 8192;

/// The framing is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the chunks of the answer are broken")]
pub struct BrokenChunks;

/// Reads a chunked body.
#[derive(Debug, Default)]
pub struct Chunks {
    next: Next,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
}

/// What comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The line that says how long a chunk is.
    #[default]
    Size,
    /// So many bytes of a chunk.
    Data(u64),
    /// The end of the line after a chunk.
    DataEnd,
    /// Trailers, of which so many bytes have come, and then an empty line.
    Trailers(usize),
    /// Nothing: the body is whole.
    Over,
}

impl Chunks {
    /// Reads `bytes`, and adds what they have of the body to `body`. Says how many of them were read: fewer than all only
    /// when the body is over.
    pub fn read(&mut self, bytes: &[u8], body: &mut Vec<u8>) -> Result<usize, BrokenChunks> {
        let mut rest = bytes;
        while !rest.is_empty() && self.next != Next::Over {
            if let Next::Data(left) = self.next {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                body.extend_from_slice(&rest[..here]);
                rest = &rest[here..];
                let left = left - here as u64;
                self.next = if left == 0 { Next::DataEnd } else { Next::Data(left) };
                continue;
            }
            let end = memchr(b'\n', rest).map(|end| end + 1);
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            if self.line.len() + line.len() > LONGEST_LINE {
                return Err(BrokenChunks);
            }
            if end.is_none() {
                self.line.extend_from_slice(line);
            } else if self.line.is_empty() {
                self.next = self.next.after(line)?;
            } else {
                self.line.extend_from_slice(line);
                self.next = self.next.after(&self.line)?;
                self.line = Vec::new();
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Whether the body is whole.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next == Next::Over
    }
}

impl Next {
    /// What comes after a whole line.
    fn after(self, line: &[u8]) -> Result<Self, BrokenChunks> {
        match self {
            // Nothing at all would be read as zero.
            Self::Size if !line[0].is_ascii_hexdigit() => Err(BrokenChunks),
            Self::Size => match httparse::parse_chunk_size(line) {
                Ok(httparse::Status::Complete((_, 0))) => Ok(Self::Trailers(0)),
                Ok(httparse::Status::Complete((_, size))) => Ok(Self::Data(size)),
                Ok(httparse::Status::Partial) | Err(_) => Err(BrokenChunks),
            },
            Self::DataEnd if line == b"\r\n" => Ok(Self::Size),
            Self::Trailers(_) if line == b"\r\n" => Ok(Self::Over),
            Self::Trailers(so_far) if so_far + line.len() <= MOST_TRAILERS => {
                Ok(Self::Trailers(so_far + line.len()))
            }
            Self::DataEnd | Self::Trailers(_) | Self::Data(_) | Self::Over => Err(BrokenChunks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The body, and what was left unread; or nothing, if the chunks are broken or not whole.
    fn read(pieces: &[&[u8]]) -> Option<(String, Vec<u8>)> {
        let (mut chunks, mut body, mut left) = (Chunks::default(), Vec::new(), Vec::new());
        for piece in pieces {
            let read = chunks.read(piece, &mut body).ok()?;
            left.extend_from_slice(&piece[read..]);
        }
        chunks.is_over().then(|| (String::from_utf8(body).unwrap(), left))
    }

    #[test]
    fn sizes_are_hex_extensions_say_nothing_and_trailers_are_left_out() {
        let body = b"5\r\nhello\r\nA;name=\"x\"\r\n, chunked!\r\n0\r\nexpires: never\r\n\r\nHTTP/1.1";
        assert_eq!(read(&[body]), Some(("hello, chunked!".to_owned(), b"HTTP/1.1".to_vec())));
    }

    #[test]
    fn what_is_no_framing_is_refused() {
        for broken in [
            "",
            "5\r\nhello",
            "5\r\nhello\r\n",
            "5\r\nhello!\r\n0\r\n\r\n",
            "5\r\nhell\r\n0\r\n\r\n",
            "5\r\nhello\n0\r\n\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n0\r\n\r\n",
            "\r\n0\r\n\r\n",
            "fffffffffffffffff\r\n",
            "0\r\n",
            "0\r\n\n",
        ] {
            assert_eq!(read(&[broken.as_bytes()]), None, "{broken:?}");
        }
        assert_eq!(read(&[format!("1;{}\r\nx\r\n0\r\n\r\n", "a".repeat(LONGEST_LINE)).as_bytes()]), None);
        let trailers = format!("a: {}\r\n", "b".repeat(1000)).repeat(9);
        assert_eq!(read(&[format!("0\r\n{trailers}\r\n").as_bytes()]), None);
    }

    proptest! {
        #[test]
        fn wherever_chunks_are_cut_the_body_is_the_same(
            chunks in prop::collection::vec("[a-z\r\n]{1,40}", 0..8),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut framed: String =
                chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
            framed.push_str("0\r\nt: x\r\n\r\nnext");
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(framed.len() + 1)).collect();
            places.extend([0, framed.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> =
                places.windows(2).map(|ends| &framed.as_bytes()[ends[0]..ends[1]]).collect();
            prop_assert_eq!(read(&pieces), Some((chunks.concat(), b"next".to_vec())));
        }
    }
}
