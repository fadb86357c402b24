//! From hop to hop: what is followed, what goes along, and what a connection must prove.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use egress::{Client, Dial, EgressError, Limits, Method, Reach, Redirects, Request, Scripted, Tcp, Trust};
use http::header::{ACCEPT, AUTHORIZATION, COOKIE, USER_AGENT};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::net::TcpStream;

use crate::server::{Server, fine, redirect};
use crate::world::{HERE, Names, Watched, client, client_with};

fn get(url: String) -> Request {
    Request::new(Method::Get, url).redirects(Redirects::Follow)
}

fn with_secrets(request: Request) -> Request {
    let api_key = HeaderName::from_static("x-api-key");
    let secret = || HeaderValue::from_static("secret");
    [AUTHORIZATION, COOKIE, api_key]
        .into_iter()
        .fold(request, |request, name| request.header(name, secret()).unwrap())
        .header(ACCEPT, HeaderValue::from_static("text/plain"))
        .unwrap()
        .header(USER_AGENT, HeaderValue::from_static("tester"))
        .unwrap()
}

#[tokio::test]
async fn a_request_goes_out_as_it_was_given_and_the_answer_comes_back_whole() {
    let server = Server::start([fine("hello")]).await;
    let url = format!("http://a.example:{}/path?query#fragment", server.port);
    let request = Request::new(Method::Post, url).body("body");
    let request =
        request.header(HeaderName::from_static("x-signature"), HeaderValue::from_static("abc")).unwrap();
    let answer = client(Reach::private()).send(&request).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, &b"hello"[..]));
    assert_eq!(answer.origin.to_string(), format!("http://a.example:{}", server.port));
    let expected = format!(
        "POST /path?query HTTP/1.1\r\nuser-agent: punk/{}\r\naccept: */*\r\nx-signature: abc\r\n\
         accept-encoding: identity\r\nconnection: close\r\nhost: a.example:{}\r\ncontent-length: 4\r\n\r\nbody",
        env!("CARGO_PKG_VERSION"),
        server.port
    );
    assert_eq!(server.seen(), [expected]);
}

