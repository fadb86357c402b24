//! Connections: made in time or not at all, kept, and shared by the calls of one upstream.
//!
//! Every upstream has connections of its own, so that two accounts at one vendor never share one. HTTP/2 is used where the
//! handshake offers it, HTTP/1.1 elsewhere.
//!
//! A pool keeps a single HTTP/2 connection, and a vendor allows about a hundred calls on it; the next ones would wait
//! unseen until they time out. So an upstream has several [`Lanes`], each with a pool, and a lane takes no more calls than
//! fit on one connection. Calls fill the first lanes first: a quiet upstream has one connection.

use super::error::BoxError;
use super::place::Upstream;
use bytes::Bytes;
use egress::Trust;
use http::{Request, Uri};
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// Vendors close idle connections after a minute or more; a connection is better given up by us than lost under a request.
const IDLE: Duration = Duration::from_secs(55);
/// How often a quiet connection is asked whether it still lives.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// How many calls a lane takes while there is another. Every vendor allows at least a hundred.
const LANE: usize = 90;
/// How many lanes there are. Past 90 calls in each of them, the emptiest takes more.
const LANES: usize = 32;

type Pool = Client<Patient<HttpsConnector<HttpConnector>>, Full<Bytes>>;

/// The connections of one upstream.
#[derive(Debug)]
pub(super) struct Lanes([Lane; LANES]);

#[derive(Debug)]
struct Lane {
    pool: Pool,
    calls: AtomicUsize,
}

/// A call's place in a lane, until it is dropped.
#[derive(Debug)]
pub(super) struct Berth {
    upstream: Arc<Upstream>,
    lane: usize,
}

impl Lanes {
    /// Lanes whose connections, handshake included, are made within `patience`.
    pub(super) fn new(trust: &Trust, patience: Duration) -> Self {
        Self(std::array::from_fn(|_| Lane { pool: pool(trust, patience), calls: AtomicUsize::new(0) }))
    }
}

impl Berth {
    /// A place in the first lane that has one.
    pub(super) fn take(upstream: &Arc<Upstream>) -> Self {
        let calls = |lane: &Lane| lane.calls.load(Ordering::Relaxed);
        let lanes = &upstream.lanes.0;
        // Two calls may see the same last place; a lane has some to spare.
        let roomy = lanes.iter().position(|lane| calls(lane) < LANE);
        let emptiest = || (0..LANES).min_by_key(|&index| calls(&lanes[index])).unwrap_or_default();
        let lane = roomy.unwrap_or_else(emptiest);
        lanes[lane].calls.fetch_add(1, Ordering::Relaxed);
        Self { upstream: Arc::clone(upstream), lane }
    }

    /// Sends a request over the lane.
    pub(super) fn request(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        self.upstream.lanes.0[self.lane].pool.request(request)
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        self.upstream.lanes.0[self.lane].calls.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pool(trust: &Trust, patience: Duration) -> Pool {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE));
    // Tries the other addresses of a host while there is time for them.
    tcp.set_connect_timeout(Some(patience));
    let inner = HttpsConnector::from((tcp, trust.for_kept_connections()));
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .http2_keep_alive_interval(KEEPALIVE)
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .http2_initial_stream_window_size(1 << 20)
        .http2_initial_connection_window_size(8 << 20)
        .build(Patient { inner, patience })
}

/// A connector that gives up after a while: on a name that is not found out, on a connection, and on a handshake.
#[derive(Debug, Clone)]
pub(super) struct Patient<C> {
    inner: C,
    patience: Duration,
}

impl<C> Service<Uri> for Patient<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
    C::Response: 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, patience) = (self.inner.call(uri), self.patience);
        Box::pin(async move {
            let made = tokio::time::timeout(patience, connecting).await;
            made.unwrap_or_else(|_| Err(format!("no connection was made within {patience:?}").into()))
        })
    }
}
