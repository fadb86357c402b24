//! The one place where a failure becomes an answer. `error/said.rs` has the status, the code and the hint of each, `error/dress.rs`
//! how each wire tells them, and `error/upstream.rs` what an upstream says itself.

mod dress;
mod said;
mod upstream;

use std::time::Duration;

use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use http::{StatusCode, Uri};
use identity::Permission;
use identity::role::GrantRefused;
use providers::upstream::{Attempt, Outcome, Skipped};
use redaction::Lexicon;
use schema::{ApprovalId, RunId, Verdict};
use store::{CommitError, Sealed, StoreError};

pub(crate) use self::dress::Wire;
use self::dress::name_run;
pub(crate) use self::upstream::FromUpstream;
use crate::connection::Late;
use crate::discretion::{Discretion, without_secrets};
use crate::limits::Tally;
use crate::people::ChangeError;

/// Why a request was not answered, in the gateway's own words.
#[derive(Debug, Clone)]
pub(crate) enum ApiError {
    /// No key, or not the right one.
    Unauthorised,
    /// The key was taken back.
    KeyRevoked,
    /// The key has ended by itself.
    KeyExpired,
    /// The caller may not do this.
    PermissionMissing {
        permission: Permission,
        /// Whether a person asked, by their role, and not a machine by its key.
        is_person: bool,
    },
    /// Somebody would give away more than they have.
    GrantRefused {
        why: String,
    },
    /// It is about the person who asks, and nobody is logged in.
    NotLoggedIn,
    /// The cookie is of a session that is over, or of none.
    SessionEnded,
    /// Whoever wants in is not let in, for whatever reason.
    LoginRefused,
    /// Too many attempts, of late, to log in as somebody.
    LoginTooEarly {
        wait: Duration,
    },
    /// As many passwords are being compared as may be.
    TooManyLogins,
    /// A browser may have been talked into it by a page of somebody else's.
    Csrf {
        why: &'static str,
    },
    /// The person is no longer in the organisation in which they act.
    NotAMember,
    /// An invitation does not hold, for whatever reason.
    InvitationRefused,
    /// There is one already.
    Taken {
        what: &'static str,
    },
    /// An organisation would be without an owner.
    LastOwner,
    /// A token that is shown does not hold, for whatever reason.
    TokenRefused,
    /// Neither the id nor the secret of an account, or only one of them.
    ClientRefused,
    /// Whoever asks was let in for one run, and this is not about it.
    OutOfReach,
    /// Another provider did not tell who somebody is, or not somebody who is let in.
    ProviderRefused {
        why: String,
    },
    /// Asked more often than there is room for.
    TooOften {
        retry_after: u64,
        limit: u32,
    },
    /// Wrong credentials came from this address again and again.
    GuessedTooOften,
    /// An open gateway was asked by a name that is not its own.
    ForeignHost,
    /// A web page from elsewhere would act through somebody's browser.
    ForeignOrigin,
    /// Something in a body or a query of ours is not right, at this place.
    Malformed {
        param: String,
        message: String,
    },
    /// A header cannot be read.
    Header {
        name: &'static str,
        wanted: &'static str,
    },
    /// The body did not come in time.
    BodyLate {
        message: String,
    },
    /// The address is longer than any of ours.
    UrlTooLong {
        most: usize,
    },
    /// The body cannot be taken in.
    Body {
        status: StatusCode,
        message: String,
    },
    /// A field of the body is not as the wire has it.
    Field {
        param: String,
        message: String,
    },
    /// Policy said no, or not without an approval.
    Blocked {
        run: RunId,
        verdict: Verdict,
        /// What people are asked.
        approval: Option<ApprovalId>,
    },
    /// The approval that was named is none for this.
    ApprovalUnfit {
        id: ApprovalId,
        why: String,
    },
    /// An answer to a question of the governor does not count.
    VoteRefused {
        why: String,
        status: StatusCode,
    },
    /// There is no such thing, or not for this caller.
    NoSuch {
        what: &'static str,
        hint: &'static str,
    },
    /// Somebody else changed it at the same moment.
    Changed {
        what: &'static str,
    },
    /// What was learned does not stand where it would have to.
    GateNotSatisfied {
        message: String,
        hint: &'static str,
    },
    /// Something else has the name already.
    NameTaken {
        what: &'static str,
    },
    /// There is no room for more of them.
    TooManyKept {
        what: &'static str,
        most: u64,
    },
    /// The policies in the folder cannot be read.
    PoliciesRefused {
        message: String,
    },
    /// There is no such run, or not for this caller.
    NoSuchRun,
    /// The run has no packet yet.
    NotFinished {
        run: RunId,
    },
    /// The ledger would not take the run, so nothing was answered.
    Ledger,
    /// What was asked for cannot be read now.
    Unread,
    /// As much is in progress as may be.
    Overloaded,
    /// The process has been asked to end.
    Leaving,
    /// Whether there is room under the limits cannot be told now.
    Uncounted,
    /// There is no room to record anything.
    Full,
    /// What the store holds is not what was written.
    Damaged,
    /// Somebody else changed the run at the same moment, again and again.
    Busy {
        run: RunId,
    },
    /// A field of a body of ours is not right.
    Invalid {
        param: &'static str,
        message: String,
        hint: &'static str,
    },
    /// The run's events were given up.
    Sealed {
        run: RunId,
        left: Sealed,
    },
    /// Nothing is kept about such a subject.
    NoSuchSubject,
    /// There is no such job, or not for this caller.
    NoSuchJob,
    /// Nobody serves such a model.
    NoSuchModel {
        message: String,
    },
    /// Only a kept answer would have done, and there is none.
    NotKept {
        run: RunId,
    },
    /// No upstream could be asked.
    Unserved {
        run: RunId,
    },
    /// The key of an upstream is not in the vault, and nobody else could be asked.
    Keyless {
        run: RunId,
        upstream: String,
    },
    /// Every upstream is left alone for a while after it failed.
    Resting {
        run: RunId,
        retry_after: Duration,
    },
    /// The upstream took too long.
    UpstreamLate {
        run: RunId,
        message: String,
    },
    /// The upstream cannot be reached, or went away.
    UpstreamAway {
        run: RunId,
        message: String,
    },
    /// The upstream sent what nobody understands.
    UpstreamNonsense {
        run: RunId,
        message: String,
    },
    /// The upstream's own error.
    Upstream(Box<FromUpstream>),
    /// There is no such key, or not for this caller.
    NoSuchKey,
    /// There is no such tenant, or not for this caller.
    NoSuchTenant,
    /// Everybody reads along already.
    TooManyReaders,
    NoSuchPath,
    NoSuchMethod,
}

