//! What may be reached. Pure: no name is looked up here and nothing is sent.
//!
//! [`Reach`] judges an address as text and gives a [`Target`]; a [`Target`] judges every IP address that its name turns out
//! to lead to. There is no other way to a [`Target`], and nothing is connected to without one.
//!
//! The text is read once, by the `url` crate, as browsers read it: `0177.1`, `①②⑦.0.0.1` and `%6c%6f%63alhost` are what they
//! mean before anything is compared. What goes out is made from that reading and never from the text, so there is no second
//! parser to disagree with.

use crate::address::Kind;
use crate::name::{Standing, standing};
use crate::origin::{Host, Origin, Place, Scheme};
use crate::port;
use crate::refusal::Refusal;
use http::uri::PathAndQuery;
use std::net::{IpAddr, SocketAddr};
use url::Url;

/// Longer than any address that means well.
const LONGEST: usize = 8 * 1024;

/// What may be reached: public places, and what an operator adds to them.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    leave: Leave,
    listed: Vec<Place>,
}

/// Which kinds of addresses are fine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Leave {
    #[default]
    Public,
    Private,
}

/// Where a request goes: an address that was judged. Its path and query are in no message and no `Debug`.
#[derive(Clone)]
pub(crate) struct Target {
    origin: Origin,
    path: PathAndQuery,
    url: Url,
    leave: Leave,
}

impl Reach {
    /// Public addresses and nothing else. The default.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Public addresses, this machine, and the networks of its own. Still no metadata service, and nothing link-local.
    #[must_use]
    pub fn private() -> Self {
        Self { leave: Leave::Private, listed: Vec::new() }
    }

    /// The same, and `place` may be private and on any port. Only for whoever asks for it by name: no server on another
    /// host can send a request there by a redirect.
    #[must_use]
    pub fn and(mut self, place: Place) -> Self {
        self.listed.push(place);
        self
    }

    /// Whether `address` may be reached as far as can be told without looking up its name, and what is there.
    pub fn judge(&self, address: &str) -> Result<Origin, Refusal> {
        self.target(address).map(|target| target.origin)
    }

    /// The target that `address` is.
    pub(crate) fn target(&self, address: &str) -> Result<Target, Refusal> {
        read(address)?;
        let url = Url::parse(address).map_err(|_| Refusal::Malformed)?;
        self.weigh(url, |place| self.listed.contains(place))
    }

    /// The target that the server at `from` sends us on to.
    pub(crate) fn redirected(&self, from: &Target, location: &str) -> Result<Target, Refusal> {
        read(location)?;
        let url = from.url.join(location).map_err(|_| Refusal::Malformed)?;
        let is_host = |place: &Place| place.host == from.origin.place.host;
        let next = self.weigh(url, |place| is_host(place) && self.listed.contains(place))?;
        match (from.origin.scheme, next.origin.scheme) {
            (Scheme::Https, Scheme::Http) => Err(Refusal::Downgrade),
            _ => Ok(next),
        }
    }

    fn weigh(&self, url: Url, is_listed: impl Fn(&Place) -> bool) -> Result<Target, Refusal> {
        let scheme = Scheme::try_from(url.scheme())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(Refusal::Malformed);
        };
        let place = Place { host: Host::of(&host), port };
        let is_listed = is_listed(&place);
        if port::is_bad(port) && !is_listed {
            return Err(Refusal::Port { port });
        }
        let leave = if is_listed { Leave::Private } else { self.leave };
        match &place.host {
            Host::Name(name) => weigh_name(name, leave)?,
            Host::Address(address) => weigh_address(*address, leave)?,
        }
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let path = PathAndQuery::try_from(path).map_err(|_| Refusal::Malformed)?;
        Ok(Target { origin: Origin { scheme, place }, path, url, leave })
    }
}

impl Target {
    pub(crate) const fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) const fn path(&self) -> &PathAndQuery {
        &self.path
    }

    /// `address` with the target's port, if the target may lead there.
    pub(crate) fn admit(&self, address: IpAddr) -> Result<SocketAddr, Refusal> {
        let address = address.to_canonical();
        weigh_address(address, self.leave).map_err(|refusal| match (&self.origin.place.host, refusal) {
            (Host::Name(name), Refusal::Address { kind, .. }) => {
                Refusal::Resolved { name: name.clone(), kind }
            }
            (_, refusal) => refusal,
        })?;
        Ok(SocketAddr::new(address, self.origin.place.port))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({})", self.origin)
    }
}

/// Refuses what programs read differently: the parser drops tabs and line ends and takes a backslash for a slash.
fn read(address: &str) -> Result<(), Refusal> {
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace() || letter == '\\';
    match (address.len() > LONGEST, address.contains(is_odd)) {
        (true, _) => Err(Refusal::Malformed),
        (_, true) => Err(Refusal::Spelling),
        _ => Ok(()),
    }
}

fn weigh_name(name: &str, leave: Leave) -> Result<(), Refusal> {
    match (standing(name), leave) {
        (Standing::Public, _) | (Standing::Local, Leave::Private) => Ok(()),
        (Standing::Local, Leave::Public) => Err(Refusal::LocalName { name: name.to_owned() }),
        (Standing::Metadata, _) => Err(Refusal::MetadataName { name: name.to_owned() }),
        (Standing::Impossible, _) => Err(Refusal::Name),
    }
}

fn weigh_address(address: IpAddr, leave: Leave) -> Result<(), Refusal> {
    match (Kind::of(address), leave) {
        (Kind::Public, _) | (Kind::Loopback | Kind::Private | Kind::Shared, Leave::Private) => Ok(()),
        (kind, _) => Err(Refusal::Address { address, kind }),
    }
}

#[cfg(test)]
mod tests;
