//! From a name to addresses, once, and then no more names.
//!
//! Every address that a name has must be one that may be reached: a name with a good and a bad one is an attack, or as good
//! as one. What was judged is kept in a [`Pinned`], and connections go to that. Nobody asks for the name a second time, so
//! it does not matter what it would lead to then.

use crate::address::Kind;
use crate::error::EgressError;
use crate::guard::Target;
use crate::origin::Host;
use crate::refusal::Refusal;
use async_trait::async_trait;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// A host that answers with more is tried at these; all of them are judged.
const TRIED: usize = 8;

/// Finds the addresses of a name.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of `name`, the best first. Whoever calls gives it up when it takes too long.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system, and so `/etc/hosts` and whatever else it is set up to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is for the signature only.
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A target, and the addresses that it stands for from here on: at least one, and each was judged.
#[derive(Debug)]
pub(crate) struct Pinned {
    target: Target,
    addresses: Vec<SocketAddr>,
}

impl Pinned {
    /// Looks up the target's name, unless it is an address already, and judges all that is found.
    pub(crate) async fn pin(resolver: &dyn Resolver, target: Target) -> Result<Self, EgressError> {
        let unresolved = |cause| EgressError::Unresolved { origin: target.origin().clone(), cause };
        let found = match target.origin().host() {
            Host::Address(address) => vec![*address],
            Host::Name(name) => resolver.resolve(name).await.map_err(unresolved)?,
        };
        let admitted = found.iter().map(|address| target.admit(*address));
        let mut addresses: Vec<SocketAddr> = Vec::with_capacity(found.len());
        for address in admitted.collect::<Result<Vec<_>, Refusal>>()? {
            if !addresses.contains(&address) && addresses.len() < TRIED {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(unresolved(io::Error::new(io::ErrorKind::NotFound, "the name has no address")));
        }
        Ok(Self { target, addresses })
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Whether everything it stands for is public.
    pub(crate) fn is_public(&self) -> bool {
        self.addresses.iter().all(is_public)
    }

    /// Whether somebody outside may be behind it: a name can have addresses of both kinds, and the worse one counts.
    pub(crate) fn may_be_outside(&self) -> bool {
        self.addresses.iter().any(is_public)
    }
}

fn is_public(address: &SocketAddr) -> bool {
    Kind::of(address.ip()) == Kind::Public
}
