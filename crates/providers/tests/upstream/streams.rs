//! Bodies: whole ones, streams, and streams that go wrong.

use bytes::Bytes;
use http::HeaderMap;
use providers::upstream::{BreakerState, Fault, Next, Prepared, Reply, UpstreamError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::server::{Act, FINE, Server};
use crate::world::{LIMIT, call, ms, next, run, upstream};

/// The head of a stream in chunks.
macro_rules! stream_head {
    ($more:literal) => {
        concat!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n",
            $more,
            "\r\n"
        )
    };
}

const ERROR_EVENT: &str = "event: error\ndata: {\"type\":\"overloaded_error\"}\n\n";

async fn answered(attempts: &mut providers::upstream::Attempts) -> Reply {
    match next(attempts).await {
        Next::Answer(reply) => reply,
        other => panic!("{other:?}"),
    }
}

/// A body can be handed on as the body of our own answer, which wants this of it.
const _: fn() = || {
    fn wants<
        B: http_body::Body<Data = bytes::Bytes, Error: std::error::Error + Send + Sync> + Send + 'static,
    >() {
    }
    wants::<providers::upstream::ReplyBody>();
};

#[tokio::test]
async fn a_stream_arrives_piece_by_piece_and_whole() {
    let server = Server::start([Act::Stream(&["data: 1\n\n", "data: 2\n\n", "data: [DONE]\n\n"])]).await;
    let place = upstream("a", server.address, |_| {});
    let reply = answered(&mut call(&[&place])).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    assert_eq!(place.health().in_flight, 1);
    let whole = reply.body.collect(LIMIT).await.unwrap();
    assert_eq!(whole, "data: 1\n\ndata: 2\n\ndata: [DONE]\n\n");
    assert_eq!(place.health().in_flight, 0);
}

