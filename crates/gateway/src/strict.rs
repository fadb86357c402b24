//! What callers send, read strictly: what is not understood is refused by its place, before anything is recorded.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use http::StatusCode;
use http::request::Parts;
use redaction::has_secret;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// A JSON body of the shape `T`.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body of the shape `T` that is kept as it is written, and so may have no secret in it.
pub(crate) struct Kept<T>(pub(crate) T);

/// The query string as a `T`: every member a text, each at most once.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        read(&bytes_of(request, state).await?).map(Self)
    }
}

async fn bytes_of<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|error| ApiError::unread_body(&error))
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Kept<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = bytes_of(request, state).await?;
        let value = read(&bytes)?;
        // Read twice, because a value forgets members that are there twice.
        if let Some(param) = secret_at(&read(&bytes)?, "") {
            let message = format!("{param}: this looks like a secret; keep it in the vault and refer to it");
            return Err(ApiError::Malformed { param, message });
        }
        Ok(Self(value))
    }
}

/// Where in a value there is a secret.
fn secret_at(value: &Value, at: &str) -> Option<String> {
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match value {
        Value::String(text) => has_secret(text).then(|| at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| secret_at(item, &below(&index.to_string())))
        }
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            if has_secret(name) { Some(below("?")) } else { secret_at(member, &below(name)) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs: Query<Vec<(String, String)>> = Query::try_from_uri(&parts.uri)
            .map_err(|error| ApiError::Malformed { param: "query".into(), message: error.body_text() })?;
        let mut members = Map::new();
        for (name, value) in pairs.0 {
            if members.contains_key(&name) {
                return Err(ApiError::Malformed { param: name, message: "it is there twice".into() });
            }
            members.insert(name, Value::from(value));
        }
        from_value(Value::Object(members)).map(Self)
    }
}

/// JSON text as a `T`.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let param = place(&error.path().to_string(), &error.inner().to_string());
        let cause = error.into_inner();
        if cause.is_data() {
            malformed(param, &cause.to_string())
        } else {
            ApiError::Body {
                status: StatusCode::BAD_REQUEST,
                message: format!("the body is not JSON: {cause}"),
            }
        }
    })?;
    json.end().map_err(|error| ApiError::Body {
        status: StatusCode::BAD_REQUEST,
        message: format!("something follows the JSON: {error}"),
    })?;
    Ok(value)
}

/// A JSON value as a `T`.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let message = error.inner().to_string();
        malformed(place(&error.path().to_string(), &message), &message)
    })
}

fn malformed(param: String, message: &str) -> ApiError {
    // The place in the bytes helps nobody who did not write them by hand; the place in the value is in `param`.
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let message = if param.is_empty() { message.to_owned() } else { format!("{param}: {message}") };
    ApiError::Malformed { param, message }
}

/// Where the fault is. A field that is missing or not known is named by the message, and stands in for the object it
/// would be in.
fn place(path: &str, message: &str) -> String {
    let path = if path == "." { "" } else { path };
    let named = ["missing field `", "unknown field `", "duplicate field `"]
        .iter()
        .find_map(|start| message.strip_prefix(start)?.split_once('`'))
        .map(|(name, _)| name);
    match named {
        Some(name) if path.is_empty() || path == name => name.to_owned(),
        Some(name) if path.ends_with(&format!(".{name}")) => path.to_owned(),
        Some(name) => format!("{path}.{name}"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Outer {
        name: String,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Inner {
        count: u8,
    }

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let said = match read::<Outer>(body.as_bytes()) {
            Err(ApiError::Malformed { param, message }) => format!("{param} | {message}"),
            Err(ApiError::Body { message, .. }) => format!("body | {message}"),
            other => format!("{other:?}"),
        };
        assert_eq!(said, expected, "{body}");
    }

    #[test]
    fn a_fault_is_named_by_its_place() {
        check("{}", "name | name: missing field `name`");
        check(r#"{"name":1}"#, "name | name: invalid type: integer `1`, expected a string");
        check(r#"{"name":"a","x":1}"#, "x | x: unknown field `x`, expected `name` or `inner`");
        check(r#"{"name":"a","inner":{}}"#, "inner.count | inner.count: missing field `count`");
        check(
            r#"{"name":"a","inner":{"count":900}}"#,
            "inner.count | inner.count: invalid value: integer `900`, expected u8",
        );
        check(
            r#"{"name":"a","inner":{"count":9,"y":0}}"#,
            "inner.y | inner.y: unknown field `y`, expected `count`",
        );
        check(r#"{"name":"a","name":"b"}"#, "name | name: duplicate field `name`");
        check("[]", " | invalid length 0, expected struct Outer with 2 elements");
        check("{", "body | the body is not JSON: EOF while parsing an object at line 1 column 1");
        check(
            r#"{"name":"a"} x"#,
            "body | something follows the JSON: trailing characters at line 1 column 14",
        );
    }
}
