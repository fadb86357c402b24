//! `GET /docs`: the OpenAPI document as a page for people, with nothing from elsewhere in it.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use schemars::JsonSchema;

use crate::error::ApiError;

const PAGE: &str = include_str!("docs/index.html");
const STYLE: &str = include_str!("docs/docs.css");
const SCRIPT: &str = include_str!("docs/docs.js");
/// Only what this server itself serves, and nobody may put the page into theirs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page is made of.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "the schema of a part of the path")]
pub(crate) enum FileName {
    #[schemars(rename = "docs.css")]
    Style,
    #[schemars(rename = "docs.js")]
    Script,
}

pub(crate) async fn page() -> Response {
    serve("text/html; charset=utf-8", PAGE)
}

pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, ApiError> {
    match name.as_str() {
        "docs.css" => Ok(serve("text/css; charset=utf-8", STYLE)),
        "docs.js" => Ok(serve("text/javascript; charset=utf-8", SCRIPT)),
        _ => Err(ApiError::NoSuchPath),
    }
}

fn serve(media: &'static str, text: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, media),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
