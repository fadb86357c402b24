//! The dashboard: `GET /` and the files it is made of, as they were when the binary was built.
//!
//! What it shows comes from the REST API, with the key or the session of whoever looks; the files themselves say nothing
//! about anybody.

use axum::extract::Path;
use axum::response::Response;
use http::HeaderMap;

use crate::asset::{Asset, find};
use crate::error::ApiError;

static FILES: &[Asset] = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

pub(crate) async fn page(headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(find(FILES, "index.html")?.serve(&headers))
}

pub(crate) async fn file(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(find(FILES, &path)?.serve(&headers))
}
