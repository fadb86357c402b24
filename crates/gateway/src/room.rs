//! Room: how much may be in progress at once. What finds none is turned away at the gate, with 503 and a time to come back,
//! before it costs anything: load beyond what the process can hold must not become memory.
//!
//! A request that is let in has a [`Place`], and its caller carries it. So it is taken until the last of what was begun for it
//! is over: the stream that is still running, and the record that still has to be written. One bound therefore covers all
//! that waits anywhere, in front of upstreams as in front of the store.
//!
//! - Bodies are counted as they arrive, not as they are announced: whoever announces much and sends little takes little.
//! - Nobody waits for room. Whoever is let in goes on; whoever is not is told at once.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use telemetry::metrics::{BoundedLabel, Counter, Metrics};

/// How much may be in progress at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Requests, each until its run is recorded.
    pub requests: usize,
    /// Bytes of the bodies of all of them.
    pub body_bytes: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { requests: 4_096, body_bytes: 128 << 20 }
    }
}

/// Why somebody is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shed {
    /// As many requests as may be are in progress.
    Requests,
    /// Their bodies take up as much as they may.
    BodyBytes,
    /// Nothing can be recorded now.
    Store,
}

/// All the room there is.
#[derive(Clone)]
pub(crate) struct Room(Arc<Inner>);

struct Inner {
    requests: Share,
    body_bytes: Share,
    shed: Counter<1>,
}

/// So much, of which some is taken.
struct Share {
    taken: AtomicUsize,
    most: usize,
}

impl Share {
    fn of(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// Takes `amount`, all of it or nothing.
    fn take(&self, amount: usize) -> bool {
        let more = |taken: usize| taken.checked_add(amount).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, amount: usize) {
        self.taken.fetch_sub(amount, Ordering::Relaxed);
    }
}

impl Room {
    /// Room within `capacity`; the longest body that may come at all always finds room in an idle process.
    pub(crate) fn new(capacity: Capacity, longest_body: usize, metrics: &Metrics) -> Self {
        let shed =
            metrics.counter("punk_shed", "Requests turned away, by what there was no room in", ["what"]);
        let body_bytes = capacity.body_bytes.max(longest_body);
        Self(Arc::new(Inner {
            requests: Share::of(capacity.requests),
            body_bytes: Share::of(body_bytes),
            shed,
        }))
    }

    /// A place for one more request, if there is room.
    pub(crate) fn enter(&self) -> Option<Place> {
        if !self.0.requests.take(1) {
            self.count(Shed::Requests);
            return None;
        }
        let taken =
            Taken { room: Self::clone(self), body_bytes: AtomicUsize::new(0), burst: AtomicBool::new(false) };
        Some(Place(Arc::new(taken)))
    }

    /// Counts somebody who was turned away.
    pub(crate) fn count(&self, shed: Shed) {
        let what = match shed {
            Shed::Requests => "requests",
            Shed::BodyBytes => "body_bytes",
            Shed::Store => "store",
        };
        self.0.shed.increment([BoundedLabel::fixed(what)]);
    }
}

/// The place of one request. It is free again when the last clone is gone.
#[derive(Clone)]
pub(crate) struct Place(Arc<Taken>);

struct Taken {
    room: Room,
    body_bytes: AtomicUsize,
    /// There was no room for its body.
    burst: AtomicBool,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({} bytes)", self.0.body_bytes.load(Ordering::Relaxed))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.0.body_bytes.give_back(*self.body_bytes.get_mut());
        self.room.0.requests.give_back(1);
    }
}

impl Place {
    /// The body, counted as it comes in.
    pub(crate) fn counted(&self, body: Body) -> Body {
        if body.is_end_stream() { body } else { Body::new(Counted { body, place: self.clone() }) }
    }

    /// Whether the body was given up because there was no room for it.
    pub(crate) fn burst(&self) -> bool {
        self.0.burst.load(Ordering::Relaxed)
    }

    /// Room for more of the body.
    fn grow(&self, amount: usize) -> bool {
        let fits = self.0.room.0.body_bytes.take(amount);
        if fits {
            self.0.body_bytes.fetch_add(amount, Ordering::Relaxed);
        } else if !self.0.burst.swap(true, Ordering::Relaxed) {
            self.0.room.count(Shed::BodyBytes);
        }
        fits
    }
}

/// A body that takes room as it arrives.
struct Counted {
    body: Body,
    place: Place,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        let arrived = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            _ => 0,
        };
        if !this.place.grow(arrived) {
            return Poll::Ready(Some(Err("there is no room for the body".into())));
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use telemetry::metrics::Build;

    fn room(requests: usize, body_bytes: usize) -> (Room, Metrics) {
        let metrics = Metrics::new(Build { version: "0", commit: None, target: "test" }, 0.0);
        (Room::new(Capacity { requests, body_bytes }, 0, &metrics), metrics)
    }

    #[test]
    fn whoever_finds_no_room_is_counted_and_room_comes_back_with_the_last_clone() {
        let (room, metrics) = room(1, 10);
        let place = room.enter().unwrap();
        let recording = place.clone();
        drop(place);
        assert!(room.enter().is_none(), "what it began is not over");
        drop(recording);
        assert!(room.enter().is_some());
        assert!(metrics.render().contains("punk_shed_total{what=\"requests\"} 1"), "{}", metrics.render());
    }

    #[tokio::test]
    async fn a_body_takes_room_as_it_arrives_and_is_given_up_where_there_is_none() {
        let (room, _metrics) = room(9, 10);
        let (one, other) = (room.enter().unwrap(), room.enter().unwrap());
        let read =
            |place: &Place, text: &'static str| axum::body::to_bytes(place.counted(Body::from(text)), 99);
        assert_eq!(read(&one, "123456").await.unwrap(), "123456");
        assert!(read(&other, "12345").await.is_err());
        assert!(other.burst() && !one.burst());
        drop(one);
        let third = room.enter().unwrap();
        assert_eq!(read(&third, "1234567890").await.unwrap(), "1234567890");
    }

    proptest! {
        #[test]
        fn what_is_taken_never_exceeds_what_there_is_and_all_of_it_comes_back(
            steps in proptest::collection::vec((any::<bool>(), 0usize..8), 0..60),
        ) {
            let (room, _metrics) = room(3, 12);
            let mut places = Vec::new();
            for (enters, amount) in steps {
                if enters {
                    if let Some(place) = room.enter() {
                        place.grow(amount);
                        places.push(place);
                    }
                } else if !places.is_empty() {
                    places.swap_remove(amount % places.len());
                }
                prop_assert_eq!(room.0.requests.taken.load(Ordering::Relaxed), places.len());
                prop_assert!(places.len() <= 3);
                prop_assert!(room.0.body_bytes.taken.load(Ordering::Relaxed) <= 12);
            }
            places.clear();
            prop_assert_eq!(room.0.requests.taken.load(Ordering::Relaxed), 0);
            prop_assert_eq!(room.0.body_bytes.taken.load(Ordering::Relaxed), 0);
        }
    }
}
