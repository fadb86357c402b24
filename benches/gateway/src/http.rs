//! As much of HTTP/1.1 as a bench needs: the head of a message, and one exchange over a connection of its own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use memchr::memmem;
use serde_json::Value;

/// The head of a request or a response.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) first_line: String,
    /// Of the head itself, with the empty line.
    pub(crate) length: usize,
    pub(crate) content_length: Option<usize>,
    pub(crate) chunked: bool,
}

impl Head {
    /// The head that `bytes` begin with, if all of it is there.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let length = memmem::find(bytes, b"\r\n\r\n")? + 4;
        let mut lines = bytes[..length].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first_line = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
        let mut head = Self { first_line, length, content_length: None, chunked: false };
        for line in lines {
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-length") {
                head.content_length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                head.chunked = true;
            }
        }
        Some(head)
    }

    /// Where the message ends in `bytes`, which begin with this head; nothing while a part of it is missing.
    pub(crate) fn end_of(&self, bytes: &[u8]) -> Option<usize> {
        let mut end = self.length + self.content_length.unwrap_or(0);
        let mut more = self.chunked;
        while more {
            let line = memmem::find(bytes.get(end..)?, b"\r\n")?;
            let size = std::str::from_utf8(&bytes[end..end + line]).ok()?;
            let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
            end += line + 2 + size + 2;
            more = size > 0;
        }
        (end <= bytes.len()).then_some(end)
    }

    /// The status, if this is the head of a response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.first_line.split(' ').nth(1)?.parse().ok()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.body).map_err(|error| format!("not JSON: {error}: {}", self.beginning()))
    }

    /// Enough of the body to tell what it is.
    pub(crate) fn beginning(&self) -> String {
        String::from_utf8_lossy(&self.body).chars().take(200).collect()
    }
}

/// One request, over a connection that is closed afterwards.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[String],
    body: &str,
) -> Result<Reply, String> {
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        for header in headers {
            head += &format!("{header}\r\n");
        }
        if !body.is_empty() {
            head += "content-type: application/json\r\n";
        }
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
        read_whole(&mut stream)
    };
    let told = |reason: &str| format!("{method} http://{address}{path}: {reason}");
    let bytes = exchange().map_err(|error| told(&error.to_string()))?;
    let head = Head::parse(&bytes).ok_or_else(|| told("no response"))?;
    Ok(Reply {
        status: head.status().ok_or_else(|| told("no status"))?,
        body: bytes[head.length..].to_vec(),
        head: String::from_utf8_lossy(&bytes[..head.length]).into_owned(),
    })
}

/// Until the length that was announced, or the end: not everybody closes when asked to.
fn read_whole(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let head = Head::parse(&bytes).filter(|head| head.chunked || head.content_length.is_some());
        if head.is_some_and(|head| head.end_of(&bytes).is_some()) {
            return Ok(bytes);
        }
        match stream.read(&mut piece)? {
            0 => return Ok(bytes),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nx: y\r\n\r\nbody";
        let head = Head::parse(text).unwrap();
        assert_eq!((head.status(), head.content_length, head.chunked), (Some(200), Some(12), false));
        assert_eq!(&text[head.length..], b"body");
        for cut in 0..head.length {
            assert_eq!(Head::parse(&text[..cut]), None);
        }
    }

    #[test]
    fn a_message_ends_at_its_length_or_behind_the_empty_chunk() {
        let ends = |text: &str| Head::parse(text.as_bytes()).unwrap().end_of(text.as_bytes());
        assert_eq!(ends("A\r\ncontent-length: 2\r\n\r\nab"), Some(26));
        assert_eq!(ends("A\r\ncontent-length: 3\r\n\r\nab"), None);
        let whole = "A\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\na\r\n\r\n0\r\n\r\n";
        assert_eq!(ends(whole), Some(whole.len()));
        let head = Head::parse(whole.as_bytes()).unwrap();
        for cut in head.length..whole.len() {
            assert_eq!(ends(&whole[..cut]), None, "{cut}");
        }
    }
}
