//! `GET /docs`: the documentation as pages for people, and at `/docs/api` the OpenAPI document as one, with nothing from
//! elsewhere in it.
//!
//! `build/pages.rs` makes the pages when the binary is built.

use axum::extract::Path;
use axum::response::Response;
use http::HeaderMap;

use crate::asset::{Asset, find};
use crate::error::ApiError;

static FILES: &[Asset] = include!(concat!(env!("OUT_DIR"), "/docs.rs"));

pub(crate) async fn page(headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(find(FILES, "index")?.serve(&headers))
}

pub(crate) async fn file(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(find(FILES, path.trim_end_matches('/'))?.serve(&headers))
}
