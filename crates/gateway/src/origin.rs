//! Web pages: which of them may call, and what they may read.
//!
//! An open gateway trusts whoever reaches it, and a browser on the same machine reaches it on behalf of any page. So an
//! open gateway answers only to its own names (a page that has its own name point to 127.0.0.1 calls it by that name), and
//! lets no page change anything but its own and those that were listed. A gateway with keys needs neither: a page does not
//! have the key.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use crate::app::App;
use crate::error::{ApiError, Wire};

/// What a page may read of an answer beyond what every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-punk-run-id, x-punk-route, retry-after, ratelimit, ratelimit-policy, \
     x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, request-id",
);
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, DELETE");

/// Which web pages may call, and by which name the gateway is known to them.
#[derive(Debug, Clone, Default)]
pub struct Web {
    /// Where the gateway is reached from outside, such as `https://punk.example.com`.
    pub base_url: Option<String>,
    /// Origins whose pages may call, such as `https://app.example.com`; `*` is every one, if the gateway has keys.
    pub origins: Vec<String>,
}

/// The same, ready to be asked.
pub(crate) struct Origins {
    base: Option<String>,
    allowed: Vec<String>,
    any: bool,
    /// Whether everybody who reaches the gateway may call it.
    open: bool,
}

impl Origins {
    pub(crate) fn new(web: Web, open: bool) -> Self {
        let tidy = |text: String| text.trim_end_matches('/').to_ascii_lowercase();
        let base = web.base_url.map(tidy);
        // Every page at a gateway that asks for no key would be every page acting as its operator.
        let any = !open && web.origins.iter().any(|origin| origin == "*");
        let allowed = web.origins.into_iter().map(tidy).collect();
        Self { base, allowed, any, open }
    }

    /// Whether pages of this origin may call a gateway that was called as `authority`. Its own always may.
    fn allows(&self, origin: &str, authority: Option<&str>) -> bool {
        self.any || self.allowed.contains(&origin.to_ascii_lowercase()) || self.is_own(origin, authority)
    }

    /// Whether this is the origin of the gateway's own pages, if it was called as `authority`.
    pub(crate) fn is_own(&self, origin: &str, authority: Option<&str>) -> bool {
        let origin = origin.to_ascii_lowercase();
        let is_called = authority.is_some_and(|own| {
            origin.split_once("://").is_some_and(|(_, theirs)| theirs.eq_ignore_ascii_case(own))
        });
        is_called || self.base.as_ref() == Some(&origin)
    }

    /// Whether the gateway is known to be reached by an encrypted connection.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.base.as_deref().is_some_and(|base| base.starts_with("https://"))
    }

    /// Whether this is a name of the gateway itself.
    fn is_own_name(&self, authority: &str) -> bool {
        let host = without_port(authority).to_ascii_lowercase();
        is_of_this_machine(&host) || self.base.as_deref().and_then(host_of_url) == Some(host.as_str())
    }

    /// Why an open gateway does not answer.
    fn refuse(&self, method: &Method, headers: &HeaderMap, authority: Option<&str>) -> Option<ApiError> {
        if !self.open {
            return None;
        }
        if authority.is_some_and(|authority| !self.is_own_name(authority)) {
            return Some(ApiError::ForeignHost);
        }
        let changes = !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let foreign = headers
            .get(ORIGIN)
            .is_some_and(|origin| !origin.to_str().is_ok_and(|origin| self.allows(origin, authority)));
        (changes && foreign).then_some(ApiError::ForeignOrigin)
    }
}

/// Answers what browsers ask beforehand, refuses pages that may not call, and says what the others may read.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let origins = &app.origins;
    let authority = authority(request.headers(), request.uri());
    if let Some(error) = origins.refuse(request.method(), request.headers(), authority) {
        return error.respond(Wire::of(request.uri().path()));
    }
    let Some(origin) = request.headers().get(ORIGIN).cloned() else { return next.run(request).await };
    let allowed = origin.to_str().is_ok_and(|origin| origins.allows(origin, authority));
    let asks_beforehand =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if !asks_beforehand {
        next.run(request).await
    } else if allowed {
        let mut headers = HeaderMap::new();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        // Nothing depends on which headers a page sends, and clients send many of their own.
        if let Some(wanted) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        (StatusCode::NO_CONTENT, headers).into_response()
    } else {
        ApiError::ForeignOrigin.respond(Wire::of(request.uri().path()))
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    response
}

/// The name by which the gateway was called.
pub(crate) fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    // HTTP/2 has it in the address.
    let host = headers.get(HOST).map(|host| host.to_str().unwrap_or("?"));
    host.or_else(|| uri.authority().map(Authority::as_str))
}

/// The host of `scheme://host:port/…`.
fn host_of_url(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    (matches!(scheme, "http" | "https") && !authority.contains('@')).then(|| without_port(authority))
}

/// `[::1]:4100` → `[::1]`, `localhost:4100` → `localhost`.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Whether a host names this machine, whoever is asked: these names never go to a resolver of somebody else.
fn is_of_this_machine(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(base_url: Option<&str>, origins: &[&str]) -> Origins {
        let web = Web {
            base_url: base_url.map(str::to_owned),
            origins: origins.iter().map(|&origin| origin.to_owned()).collect(),
        };
        Origins::new(web, true)
    }

    #[test]
    fn an_open_gateway_answers_to_names_of_this_machine_alone() {
        let open = origins(Some("https://punk.example.com:8443"), &[]);
        for own in [
            "127.0.0.1:4100",
            "127.9.9.9",
            "localhost",
            "LOCALHOST:1",
            "a.localhost",
            "[::1]:4100",
            "punk.example.com",
        ] {
            assert!(open.is_own_name(own), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "192.168.1.2:4100",
            "",
            "?",
            "127.0.0.1:4100@evil.example",
            "[::2]",
            "punk.example.com.evil.example",
        ] {
            assert!(!open.is_own_name(foreign), "{foreign}");
        }
    }

    #[test]
    fn its_own_pages_and_those_of_listed_origins_may_call() {
        let some = origins(Some("https://punk.example.com"), &["https://app.example.com/"]);
        for allowed in [
            "http://localhost:4100",
            "HTTP://LOCALHOST:4100",
            "https://app.example.com",
            "https://punk.example.com",
        ] {
            assert!(some.allows(allowed, Some("localhost:4100")), "{allowed}");
        }
        for refused in [
            "https://evil.example",
            "null",
            "",
            "http://app.example.com",
            "https://app.example.com.evil.example",
            "http://localhost:3000",
            "http://localhost.evil.example",
            "file://",
            "http://evil@localhost:4100",
        ] {
            assert!(!some.allows(refused, Some("localhost:4100")), "{refused}");
        }
        assert!(!origins(None, &["*"]).allows("https://anybody.example", None), "it is open");
        let closed = Origins::new(Web { base_url: None, origins: vec!["*".to_owned()] }, false);
        assert!(closed.allows("https://anybody.example", None));
    }
}
