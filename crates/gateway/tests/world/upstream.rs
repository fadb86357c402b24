//! A model provider that does what a test tells it, over a real connection.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use crypto::SecretString;
use gateway::Models;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use providers::mock::Pace;
use providers::model::{Catalogue, UpstreamModels};
use providers::pricing::PriceList;
use providers::upstream::{Auth, Spec, Trust};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use wire::Wire;

/// What it does with a request.
pub(crate) enum Act {
    /// Answers in one piece.
    Say(u16, Vec<(&'static str, &'static str)>, Value),
    /// Streams these frames, one piece each, and then does this.
    Stream(Vec<String>, Then),
    /// Begins an answer in one piece, and breaks the connection.
    Broken(String),
    /// Says nothing at all.
    Hang,
}

/// How a stream goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It ends as it should.
    End,
    /// The connection breaks.
    Break,
    /// Nothing more comes, and it does not end.
    Hang,
}

/// Upstreams by their names, with the wires that each speaks; `NAME:model` picks one.
pub(crate) fn served_by(upstreams: &[(&str, &Upstream, &[Wire])]) -> Models {
    let at: Vec<_> =
        upstreams.iter().map(|(name, upstream, wires)| (*name, &*upstream.url, *wires)).collect();
    // A test that wants a failure wants it at once.
    served_at(&at, |spec| spec.timeouts.first_byte = Duration::from_secs(20))
}

/// The same by their addresses, each with what `tune` does to it.
pub(crate) fn served_at(upstreams: &[(&str, &str, &[Wire])], tune: impl Fn(&mut Spec)) -> Models {
    let trust = Trust::only(&[]).unwrap();
    let mut models = Models {
        catalogue: Catalogue::default(),
        upstreams: HashMap::new(),
        prices: PriceList::default(),
        pace: Pace::Instant,
    };
    for (name, url, wires) in upstreams {
        let auth = if wires.contains(&Wire::Messages) { Auth::ApiKey } else { Auth::Bearer };
        let mut spec = Spec::new(name, url, auth, wires).unwrap();
        spec.keys = vec![SecretString::new(format!("key-of-{name}")).into()];
        tune(&mut spec);
        models
            .upstreams
            .insert((*name).to_owned(), providers::upstream::Upstream::new(spec, &trust).unwrap());
        if *name == "openai" {
            models.catalogue.openai = true;
        } else {
            let models_of_it = UpstreamModels { name: (*name).to_owned(), models: Vec::new() };
            models.catalogue.upstreams.push(models_of_it);
        }
    }
    models
}

/// What it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) bytes: Bytes,
}

/// The provider.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    /// How many callers went away before they had everything.
    left: AtomicUsize,
    changed: Notify,
}

impl Upstream {
    /// Starts one. `act` is asked for every request, with how many came before it.
    pub(crate) async fn start(act: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let (act, shared) = (Arc::new(act), state.clone());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (act, state) = (act.clone(), shared.clone());
                let service = service_fn(move |request| answer(act.clone(), state.clone(), request));
                tokio::spawn(async move {
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, state }
    }

    /// Nobody is there.
    pub(crate) fn nowhere() -> Self {
        Self { url: "http://127.0.0.1:1".to_owned(), state: Arc::default() }
    }

    /// Everything it was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub(crate) async fn was_asked(&self, times: usize) {
        self.wait(|state| state.seen.lock().unwrap().len() >= times).await;
    }

    /// Waits until so many callers went away early.
    pub(crate) async fn was_left(&self, times: usize) {
        self.wait(|state| state.left.load(Ordering::SeqCst) >= times).await;
    }

    async fn wait(&self, done: impl Fn(&State) -> bool) {
        loop {
            let changed = self.state.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if done(&self.state) {
                return;
            }
            changed.await;
        }
    }
}

async fn answer(
    act: Arc<impl Fn(usize, &Seen) -> Act>,
    state: Arc<State>,
    request: Request<Incoming>,
) -> Result<Response<Told>, Infallible> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    let seen = Seen { path: parts.uri.path().to_owned(), headers: parts.headers, body, bytes };
    let before = {
        let mut all = state.seen.lock().unwrap();
        all.push(seen.clone());
        all.len() - 1
    };
    let act = act(before, &seen);
    let leaving = Leaving { state: state.clone(), done: false };
    state.changed.notify_waiters();
    Ok(match act {
        Act::Say(status, headers, body) => {
            let mut response = Response::builder().status(status).header("content-type", "application/json");
            for (name, value) in headers {
                response = response.header(name, value);
            }
            let pieces = vec![body.to_string()].into();
            response.body(Told { pieces, then: Then::End, flushes: 0, leaving }).unwrap()
        }
        Act::Stream(frames, then) => {
            let response = Response::builder().header("content-type", "text/event-stream");
            response.body(Told { pieces: frames.into(), then, flushes: 8, leaving }).unwrap()
        }
        Act::Broken(some) => {
            let response = Response::builder().header("content-type", "application/json");
            let pieces = vec![some].into();
            response.body(Told { pieces, then: Then::Break, flushes: 8, leaving }).unwrap()
        }
        Act::Hang => {
            // Held until the caller goes away, which drops this future.
            let _leaving = leaving;
            std::future::pending().await
        }
    })
}

/// Notices a caller that went away.
struct Leaving {
    state: Arc<State>,
    done: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.done {
            self.state.left.fetch_add(1, Ordering::SeqCst);
            self.state.changed.notify_waiters();
        }
    }
}

struct Told {
    pieces: VecDeque<String>,
    then: Then,
    flushes: u8,
    leaving: Leaving,
}

impl Body for Told {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match (self.pieces.pop_front(), self.then) {
            (Some(piece), _) => Poll::Ready(Some(Ok(Frame::data(piece.into())))),
            (None, Then::End) => {
                self.leaving.done = true;
                Poll::Ready(None)
            }
            (None, Then::Break) if self.flushes > 0 => {
                // What was said has to be on its way before the connection breaks.
                self.flushes -= 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            (None, Then::Break) => {
                self.leaving.done = true;
                Poll::Ready(Some(Err(std::io::Error::other("the test breaks the connection"))))
            }
            (None, Then::Hang) => Poll::Pending,
        }
    }
}
