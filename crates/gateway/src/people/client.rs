//! Where a request comes from, as far as logging in goes by it.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use http::header::{ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::cookie::Cookie;
use crate::app::{App, Shared};
use crate::error::ApiError;
use crate::identity::peer;
use crate::origin::authority;

/// The header in which a page of ours proves that it is one.
const CSRF: &str = "x-punk-csrf";

/// Where a request comes from.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// Whether cookies are for encrypted connections only.
    pub(crate) secure: bool,
    /// The cookie that the browser is known by.
    pub(crate) device: Option<String>,
    /// What the browser calls itself.
    pub(crate) agent: Option<String>,
    origin: Sender,
}

/// What a browser says about the page that sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// It is one of ours.
    Own,
    /// It is another.
    Foreign,
    /// No browser says anything.
    Unsaid,
}

impl Client {
    pub(crate) fn of(app: &Shared, headers: &HeaderMap, authority: Option<&str>, address: IpAddr) -> Self {
        let secure = app.origins.is_encrypted() || !address.to_canonical().is_loopback();
        let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        Self {
            address,
            secure,
            device: Cookie::Device.read(headers, secure).map(str::to_owned),
            agent: agent.map(|agent| agent.chars().take(200).collect()),
            origin: sender(app, headers, authority),
        }
    }

    /// Refuses what a page of another site has a browser send. Whoever is no browser says nothing, and is let through.
    pub(crate) fn must_not_be_foreign(&self) -> Result<(), ApiError> {
        match self.origin {
            Sender::Own | Sender::Unsaid => Ok(()),
            Sender::Foreign => Err(ApiError::Csrf { why: "it was sent by a page of another site" }),
        }
    }

    /// Refuses a change in the name of a cookie, unless the page that asks for it is ours and knows the session's word.
    pub(crate) fn must_be_ours(
        &self,
        method: &Method,
        headers: &HeaderMap,
        word: &str,
    ) -> Result<(), ApiError> {
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        let why = match self.origin {
            Sender::Foreign => "it was sent by a page of another site",
            Sender::Unsaid => "it does not say which page sent it, in `origin` or `sec-fetch-site`",
            Sender::Own => {
                let given = headers.get(CSRF).map(|value| value.as_bytes().to_vec());
                // Secrets compare in constant time.
                match given.map(crypto::Secret::new) {
                    Some(given) if given == crypto::Secret::new(word.as_bytes().to_vec()) => return Ok(()),
                    Some(_) => "its `x-punk-csrf` is not the one of this session",
                    None => "it has no `x-punk-csrf`",
                }
            }
        };
        Err(ApiError::Csrf { why })
    }
}

/// Both headers have to say that the page is ours, if they say anything.
fn sender(app: &Shared, headers: &HeaderMap, authority: Option<&str>) -> Sender {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site").map(|site| site == "same-origin");
    let origin = text(ORIGIN.as_str()).map(|origin| app.origins.is_own(origin, authority));
    match (site, origin) {
        (None, None) => Sender::Unsaid,
        (site, origin) if site.unwrap_or(true) && origin.unwrap_or(true) => Sender::Own,
        _ => Sender::Foreign,
    }
}

impl FromRequestParts<App> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self::of(app, &parts.headers, authority(&parts.headers, &parts.uri), peer(&parts.extensions)))
    }
}
