//! Every wait ends, and every answer is bounded.

use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use egress::{Client, EgressError, Limits, Method, Reach, Request, Resolver, Trust, Wanted};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{interval, timeout};

use crate::server::{Server, fine};
use crate::world::client;

const SHORT: Duration = Duration::from_millis(150);

fn get(port: u16, limits: Limits) -> Request {
    Request::new(Method::Get, format!("http://a.example:{port}/")).limits(limits)
}

async fn error(request: &Request) -> EgressError {
    client(Reach::private()).send(request).await.unwrap_err()
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_announced_or_not_and_one_at_the_limit_is_not() {
    let limits = Limits { body: 10, ..Limits::default() };
    let chunked = |body: &str| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        // No end: whoever waits for it waits for ever.
        format!("{head}{:x}\r\n{body}\r\n", body.len())
    };
    for answer in
        [fine("eleven bytes"), chunked("eleven bytes"), "HTTP/1.1 200 OK\r\n\r\neleven bytes".to_owned()]
    {
        let server = Server::start([answer]).await;
        let error = error(&get(server.port, limits)).await;
        assert!(matches!(error, EgressError::TooLarge { limit: 10, .. }), "{error}");
    }
    for answer in [fine("ten bytes!"), chunked("ten bytes!") + "0\r\n\r\n"] {
        let server = Server::start([answer]).await;
        let answer = client(Reach::private()).send(&get(server.port, limits)).await.unwrap();
        assert_eq!(&answer.body[..], b"ten bytes!");
    }
}

#[tokio::test]
async fn where_only_the_head_is_wanted_no_body_is_too_long() {
    let limits = Limits { body: 10, ..Limits::default() };
    for answer in ["content-length: 1000000\r\n\r\nmuch", "transfer-encoding: chunked\r\n\r\n4\r\nmuch\r\n"] {
        let server = Server::start([format!("HTTP/1.1 410 Gone\r\nx: y\r\n{answer}")]).await;
        let request = get(server.port, limits).wanted(Wanted::Head);
        let answer = client(Reach::private()).send(&request).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.headers["x"].as_bytes()), (410, &b"y"[..]));
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn a_head_without_end_is_given_up() {
    let server = Server::start([format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(200_000))]).await;
    let error = error(&get(server.port, Limits::default())).await;
    assert!(matches!(error, EgressError::Broken { .. }), "{error}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await.unwrap();
    });
    let error = error(&get(port, Limits::default())).await;
    assert!(matches!(error, EgressError::Broken { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_when_the_time_is_up() {
    let server = Server::start([String::new()]).await;
    let error = error(&get(server.port, Limits { total: SHORT, ..Limits::default() })).await;
    assert!(matches!(error, EgressError::Total { after: SHORT, .. }), "{error}");
}

/// A server that drips has said something within any shorter time, so only the total ends it.
#[tokio::test]
async fn a_server_that_drips_its_answer_is_given_up_when_the_time_is_up() {
    for beginning in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, ended) = oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_u8().await.unwrap();
            stream.write_all(beginning.as_bytes()).await.unwrap();
            let mut drops = b"HTTP/1.1 200 OK\r\nx: ".iter().chain(std::iter::repeat(&b'x'));
            let mut clock = interval(Duration::from_millis(5));
            while let Some(letter) = drops.next()
                && stream.write_u8(*letter).await.is_ok()
            {
                clock.tick().await;
            }
            sender.send(()).ok();
        });
        let error = error(&get(port, Limits { total: SHORT, ..Limits::default() })).await;
        assert!(matches!(error, EgressError::Total { .. }), "{error}");
        timeout(Duration::from_secs(5), ended).await.expect("the connection is closed").unwrap();
    }
}

/// Never answers.
struct Mute;

#[async_trait]
impl Resolver for Mute {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        pending().await
    }
}

#[tokio::test]
async fn a_name_that_is_not_found_out_and_a_handshake_that_hangs_are_no_connection() {
    let limits = Limits { connect: SHORT, ..Limits::default() };
    let mute = Client::new(Reach::public(), Trust::only(&[]).unwrap()).with_resolver(Arc::new(Mute));
    let error = mute.send(&get(80, limits)).await.unwrap_err();
    assert!(matches!(error, EgressError::Connect { .. }), "{error}");
    // What arrives is no request, so the server says nothing.
    let server = Server::start([String::new()]).await;
    let request = Request::new(Method::Get, format!("https://a.example:{}/", server.port)).limits(limits);
    let error = client(Reach::private()).send(&request).await.unwrap_err();
    assert!(matches!(error, EgressError::Connect { .. }), "{error}");
}

#[tokio::test]
async fn dropping_a_request_ends_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sending = tokio::spawn(async move { error(&get(port, Limits::default())).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.read_u8().await.unwrap();
    sending.abort();
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    ended.expect("the connection is closed").unwrap();
}
