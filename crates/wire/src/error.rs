//! Errors in each vendor's shape, so that every official client raises its own exceptions.
//!
//! [`Failure`] is an error in no vendor's shape: [`Wire::read_error`] makes one of what an upstream sent and
//! [`Wire::write_error`] tells it to the caller, so that an upstream's error crosses wires with its status and its kind.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::sse;
use crate::wire::Wire;

/// An error, in no vendor's shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The HTTP status.
    pub status: u16,
    /// What kind it is.
    pub kind: FailureKind,
    /// What is wrong, and what to do about it.
    pub message: String,
    /// A word for programs, such as `context_length_exceeded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The field that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// What else is to be said.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// What kind an error is. The vendors agree on these, if not on their words for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The request is not right.
    Invalid,
    /// The key is missing or not known.
    Unauthenticated,
    /// There is no money for it.
    Billing,
    /// The key may not do this.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// It does not go with what is there now.
    Conflict,
    /// The request is too long.
    TooLarge,
    /// Too many requests, or too many tokens.
    RateLimited,
    /// The vendor failed.
    Internal,
    /// It took too long.
    Timeout,
    /// The vendor has too much to do.
    Overloaded,
}

impl FailureKind {
    /// The kind that goes with a status.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Unauthenticated,
            402 => Self::Billing,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::Invalid,
            _ => Self::Internal,
        }
    }

    /// The kind that a vendor's word stands for, if it is known.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "invalid_request_error" | "invalid_prompt" => Self::Invalid,
            "authentication_error" | "invalid_api_key" => Self::Unauthenticated,
            "billing_error" | "insufficient_quota" => Self::Billing,
            "permission_error" | "permission_denied" => Self::Forbidden,
            "not_found_error" | "model_not_found" => Self::NotFound,
            "conflict_error" => Self::Conflict,
            "request_too_large" => Self::TooLarge,
            "rate_limit_error" | "rate_limit_exceeded" | "requests" | "tokens" => Self::RateLimited,
            "api_error" | "server_error" | "internal_server_error" => Self::Internal,
            "timeout_error" => Self::Timeout,
            "overloaded_error" | "server_overloaded" => Self::Overloaded,
            _ => return None,
        })
    }

    /// The status that goes with it on a wire: where the vendors differ, each has its own.
    #[must_use]
    pub fn status(self, wire: Wire) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            // OpenAI's clients know no 402, and its own word for it is `insufficient_quota`.
            Self::Billing if wire == Wire::Messages => 402,
            Self::Billing | Self::RateLimited => 429,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Internal => 500,
            Self::Timeout => 504,
            Self::Overloaded if wire == Wire::Messages => 529,
            Self::Overloaded => 503,
        }
    }

    /// Anthropic's word for it.
    #[must_use]
    pub fn messages_word(self) -> &'static str {
        match self {
            Self::Invalid => "invalid_request_error",
            Self::Unauthenticated => "authentication_error",
            Self::Billing => "billing_error",
            Self::Forbidden => "permission_error",
            Self::NotFound => "not_found_error",
            Self::Conflict => "conflict_error",
            Self::TooLarge => "request_too_large",
            Self::RateLimited => "rate_limit_error",
            Self::Internal => "api_error",
            Self::Timeout => "timeout_error",
            Self::Overloaded => "overloaded_error",
        }
    }

    /// OpenAI's word for it.
    #[must_use]
    pub fn openai_word(self) -> &'static str {
        match self {
            Self::Invalid | Self::NotFound | Self::Conflict | Self::TooLarge => "invalid_request_error",
            Self::Unauthenticated => "authentication_error",
            Self::Billing => "insufficient_quota",
            Self::Forbidden => "permission_error",
            Self::RateLimited => "rate_limit_error",
            Self::Internal | Self::Timeout | Self::Overloaded => "server_error",
        }
    }
}

impl Failure {
    /// An error of this kind, with the status that goes with it on `wire`.
    #[must_use]
    pub fn new(wire: Wire, kind: FailureKind, message: impl Into<String>) -> Self {
        let (status, message) = (kind.status(wire), message.into());
        Self { status, kind, message, code: None, param: None, extra: Map::new() }
    }

    /// An error midway through a stream: in the words of `wire`, with the vendor's own word as its code.
    #[must_use]
    pub fn midway(wire: Wire, word: &str, message: impl Into<String>) -> Self {
        let kind = FailureKind::of_word(word).unwrap_or(FailureKind::Internal);
        let own = if wire == Wire::Messages { kind.messages_word() } else { kind.openai_word() };
        let code = (!word.is_empty() && word != own).then(|| word.to_owned());
        Self { code, ..Self::new(wire, kind, message) }
    }
}

