//! The one place where a failure becomes a status, a code and a hint. What an upstream says itself is in `error/upstream.rs`.

mod upstream;

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::BytesRejection;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode, Uri};
use identity::Permission;
use identity::role::GrantRefused;
use providers::upstream::{Attempt, Outcome, Skipped};
use redaction::Lexicon;
use schema::{ApprovalId, Route, RunId, Scope, Verdict};
use serde_json::{Value, json};
use store::{CommitError, Sealed, StoreError};

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

/// Says which run an answer is of, and how it was answered.
fn name_run(response: &mut Response, run: RunId, route: Route) {
    let headers = response.headers_mut();
    if let Ok(value) = run.to_string().parse() {
        headers.insert(HeaderName::from_static("x-punk-run-id"), value);
    }
    headers.insert(HeaderName::from_static("x-punk-route"), HeaderValue::from_static(route.as_str()));
}

/// Which clothes an error wears: the vendors' wires have their own, so that official clients raise their own exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    OpenAi,
    Anthropic,
    Rest,
}

impl Wire {
    /// The wire that is spoken at a path.
    pub(crate) fn of(path: &str) -> Self {
        if path.starts_with("/v1/messages") {
            Self::Anthropic
        } else if path.starts_with("/v1/") {
            Self::OpenAi
        } else {
            Self::Rest
        }
    }
}

/// What every surface says of an error.
struct Told {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: &'static str,
    param: Option<String>,
    run: Option<RunId>,
    verdict: Option<Verdict>,
    approval: Option<ApprovalId>,
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

