//! What can go wrong on the way out and back.

use crate::origin::Origin;
use crate::refusal::Refusal;
use std::time::Duration;

/// The cause below an error of ours.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a request has no answer. The messages name scheme, host and port, and hold nothing else of the request.
///
/// After [`Refused`](Self::Refused), [`Redirected`](Self::Redirected), [`Unresolved`](Self::Unresolved),
/// [`Connect`](Self::Connect), [`Strayed`](Self::Strayed) and [`Tls`](Self::Tls) nothing of the request has reached the
/// place that was refused or not reached; after the others, all of it may have.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// The place may not be reached.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A server sends us on to a place that may not be reached.
    #[error("{origin} redirects to where nothing may go")]
    Redirected {
        /// Who does.
        origin: Origin,
        /// What is wrong with it.
        #[source]
        refusal: Refusal,
    },
    /// A server sends us on, and on, and on.
    #[error("{origin} redirects after {followed} redirects already")]
    Endless {
        /// Who does.
        origin: Origin,
        /// How many were followed.
        followed: usize,
    },
    /// The name has no address.
    #[error("no address was found for {origin}")]
    Unresolved {
        /// Where it was to go.
        origin: Origin,
        /// What the resolver said.
        #[source]
        cause: std::io::Error,
    },
    /// There is no connection: refused, or not made in time.
    #[error("no connection to {origin}")]
    Connect {
        /// Where it was to go.
        origin: Origin,
        /// What the network said.
        #[source]
        cause: BoxError,
    },
    /// The connection ended somewhere else than at a pinned address. Nothing was sent over it.
    #[error("the connection to {origin} did not end where it was meant to")]
    Strayed {
        /// Where it was to go.
        origin: Origin,
    },
    /// There is a connection, and nobody trustworthy at its end.
    #[error("no trusted connection to {origin}")]
    Tls {
        /// Where it was to go.
        origin: Origin,
        /// What the handshake said.
        #[source]
        cause: BoxError,
    },
    /// The whole of it, redirects included, took too long.
    #[error("no whole answer from {origin} within {after:?}")]
    Total {
        /// Where it went first.
        origin: Origin,
        /// How long it was given.
        after: Duration,
    },
    /// The connection broke, or what came over it was no HTTP.
    #[error("the connection to {origin} broke")]
    Broken {
        /// Where it went.
        origin: Origin,
        /// What the connection said.
        #[source]
        cause: BoxError,
    },
    /// The answer is larger than was allowed.
    #[error("the answer of {origin} is larger than {limit} bytes")]
    TooLarge {
        /// Where it went.
        origin: Origin,
        /// What was allowed.
        limit: usize,
    },
}

impl EgressError {
    /// Why the place, or one that we were sent on to, may not be reached; if that is what is wrong.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) | Self::Redirected { refusal, .. } => Some(refusal),
            _ => None,
        }
    }

    /// The name of the kind of error, for records and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Redirected { .. } => "redirected",
            Self::Endless { .. } => "endless",
            Self::Unresolved { .. } => "unresolved",
            Self::Connect { .. } => "connect",
            Self::Strayed { .. } => "strayed",
            Self::Tls { .. } => "tls",
            Self::Total { .. } => "total",
            Self::Broken { .. } => "broken",
            Self::TooLarge { .. } => "too_large",
        }
    }
}
