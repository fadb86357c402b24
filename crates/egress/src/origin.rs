//! Scheme, host and port: all of an address that may be repeated in a message, and what decides whether two addresses are
//! of the same owner.

use crate::refusal::Refusal;
use std::net::IpAddr;
use std::str::FromStr;

/// How a place is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Readable for everybody on the way.
    Http,
    /// Encrypted, and with somebody known at its end.
    Https,
}

/// A host: in lower case and ASCII if it is a name, without a dot at its end, and as a number if it was one in any spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// To be looked up.
    Name(String),
    /// To be reached as it is. An IPv4 address in an IPv6 one (`::ffff:a.b.c.d`) is an IPv4 address.
    Address(IpAddr),
}

/// A host and a port, as an operator lists them: `opa:8181`, `10.0.0.7:443`, `[fd12::7]:443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Where a request goes, or an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) place: Place,
}

/// Why a text is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a place is a host and a port, such as opa:8181 or 10.0.0.7:443")]
pub struct PlaceError;

impl Origin {
    /// How it is spoken to.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.place.host
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.place.port
    }

    /// Host and port.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// What goes into the `host` header: the port only where it is not the scheme's own, as browsers write it. For whoever
    /// has to sign that header.
    #[must_use]
    pub fn authority(&self) -> String {
        match (self.scheme, self.place.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => self.place.host.to_string(),
            _ => self.place.to_string(),
        }
    }
}

impl Host {
    /// The host in a parsed address. A name may be one that nobody has.
    pub(crate) fn of(host: &url::Host<&str>) -> Self {
        match host {
            // `example.com.` is the same host, and would slip past every comparison.
            url::Host::Domain(name) => Self::Name(name.strip_suffix('.').unwrap_or(name).to_owned()),
            url::Host::Ipv4(address) => Self::Address(IpAddr::V4(*address)),
            url::Host::Ipv6(address) => Self::Address(address.to_canonical()),
        }
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let (host, port) = text.rsplit_once(':').ok_or(PlaceError)?;
        let host = url::Host::parse(host).map_err(|_| PlaceError)?;
        let host = match &host {
            url::Host::Domain(name) => url::Host::Domain(name.as_str()),
            url::Host::Ipv4(address) => url::Host::Ipv4(*address),
            url::Host::Ipv6(address) => url::Host::Ipv6(*address),
        };
        // No sign, no space, no zero before it.
        let port: u16 =
            port.parse().ok().filter(|number: &u16| number.to_string() == port).ok_or(PlaceError)?;
        Ok(Self { host: Host::of(&host), port })
    }
}

impl TryFrom<&str> for Scheme {
    type Error = Refusal;

    fn try_from(text: &str) -> Result<Self, Refusal> {
        match text {
            "http" => Ok(Self::Http),
            "https" => Ok(Self::Https),
            _ => Err(Refusal::Scheme),
        }
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(text.parse::<Place>().unwrap().to_string(), expected);
    }

    #[test]
    fn a_place_is_read_as_the_same_host_would_be_in_an_address() {
        check("opa:8181", "opa:8181");
        check("OPA.Example.:443", "opa.example:443");
        check("127.1:80", "127.0.0.1:80");
        check("0x7f000001:80", "127.0.0.1:80");
        check("[::1]:8080", "[::1]:8080");
        check("[::ffff:10.0.0.1]:80", "10.0.0.1:80");
        check("bücher.example:443", "xn--bcher-kva.example:443");
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in [
            "",
            "opa",
            "opa:",
            ":80",
            "opa:65536",
            "opa:+80",
            "opa: 80",
            "opa:080",
            "::1:80",
            "a b:80",
            "a/b:80",
        ] {
            assert_eq!(text.parse::<Place>(), Err(PlaceError), "{text:?}");
        }
    }
}
