//! One upstream: what was configured, made ready to be used, and what has been seen of it since.

use super::Address;
use super::headers::passed_on;
use super::keys::Keys;
use super::lanes::Lanes;
use super::live::{Health, Live};
use super::outfit::Outfit;
use super::spec::{Spec, SpecError, Timeouts};
use egress::Trust;
use http::HeaderName;
use std::sync::Arc;
use tokio::time::Instant;
use wire::Wire;

/// One place that answers model requests.
#[derive(Debug)]
pub struct Upstream {
    pub(super) name: Arc<str>,
    pub(super) address: Address,
    speaks: Vec<Wire>,
    pub(super) timeouts: Timeouts,
    pub(super) weight: u32,
    /// What goes with every request, once for each key.
    pub(super) outfits: Vec<Outfit>,
    pub(super) passed_on: Vec<HeaderName>,
    pub(super) keys: Keys,
    pub(super) live: Live,
    pub(super) lanes: Lanes,
}

impl Upstream {
    /// Makes `spec` ready. Nothing is connected yet.
    pub fn new(spec: Spec, trust: &Trust) -> Result<Arc<Self>, SpecError> {
        let outfits = Outfit::all(&spec)?;
        Ok(Arc::new(Self {
            passed_on: passed_on(&spec.speaks),
            keys: Keys::new(spec.keys.len()),
            live: Live::new(spec.breaker, spec.budget),
            lanes: Lanes::new(spec.address.join("").as_ref(), trust, spec.timeouts.connect),
            outfits,
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
