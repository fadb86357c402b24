//! Connections: served side by side, bounded in number and patience, and brought to an end together.
//!
//! This is the loop of `axum::serve` with an end to its patience: that one waits for the last client for ever, and for
//! every client that has nothing to say. `bounds.rs` says what a client may take, `watched.rs` watches its connection and
//! `timed.rs` the bodies it sends.
//!
//! - A client that waits for its answer is never cut off for being silent (`a_stream_may_be_silent_for_as_long_as_it_likes`).
//! - Nobody keeps a place by doing nothing: not with half a head, half a body, or an answer that is not taken.

mod alarm;
mod at_once;
mod bounds;
mod stage;
mod timed;
mod watched;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::EXPECT;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use self::at_once::AtOnce;
pub use self::bounds::Bounds;
use self::stage::{Answer, Answering, Stage};
pub(crate) use self::timed::Late;
use self::timed::Timed;
use self::watched::Watched;
use crate::gate::{Peer, heard_out};

/// What somebody is told who finds no place. It is no answer of a wire: nobody has read yet what they want.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 144\r\n\r\n\
    {\"error\":{\"code\":\"punk_connections_full\",\"message\":\"as many connections are open as may be\",\
    \"hint\":\"come again, or raise `limits.connections`\"}}";
/// How many of those are told at once; the rest is let go without a word.
const TURNED_AWAY: usize = 64;
/// How long they have to hear it.
const FAREWELL: Duration = Duration::from_secs(1);

/// How much of a body that is too long is heard out, so that whoever sends it hears why.
const HEARD_OUT: usize = 16 << 20;

/// What a connection holds of an answer that its client does not take yet. Past it the upstream is not read any further.
const BUFFER: usize = 64 * 1024;

/// The connections that are open.
pub(crate) struct Connections {
    router: Router,
    bounds: Bounds,
    max_body_bytes: usize,
    places: Arc<Semaphore>,
    farewells: Arc<Semaphore>,
    tasks: JoinSet<()>,
    closing: watch::Sender<()>,
}

impl Connections {
    pub(crate) fn new(router: Router, bounds: Bounds, max_body_bytes: usize) -> Self {
        Self {
            router,
            bounds,
            max_body_bytes,
            places: Arc::new(Semaphore::new(bounds.connections.min(Semaphore::MAX_PERMITS))),
            farewells: Arc::new(Semaphore::new(TURNED_AWAY)),
            tasks: JoinSet::new(),
            closing: watch::Sender::new(()),
        }
    }

    /// Serves one more, if there is a place.
    pub(crate) fn add(&mut self, stream: TcpStream, from: SocketAddr) {
        // Small answers must not wait for a full packet; a socket that refuses this still works.
        let _ = stream.set_nodelay(true);
        // What has ended meanwhile is forgotten, so that only open ones take up space.
        while self.tasks.try_join_next().is_some() {}
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => {
                let serving = Serving {
                    peer: Peer(from.ip()),
                    router: self.router.clone(),
                    bounds: self.bounds,
                    max_body_bytes: self.max_body_bytes,
                    closing: self.closing.subscribe(),
                    _place: place,
                };
                self.tasks.spawn(AtOnce::new(serving.serve(stream)));
            }
            Err(_) => self.turn_away(stream),
        }
    }

    fn turn_away(&mut self, stream: TcpStream) {
        tracing::debug!(connections = self.bounds.connections, "a connection found no place");
        if let Ok(farewell) = Arc::clone(&self.farewells).try_acquire_owned() {
            self.tasks.spawn(async move {
                let _ = tokio::time::timeout(FAREWELL, say_goodbye(stream)).await;
                drop(farewell);
            });
        }
    }

    /// Lets every request that has begun be answered, and closes its connection then; idle ones close at once. After
    /// `patience` the rest is cut. Returns how many that were.
    pub(crate) async fn finish(mut self, patience: Duration) -> usize {
        self.closing.send_replace(());
        let all_ended = async { while self.tasks.join_next().await.is_some() {} };
        // Whether time ran out is seen from what is left.
        let _ = tokio::time::timeout(patience, all_ended).await;
        while self.tasks.try_join_next().is_some() {}
        let cut = self.tasks.len();
        self.tasks.shutdown().await;
        cut
    }
}

/// Tells somebody that there is no place for them.
async fn say_goodbye(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(FULL).await?;
    stream.shutdown().await?;
    // Closed with something unread in it, a connection takes back what was said on it.
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

/// One connection that is served.
struct Serving {
    peer: Peer,
    router: Router,
    bounds: Bounds,
    max_body_bytes: usize,
    closing: watch::Receiver<()>,
    /// Its place among all of them.
    _place: OwnedSemaphorePermit,
}

impl Serving {
    async fn serve(self, stream: TcpStream) {
        let Self { peer, router, bounds, max_body_bytes, mut closing, _place } = self;
        let (router, stage) = (TowerToHyperService::new(router), Arc::new(Stage::new()));
        let stream = TokioIo::new(Watched::new(stream, Arc::clone(&stage), bounds));
        let service = service_fn(move |request: Request<Incoming>| {
            let (router, answering) = (router.clone(), Answering::begin(&stage));
            async move {
                let response = match bounds::refuse(&request, max_body_bytes) {
                    Some(refusal) => {
                        // Who asks first whether to send it is told that it is not wanted.
                        if !request.headers().contains_key(EXPECT) {
                            heard_out(request.into_body(), HEARD_OUT).await;
                        }
                        refusal
                    }
                    None => {
                        let mut request = request.map(|body| Body::new(Timed::new(body, bounds.body)));
                        request.extensions_mut().insert(peer);
                        router.call(request).await?
                    }
                };
                Ok::<Response<Answer>, std::convert::Infallible>(
                    response.map(|body| Answer::new(body, answering)),
                )
            }
        });
        let mut http = http1::Builder::new();
        // Its own clock cannot tell a client that says nothing from one that has nothing to say.
        http.header_read_timeout(None);
        http.max_header_size(bounds.header_bytes).max_buf_size(bounds.header_bytes.max(BUFFER));
        let connection = http.serve_connection(stream, service).with_upgrades();
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            // An error means that nobody is left who could ask us to close, which is a reason to.
            _ = closing.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            // A client that went away, as clients do.
            tracing::trace!(error = &error as &dyn std::error::Error, "connection ended early");
        }
    }
}
