//! `GET /docs`: the OpenAPI document as a page for people, with nothing from elsewhere in it.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use schemars::JsonSchema;

use crate::asset::guarded;
use crate::error::ApiError;

const PAGE: &str = include_str!("docs/index.html");
const STYLE: &str = include_str!("docs/docs.css");
const SCRIPT: &str = include_str!("docs/docs.js");

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
    let headers = [(CONTENT_TYPE, media), (CACHE_CONTROL, "no-cache")];
    guarded((headers, text).into_response())
}
