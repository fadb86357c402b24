//! Why a token is refused: precise for the log, one sentence for whoever presented it.

/// Why a token was refused. It displays as the same sentence whatever the reason, because whoever forges tokens must
/// not learn how far one got; [`Refused::reason`] is for logs and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("token is not valid; get a new one")]
pub enum Refused {
    /// Longer than any token we would make or take.
    TooLong,
    /// Not three parts of base64url with JSON objects in the first two.
    Form,
    /// A header that is missing, twice there, or that lets the token choose its own key.
    Header,
    /// An algorithm that is not allowed here, or that does not fit the key.
    Algorithm,
    /// No issuer that is trusted.
    Issuer,
    /// A key that is not known, or no longer.
    UnknownKey,
    /// The issuer's keys cannot be had now. Not the token's fault.
    KeysUnavailable,
    /// The signature is not of this text by this key.
    Signature,
    /// A claim is missing, twice there, or not what it should be; which one.
    Claim(&'static str),
    /// Meant for somebody else.
    Audience,
    /// Its time is over.
    Expired,
    /// Its time is yet to come.
    NotYet,
    /// Made later than now.
    FromTheFuture,
    /// Valid for longer than such a token may be.
    Lifetime,
    /// A token of another kind.
    Kind,
    /// Revoked.
    Revoked,
    /// Nobody could say whether it is revoked. Not the token's fault.
    RevocationsUnavailable,
    /// Made for another login than the one that is pending.
    Nonce,
    /// Made for another client.
    AuthorizedParty,
    /// Does not belong to the access token that came with it.
    AccessTokenHash,
}

impl Refused {
    /// A word for logs and metrics.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Form => "form",
            Self::Header => "header",
            Self::Algorithm => "algorithm",
            Self::Issuer => "issuer",
            Self::UnknownKey => "unknown_key",
            Self::KeysUnavailable => "keys_unavailable",
            Self::Signature => "signature",
            Self::Claim(_) => "claim",
            Self::Audience => "audience",
            Self::Expired => "expired",
            Self::NotYet => "not_yet",
            Self::FromTheFuture => "from_the_future",
            Self::Lifetime => "lifetime",
            Self::Kind => "kind",
            Self::Revoked => "revoked",
            Self::RevocationsUnavailable => "revocations_unavailable",
            Self::Nonce => "nonce",
            Self::AuthorizedParty => "authorized_party",
            Self::AccessTokenHash => "access_token_hash",
        }
    }

    /// Whether the same token may be right in a moment: then the answer is 503 and not 401.
    pub const fn is_outage(self) -> bool {
        matches!(self, Self::KeysUnavailable | Self::RevocationsUnavailable)
    }
}
