//! What made a try fail, and what can be done about it.

use super::error::UpstreamError;
use http::StatusCode;

/// What made a try fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No connection.
    Connect,
    /// No trusted connection.
    Tls,
    /// No answer in time.
    FirstByte,
    /// An answer that stood still.
    Idle,
    /// An answer that did not end in time.
    Total,
    /// A connection that broke.
    Reset,
    /// An answer too large to read.
    TooLarge,
    /// An answer with this status, or one that looked well and turned out to say the same: a stream whose first event is
    /// `overloaded_error` is a `Status(529)`.
    Status(u16),
}

/// What can be done about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Nothing: another try would end the same.
    Nothing,
    /// Another key; without one, another target.
    OtherKey,
    /// Another key, or some time.
    OtherKeyOrTime,
    /// Some time.
    Time,
    /// Another target; this one only when there is no other, for it has cost much time already or will not change.
    OtherTarget,
}

impl Fault {
    /// The fault in an error, for whoever met it in a body that was not handed on yet.
    #[must_use]
    pub fn of(error: &UpstreamError) -> Self {
        match error {
            UpstreamError::Connect { .. } => Self::Connect,
            UpstreamError::Tls { .. } => Self::Tls,
            UpstreamError::FirstByte { .. } => Self::FirstByte,
            UpstreamError::Idle { .. } => Self::Idle,
            UpstreamError::Total { .. } => Self::Total,
            UpstreamError::Reset { .. } => Self::Reset,
            UpstreamError::TooLarge { .. } => Self::TooLarge,
        }
    }

    /// The fault in a status, if another try could make it better.
    pub(super) fn in_status(status: StatusCode) -> Option<Self> {
        let fault = Self::Status(status.as_u16());
        (fault.remedy() != Remedy::Nothing).then_some(fault)
    }

    pub(super) const fn remedy(self) -> Remedy {
        match self {
            Self::Connect | Self::Reset => Remedy::Time,
            Self::Tls | Self::FirstByte | Self::Idle => Remedy::OtherTarget,
            Self::Total | Self::TooLarge => Remedy::Nothing,
            Self::Status(code) => match code {
                401 | 403 => Remedy::OtherKey,
                429 => Remedy::OtherKeyOrTime,
                // 409 is a lock that was not had in time, and the vendors' own clients try again; 520 to 524 are what the
                // network in front of several vendors says for 502 and 504; 529 is Anthropic's "overloaded".
                408 | 409 | 500 | 502 | 503 | 504 | 520..=524 | 529 => Remedy::Time,
                _ => Remedy::Nothing,
            },
        }
    }

    /// Whether the upstream is to blame. A limit is ours, a key is ours, a lock is the caller's.
    pub(super) const fn is_of_upstream(self) -> bool {
        match self {
            Self::Connect | Self::Tls | Self::FirstByte | Self::Idle | Self::Reset => true,
            Self::Total | Self::TooLarge => false,
            Self::Status(code) => matches!(code, 500..=599),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connect => f.write_str("connect"),
            Self::Tls => f.write_str("tls"),
            Self::FirstByte => f.write_str("first_byte"),
            Self::Idle => f.write_str("idle"),
            Self::Total => f.write_str("total"),
            Self::Reset => f.write_str("reset"),
            Self::TooLarge => f.write_str("too_large"),
            Self::Status(code) => write!(f, "status {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let tried_again: Vec<u16> = (100..=599)
            .filter(|&code| Fault::in_status(StatusCode::from_u16(code).unwrap()).is_some())
            .collect();
        assert_eq!(tried_again, [401, 403, 408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);
    }

    #[test]
    fn limits_and_keys_do_not_speak_against_an_upstream() {
        assert!(!Fault::Status(429).is_of_upstream() && !Fault::Status(401).is_of_upstream());
        assert!(Fault::Status(529).is_of_upstream() && Fault::Connect.is_of_upstream());
    }
}