impl Wire {
    /// Reads what an upstream sent with a status that is no success. Tolerant: whatever it sent, there is an error.
    #[must_use]
    pub fn read_error(self, status: u16, body: &Value) -> Failure {
        // All wires have the same frame, and proxies put less into it.
        let error = match body.get("error") {
            Some(error @ Value::Object(_)) => error,
            _ => body,
        };
        let text = |name: &str| error.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let bare = || body.get("error").and_then(Value::as_str).or(body.as_str());
        let message = text("message").or_else(bare).or_else(|| text("detail"));
        let message =
            message.map_or_else(|| format!("the upstream answered with status {status}"), str::to_owned);
        // Proxies send numbers as codes.
        let code = error.get("code").filter(|code| !code.is_null());
        let code = code.map(|code| code.as_str().map_or_else(|| code.to_string(), str::to_owned));
        let by_status = FailureKind::of_status(status);
        let words = [text("type"), code.as_deref()];
        // The status is the better witness, but for what it does not tell apart.
        let kind = match by_status {
            FailureKind::Invalid | FailureKind::Internal | FailureKind::RateLimited => words
                .into_iter()
                .flatten()
                .find_map(FailureKind::of_word)
                .filter(|kind| fits(*kind, by_status)),
            _ => None,
        };
        let kind = kind.unwrap_or(by_status);
        let param = text("param").map(str::to_owned);
        let mut extra = Map::new();
        if let Some(Value::String(id)) = body.get("request_id") {
            extra.insert("request_id".to_owned(), json!(id));
        }
        Failure { status, kind, message, code, param, extra }
    }

    /// Tells an error to the caller.
    #[must_use]
    pub fn write_error(self, failure: &Failure) -> Value {
        let mut extra = failure.extra.clone();
        if self != Self::Messages {
            let mut error = json!({
                "message": failure.message,
                "type": failure.kind.openai_word(),
                "param": failure.param,
                "code": failure.code,
            });
            add(&mut error, extra);
            return json!({ "error": error });
        }
        let request = extra.shift_remove("request_id");
        let mut error = json!({ "type": failure.kind.messages_word(), "message": failure.message });
        for (name, value) in [("code", &failure.code), ("param", &failure.param)] {
            if let Some(value) = value {
                error[name] = json!(value);
            }
        }
        add(&mut error, extra);
        let mut body = json!({ "type": "error", "error": error });
        if let Some(request) = request {
            body["request_id"] = request;
        }
        body
    }

    /// Tells an error to a caller who is being sent a stream: a whole frame, after which nothing comes.
    pub fn write_error_frame(self, failure: &Failure, out: &mut Vec<u8>) {
        match self {
            Self::Chat => sse::write_frame(None, &self.write_error(failure).to_string(), out),
            Self::Messages => sse::write_frame(Some("error"), &self.write_error(failure).to_string(), out),
            Self::Responses => {
                let code = failure.code.as_deref().unwrap_or(failure.kind.openai_word());
                let mut event = json!({
                    "type": "error",
                    "code": code,
                    "message": failure.message,
                    "param": failure.param,
                });
                // The vendor's reference has it flat, its clients raise an exception only for one that is nested.
                add(&mut event, failure.extra.clone());
                if let Value::Object(nested) = self.write_error(failure) {
                    add(&mut event, nested);
                }
                sse::write_frame(Some("error"), &event.to_string(), out);
            }
        }
    }
}

/// Whether a word says more about a status, rather than something else: proxies put any word next to any status.
fn fits(kind: FailureKind, by_status: FailureKind) -> bool {
    use FailureKind::{
        Billing, Conflict, Internal, Invalid, NotFound, Overloaded, RateLimited, Timeout, TooLarge,
        Unauthenticated,
    };
    match by_status {
        Invalid => matches!(kind, Invalid | Billing | Conflict | NotFound | TooLarge | Unauthenticated),
        Internal => matches!(kind, Internal | Overloaded | Timeout),
        RateLimited => matches!(kind, RateLimited | Billing),
        other => kind == other,
    }
}

/// Adds what is not there yet.
fn add(error: &mut Value, extra: Map<String, Value>) {
    if let Some(known) = error.as_object_mut() {
        for (name, value) in extra {
            known.entry(name).or_insert(value);
        }
    }
}
