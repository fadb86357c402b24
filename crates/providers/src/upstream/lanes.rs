//! The connections of one upstream: made when there is none, kept, and used again.
//!
//! Every upstream has connections of its own, so that two accounts at one vendor never share one.
//!
//! An HTTP/1 connection has one call at a time ([`Kept`]); between calls it lies on the [`Shelf`]. On HTTP/2 many calls
//! share one, and a vendor allows about a hundred of them; the next ones would wait unseen until they time out. So an
//! upstream has several lanes with a connection each, and a lane takes no more calls than fit on one. Calls fill the first
//! lanes first: a quiet upstream has one connection.

use super::coming::Coming;
use super::connect::{Connector, Made, SendError, Shared};
use super::kept::Unsent;
use super::place::Upstream;
use super::shelf::Shelf;
use bytes::Bytes;
use egress::Trust;
use http::header::HOST;
use http::uri::Scheme;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Vendors close idle connections after a minute or more; a connection is better given up by us than lost under a request.
pub(super) const IDLE: Duration = Duration::from_secs(55);

/// How many calls a lane takes while there is another. Every vendor allows at least a hundred.
const LANE: usize = 90;
/// How many lanes there are. Past 90 calls in each of them, the emptiest takes more.
const LANES: usize = 32;

/// The connections of one upstream.
#[derive(Debug)]
pub(super) struct Lanes {
    connector: Connector,
    /// What an HTTP/1 request calls the upstream.
    host: Option<HeaderValue>,
    shelf: Arc<Shelf>,
    lanes: [Lane; LANES],
    /// Whether its connections have turned out to be for one call at a time: unencrypted ones always are.
    one_by_one: AtomicBool,
}

#[derive(Debug, Default)]
struct Lane {
    calls: AtomicUsize,
    /// The connection that the calls of this lane share, and when it was used last.
    shared: Mutex<Option<(Shared, Instant)>>,
    /// Held while one is made that may turn out to be shared, so that those who would share it wait for it.
    making: tokio::sync::Mutex<()>,
}

/// A call's place in a lane, until it is dropped.
#[derive(Debug)]
pub(super) struct Berth {
    upstream: Arc<Upstream>,
    lane: usize,
}

impl Lanes {
    /// Lanes to where `to` is, whose connections, handshake included, are made within `patience`.
    pub(super) fn new(to: Option<&Uri>, trust: &Trust, patience: Duration) -> Self {
        let encrypted = to.and_then(Uri::scheme) == Some(&Scheme::HTTPS);
        Self {
            connector: Connector::new(trust, patience),
            host: to.and_then(host),
            shelf: Arc::default(),
            lanes: std::array::from_fn(|_| Lane::default()),
            one_by_one: AtomicBool::new(!encrypted),
        }
    }
}

/// The host and, unless it is the usual one, the port.
fn host(uri: &Uri) -> Option<HeaderValue> {
    let usual = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    match uri.port_u16().filter(|port| *port != usual) {
        Some(port) => HeaderValue::try_from(format!("{}:{port}", uri.host()?)).ok(),
        None => HeaderValue::from_str(uri.host()?).ok(),
    }
}

impl Berth {
    /// A place in the first lane that has one.
    pub(super) fn take(upstream: &Arc<Upstream>) -> Self {
        let calls = |lane: &Lane| lane.calls.load(Ordering::Relaxed);
        let lanes = &upstream.lanes.lanes;
        // Two calls may see the same last place; a lane has some to spare.
        let roomy = lanes.iter().position(|lane| calls(lane) < LANE);
        let emptiest = || (0..LANES).min_by_key(|&index| calls(&lanes[index])).unwrap_or_default();
        let lane = roomy.unwrap_or_else(emptiest);
        lanes[lane].calls.fetch_add(1, Ordering::Relaxed);
        Self { upstream: Arc::clone(upstream), lane }
    }

    /// Sends a request over a connection that is there, or a new one, and waits for the head of the answer. A request of which
    /// nothing has left, because its connection ended in that moment, goes over another.
    pub(super) async fn request(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Coming>, SendError> {
        let lanes = &self.upstream.lanes;
        loop {
            let (made, new) = match lanes.there_is(self.lane) {
                Some(made) => (made, false),
                // In a box: few calls make one, and every call would take the room that a handshake needs.
                None => Box::pin(lanes.make(self.lane, request.uri())).await?,
            };
            let unsent = match lanes.send(request, made).await {
                Ok(answer) => return Ok(answer),
                Err(unsent) => unsent,
            };
            match unsent {
                Unsent { request: Some(again), .. } if !new => request = again,
                lost => return Err(lost.into()),
            }
        }
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        self.upstream.lanes.lanes[self.lane].calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lanes {
    /// A connection that is there already.
    fn there_is(&self, lane: usize) -> Option<Made> {
        let shared = || self.lanes[lane].shared().map(Made::Shared);
        let shared = if self.one_by_one.load(Ordering::Relaxed) { None } else { shared() };
        shared.or_else(|| self.shelf.take().map(Made::Kept))
    }

    /// A new connection, or one that somebody else has made meanwhile; whether it is new.
    async fn make(&self, lane: usize, to: &Uri) -> Result<(Made, bool), SendError> {
        let lane = &self.lanes[lane];
        let making =
            if self.one_by_one.load(Ordering::Relaxed) { None } else { Some(lane.making.lock().await) };
        if making.is_some()
            && let Some(shared) = lane.shared()
        {
            return Ok((Made::Shared(shared), false));
        }
        let made = self.connector.connect(to.clone()).await?;
        if let Made::Shared(shared) = &made {
            lane.share(shared.clone());
        }
        self.one_by_one.store(matches!(made, Made::Kept(_)), Ordering::Relaxed);
        Ok((made, true))
    }

    async fn send(&self, mut request: Request<Full<Bytes>>, made: Made) -> Result<Response<Coming>, Unsent> {
        match made {
            Made::Kept(mut kept) => {
                let whole = request.uri().clone();
                if let Some(path) = whole.path_and_query() {
                    *request.uri_mut() = path.clone().into();
                }
                if let Some(host) = &self.host {
                    request.headers_mut().insert(HOST, host.clone());
                }
                match kept.send(request).await {
                    Ok(answer) => Ok(Coming::alone(answer, kept, &self.shelf)),
                    Err(mut unsent) => {
                        if let Some(again) = &mut unsent.request {
                            *again.uri_mut() = whole;
                        }
                        Err(unsent)
                    }
                }
            }
            Made::Shared(mut shared) => match shared.try_send_request(request).await {
                Ok(answer) => Ok(answer.map(Coming::Shared)),
                Err(mut unsent) => Err(Unsent { request: unsent.take_message(), error: unsent.into_error() }),
            },
        }
    }
}

impl Lane {
    /// The connection of this lane, if it can still be used.
    fn shared(&self) -> Option<Shared> {
        let mut place = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let usable = |(shared, used): &(Shared, Instant)| shared.is_ready() && *used + IDLE > now;
        match place.as_mut().filter(|kept| usable(kept)) {
            Some((shared, used)) => {
                *used = now;
                Some(shared.clone())
            }
            None => {
                *place = None;
                None
            }
        }
    }

    fn share(&self, shared: Shared) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some((shared, Instant::now()));
    }
}
