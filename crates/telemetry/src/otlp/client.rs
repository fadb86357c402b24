//! A small HTTP client: one POST over a plain socket, for the exporter's own thread.
//!
//! It blocks inside an `async fn`, which is right only there: the batch processor drives its exporter
//! on a thread that does nothing else.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use opentelemetry_http::{HttpClient, HttpError};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// A collector answers with a few bytes; more is not worth reading.
const LONGEST_ANSWER: u64 = 64 * 1024;

#[derive(Debug)]
pub(super) struct PlainClient {
    pub(super) timeout: Duration,
}

#[async_trait]
impl HttpClient for PlainClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        Ok(self.send(&request)?)
    }
}

impl PlainClient {
    fn send(&self, request: &Request<Bytes>) -> io::Result<Response<Bytes>> {
        let mut stream = self.connect(request)?;
        stream.set_write_timeout(Some(self.timeout))?;
        stream.set_read_timeout(Some(self.timeout))?;
        stream.write_all(&head(request))?;
        stream.write_all(request.body())?;
        let mut answer = Vec::new();
        stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
        parse(&answer)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the collector did not answer in HTTP"))
    }

    fn connect(&self, request: &Request<Bytes>) -> io::Result<TcpStream> {
        let uri = request.uri();
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let mut refused = io::Error::new(io::ErrorKind::NotFound, "the collector has no address");
        for address in (host, uri.port_u16().unwrap_or(80)).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.timeout) {
                Ok(stream) => return Ok(stream),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }
}

fn head(request: &Request<Bytes>) -> Vec<u8> {
    let uri = request.uri();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit('@').next().unwrap_or_default();
    let length = request.body().len();
    let mut head = format!(
        "{} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\nconnection: close\r\n",
        request.method()
    )
    .into_bytes();
    // The parser of `http` has refused line ends in names and values, so no header can smuggle another.
    for (name, value) in
        request.headers().iter().filter(|(name, _)| !["host", "content-length"].contains(&name.as_str()))
    {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Status and body. A chunked body is dropped: it holds at most a remark about refused spans.
fn parse(answer: &[u8]) -> Option<Response<Bytes>> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = str::from_utf8(&answer[..end]).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { Bytes::new() } else { Bytes::copy_from_slice(&answer[end + 4..]) };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_bytes(status.as_bytes()).ok()?;
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_nonsense_is_refused() {
        let status = |answer: &str| {
            parse(answer.as_bytes()).map(|response| (response.status().as_u16(), response.body().len()))
        };
        assert_eq!(status("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"), Some((200, 2)));
        assert_eq!(status("HTTP/1.0 503 Busy\r\n\r\n"), Some((503, 0)));
        assert_eq!(status("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), Some((200, 0)));
        assert_eq!(status("HTTP/1.1 200 OK\r\n"), None);
        assert_eq!(status("SSH-2.0-OpenSSH\r\n\r\n"), None);
        assert_eq!(status(""), None);
    }

    #[test]
    fn the_head_names_the_host_without_credentials() {
        let request = Request::post("http://me:pw@collector:4318/v1/traces?x=1")
            .header("a", "b")
            .body(Bytes::from_static(b"123"))
            .unwrap();
        assert_eq!(
            String::from_utf8(head(&request)).unwrap(),
            "POST /v1/traces?x=1 HTTP/1.1\r\nhost: collector:4318\r\ncontent-length: 3\r\nconnection: close\r\na: b\r\n\r\n"
        );
    }
}
