//! What an operator says of an upstream.

use super::address::{Address, AddressError};
use super::{BreakerRules, BudgetRules};
use crypto::SecretSource;
use http::{HeaderName, HeaderValue};
use std::time::Duration;
use wire::Wire;

/// An upstream as it is configured. [`Spec::new`] fills in what most have; the rest is set by field.
pub struct Spec {
    /// Its name in records, metrics and messages.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// How it wants its key.
    pub auth: Auth,
    /// The keys, used in turn. A local model needs none.
    pub keys: Vec<SecretSource>,
    /// Headers that go with every request, such as `http-referer` for OpenRouter.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What it can be asked in.
    pub speaks: Vec<Wire>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// Its share of the calls, against the other targets of a group.
    pub weight: u32,
    /// When it is left alone.
    pub breaker: BreakerRules,
    /// How often calls are repeated.
    pub budget: BudgetRules,
}

impl Spec {
    /// An upstream at `base` that speaks `speaks`, with no key yet.
    pub fn new(name: &str, base: &str, auth: Auth, speaks: &[Wire]) -> Result<Self, AddressError> {
        Ok(Self {
            name: name.to_owned(),
            address: Address::parse(base)?,
            auth,
            keys: Vec::new(),
            headers: Vec::new(),
            speaks: speaks.to_vec(),
            timeouts: Timeouts::default(),
            weight: 1,
            breaker: BreakerRules::default(),
            budget: BudgetRules::default(),
        })
    }
}

/// Neither keys nor the values of fixed headers, some of which are keys by another name.
impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&HeaderName> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Spec")
            .field("name", &self.name)
            .field("address", &self.address)
            .field("auth", &self.auth)
            .field("keys", &self.keys.len())
            .field("headers", &headers)
            .field("speaks", &self.speaks)
            .finish_non_exhaustive()
    }
}

/// How an upstream wants its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer …`, as OpenAI and nearly everybody.
    Bearer,
    /// `x-api-key: …`, as Anthropic. An `anthropic-version` goes with it.
    ApiKey,
}

/// How long an upstream may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To a connection, handshake included.
    pub connect: Duration,
    /// From the request to the first byte of the answer. The first byte of its body gets this long again, for a stream's
    /// head may come before the model has begun to think.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// For one try from beginning to end.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(10), first_byte: seconds(120), idle: seconds(60), total: seconds(600) }
    }
}

/// Why an upstream cannot be made of a [`Spec`]. No key is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A key is empty, or has characters that no header can carry.
    #[error("key {number} of upstream {upstream} is empty or has characters that no key has")]
    Key {
        /// The upstream's name.
        upstream: String,
        /// Which key, from 1.
        number: usize,
    },
    /// A fixed header is one that the transport sets.
    #[error("upstream {upstream} cannot have a fixed header {header}: it is set for each request")]
    Header {
        /// The upstream's name.
        upstream: String,
        /// The header's name.
        header: HeaderName,
    },
}
