//! Whom a call can go to, and what it takes along.

use super::place::Upstream;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use std::borrow::Cow;
use std::sync::Arc;

/// A model at an upstream.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where.
    pub upstream: Arc<Upstream>,
    /// The model's name there.
    pub model: Arc<str>,
    /// Its share of the group's calls.
    pub weight: u32,
}

impl Target {
    /// `model` at `upstream`, with the upstream's weight.
    pub fn new(upstream: &Arc<Upstream>, model: &str) -> Self {
        Self { upstream: Arc::clone(upstream), model: model.into(), weight: upstream.weight() }
    }
}

/// A request made ready for one target.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// Usually `POST`.
    pub method: Method,
    /// The endpoint, such as `/chat/completions`; a query may follow.
    pub path: Cow<'a, str>,
    /// The body, in a shape that the target's upstream speaks.
    pub body: Bytes,
    /// What the body is, unless JSON.
    pub content_type: Option<HeaderValue>,
    /// The caller's headers, all of them: what passes is decided here.
    pub caller: Option<&'a HeaderMap>,
}

impl<'a> Prepared<'a> {
    /// A `POST` of JSON.
    pub fn post(path: impl Into<Cow<'a, str>>, body: Bytes, caller: &'a HeaderMap) -> Self {
        Self { method: Method::POST, path: path.into(), body, content_type: None, caller: Some(caller) }
    }
}
