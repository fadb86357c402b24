//! What one client may take of the gateway: connections, bytes and time.

use std::time::Duration;

use axum::response::Response;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, StatusCode};

use crate::error::{ApiError, Wire};

/// The longest path and query that is looked at. Nothing that we serve comes near it.
const MAX_URL: usize = 8 * 1024;

/// What clients may take, all of them together and each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many connections may be open. Whoever comes then is told to come again.
    pub connections: usize,
    /// How many bytes the head of a request may have, its first line included.
    pub header_bytes: usize,
    /// How long the head of a request may take from its first byte, and the first byte of a new connection.
    pub header: Duration,
    /// How long a connection may be kept open between two requests.
    pub idle: Duration,
    /// How long the body of a request may take, from its head to its last byte.
    pub body: Duration,
    /// How long a client may take nothing of an answer that is there for it.
    pub stalled: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connections: 10_000,
            header_bytes: 32 * 1024,
            header: seconds(15),
            // Longer than load balancers keep theirs: whoever closes first must be the one who would send next.
            idle: seconds(75),
            body: seconds(120),
            stalled: seconds(60),
        }
    }
}

/// What is wrong with a request by its head alone, before anybody has looked at what it asks.
pub(super) fn refuse<B>(request: &Request<B>, max_body_bytes: usize) -> Option<Response> {
    let url = request.uri().path_and_query().map_or(0, |url| url.as_str().len());
    let error = if url > MAX_URL {
        ApiError::UrlTooLong { most: MAX_URL }
    } else if announced(request).is_some_and(|length| length > max_body_bytes as u64) {
        ApiError::Body {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            message: format!("the body is longer than {max_body_bytes} bytes"),
        }
    } else {
        return None;
    };
    let mut response = error.respond(Wire::of(request.uri().path()));
    // What was announced may never be read, so nothing else can follow it.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    Some(response)
}

/// How long the body is, as far as its head says so.
fn announced<B>(request: &Request<B>) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str, length: &str) -> Option<u16> {
        let request = Request::builder().uri(url).header(CONTENT_LENGTH, length).body(()).unwrap();
        refuse(&request, 1000).map(|response| response.status().as_u16())
    }

    #[test]
    fn what_is_too_long_is_refused_by_its_head() {
        assert_eq!(refused("/v1/chat/completions", "1000"), None);
        assert_eq!(refused("/v1/chat/completions", "1001"), Some(413));
        assert_eq!(refused(&format!("/{}", "a".repeat(MAX_URL)), "0"), Some(414));
        assert_eq!(refused(&format!("/?{}", "a".repeat(MAX_URL - 2)), "0"), None);
    }
}