impl ApiError {
    /// Whether somebody showed a credential that does not hold.
    pub(crate) fn is_about_credentials(&self) -> bool {
        matches!(
            self,
            Self::Unauthorised
                | Self::KeyRevoked
                | Self::KeyExpired
                | Self::SessionEnded
                | Self::NotLoggedIn
                | Self::TokenRefused
        )
    }

    /// The refusal that a count led to.
    pub(crate) fn too_often(tally: Tally) -> Self {
        Self::TooOften { retry_after: tally.retry_after(), limit: tally.limit() }
    }

    /// Why a body could not be read.
    pub(crate) fn unread_body(rejection: &BytesRejection) -> Self {
        let mut cause = Some(rejection as &dyn std::error::Error);
        while let Some(error) = cause {
            if let Some(late) = error.downcast_ref::<Late>() {
                return Self::BodyLate { message: late.to_string() };
            }
            cause = error.source();
        }
        Self::Body { status: rejection.status(), message: rejection.body_text() }
    }

    /// The key of `upstream` is not to be had: told once, with the reason, to whoever runs the server.
    pub(crate) fn keyless(run: RunId, upstream: &str, tried: &[Attempt]) -> Self {
        let reasons: Vec<&str> = tried
            .iter()
            .filter_map(|attempt| match &attempt.outcome {
                Outcome::Skipped(Skipped::NoKey(reason)) => Some(reason.as_str()),
                _ => None,
            })
            .collect();
        tracing::error!(upstream, reason = reasons.join("; "), "an upstream cannot be asked without its key");
        Self::Keyless { run, upstream: upstream.to_owned() }
    }

