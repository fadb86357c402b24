//! One request over one connection, and what came back.

use crate::connect::Stream;
use crate::error::EgressError;
use crate::guard::Target;
use crate::origin::Origin;
use crate::request::{Answer, Request, Wanted};
use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, LOCATION, USER_AGENT};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use std::pin::pin;

/// The most that the head of an answer may be.
const HEAD: usize = 64 * 1024;

/// What came back.
pub(crate) enum Outcome {
    /// All of an answer.
    Answer(Answer),
    /// The server sends us on to here. Only if the request may be sent on.
    Redirect(HeaderValue),
}

/// Sends `request` with `headers` to `target`, over `stream`.
pub(crate) async fn exchange(
    stream: Stream,
    target: &Target,
    request: &Request,
    headers: &HeaderMap,
) -> Result<Outcome, EgressError> {
    let origin = target.origin();
    let outgoing = outgoing(target, request, headers)?;
    match stream {
        Stream::Plain(stream) => speak(TokioIo::new(stream), origin, request, outgoing).await,
        Stream::Encrypted(stream) => speak(TokioIo::new(stream), origin, request, outgoing).await,
    }
}

/// The request as it goes out.
fn outgoing(
    target: &Target,
    request: &Request,
    headers: &HeaderMap,
) -> Result<http::Request<Full<Bytes>>, EgressError> {
    let origin = target.origin();
    let broken = |cause| EgressError::Broken { origin: origin.clone(), cause };
    let mut outgoing = http::Request::new(Full::new(request.body.clone()));
    *outgoing.method_mut() = request.method.into();
    // Path and query alone: whom we speak to was settled with the connection.
    *outgoing.uri_mut() = Uri::from(target.path().clone());
    let mut all = HeaderMap::with_capacity(headers.len() + 5);
    all.insert(USER_AGENT, HeaderValue::from_static(concat!("punk/", env!("CARGO_PKG_VERSION"))));
    all.insert(ACCEPT, HeaderValue::from_static("*/*"));
    all.extend(headers.clone());
    // Nothing is unpacked, so that a small answer cannot become a large one.
    all.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    all.insert(CONNECTION, HeaderValue::from_static("close"));
    let host = HeaderValue::try_from(origin.authority()).map_err(|error| broken(error.into()))?;
    all.insert(HOST, host);
    *outgoing.headers_mut() = all;
    Ok(outgoing)
}

/// Drives the connection and the exchange over it together: whoever drops this future has ended both.
async fn speak<T: Read + Write + Unpin>(
    stream: T,
    origin: &Origin,
    request: &Request,
    outgoing: http::Request<Full<Bytes>>,
) -> Result<Outcome, EgressError> {
    let broken = |error: hyper::Error| EgressError::Broken { origin: origin.clone(), cause: error.into() };
    let handshake = http1::Builder::new().max_buf_size(HEAD).handshake(stream).await;
    let (mut sender, connection) = handshake.map_err(broken)?;
    let talk = async {
        let (head, body) = sender.send_request(outgoing).await.map_err(broken)?.into_parts();
        match head.headers.get(LOCATION) {
            // What else it says is for people.
            Some(location) if request.may_be_sent_on() && is_redirect(&head) => {
                Ok(Outcome::Redirect(location.clone()))
            }
            _ => {
                let body = match request.wanted {
                    Wanted::Whole => collect(body, origin, request.limits.body).await?,
                    Wanted::Head => Bytes::new(),
                };
                Ok(Outcome::Answer(Answer {
                    origin: origin.clone(),
                    status: head.status,
                    headers: head.headers,
                    body,
                }))
            }
        }
    };
    let (mut talk, connection) = (pin!(talk), pin!(connection));
    tokio::select! {
        outcome = &mut talk => outcome,
        // A server that closes when it has said everything is no trouble; if it has not, the talk knows.
        _ = connection => talk.await,
    }
}

fn is_redirect(head: &Parts) -> bool {
    matches!(
        head.status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

/// All of `body`, or an error as soon as it is known to be longer than `limit`.
async fn collect(mut body: Incoming, origin: &Origin, limit: usize) -> Result<Bytes, EgressError> {
    let too_large = || EgressError::TooLarge { origin: origin.clone(), limit };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| EgressError::Broken { origin: origin.clone(), cause: error.into() })?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - collected.len() {
            return Err(too_large());
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.freeze())
}
