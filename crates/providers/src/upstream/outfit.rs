//! What goes with every request of an upstream besides the body: fixed headers, and a key.
//!
//! A key that was given is in its headers from the start. One that somebody else keeps is fetched for each request, so
//! that a new one holds from the next request on.

use super::headers::ANTHROPIC_VERSION;
use super::spec::{Auth, Spec, SpecError};
use crypto::{NotKept, SecretKeeper, SecretSource};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;

/// The version of Anthropic's wire for callers who name none.
const DEFAULT_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers of a request with one of the keys. The keys in them print as `Sensitive`.
#[derive(Debug)]
pub(super) enum Outfit {
    /// With the key, or without one where none is needed.
    Complete(HeaderMap),
    /// The key is still to be fetched.
    Lacking { common: HeaderMap, auth: Auth, keeper: Arc<dyn SecretKeeper> },
}

impl Outfit {
    /// One for each key, or one without any.
    pub(super) fn all(spec: &Spec) -> Result<Vec<Self>, SpecError> {
        let common = common(spec)?;
        if spec.keys.is_empty() {
            return Ok(vec![Self::Complete(common)]);
        }
        let with_key = |(index, key): (usize, &SecretSource)| match key {
            SecretSource::Given(key) => {
                let headers = with_key(&common, spec.auth, key.expose());
                let unfit = || SpecError::Key { upstream: spec.name.clone(), number: index + 1 };
                headers.map(Self::Complete).ok_or_else(unfit)
            }
            SecretSource::Kept(keeper) => {
                Ok(Self::Lacking { common: common.clone(), auth: spec.auth, keeper: Arc::clone(keeper) })
            }
        };
        spec.keys.iter().enumerate().map(with_key).collect()
    }

    /// The headers, with the key as it is now.
    pub(super) async fn headers(&self) -> Result<HeaderMap, NotKept> {
        match self {
            Self::Complete(headers) => Ok(headers.clone()),
            Self::Lacking { common, auth, keeper } => {
                let key = keeper.fetch().await?;
                with_key(common, *auth, key.expose())
                    .ok_or_else(|| NotKept("the key is empty or has characters that no key has".to_owned()))
            }
        }
    }
}

/// What does not depend on the key.
fn common(spec: &Spec) -> Result<HeaderMap, SpecError> {
    let mut common = HeaderMap::with_capacity(16);
    common.insert(USER_AGENT, HeaderValue::from_static(concat!("punk/", env!("CARGO_PKG_VERSION"))));
    common.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    // A compressed stream would have to be unpacked to be looked at, and arrives in lumps.
    common.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    common.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if spec.auth == Auth::ApiKey {
        common.insert(ANTHROPIC_VERSION.clone(), DEFAULT_VERSION);
    }
    for (name, value) in &spec.headers {
        let ours = [AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE, X_API_KEY];
        if ours.contains(name) {
            return Err(SpecError::Header { upstream: spec.name.clone(), header: name.clone() });
        }
        // Some vendors take their key in a header of their own.
        let mut value = value.clone();
        value.set_sensitive(true);
        common.insert(name.clone(), value);
    }
    Ok(common)
}

/// `common` and the key, unless that fits into no header.
fn with_key(common: &HeaderMap, auth: Auth, key: &str) -> Option<HeaderMap> {
    // Files and shells leave line ends behind.
    let key = key.trim();
    if key.is_empty() {
        return None;
    }
    let (name, value) = match auth {
        Auth::Bearer => (AUTHORIZATION, HeaderValue::try_from(format!("Bearer {key}"))),
        Auth::ApiKey => (X_API_KEY, HeaderValue::from_str(key)),
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    let mut headers = common.clone();
    headers.insert(name, value);
    Some(headers)
}
