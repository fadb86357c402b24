//! What is said of each failure: a status, a code, a message, and a hint of what to do.

use http::StatusCode;
use identity::Permission;
use schema::{ApprovalId, RunId, Scope, Verdict};

use super::ApiError;

/// What every surface says of an error.
pub(super) struct Told {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: &'static str,
    pub(super) param: Option<String>,
    pub(super) run: Option<RunId>,
    pub(super) verdict: Option<Verdict>,
    pub(super) approval: Option<ApprovalId>,
}

impl ApiError {
    /// What every surface says of it.
    pub(super) fn tell(self) -> Told {
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

/// The scope that opens what the permission is about, if there is one.
fn scope_with(permission: Permission) -> Option<Scope> {
    [Scope::Gateway, Scope::Read, Scope::Write, Scope::Approve]
        .into_iter()
        .find(|scope| identity::permission::of_scope(*scope).has(permission))
}
