//! Why a place may not be reached.

use crate::address::Kind;
use std::net::IpAddr;

/// Why a place may not be reached. Of what was asked for, the messages repeat a host or a port at most: paths, queries and
/// passwords are nobody's business, and neither is the address that a name of an inner network leads to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no address of the web, or one so long or so broken that no two programs would read it alike.
    #[error("an address looks like https://host/path, and this is none")]
    Malformed,
    /// There are characters in it that programs drop, turn around or stop at.
    #[error("an address has no spaces, control characters or backslashes in it")]
    Spelling,
    /// Neither `http` nor `https`.
    #[error("an address begins with https:// or http://")]
    Scheme,
    /// There is a user or a password in it.
    #[error("an address holds no user and no password; send them as a header")]
    Credentials,
    /// Something else than a web server is to be expected there.
    #[error("port {port} is known for something that is no web server")]
    Port {
        /// The port.
        port: u16,
    },
    /// No host has such a name.
    #[error("the name of the host is none that a host can have")]
    Name,
    /// A name of this machine or its own network.
    #[error("{name} is a name of this machine or its own network")]
    LocalName {
        /// The name.
        name: String,
    },
    /// A name under which a cloud hands out credentials. No setting allows it.
    #[error("{name} is where a cloud hands out credentials")]
    MetadataName {
        /// The name.
        name: String,
    },
    /// The host is an address, and not one that may be reached.
    #[error("{address} is a {kind} address")]
    Address {
        /// The address, however it was spelled.
        address: IpAddr,
        /// What it is for.
        kind: Kind,
    },
    /// The host is a name, and at least one of its addresses is none that may be reached.
    #[error("{name} leads to a {kind} address")]
    Resolved {
        /// The name.
        name: String,
        /// What the first such address is for.
        kind: Kind,
    },
    /// A redirect would give up encryption.
    #[error("a redirect leads from https to http")]
    Downgrade,
    /// A redirect leads from outside to the inside, which an operator may name and a stranger may not.
    #[error("a redirect leads from a public place to one that is not")]
    Inward,
}

impl Refusal {
    /// The name of the reason, for records and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Spelling => "spelling",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::Port { .. } => "port",
            Self::Name => "name",
            Self::LocalName { .. } => "local_name",
            Self::MetadataName { .. } => "metadata",
            Self::Address { kind, .. } | Self::Resolved { kind, .. } => kind.name(),
            Self::Downgrade => "downgrade",
            Self::Inward => "inward",
        }
    }
}
