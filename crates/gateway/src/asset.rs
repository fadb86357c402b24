//! Files inside the binary, and how one is served: packed if the client reads that, not at all if the client has it.
//!
//! `build/` packs them and writes the tables. Nothing here is counted and nothing needs a key: a page is the same for
//! everybody, and what it shows it asks for over REST, as its visitor.

use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::error::ApiError;

/// Only what this server itself serves, and nobody may put a page of it into theirs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file inside the binary.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its name; the tables are sorted by it.
    pub(crate) path: &'static str,
    pub(crate) media: &'static str,
    /// What tells its content from every other.
    pub(crate) tag: &'static str,
    pub(crate) plain: &'static [u8],
    /// In gzip, if it is shorter so.
    pub(crate) packed: Option<&'static [u8]>,
}

/// The file of this name in a table.
pub(crate) fn find(table: &'static [Asset], path: &str) -> Result<&'static Asset, ApiError> {
    let found = table.binary_search_by(|asset| asset.path.cmp(path));
    found.map(|index| &table[index]).map_err(|_| ApiError::NoSuchPath)
}

impl Asset {
    /// The file as this client reads it.
    pub(crate) fn serve(&self, headers: &HeaderMap) -> Response {
        let packed = self.packed.filter(|_| reads_gzip(headers));
        // The two forms are two representations, and each has a name of its own.
        let tag = if packed.is_some() { format!("\"{}-gz\"", self.tag) } else { format!("\"{}\"", self.tag) };
        let mut response = if has(headers, &tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            packed.unwrap_or(self.plain).into_response()
        };
        let answer = response.headers_mut();
        if response_has_body(answer) {
            answer.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
            if packed.is_some() {
                answer.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        // Letters, digits and a dash between quotes: it always fits.
        if let Ok(tag) = HeaderValue::try_from(tag) {
            answer.insert(ETAG, tag);
        }
        answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
        // Asked for again each time, and then mostly not sent: a new binary is seen at once.
        answer.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        guarded(response)
    }
}

/// The same response, which lets nothing in from elsewhere.
pub(crate) fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Whether there is a body to describe: a bare status has no type.
fn response_has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(CONTENT_TYPE)
}

/// Whether a client takes gzip: it says so, and not with a weight of nothing.
fn reads_gzip(headers: &HeaderMap) -> bool {
    words(headers, &ACCEPT_ENCODING).any(|word| {
        let (name, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        matches!(name.trim(), "gzip" | "*") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// Whether a client has what `tag` names.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    words(headers, &IF_NONE_MATCH).any(|word| word == "*" || word.trim_start_matches("W/") == tag)
}

fn words<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(name: http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::try_from(value).unwrap())])
    }

    #[test]
    fn a_client_takes_gzip_when_it_says_so() {
        for (said, takes) in [
            ("gzip", true),
            ("br, gzip;q=0.5", true),
            ("*", true),
            ("gzip;q=0", false),
            ("br", false),
            ("identity", false),
            ("gzip;q=x", false),
        ] {
            assert_eq!(reads_gzip(&asking(ACCEPT_ENCODING, said)), takes, "{said}");
        }
        assert!(!reads_gzip(&HeaderMap::new()));
    }

    #[test]
    fn what_a_client_has_is_not_sent_again() {
        let asset = Asset { path: "a.css", media: "text/css", tag: "t", plain: b"plain", packed: Some(b"p") };
        let sent = asset.serve(&HeaderMap::new());
        assert_eq!(sent.status().as_u16(), 200);
        assert_eq!(sent.headers()[ETAG], "\"t\"");
        for (held, status) in
            [("\"t\"", 304), ("W/\"t\"", 304), ("\"x\", \"t\"", 304), ("\"t-gz\"", 200), ("*", 304)]
        {
            assert_eq!(asset.serve(&asking(IF_NONE_MATCH, held)).status().as_u16(), status, "{held}");
        }
        let packed = asset.serve(&asking(ACCEPT_ENCODING, "gzip"));
        assert_eq!(packed.headers()[ETAG], "\"t-gz\"");
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
    }
}