    pub(crate) fn respond(self, wire: Wire) -> Response {
        if let Self::Upstream(error) = self {
            return error.respond();
        }
        let retry_after = match &self {
            Self::Resting { retry_after: wait, .. } | Self::LoginTooEarly { wait } => {
                Some(wait.as_millis().div_ceil(1_000).max(1).try_into().unwrap_or(u64::MAX))
            }
            Self::TooManyLogins | Self::Overloaded | Self::Leaving => Some(1),
            // Whether it is back is looked for more often than that.
            Self::Ledger | Self::Unread | Self::Uncounted => Some(2),
            _ => None,
        };
        let told = self.tell();
        // What somebody sent by mistake is not repeated to whoever reads errors.
        let message = without_secrets(&told.message);
        let mut error = json!({ "code": told.code, "message": message, "hint": told.hint });
        let about = [
            ("runId", json!(told.run)),
            ("verdict", json!(told.verdict)),
            ("approvalId", json!(told.approval)),
        ];
        for (name, value) in about {
            if !value.is_null() {
                error[name] = value;
            }
        }
        match wire {
            Wire::OpenAi => {
                error["type"] = json!(openai_type(told.status));
                error["param"] = json!(told.param.as_deref().map(without_secrets));
            }
            Wire::Anthropic | Wire::Rest => {
                if let Some(param) = told.param {
                    error["param"] = Value::from(without_secrets(&param).into_owned());
                }
            }
        }
        let body = match wire {
            Wire::Anthropic => {
                error["type"] = json!(anthropic_type(told.status));
                json!({ "type": "error", "error": error })
            }
            Wire::OpenAi | Wire::Rest => json!({ "error": error }),
        };
        let mut response = (told.status, Json(body)).into_response();
        if let Some(run) = told.run {
            let route = match told.verdict.map(|verdict| verdict.effect) {
                Some(schema::Effect::Ask) => Route::ApprovalRequired,
                Some(schema::Effect::Deny) => Route::Blocked,
                Some(schema::Effect::Allow) | None => Route::Live,
            };
            name_run(&mut response, run, route);
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn tell(self) -> Told {
        let told = |status, code, message: String, hint| Told {
            status,
            code,
            message,
            hint,
            param: None,
            run: None,
            verdict: None,
            approval: None,
        };
        match self {
            Self::Unauthorised => told(
                StatusCode::UNAUTHORIZED,
                "punk_unauthorised",
                "the API key is missing or not known".into(),
                "send `Authorization: Bearer <key>` or `x-api-key: <key>`, with a key from `POST /api/v1/keys` or the value of PUNK_API_KEY",
            ),
            Self::KeyRevoked => told(
                StatusCode::UNAUTHORIZED,
                "punk_key_revoked",
                "the API key was taken back".into(),
                "ask an admin of the tenant for a new one",
            ),
            Self::KeyExpired => told(
                StatusCode::UNAUTHORIZED,
                "punk_key_expired",
                "the API key has expired".into(),
                "ask an admin of the tenant for a new one",
            ),
            Self::PermissionMissing { permission, is_person: true } => told(
                StatusCode::FORBIDDEN,
                "punk_permission_missing",
                format!("your role does not have the permission `{permission}`"),
                "ask an admin of the organisation; docs/reference/permissions.md says which role may do what",
            ),
            Self::PermissionMissing { permission, is_person: false } => match scope_with(permission) {
                Some(scope) => told(
                    StatusCode::FORBIDDEN,
                    "punk_scope_missing",
                    format!("the API key does not have the scope `{}`", scope.as_str()),
                    "use a key with this scope; an admin of the tenant can make one",
                ),
                None => told(
                    StatusCode::FORBIDDEN,
                    "punk_admin_required",
                    format!("the key does not have the permission `{permission}`"),
                    "use an admin key, or the key of the installation, or ask whoever has one",
                ),
            },
            Self::GrantRefused { why } => told(
                StatusCode::FORBIDDEN,
                "punk_grant_refused",
                why,
                "nobody gives away more than they have; ask somebody who may do it themselves",
            ),
            Self::NotLoggedIn => told(
                StatusCode::UNAUTHORIZED,
                "punk_not_logged_in",
                "this is about whoever is logged in, and nobody is".into(),
                "log in with `POST /api/v1/auth/login` first",
            ),
            Self::SessionEnded => told(
                StatusCode::UNAUTHORIZED,
                "punk_session_ended",
                "the session has ended".into(),
                "log in again with `POST /api/v1/auth/login`",
            ),
            Self::LoginRefused => told(
                StatusCode::UNAUTHORIZED,
                "punk_login_refused",
                "the e-mail address or the password is not right".into(),
                "check both; an operator of the installation can set another password",
            ),
            Self::LoginTooEarly { wait } => told(
                StatusCode::TOO_MANY_REQUESTS,
                "punk_rate_limited",
                format!(
                    "too many attempts; the next one is looked at in {} s",
                    wait.as_millis().div_ceil(1_000)
                ),
                "wait as long as `retry-after` says",
            ),
            Self::TooManyLogins => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_too_many_logins",
                "too many people log in at this moment".into(),
                "try again in a second",
            ),
            Self::Csrf { why } => told(
                StatusCode::FORBIDDEN,
                "punk_csrf",
                format!("a change with a session cookie was refused: {why}"),
                "send the session's `csrfToken` in `x-punk-csrf`, from a page of this gateway; programs use a key or a token instead",
            ),
            Self::NotAMember => told(
                StatusCode::FORBIDDEN,
                "punk_not_a_member",
                "you are not in this organisation, or not any more".into(),
                "choose one of your own with `POST /api/v1/auth/organisation`",
            ),
            Self::InvitationRefused => told(
                StatusCode::FORBIDDEN,
                "punk_invitation_refused",
                "this invitation does not hold, or is for somebody else".into(),
                "ask whoever invited you for another",
            ),
            Self::Taken { what } => told(
                StatusCode::CONFLICT,
                "punk_taken",
                format!("there is such a {what} already"),
                "change the one that is there",
            ),
            Self::LastOwner => told(
                StatusCode::CONFLICT,
                "punk_last_owner",
                "an organisation always has an owner, and this is the last one".into(),
                "make somebody else an owner first",
            ),
            Self::TokenRefused => told(
                StatusCode::UNAUTHORIZED,
                "punk_token_refused",
                "the token is not valid".into(),
                "get a new one with `POST /api/v1/auth/token`",
            ),
            Self::ClientRefused => told(
                StatusCode::UNAUTHORIZED,
                "punk_client_refused",
                "there is no such client, or its secret is not right".into(),
                "send `client_id` and `client_secret` as the account was made with, or rotate its secret",
            ),
            Self::OutOfReach => told(
                StatusCode::FORBIDDEN,
                "punk_out_of_reach",
                "this token is for one run, and this is not about it".into(),
                "use it for what that run looks at and records, and a key for everything else",
            ),
            Self::ProviderRefused { why } => told(
                StatusCode::FORBIDDEN,
                "punk_provider_refused",
                format!("nobody was logged in: {why}"),
                "begin again with `GET /api/v1/auth/oidc/login`, or ask an operator of the installation",
            ),
            Self::TooOften { retry_after, limit } => told(
                StatusCode::TOO_MANY_REQUESTS,
                "punk_rate_limited",
                format!("more than {limit} requests in a minute; there is room again in {retry_after} s"),
                "wait as long as `retry-after` says; the `limits` section of the configuration and the key's own number set the limit",
            ),
            Self::GuessedTooOften => told(
                StatusCode::TOO_MANY_REQUESTS,
                "punk_rate_limited",
                "too many wrong API keys came from this address".into(),
                "wait a minute; keys that start with `pk_` are let in meanwhile",
            ),
            Self::ForeignHost => told(
                StatusCode::FORBIDDEN,
                "punk_foreign_host",
                "this gateway is open, so it answers only to names of this machine".into(),
                "call it as 127.0.0.1 or localhost, set `server.base_url` to its name, or set PUNK_API_KEY",
            ),
            Self::ForeignOrigin => told(
                StatusCode::FORBIDDEN,
                "punk_foreign_origin",
                "a web page from another origin may not call this gateway".into(),
                "add the origin to `server.cors_origins`",
            ),
            Self::Malformed { param, message } => {
                let hint = "GET /docs describes what this endpoint takes";
                let told = told(StatusCode::BAD_REQUEST, "punk_invalid_request", message, hint);
                Told { param: Some(param).filter(|param| !param.is_empty()), ..told }
            }
            Self::Header { name, wanted } => {
                let message = format!("the header {name} is not right: {wanted}");
                let told = told(
                    StatusCode::BAD_REQUEST,
                    "punk_invalid_header",
                    message,
                    "leave it out, or send plain text",
                );
                Told { param: Some(name.to_owned()), ..told }
            }
            Self::Body { status, message } => told(
                status,
                "punk_invalid_body",
                message,
                "send one JSON object, no longer than `server.max_body_bytes`",
            ),
            Self::BodyLate { message } => told(
                StatusCode::REQUEST_TIMEOUT,
                "punk_request_late",
                message,
                "send the body faster, or raise `limits.body_seconds`",
            ),
            Self::UrlTooLong { most } => told(
                StatusCode::URI_TOO_LONG,
                "punk_url_too_long",
                format!("the path and its query are longer than {most} bytes"),
                "send what is long in the body",
            ),
            Self::Field { param, message } => {
                let hint = "docs/reference/wires.md says what each wire takes";
                let told = told(StatusCode::BAD_REQUEST, "punk_invalid_request", message, hint);
                Told { param: Some(param), ..told }
            }
            Self::Blocked { run, verdict, approval } => {
                let (code, message, hint) = match verdict.effect {
                    schema::Effect::Ask => (
                        "punk_approval_required",
                        "policy wants an approval for this first",
                        "when `approvalId` is approved, send the same request again; it works once",
                    ),
                    schema::Effect::Deny if verdict.policy.starts_with("budget:") => (
                        "punk_budget_exhausted",
                        "there is not enough left in the budget for this, or its price is not known",
                        "`GET /api/v1/budgets` shows what is left; the verdict names the budget",
                    ),
                    schema::Effect::Deny | schema::Effect::Allow => (
                        "punk_policy_denied",
                        "policy does not allow this",
                        "the verdict names the policy and the rule; `POST /api/v1/policies/explain` says why",
                    ),
                };
                let told = told(StatusCode::FORBIDDEN, code, message.into(), hint);
                Told { run: Some(run), verdict: Some(verdict), approval, ..told }
            }
            Self::ApprovalUnfit { id, why } => {
                let message = format!("the approval {id} does not allow this: {why}");
                let hint = "leave out `x-punk-approval` to have the governor ask again";
                let told = told(StatusCode::CONFLICT, "punk_approval_unfit", message, hint);
                Told { approval: Some(id), ..told }
            }
            Self::VoteRefused { why, status } => told(
                status,
                "punk_vote_refused",
                format!("this answer does not count: {why}"),
                "`GET /api/v1/approvals/{id}` shows who is asked, and what was answered so far",
            ),
            Self::NoSuch { what, hint } => {
                told(StatusCode::NOT_FOUND, "punk_not_found", format!("there is no such {what}"), hint)
            }
            Self::Changed { what } => told(
                StatusCode::CONFLICT,
                "punk_changed_meanwhile",
                format!("the {what} was changed by somebody else at the same moment"),
                "look at it again, then send the request again",
            ),
            Self::GateNotSatisfied { message, hint } => {
                told(StatusCode::CONFLICT, "punk_gate_not_satisfied", message, hint)
            }
            Self::NameTaken { what } => told(
                StatusCode::CONFLICT,
                "punk_name_taken",
                format!("another {what} has this name"),
                "choose another name, or change the one that has it",
            ),
            Self::TooManyKept { what, most } => told(
                StatusCode::CONFLICT,
                "punk_too_many",
                format!("there are {most} {what} already, and no tenant may have more"),
                "remove what is not used any more",
            ),
            Self::PoliciesRefused { message } => told(
                StatusCode::CONFLICT,
                "punk_policies_refused",
                format!("the policies cannot be read, and those that were in force stay so: {message}"),
                "`punk policy check` reads them without a server",
            ),
            Self::NoSuchRun => told(
                StatusCode::NOT_FOUND,
                "punk_not_found",
                "there is no such run".into(),
                "the id of a run is in the `x-punk-run-id` header of its answer",
            ),
            Self::NotFinished { run } => told(
                StatusCode::CONFLICT,
                "punk_run_not_finished",
                format!("run {run} is not finished, so there is nothing to prove yet"),
                "ask again when the run has ended",
            ),
            Self::Ledger => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_ledger_unavailable",
                "the run could not be recorded, so it is not answered".into(),
                "look for the cause in the log of the server: most often the disk is full",
            ),
            Self::Unread => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_store_unavailable",
                "the store cannot be read or written now".into(),
                "look for the cause in the log of the server: most often the disk is full or the database is away",
            ),
            Self::Overloaded => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_overloaded",
                "as much is in progress here as there is room for".into(),
                "send it again after `retry-after`; `limits.concurrent_requests` and `limits.body_bytes_in_progress` say how much \
                 room there is",
            ),
            Self::Leaving => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_leaving",
                "this process has been asked to stop, and finishes what has begun".into(),
                "send requests to another node, or again after `retry-after`",
            ),
            Self::Uncounted => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "punk_meters_unavailable",
                "budgets and limits cannot be counted now, so nothing is spent".into(),
                "try again in a moment; whoever runs the server looks whether Redis answers (`punk doctor`)",
            ),
            Self::Full => told(
                StatusCode::INSUFFICIENT_STORAGE,
                "punk_disk_full",
                "there is no room left to record anything, so nothing new is answered".into(),
                "make room on the disk of the store; what is recorded can still be read, and no restart is needed",
            ),
            Self::Damaged => told(
                StatusCode::INTERNAL_SERVER_ERROR,
                "punk_store_damaged",
                "what the store holds is not what was written, so it is not shown".into(),
                "the log of the server names the damage; stop it and restore a backup with `punk restore`",
            ),
            Self::Busy { run } => told(
                StatusCode::CONFLICT,
                "punk_run_busy",
                format!("run {run} is being written by others"),
                "send the request again",
            ),
            Self::Invalid { param, message, hint } => {
                let told = told(StatusCode::BAD_REQUEST, "punk_invalid_request", message, hint);
                Told { param: Some(param.to_owned()), ..told }
            }
            Self::Sealed { run, left } => told(
                StatusCode::GONE,
                "punk_run_sealed",
                format!(
                    "the {} events of run {run} were kept long enough and given up; its head {} is leaf {} of the log",
                    left.seq, left.head, left.leaf
                ),
                "a packet that was fetched before still verifies; `store.retention_days` says how long events are kept",
            ),
            Self::NoSuchSubject => told(
                StatusCode::NOT_FOUND,
                "punk_not_found",
                "nothing is kept about such a subject".into(),
                "send the name that requests carried in `x-punk-subject`, escaped as a part of a path",
            ),
            Self::NoSuchJob => told(
                StatusCode::NOT_FOUND,
                "punk_not_found",
                "there is no such job, or it cannot be put back".into(),
                "`GET /api/v1/jobs?state=dead` lists the jobs that can be",
            ),
            Self::NoSuchModel { message } => {
                let hint = "`GET /v1/models` lists the models that are served; docs/reference/configuration.md says how to add more";
                let told = told(StatusCode::NOT_FOUND, "punk_model_unavailable", message, hint);
                Told { param: Some("model".to_owned()), ..told }
            }
            Self::NotKept { run } => {
                let message = "no kept answer fits, and the caller wants no other".to_owned();
                let hint = "leave out `cache-control: only-if-cached` to have the model asked";
                let told = told(StatusCode::GATEWAY_TIMEOUT, "punk_not_kept", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::Unserved { run } => {
                let message = "no upstream could be asked".to_owned();
                let hint = "the events of the run say why each one was passed over";
                let told = told(StatusCode::BAD_GATEWAY, "punk_upstream_unavailable", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::Keyless { run, upstream } => {
                let message =
                    format!("upstream {upstream} cannot be asked: its key is not to be had from the vault");
                let hint = "whoever runs the installation adds it with `punk vault add`; the log of the server says which \
                            credential is missing";
                let told = told(StatusCode::BAD_GATEWAY, "punk_upstream_keyless", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::Resting { run, .. } => {
                let message =
                    "every upstream for this model failed lately and is left alone for a moment".to_owned();
                let hint = "wait as long as `retry-after` says, or configure a fallback";
                let told = told(StatusCode::SERVICE_UNAVAILABLE, "punk_upstream_unavailable", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::UpstreamLate { run, message } => {
                let hint = "the time-outs of an upstream can be set in its table";
                let told = told(StatusCode::GATEWAY_TIMEOUT, "punk_upstream_timeout", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::UpstreamAway { run, message } => {
                let hint = "look for the cause in the log of the server";
                let told = told(StatusCode::BAD_GATEWAY, "punk_upstream_unreachable", message, hint);
                Told { run: Some(run), ..told }
            }
            Self::UpstreamNonsense { run, message } => {
                let hint = "check that the upstream speaks the wire it is configured with";
                let told = told(StatusCode::BAD_GATEWAY, "punk_upstream_broken", message, hint);
                Told { run: Some(run), ..told }
            }
            // Has its own way out, above.
            Self::Upstream(error) => told(error.status, "punk_upstream_error", error.message, ""),
            Self::NoSuchKey => told(
                StatusCode::NOT_FOUND,
                "punk_not_found",
                "there is no such key".into(),
                "`GET /api/v1/keys` lists the keys of the tenant",
            ),
            Self::NoSuchTenant => told(
                StatusCode::NOT_FOUND,
                "punk_not_found",
                "there is no such tenant".into(),
                "leave it out to mean your own; whoever runs the installation lists all with `GET /api/v1/tenants`",
            ),
            Self::TooManyReaders => told(
                StatusCode::TOO_MANY_REQUESTS,
                "punk_too_many_readers",
                "as many feeds as this process has room for are open".into(),
                "close some, or try again later",
            ),
            Self::NoSuchPath => told(
                StatusCode::NOT_FOUND,
                "punk_no_such_path",
                "there is nothing at this path".into(),
                "GET /docs lists the paths",
            ),
            Self::NoSuchMethod => told(
                StatusCode::METHOD_NOT_ALLOWED,
                "punk_no_such_method",
                "this path does not take this method".into(),
                "the `allow` header lists those it takes",
            ),
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

/// The scope that opens what the permission is about, if there is one.
fn scope_with(permission: Permission) -> Option<Scope> {
    [Scope::Gateway, Scope::Read, Scope::Write, Scope::Approve]
        .into_iter()
        .find(|scope| identity::permission::of_scope(*scope).has(permission))
}

fn openai_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::NOT_FOUND => "not_found_error",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "api_error",
        _ => "invalid_request_error",
    }
}

/// On our own endpoints an error looks like all of ours.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.respond(Wire::Rest)
    }
}

impl From<wire::Wire> for Wire {
    fn from(wire: wire::Wire) -> Self {
        match wire {
            wire::Wire::Chat | wire::Wire::Responses => Self::OpenAi,
            wire::Wire::Messages => Self::Anthropic,
        }
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
