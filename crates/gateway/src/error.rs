//! The one place where a failure becomes a status, a code and a hint.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, StatusCode};
use schema::{Route, RunId, Verdict};
use serde_json::{Value, json};
use store::{CommitError, Sealed, StoreError};

/// Why a request was not answered, in the gateway's own words.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// No key, or not the right one.
    Unauthorised,
    /// A header cannot be read.
    Header {
        name: &'static str,
        wanted: &'static str,
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
    NoSuchPath,
    NoSuchMethod,
}

/// Which clothes an error wears: the OpenAI wire has its own, so that its official clients raise their own exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    OpenAi,
    Rest,
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
}

impl ApiError {
    pub(crate) fn respond(self, wire: Wire) -> Response {
        let told = self.tell();
        let mut error = json!({ "code": told.code, "message": told.message, "hint": told.hint });
        for (name, value) in [("runId", json!(told.run)), ("verdict", json!(told.verdict))] {
            if !value.is_null() {
                error[name] = value;
            }
        }
        if wire == Wire::OpenAi {
            error["type"] = json!(openai_type(told.status));
            error["param"] = json!(told.param);
        } else if let Some(param) = told.param {
            error["param"] = Value::from(param);
        }
        let mut response = (told.status, Json(json!({ "error": error }))).into_response();
        if let Some(run) = told.run {
            let headers = response.headers_mut();
            if let Ok(value) = run.to_string().parse() {
                headers.insert(HeaderName::from_static("x-punk-run-id"), value);
            }
            headers.insert(
                HeaderName::from_static("x-punk-route"),
                http::HeaderValue::from_static(Route::Blocked.as_str()),
            );
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
        };
        match self {
            Self::Unauthorised => told(
                StatusCode::UNAUTHORIZED,
                "punk_unauthorised",
                "the API key is missing or not known".into(),
                "send `Authorization: Bearer <key>` with the value of PUNK_API_KEY",
            ),
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
            Self::Body { status, message } => {
                told(status, "punk_invalid_body", message, "send one JSON object, at most 2 MiB")
            }
            Self::Field { param, message } => {
                let hint = "see the OpenAI chat completions reference for this field";
                let told = told(StatusCode::BAD_REQUEST, "punk_invalid_request", message, hint);
                Told { param: Some(param), ..told }
            }
            Self::Blocked { run, verdict } => {
                let (code, message) = match verdict.effect {
                    schema::Effect::Ask => {
                        ("punk_approval_required", "policy wants an approval for this first")
                    }
                    schema::Effect::Deny | schema::Effect::Allow => {
                        ("punk_policy_denied", "policy does not allow this")
                    }
                };
                let told = told(
                    StatusCode::FORBIDDEN,
                    code,
                    message.into(),
                    "the verdict names the policy and the rule",
                );
                Told { run: Some(run), verdict: Some(verdict), ..told }
            }
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
            Self::NoSuchPath => told(
                StatusCode::NOT_FOUND,
                "punk_no_such_path",
                "there is nothing at this path".into(),
                "the README lists the paths",
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

fn openai_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
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

pub(crate) async fn no_such_path() -> Response {
    ApiError::NoSuchPath.respond(Wire::Rest)
}

pub(crate) async fn no_such_method() -> Response {
    ApiError::NoSuchMethod.respond(Wire::Rest)
}
