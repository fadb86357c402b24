//! Connections: served side by side, and brought to an end together.
//!
//! This is the loop of `axum::serve` with an end to its patience: that one waits for the last client for ever.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::gate::Peer;

/// The connections that are open.
pub(crate) struct Connections {
    router: Router,
    tasks: JoinSet<()>,
    closing: watch::Sender<()>,
}

impl Connections {
    pub(crate) fn new(router: Router) -> Self {
        Self { router, tasks: JoinSet::new(), closing: watch::Sender::new(()) }
    }

    /// Serves one more.
    pub(crate) fn add(&mut self, stream: TcpStream, from: SocketAddr) {
        // Small answers must not wait for a full packet; a socket that refuses this still works.
        let _ = stream.set_nodelay(true);
        self.tasks.spawn(serve(stream, Peer(from.ip()), self.router.clone(), self.closing.subscribe()));
        // What has ended meanwhile is forgotten, so that only open ones take up space.
        while self.tasks.try_join_next().is_some() {}
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

async fn serve(stream: TcpStream, peer: Peer, router: Router, mut closing: watch::Receiver<()>) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
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