#[tokio::test]
async fn a_stream_that_stands_still_ends_with_an_error_and_a_closed_connection() {
    let mut server = Server::start([Act::Stall("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |spec| spec.timeouts.idle = ms(50));
    let mut reply = answered(&mut call(&[&place])).await;
    assert_eq!(reply.body.data().await.unwrap().unwrap(), "data: 1\n\n");
    let error = reply.body.data().await.unwrap().unwrap_err();
    assert!(matches!(error, UpstreamError::Idle { .. }), "{error:?}");
    assert_eq!(error.to_string(), "the answer of upstream a stood still for 50ms");
    // The reply is still held, and the upstream's call is over all the same.
    server.closed().await;
    assert!(reply.body.data().await.is_none(), "an error is the last thing that comes");
    assert_eq!(place.health().failures, 1);
}

#[tokio::test]
async fn a_stream_that_goes_on_for_ever_is_ended() {
    let mut server = Server::start([Act::Stall("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |spec| spec.timeouts.total = ms(1_000));
    let mut reply = answered(&mut call(&[&place])).await;
    assert!(reply.body.data().await.unwrap().is_ok());
    let error = reply.body.data().await.unwrap().unwrap_err();
    assert!(matches!(error, UpstreamError::Total { .. }), "{error:?}");
    server.closed().await;
    assert_eq!(place.health().failures, 0, "the limit is ours");
}

/// The complaint: a stream that breaks midway looks like a clean end.
#[tokio::test]
async fn a_stream_that_breaks_midway_is_never_a_clean_end() {
    let server = Server::start([Act::Break("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |_| {});
    let mut reply = answered(&mut call(&[&place])).await;
    assert_eq!(reply.body.data().await.unwrap().unwrap(), "data: 1\n\n");
    let error = reply.body.data().await.unwrap().unwrap_err();
    assert!(matches!(error, UpstreamError::Reset { .. }), "{error:?}");
    assert_eq!(error.to_string(), "the connection to upstream a broke");
}

#[tokio::test]
async fn answers_that_keep_breaking_open_the_breaker() {
    let server = Server::start([Act::Break("data: 1\n\n")]).await;
    let place = upstream("a", server.address, |_| {});
    let mut calls = 0;
    while place.health().breaker == BreakerState::Closed {
        assert!(answered(&mut call(&[&place])).await.body.collect(LIMIT).await.is_err());
        calls += 1;
    }
    assert_eq!(calls, 20);
}

#[tokio::test]
async fn a_stream_whose_first_event_is_an_error_is_tried_elsewhere() {
    let (bad, good) = (Server::start([Act::Stream(&[ERROR_EVENT])]).await, Server::start([FINE]).await);
    let (a, b) = (upstream("a", bad.address, |_| {}), upstream("b", good.address, |_| {}));
    let mut attempts = call(&[&a, &b]);
    let reply = loop {
        let mut reply = answered(&mut attempts).await;
        let start = reply.body.peek(LIMIT, |start| start.ends_with(b"\n\n")).await.unwrap();
        if start.starts_with(b"event: error") {
            attempts.failed(reply, Fault::Status(529));
        } else {
            break reply;
        }
    };
    assert_eq!(reply.target.upstream.name(), "b");
    assert_eq!(reply.body.collect(LIMIT).await.unwrap(), "{\"ok\":true}");
    let faults: Vec<_> = attempts.records().iter().map(|record| record.fault).collect();
    assert_eq!(faults, [Some(Fault::Status(529)), Some(Fault::Status(529)), None]);
    assert_eq!(a.health().failures, 2);
}

#[tokio::test]
async fn the_last_of_them_comes_back_with_every_byte_that_was_looked_at() {
    let server = Server::start([Act::Stream(&["event: error\n", "data: {}\n\n", "rest"])]).await;
    let place = upstream("a", server.address, |_| {});
    let mut attempts = call(&[&place]);
    let last = loop {
        match next(&mut attempts).await {
            Next::Answer(mut reply) => {
                let start = reply.body.peek(LIMIT, |start| start.ends_with(b"\n\n")).await.unwrap();
                assert!(start.starts_with(b"event: error\ndata: {}\n\n"));
                attempts.failed(reply, Fault::Status(500));
            }
            Next::Last(reply) => break reply,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(last.body.collect(LIMIT).await.unwrap(), "event: error\ndata: {}\n\nrest");
    assert_eq!(attempts.records().len(), 2);
}

#[tokio::test]
async fn looking_at_a_body_stops_at_the_limit_and_at_the_end() {
    let server = Server::start([Act::Stream(&["12345", "67890", "x"])]).await;
    let place = upstream("a", server.address, |_| {});
    let mut reply = answered(&mut call(&[&place])).await;
    assert!(reply.body.peek(6, |_| false).await.unwrap().len() >= 6);
    assert_eq!(reply.body.peek(LIMIT, |_| false).await.unwrap(), "1234567890x");
    assert_eq!(reply.body.collect(LIMIT).await.unwrap(), "1234567890x");
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_announced_or_not() {
    let server = Server::start([FINE, Act::Stream(&["12345", "67890"]), Act::Stream(&["1234567"])]).await;
    let place = upstream("a", server.address, |_| {});
    for limit in [10, 9, 6] {
        let error = answered(&mut call(&[&place])).await.body.collect(limit).await.unwrap_err();
        assert!(matches!(error, UpstreamError::TooLarge { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("the answer of upstream a is larger than {limit} bytes"));
    }
    assert_eq!(answered(&mut call(&[&place])).await.body.collect(7).await.unwrap(), "1234567");
}

/// What two calls in a row come to, and over how many connections.
async fn two_calls(first: &'static [&'static str]) -> (String, usize) {
    let server = Server::start([Act::Raw(first), FINE]).await;
    let place = upstream("a", server.address, |_| {});
    let (said, _) = run(&[&place]).await;
    assert_eq!(run(&[&place]).await.0, "200 {\"ok\":true}");
    (said, server.connections())
}

#[tokio::test]
async fn after_a_stream_its_connection_has_the_next_call() {
    let whole = two_calls(&[concat!(stream_head!(""), "4\r\none,\r\n3;x=y\r\ntwo\r\n0\r\nt: u\r\n\r\n")]);
    assert_eq!(whole.await, ("200 one,two".to_owned(), 1));
    let pieces = two_calls(&[stream_head!(""), "4\r", "\non", "e,\r\n3\r\ntwo", "\r\n0\r\n", "\r\n"]);
    assert_eq!(pieces.await, ("200 one,two".to_owned(), 1));
}

#[tokio::test]
async fn who_says_close_or_goes_on_after_the_end_is_not_asked_again_on_that_connection() {
    let close = two_calls(&[stream_head!("connection: x, Close\r\n"), "1\r\na\r\n0\r\n\r\n"]);
    assert_eq!(close.await, ("200 a".to_owned(), 2));
    // The beginning of an answer that nobody has asked for.
    let more = two_calls(&[concat!(stream_head!(""), "1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n")]);
    assert_eq!(more.await, ("200 a".to_owned(), 2));
}

#[tokio::test]
async fn a_stream_is_one_whatever_its_head_looks_like() {
    let in_pieces = two_calls(&[
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-",
        "stream\r\ntransfer-encoding: chunked\r\n\r\n",
        "1\r\na\r\n0\r\n\r\n",
    ]);
    assert_eq!(in_pieces.await, ("200 a".to_owned(), 1));
    let of_known_length = two_calls(&[
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 3\r\n\r\n",
        "a",
        "bc",
    ]);
    assert_eq!(of_known_length.await, ("200 abc".to_owned(), 1));
    let go_ahead = two_calls(&["HTTP/1.1 100 Continue\r\n\r\n", stream_head!(""), "1\r\na\r\n0\r\n\r\n"]);
    assert_eq!(go_ahead.await, ("200 a".to_owned(), 1));
}

#[tokio::test]
async fn chunks_that_are_none_break_the_stream() {
    let server = Server::start([Act::Raw(&[stream_head!(""), "1\r\na\r\n\r\n", "0\r\n\r\n"])]).await;
    let place = upstream("a", server.address, |_| {});
    let mut reply = answered(&mut call(&[&place])).await;
    assert_eq!(reply.body.data().await.unwrap().unwrap(), "a", "what came before is handed on");
    let error = reply.body.data().await.unwrap().unwrap_err();
    assert!(matches!(error, UpstreamError::Reset { .. }), "{error:?}");
    assert!(reply.body.data().await.is_none());
}

/// An upstream that answers when it has heard the head, and ends its answer when it has heard everything.
#[tokio::test]
async fn a_request_is_sent_to_its_end_though_the_stream_has_begun() {
    const BODY: usize = 16 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = upstream("a", listener.local_addr().unwrap(), |_| {});
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = stream.read(&mut [0; 1024]).await.unwrap();
        stream.write_all(concat!(stream_head!(""), "1\r\na\r\n").as_bytes()).await.unwrap();
        let mut buffer = vec![0; 1 << 16];
        while heard < BODY {
            // Slowly: the answer has begun long before the last of it.
            tokio::time::sleep(ms(1)).await;
            heard += stream.read(&mut buffer).await.unwrap();
        }
        stream.write_all(b"1\r\nb\r\n0\r\n\r\n").await.unwrap();
    });
    let (caller, body) = (HeaderMap::new(), Bytes::from(vec![b' '; BODY]));
    let mut attempts = call(&[&place]);
    let next = attempts.next(|_| Ok(Prepared::post("/chat/completions", body.clone(), &caller))).await;
    let Next::Answer(reply) = next else { panic!("{next:?}") };
    assert_eq!(reply.body.collect(LIMIT).await.unwrap(), "ab");
    server.await.unwrap();
}
