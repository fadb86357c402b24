//! What goes out and what comes back.

use crate::origin::Origin;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::time::Duration;

/// What belongs to the connection, or says how a body is written down: all of it ours to say. With a `host` of its own a
/// request would ask one server for what another has.
const OURS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What is to be done. The methods that open tunnels or send back what they were sent are not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads what can be said without the body.
    Head,
    /// Sends.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

/// Whether a server may send us on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Redirects {
    /// A redirect is an answer like any other.
    #[default]
    Never,
    /// A few are followed, each judged like the first address; but only for a `GET` or `HEAD` without a body. Whatever else
    /// is sent was meant for whoever it was sent to.
    Follow,
}

/// How much of an answer is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wanted {
    /// All of it.
    #[default]
    Whole,
    /// Status and headers. The body is left with the server, however long it is: whoever only wants to know whether
    /// something arrived must not fail because much was said about it.
    Head,
}

/// How long it may take and how much may come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From a name to a connection, handshake included. Every hop has it anew.
    pub connect: Duration,
    /// All of it, redirects included.
    pub total: Duration,
    /// The bytes of an answer's body.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), total: Duration::from_secs(30), body: 1 << 20 }
    }
}

/// A request: [`Request::new`], and what differs from most.
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) redirects: Redirects,
    pub(crate) wanted: Wanted,
    pub(crate) limits: Limits,
}

/// A header that belongs to the connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("header {0} is set for each connection and cannot be given")]
pub struct HeaderRefused(
    /// Its name.
    pub HeaderName,
);

impl Request {
    /// A request to `url`, without a body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            redirects: Redirects::default(),
            wanted: Wanted::default(),
            limits: Limits::default(),
        }
    }

    /// With `body`.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// With a header, in the place of another of its name.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Result<Self, HeaderRefused> {
        if OURS.contains(&name.as_str()) {
            return Err(HeaderRefused(name));
        }
        self.headers.insert(name, value);
        Ok(self)
    }

    /// With redirects treated so.
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// With so much of the answer waited for.
    #[must_use]
    pub fn wanted(mut self, wanted: Wanted) -> Self {
        self.wanted = wanted;
        self
    }

    /// Within `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether a redirect of it may be followed.
    pub(crate) fn may_be_sent_on(&self) -> bool {
        let reads = matches!(self.method, Method::Get | Method::Head);
        self.redirects == Redirects::Follow && reads && self.body.is_empty()
    }
}

impl From<Method> for http::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Head => Self::HEAD,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
            Method::Delete => Self::DELETE,
        }
    }
}

/// Neither the address, which may hold a token, nor the values of headers.
impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&HeaderName> = self.headers.keys().collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("headers", &headers)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// An answer, whatever its status, with as much of its body as was wanted.
pub struct Answer {
    /// Who gave it: the last of those that we were sent on to.
    pub origin: Origin,
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, as it was sent: nothing is unpacked. Empty if it was not wanted.
    pub body: Bytes,
}

/// Neither the body nor the values of headers.
impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("origin", &self.origin)
            .field("status", &self.status)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_are_refused_and_others_are_not() {
        for name in OURS {
            let name = HeaderName::from_static(name);
            let refused = Request::new(Method::Get, "").header(name.clone(), HeaderValue::from_static("x"));
            assert_eq!(refused.unwrap_err(), HeaderRefused(name));
        }
        let name = HeaderName::from_static("x-signature");
        assert!(Request::new(Method::Get, "").header(name, HeaderValue::from_static("x")).is_ok());
    }

    #[test]
    fn nothing_secret_is_printed() {
        let request = Request::new(Method::Post, "https://example.com/?token=secret").body("secret");
        let request =
            request.header(http::header::AUTHORIZATION, HeaderValue::from_static("secret")).unwrap();
        assert_eq!(
            format!("{request:?}"),
            r#"Request { method: Post, headers: ["authorization"], body: 6, .. }"#
        );
    }

    #[test]
    fn only_what_reads_is_sent_on_and_only_if_asked_for() {
        let may = |method, redirects| Request::new(method, "").redirects(redirects).may_be_sent_on();
        assert!(may(Method::Get, Redirects::Follow) && may(Method::Head, Redirects::Follow));
        for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
            assert!(!may(method, Redirects::Follow));
        }
        assert!(!may(Method::Get, Redirects::Never));
        assert!(!Request::new(Method::Get, "").redirects(Redirects::Follow).body("x").may_be_sent_on());
    }
}
