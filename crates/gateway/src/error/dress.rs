//! Failures as answers: each wire has clothes of its own for what is said.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use schema::{Route, RunId};
use serde_json::{Value, json};

use super::ApiError;
use crate::discretion::without_secrets;

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

impl ApiError {
    /// The answer that tells it.
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

/// Says which run an answer is of, and how it was answered.
pub(super) fn name_run(response: &mut Response, run: RunId, route: Route) {
    let headers = response.headers_mut();
    if let Ok(value) = run.to_string().parse() {
        headers.insert(HeaderName::from_static("x-punk-run-id"), value);
    }
    headers.insert(HeaderName::from_static("x-punk-route"), HeaderValue::from_static(route.as_str()));
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