#[tokio::test]
async fn what_a_caller_sends_along_stays_with_the_server_it_was_meant_for() {
    let last = Server::start([fine("end")]).await;
    let other = Server::start([redirect(302, &format!("http://a.example:{}/", last.port))]).await;
    let first =
        Server::start([redirect(302, "/same"), redirect(302, &format!("http://b.example:{}/", other.port))])
            .await;
    let request = with_secrets(get(format!("http://a.example:{}/", first.port)));
    let answer = client(Reach::private()).send(&request).await.unwrap();
    assert_eq!(&answer.body[..], b"end");
    let seen = first.seen();
    assert!(seen.len() == 2 && seen.iter().all(|request| request.matches("secret").count() == 3), "{seen:?}");
    // Not even on the way back to the same host: who sent us there is a stranger.
    for stranger in [other, last] {
        let seen = stranger.seen();
        let [seen] = &seen[..] else { panic!("{seen:?}") };
        assert!(!seen.contains("secret"), "{seen}");
        assert!(
            seen.contains("\r\naccept: text/plain\r\n") && seen.contains("\r\nuser-agent: tester\r\n"),
            "{seen}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_unless_it_was_to_be_followed() {
    for (method, redirects) in [(Method::Get, Redirects::Never), (Method::Post, Redirects::Follow)] {
        for status in [301, 302, 303, 307, 308] {
            let server = Server::start([redirect(status, "/elsewhere")]).await;
            let url = format!("http://a.example:{}/", server.port);
            let answer = client(Reach::private()).send(&Request::new(method, url).redirects(redirects)).await;
            assert_eq!(answer.unwrap().status.as_u16(), status);
            assert_eq!(server.seen().len(), 1);
        }
    }
    let server = Server::start(["HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_owned()]).await;
    let answer = client(Reach::private()).send(&get(format!("http://a.example:{}/", server.port))).await;
    assert_eq!(answer.unwrap().status, StatusCode::FOUND, "without a location there is nowhere to go");
}

#[tokio::test]
async fn five_redirects_are_followed_and_the_sixth_is_not() {
    let times = |count| std::iter::repeat_n(redirect(302, "/on"), count).chain([fine("end")]);
    let patient = Server::start(times(5)).await;
    let answer = client(Reach::private()).send(&get(format!("http://a.example:{}/", patient.port))).await;
    assert_eq!(&answer.unwrap().body[..], b"end");
    let endless = Server::start(times(6)).await;
    let error =
        client(Reach::private()).send(&get(format!("http://a.example:{}/", endless.port))).await.unwrap_err();
    assert!(matches!(error, EgressError::Endless { followed: 5, .. }), "{error}");
    assert_eq!(endless.seen().len(), 6);
}

#[tokio::test]
async fn a_name_is_looked_up_once_a_hop_and_an_address_never() {
    let server = Server::start([redirect(302, "/on"), fine("end")]).await;
    let names = Arc::new(Scripted::new().answer("a.example", &[HERE]));
    let client = client_with(Reach::private(), Arc::clone(&names) as _, Arc::default());
    client.send(&get(format!("http://a.example:{}/", server.port))).await.unwrap();
    assert_eq!(names.asked(), ["a.example", "a.example"]);
    client.send(&get(format!("http://127.0.0.1:{}/", server.port))).await.unwrap();
    assert_eq!(names.asked().len(), 2);
    let error = client.send(&get("http://nobody.example/".to_owned())).await.unwrap_err();
    assert!(matches!(error, EgressError::Unresolved { .. }), "{error}");
}

#[tokio::test]
async fn an_address_where_nobody_answers_does_not_cost_the_others_their_turn() {
    let server = Server::start([fine("hello")]).await;
    let watched = Arc::new(Watched::default());
    let names = Names::leading_to(&["10.0.0.1,10.0.0.1,127.0.0.1"]);
    let client = client_with(Reach::private(), names, Arc::clone(&watched));
    assert!(client.send(&get(format!("http://a.example:{}/", server.port))).await.is_ok());
    let dialled: Vec<String> = watched.dialled().iter().map(|address| address.ip().to_string()).collect();
    assert_eq!(dialled, ["10.0.0.1", "127.0.0.1"]);
}

/// Connects to one server, whoever is dialled.
struct Lying(SocketAddr);

#[async_trait]
impl Dial for Lying {
    async fn dial(&self, _: SocketAddr) -> io::Result<TcpStream> {
        Tcp.dial(self.0).await
    }
}

#[tokio::test]
async fn a_connection_that_ends_elsewhere_is_dropped_before_a_byte_is_sent() {
    let server = Server::start([fine("hello")]).await;
    let lying = Arc::new(Lying(SocketAddr::new(HERE, server.port)));
    let client = Client::new(Reach::public(), Trust::only(&[]).unwrap()).with_dial(lying);
    let error = client.send(&get(format!("http://8.8.8.8:{}/", server.port))).await.unwrap_err();
    assert!(matches!(error, EgressError::Strayed { .. }), "{error}");
    let error = client.send(&get(format!("http://8.8.8.8:{}/", server.port + 1))).await.unwrap_err();
    assert!(matches!(error, EgressError::Strayed { .. }), "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn no_error_repeats_more_of_an_address_than_scheme_host_and_port() {
    let server = Server::start([
        redirect(302, "http://secret@10.0.0.1/secret"),
        redirect(302, "http://10.0.0.1/secret?secret#secret"),
        "nonsense secret\r\n\r\n".to_owned(),
        fine("a body that is too long"),
    ])
    .await;
    let client = client(Reach::public().and(format!("good.example:{}", server.port).parse().unwrap()));
    let limits = Limits { body: 1, ..Limits::default() };
    let mut names = Vec::new();
    let address = format!("http://good.example:{}/secret?secret#secret", server.port);
    for url in [
        &address,
        &address,
        &address,
        &address,
        "http://10.0.0.1/secret?secret",
        "http://a:secret@8.8.8.8/",
        "secret",
    ] {
        let error = client.send(&with_secrets(get(url.to_owned())).limits(limits)).await.unwrap_err();
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let said: String = causes.map(|error| format!("{error} {error:?} ")).collect();
        assert!(!said.contains("secret"), "{said}");
        names.push(error.name());
    }
    assert_eq!(names, ["redirected", "redirected", "broken", "too_large", "refused", "refused", "refused"]);
}
