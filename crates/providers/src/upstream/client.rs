//! One try: a request out, and the head of the answer back.

use super::error::UpstreamError;
use super::headers::{pass_back, pass_on};
use super::live::Passage;
use super::reply::{Reply, ReplyBody};
use super::retry_after::retry_after;
use super::target::{Prepared, Target};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request};
use http_body_util::Full;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// A request as it goes out, with `headers` of the upstream's own. Nothing, when the path of `prepared` is none.
pub(super) fn request(
    target: &Target,
    mut headers: HeaderMap,
    prepared: Prepared<'_>,
) -> Option<Request<Full<Bytes>>> {
    let upstream = &target.upstream;
    let mut request = Request::new(Full::new(prepared.body));
    *request.method_mut() = prepared.method;
    *request.uri_mut() = upstream.address.join(&prepared.path)?;
    if let Some(content_type) = prepared.content_type {
        headers.insert(CONTENT_TYPE, content_type);
    }
    if let Some(caller) = prepared.caller {
        pass_on(&upstream.passed_on, caller, &mut headers);
    }
    *request.headers_mut() = headers;
    Some(request)
}

/// Sends `request` and waits for the head of the answer, until `deadline` at most.
pub(super) async fn send(
    target: &Target,
    request: Request<Full<Bytes>>,
    passage: Passage,
    started: Instant,
    deadline: Option<Instant>,
) -> Result<Reply, (UpstreamError, Passage)> {
    let upstream = &target.upstream;
    let total = started + upstream.timeouts.total;
    let ends = deadline.map_or(total, |deadline| deadline.min(total));
    let head = ends.min(started + upstream.timeouts.first_byte);
    let response = match timeout_at(head, passage.berth.request(request)).await {
        Ok(Ok(answered)) => answered,
        Ok(Err(error)) => return Err((UpstreamError::from_send(&upstream.name, error), passage)),
        Err(_) => {
            let (upstream, after) = (Arc::clone(&upstream.name), head - started);
            let error = if head == ends {
                UpstreamError::Total { upstream, after }
            } else {
                UpstreamError::FirstByte { upstream, after }
            };
            return Err((error, passage));
        }
    };
    let (parts, coming) = response.into_parts();
    let said = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    Ok(Reply {
        status: parts.status,
        retry_after: retry_after(&parts.headers),
        final_word: said("x-should-retry") == Some("false"),
        headers: pass_back(&parts.headers),
        body: ReplyBody::new(coming, passage, started..ends),
        target: target.clone(),
    })
}