    /// Whether the upstream may have done its work, though nobody has its answer: what that cost is our best guess.
    pub(crate) fn may_be_billed(&self) -> bool {
        matches!(self, Self::UpstreamLate { .. } | Self::UpstreamNonsense { .. })
    }

    /// The code and the message, for the record.
    pub(crate) fn in_brief(&self) -> (String, String) {
        match self {
            Self::Upstream(error) => ("punk_upstream_error".to_owned(), error.message.clone()),
            error => {
                let told = error.clone().tell();
                (told.code.to_owned(), without_secrets(&told.message).into_owned())
            }
        }
    }

    /// The same without what may not be told to the caller.
    pub(crate) fn discreet(self, discretion: &Discretion) -> Self {
        match self {
            Self::Upstream(error) => Self::Upstream(Box::new(error.discreet(discretion))),
            Self::UpstreamNonsense { run, message } => {
                let message = discretion.recorded(&message, &mut Lexicon::default(), false).into_owned();
                Self::UpstreamNonsense { run, message }
            }
            other => other,
        }
    }
}

/// What a caller is told of a change of people that did not happen; `what` is what people call it.
impl ApiError {
    pub(crate) fn of_change(error: ChangeError, what: &'static str) -> Self {
        match error {
            ChangeError::Taken => Self::Taken { what },
            ChangeError::Moved => Self::Changed { what },
            ChangeError::LastOwner => Self::LastOwner,
            ChangeError::Store(error) => unread(error),
            ChangeError::Record(error) => unrecorded(error),
            ChangeError::Unreadable(error) => unread(error),
            ChangeError::Random(error) => unread(error),
        }
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        Self::of_change(error, "user")
    }
}

impl From<GrantRefused> for ApiError {
    fn from(error: GrantRefused) -> Self {
        Self::GrantRefused { why: error.to_string() }
    }
}

/// Told once, with its causes, to whoever runs the server; the caller only learns that nothing was recorded.
pub(crate) fn unrecorded(error: impl std::error::Error + 'static) -> ApiError {
    tracing::error!(error = &error as &dyn std::error::Error, "a run could not be recorded");
    told_by_store(&error).unwrap_or(ApiError::Ledger)
}

/// Told once, with its causes, to whoever runs the server; the caller only learns that it cannot be had now.
pub(crate) fn unread(error: impl std::error::Error + 'static) -> ApiError {
    tracing::error!(error = &error as &dyn std::error::Error, "the store cannot be used");
    told_by_store(&error).unwrap_or(ApiError::Unread)
}

/// What the caller can be told of a failure of the store, unless it is merely out of reach.
pub(crate) fn told_by_store(error: &(dyn std::error::Error + 'static)) -> Option<ApiError> {
    let error = match error.downcast_ref() {
        Some(CommitError::Store(error)) => error,
        _ => error.downcast_ref()?,
    };
    match error {
        StoreError::Full(_) => Some(ApiError::Full),
        StoreError::Damaged(_) => Some(ApiError::Damaged),
        StoreError::Unavailable(_) => None,
    }
}

pub(crate) async fn no_such_path(uri: Uri) -> Response {
    ApiError::NoSuchPath.respond(Wire::of(uri.path()))
}

pub(crate) async fn no_such_method(uri: Uri) -> Response {
    ApiError::NoSuchMethod.respond(Wire::of(uri.path()))
}
