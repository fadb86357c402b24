//! Encrypted connections, and HTTP/2 over them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use providers::upstream::{Auth, Next, Spec, Trust, Upstream, UpstreamError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use wire::Wire;

use crate::server::{Act, Server};
use crate::world::{call, key, next};

/// A server for `localhost` whose certificate comes from an authority of its own.
struct Encrypted {
    port: u16,
    authority: CertificateDer<'static>,
    /// Told when an endless answer is no longer wanted.
    ended: UnboundedReceiver<()>,
}

/// One piece, and then nothing; tells when it is dropped.
struct Endless {
    piece: Option<Bytes>,
    ended: UnboundedSender<()>,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.piece.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.ended.send(()).ok();
    }
}

impl Encrypted {
    /// A server that offers `protocols`. It answers with the version it was asked in, and does not end the answer.
    async fn start(protocols: &[&[u8]]) -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
        let pair = KeyPair::generate().unwrap();
        let named = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = named.signed_by(&pair, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.serialize_der())),
            )
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, ended) = unbounded_channel();
        tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), sender));
        Self { port, authority: issuer.der().clone(), ended }
    }

    fn upstream(&self, host: &str, trust: &Trust) -> Arc<Upstream> {
        let base = format!("https://{host}:{}/v1", self.port);
        let mut spec = Spec::new("secure", &base, Auth::Bearer, &[Wire::Chat]).unwrap();
        spec.keys = vec![key("sk-1")];
        Upstream::new(spec, trust).unwrap()
    }

    fn trust(&self) -> Trust {
        Trust::only(std::slice::from_ref(&self.authority)).unwrap()
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, ended: UnboundedSender<()>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, ended) = (acceptor.clone(), ended.clone());
        tokio::spawn(async move {
            // A client that does not trust us ends here.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request: Request<Incoming>| {
                let piece = Some(Bytes::from(format!("{:?}", request.version())));
                let ended = ended.clone();
                async move { Ok::<_, Infallible>(Response::new(Endless { piece, ended })) }
            });
            let mut server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            server.http2().max_concurrent_streams(100);
            server.serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

/// What the first piece of the answer says.
async fn first_piece(place: &Arc<Upstream>) -> Bytes {
    match next(&mut call(&[place])).await {
        Next::Answer(mut reply) => reply.body.data().await.unwrap().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_certificate_from_nobody_we_know_is_refused_and_from_a_known_one_accepted() {
    let server = Encrypted::start(&[b"http/1.1"]).await;
    let stranger = server.upstream("localhost", &Trust::system(&[]).unwrap());
    let Next::Failed(error) = next(&mut call(&[&stranger])).await else { panic!("it is refused") };
    assert!(matches!(error, UpstreamError::Tls { .. }), "{error:?}");
    assert_eq!(error.to_string(), "no trusted connection to upstream secure");

    let known =
        server.upstream("localhost", &Trust::system(std::slice::from_ref(&server.authority)).unwrap());
    assert_eq!(first_piece(&known).await, "HTTP/1.1");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let server = Encrypted::start(&[b"http/1.1"]).await;
    let place = server.upstream("127.0.0.1", &server.trust());
    let Next::Failed(error) = next(&mut call(&[&place])).await else { panic!("it is refused") };
    assert!(matches!(error, UpstreamError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn a_handshake_that_hangs_is_no_connection() {
    // What arrives is no request, so the server says nothing.
    let server = Server::start([Act::Silence]).await;
    let base = format!("https://{}/v1", server.address);
    let mut spec = Spec::new("hanging", &base, Auth::Bearer, &[Wire::Chat]).unwrap();
    spec.timeouts.connect = Duration::from_millis(50);
    let place = Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap();
    let Next::Failed(error) = next(&mut call(&[&place])).await else { panic!("nobody shakes hands") };
    assert!(matches!(error, UpstreamError::Connect { .. }), "{error:?}");
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let said: Vec<String> = causes.map(ToString::to_string).collect();
    assert_eq!(said[0], "no connection to upstream hanging");
    assert!(said.iter().any(|text| text == "no connection was made within 50ms"), "{said:?}");
}

#[tokio::test]
async fn http_2_is_spoken_where_it_is_offered() {
    let server = Encrypted::start(&[b"h2", b"http/1.1"]).await;
    let place = server.upstream("localhost", &server.trust());
    assert_eq!(first_piece(&place).await, "HTTP/2.0");
    let old = Encrypted::start(&[]).await;
    assert_eq!(first_piece(&old.upstream("localhost", &old.trust())).await, "HTTP/1.1");
}

#[tokio::test]
async fn dropping_an_http_2_reply_ends_the_stream_and_keeps_the_connection() {
    let mut server = Encrypted::start(&[b"h2"]).await;
    let place = server.upstream("localhost", &server.trust());
    for _ in 0..3 {
        let Next::Answer(mut reply) = next(&mut call(&[&place])).await else { panic!("it answers") };
        assert_eq!(reply.body.data().await.unwrap().unwrap(), "HTTP/2.0");
        drop(reply);
        timeout(Duration::from_secs(2), server.ended.recv()).await.expect("the stream is reset").unwrap();
    }
    assert_eq!(place.health().in_flight, 0);
}

#[tokio::test]
async fn an_endless_answer_past_the_limit_is_refused_without_waiting_for_its_end() {
    let server = Encrypted::start(&[b"h2"]).await;
    let place = server.upstream("localhost", &server.trust());
    let Next::Answer(reply) = next(&mut call(&[&place])).await else { panic!("it answers") };
    let error = reply.body.collect(3).await.unwrap_err();
    assert!(matches!(error, UpstreamError::TooLarge { limit: 3, .. }), "{error:?}");
}

/// One HTTP/2 connection carries a hundred calls or two; the calls past that must not wait for each other.
#[tokio::test]
async fn more_calls_than_one_connection_carries_are_all_answered() {
    let server = Encrypted::start(&[b"h2"]).await;
    let place = server.upstream("localhost", &server.trust());
    let mut replies = Vec::new();
    for number in 0..250 {
        let mut attempts = call(&[&place]);
        let answer = timeout(Duration::from_secs(5), next(&mut attempts)).await;
        let Ok(Next::Answer(reply)) = answer else { panic!("call {number}: {answer:?}") };
        replies.push(reply);
    }
    assert_eq!(place.health().in_flight, 250);
    drop(replies);
    assert_eq!(place.health().in_flight, 0);
}

/// The futures can be handed from thread to thread, as a server does, and many run at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_on_many_threads_are_all_answered() {
    let server = Encrypted::start(&[b"h2", b"http/1.1"]).await;
    let place = server.upstream("localhost", &server.trust());
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let place = Arc::clone(&place);
            tokio::spawn(async move { first_piece(&place).await })
        })
        .collect();
    for one in calls {
        assert_eq!(one.await.unwrap(), "HTTP/2.0");
    }
    assert_eq!(place.health().in_flight, 0);
    assert_eq!(place.health().tries, 100);
}
