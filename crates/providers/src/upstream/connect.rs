//! How a connection is made: in time, or not at all.
//!
//! HTTP/2 is used where the handshake offers it, HTTP/1.1 elsewhere.

use super::error::BoxError;
use super::kept::Kept;
use bytes::Bytes;
use egress::Trust;
use http::Uri;
use http_body_util::Full;
use hyper::client::conn::http2;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connection as _, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::future::poll_fn;
use std::time::Duration;
use tokio::net::TcpStream;
use tower_service::Service as _;

/// How often a quiet connection is asked whether it still lives,
const KEEPALIVE: Duration = Duration::from_secs(20);
/// and how long it may take to say so.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// What a connection is made of.
pub(super) type Io = MaybeHttpsStream<TokioIo<TcpStream>>;
/// The way to a connection that many calls share.
pub(super) type Shared = http2::SendRequest<Full<Bytes>>;

/// Makes connections to one place.
#[derive(Debug)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    patience: Duration,
}

/// A connection that was made.
pub(super) enum Made {
    /// For one call at a time.
    Kept(Box<Kept>),
    /// For many.
    Shared(Shared),
}

/// Why none was made, or nothing came of it.
#[derive(Debug)]
pub(super) enum SendError {
    /// There is no connection.
    Connect(BoxError),
    /// It did not carry the request, or no answer.
    Lost(hyper::Error),
}

impl Connector {
    /// A connector whose connections, handshake included, are made within `patience`.
    pub(super) fn new(trust: &Trust, patience: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE));
        // Tries the other addresses of a host while there is time for them.
        tcp.set_connect_timeout(Some(patience));
        Self { inner: HttpsConnector::from((tcp, trust.for_kept_connections())), patience }
    }

    /// A connection to where `to` is. It gives up after a while: on a name that is not found out, on a connection, and on a
    /// handshake.
    pub(super) async fn connect(&self, to: Uri) -> Result<Made, SendError> {
        let (mut connector, patience) = (self.inner.clone(), self.patience);
        let connecting = async {
            poll_fn(|cx| connector.poll_ready(cx)).await?;
            connector.call(to).await
        };
        let made = tokio::time::timeout(patience, connecting).await;
        let io = made.unwrap_or_else(|_| Err(format!("no connection was made within {patience:?}").into()));
        let io = io.map_err(SendError::Connect)?;
        if io.connected().is_negotiated_h2() {
            share(io).await.map(Made::Shared)
        } else {
            Kept::new(io).await.map(Made::Kept)
        }
        .map_err(SendError::Lost)
    }
}

/// Makes a connection one that calls share. It goes on in a task of its own until nobody has a way to it.
async fn share(io: Io) -> hyper::Result<Shared> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(SIGN_OF_LIFE)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(8 << 20)
        .handshake(io)
        .await?;
    tokio::spawn(async move {
        // Whoever waits for an answer on it is told.
        let _ = connection.await;
    });
    Ok(sender)
}
