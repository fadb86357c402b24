//! What can go wrong on the way to an upstream and back.

use super::connect::SendError;
use std::sync::Arc;
use std::time::Duration;

/// The cause below an error of ours.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why an upstream gave no answer, or only a part of one. The messages name the upstream and hold nothing of the request.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// There is no connection: no such host, refused, or not made in time.
    #[error("no connection to upstream {upstream}")]
    Connect {
        /// The upstream's name.
        upstream: Arc<str>,
        /// What the network said.
        #[source]
        cause: BoxError,
    },
    /// There is a connection, and nobody trustworthy at its end.
    #[error("no trusted connection to upstream {upstream}")]
    Tls {
        /// The upstream's name.
        upstream: Arc<str>,
        /// What the handshake said.
        #[source]
        cause: BoxError,
    },
    /// The request is out, and no answer has begun in time.
    #[error("upstream {upstream} did not begin to answer within {after:?}")]
    FirstByte {
        /// The upstream's name.
        upstream: Arc<str>,
        /// How long we waited.
        after: Duration,
    },
    /// The answer began, and then stood still.
    #[error("the answer of upstream {upstream} stood still for {after:?}")]
    Idle {
        /// The upstream's name.
        upstream: Arc<str>,
        /// How long we waited.
        after: Duration,
    },
    /// The whole call took too long.
    #[error("upstream {upstream} did not finish its answer within {after:?}")]
    Total {
        /// The upstream's name.
        upstream: Arc<str>,
        /// How long it was given.
        after: Duration,
    },
    /// The connection broke, or what came over it was no HTTP.
    #[error("the connection to upstream {upstream} broke")]
    Reset {
        /// The upstream's name.
        upstream: Arc<str>,
        /// What the connection said.
        #[source]
        cause: BoxError,
    },
    /// The answer is larger than whoever reads it allows.
    #[error("the answer of upstream {upstream} is larger than {limit} bytes")]
    TooLarge {
        /// The upstream's name.
        upstream: Arc<str>,
        /// What was allowed.
        limit: usize,
    },
}

impl UpstreamError {
    /// The name of the kind of error, for records and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::FirstByte { .. } => "first_byte",
            Self::Idle { .. } => "idle",
            Self::Total { .. } => "total",
            Self::Reset { .. } => "reset",
            Self::TooLarge { .. } => "too_large",
        }
    }

    /// Which upstream it was.
    #[must_use]
    pub fn upstream(&self) -> &str {
        match self {
            Self::Connect { upstream, .. }
            | Self::Tls { upstream, .. }
            | Self::FirstByte { upstream, .. }
            | Self::Idle { upstream, .. }
            | Self::Total { upstream, .. }
            | Self::Reset { upstream, .. }
            | Self::TooLarge { upstream, .. } => upstream,
        }
    }

    /// What `error`, from before there was an answer, means.
    pub(super) fn from_send(upstream: &Arc<str>, error: SendError) -> Self {
        let upstream = Arc::clone(upstream);
        match error {
            SendError::Connect(cause) if is_tls(&*cause) => Self::Tls { upstream, cause },
            SendError::Connect(cause) => Self::Connect { upstream, cause },
            SendError::Lost(error) if is_tls(&error) => Self::Tls { upstream, cause: error.into() },
            SendError::Lost(error) => Self::Reset { upstream, cause: error.into() },
        }
    }
}

/// Whether the handshake is what failed. An `io::Error` hides what it wraps from `source`, hence the second look.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        if error.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_tls(inner)) {
            return true;
        }
        next = error.source();
    }
    false
}
