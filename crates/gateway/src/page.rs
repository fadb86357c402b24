//! Pages of a list: by key, never by number, so that a page does not shift while it is read.

use std::num::NonZeroU32;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Deserialize;

use crate::error::ApiError;

const DEFAULT: NonZeroU32 = NonZeroU32::new(50).unwrap();
const MOST: u32 = 200;

/// What a caller may say about a page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// The last id of the page before.
    pub(crate) before: Option<String>,
    /// How many.
    limit: Option<String>,
    /// Only these; for jobs.
    pub(crate) state: Option<String>,
}

impl PageQuery {
    /// What the query string says, or which part of it nobody understands.
    pub(crate) fn read(query: Result<Query<Self>, QueryRejection>) -> Result<Self, ApiError> {
        let invalid = |error: QueryRejection| ApiError::Invalid {
            param: "query",
            message: error.body_text(),
            hint: "send `before` and `limit`, and for jobs `state`; nothing else",
        };
        query.map(|Query(query)| query).map_err(invalid)
    }

    pub(crate) fn limit(&self) -> Result<NonZeroU32, ApiError> {
        let Some(text) = &self.limit else { return Ok(DEFAULT) };
        let limit = text.parse().ok().filter(|limit: &NonZeroU32| limit.get() <= MOST);
        limit.ok_or_else(|| ApiError::Invalid {
            param: "limit",
            message: format!("`{text}` is not a number of items"),
            hint: "send a whole number from 1 to 200",
        })
    }

    /// The id to go on from.
    pub(crate) fn before<T: std::str::FromStr>(&self) -> Result<Option<T>, ApiError> {
        let parse = |text: &String| {
            text.parse().map_err(|_| ApiError::Invalid {
                param: "before",
                message: format!("`{text}` is not an id of this list"),
                hint: "send the `next` of the page before",
            })
        };
        self.before.as_ref().map(parse).transpose()
    }
}
