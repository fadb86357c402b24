//! One upstream: what was configured, made ready to be used, and what has been seen of it since.

use super::Address;
use super::connect::Lanes;
use super::headers::{ANTHROPIC_VERSION, passed_on};
use super::keys::Keys;
use super::live::{Health, Live};
use super::spec::{Auth, Spec, SpecError, Timeouts};
use egress::Trust;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use tokio::time::Instant;
use wire::Wire;

/// The version of Anthropic's wire for callers who name none.
const DEFAULT_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// One place that answers model requests.
#[derive(Debug)]
pub struct Upstream {
    pub(super) name: Arc<str>,
    pub(super) address: Address,
    speaks: Vec<Wire>,
    pub(super) timeouts: Timeouts,
    pub(super) weight: u32,
    /// What goes with every request, once for each key. The keys in them print as `Sensitive`.
    pub(super) headers: Vec<HeaderMap>,
    pub(super) passed_on: Vec<HeaderName>,
    pub(super) keys: Keys,
    pub(super) live: Live,
    pub(super) lanes: Lanes,
}

impl Upstream {
    /// Makes `spec` ready. Nothing is connected yet.
    pub fn new(spec: Spec, trust: &Trust) -> Result<Arc<Self>, SpecError> {
        let headers = headers(&spec)?;
        Ok(Arc::new(Self {
            passed_on: passed_on(&spec.speaks),
            keys: Keys::new(spec.keys.len()),
            live: Live::new(spec.breaker, spec.budget),
            lanes: Lanes::new(trust, spec.timeouts.connect),
            headers,
            name: spec.name.into(),
            address: spec.address,
            speaks: spec.speaks,
            timeouts: spec.timeouts,
            weight: spec.weight,
        }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What it can be asked in.
    #[must_use]
    pub fn speaks(&self) -> &[Wire] {
        &self.speaks
    }

    /// Its share of the calls.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// How long it may take.
    #[must_use]
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// How it is doing.
    #[must_use]
    pub fn health(&self) -> Health {
        self.live.health(&self.name, &self.keys, Instant::now())
    }
}

/// The headers of every request, once for each key, or once without any.
fn headers(spec: &Spec) -> Result<Vec<HeaderMap>, SpecError> {
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
    if spec.keys.is_empty() {
        return Ok(vec![common]);
    }
    let with_key = |(index, key): (usize, &crypto::SecretString)| {
        let unfit = || SpecError::Key { upstream: spec.name.clone(), number: index + 1 };
        // Files and shells leave line ends behind.
        let key = key.expose().trim();
        if key.is_empty() {
            return Err(unfit());
        }
        let (name, value) = match spec.auth {
            Auth::Bearer => (AUTHORIZATION, HeaderValue::try_from(format!("Bearer {key}"))),
            Auth::ApiKey => (X_API_KEY, HeaderValue::from_str(key)),
        };
        let mut value = value.map_err(|_| unfit())?;
        value.set_sensitive(true);
        let mut headers = common.clone();
        headers.insert(name, value);
        Ok(headers)
    };
    spec.keys.iter().enumerate().map(with_key).collect()
}
