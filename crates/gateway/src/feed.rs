//! `GET /api/v1/events`: what happens, as it happens, as server-sent events.
//!
//! The feed reads the tenant's Merkle log and nothing else, so it is the same on every node and after every restart. An
//! event is told when the leaf that binds it is in the log: when its run is finished, or, for what is said about the run
//! later, at once. The id of a message is the index of that leaf and the place of the event in its run (`12-4`); a reader
//! that comes back with the last id it saw goes on after exactly that event.
//!
//! A reader is a task and a short queue: what a slow one has not taken yet stays in the log, not in memory.

mod body;
mod place;

use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use identity::Permission;
use schema::{RunId, TenantId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use store::{FeedRow, StoreError, TenantStore};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::app::App;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::run::shown;
use crate::strict::Params;
use crate::text::Name;
use body::Queue;
use place::Place;

/// How many leaves are read at a time.
const PAGE: NonZeroU32 = NonZeroU32::new(64).unwrap();
/// How many messages wait for a reader.
const QUEUE: usize = 64;
/// How often a reader is told that nothing happened, so that nobody on the way takes the connection for dead.
const BEAT: Duration = Duration::from_secs(15);
/// How often the log is looked at for what other processes wrote, and whether the reader would still be let in.
const LOOK: Duration = Duration::from_secs(1);
/// How many readers a process has at once.
pub(crate) const READERS: usize = 512;

/// Which events.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedQuery {
    /// Only events of this type; `tool.*` is every type that starts with `tool.`.
    #[serde(default)]
    r#type: Option<Name>,
    /// Only events of this run.
    #[serde(default)]
    run: Option<RunId>,
    /// Only events of runs that were answered by this route.
    #[serde(default)]
    route: Option<Name>,
    /// Only events of runs of this application.
    #[serde(default)]
    app: Option<Name>,
    /// Only events of runs of this agent.
    #[serde(default)]
    agent: Option<Name>,
    /// The id of the last event that was seen, for clients that cannot send `Last-Event-ID`. `0-0` begins at the beginning.
    #[serde(default)]
    after: Option<Place>,
}

pub(crate) async fn stream(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Params(query): Params<FeedQuery>,
) -> Result<Response, ApiError> {
    let seen = match headers.get("last-event-id") {
        Some(id) => Some(id.to_str().ok().and_then(|id| id.parse().ok()).ok_or(ApiError::Header {
            name: "last-event-id",
            wanted: "expected the id of an event of this feed, such as 12-4",
        })?),
        None => query.after,
    };
    let permit =
        std::sync::Arc::clone(&app.readers).try_acquire_owned().map_err(|_| ApiError::TooManyReaders)?;
    // Listened to before the log is looked at, so that nothing falls in between.
    let changed = app.store.changed(caller.tenant);
    let store = app.of(caller.tenant);
    let place = match seen {
        Some(place) => place,
        None => Place::after_leaves(store.log_size().await.map_err(unread)?),
    };
    let (sender, queue) = mpsc::channel(QUEUE);
    let reader = Reader { tenant: caller.tenant, caller, store, query, place, sender };
    tokio::spawn(async move {
        let _permit = permit;
        reader.read(&app, changed).await;
    });
    let mut response = Response::new(axum::body::Body::new(Queue(queue)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// Somebody who reads along.
struct Reader {
    tenant: TenantId,
    caller: Caller,
    store: Box<dyn TenantStore>,
    query: FeedQuery,
    /// What was told so far.
    place: Place,
    sender: mpsc::Sender<Bytes>,
}

/// Why a reader is told nothing more.
enum End {
    /// It went away.
    Gone,
    /// The store cannot be read; the reader comes back and goes on where it was.
    Store(StoreError),
}

impl From<StoreError> for End {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Reader {
    /// Tells what happens until the reader goes or is let in no more, the store fails or the process does.
    async fn read(mut self, app: &App, mut changed: tokio::sync::watch::Receiver<u64>) {
        let mut draining = app.draining.subscribe();
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut beat = Instant::now() + BEAT;
        // At once, so that the reader knows that it is heard.
        if self.sender.send(Bytes::from_static(b": hello\n\n")).await.is_err() {
            return;
        }
        loop {
            changed.borrow_and_update();
            match self.tell().await {
                Ok(()) => {}
                Err(End::Gone) => return,
                Err(End::Store(error)) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a feed ends: the store cannot be read"
                    );
                    return;
                }
            }
            tokio::select! {
                biased;
                () = until(&mut draining) => return,
                () = self.sender.closed() => return,
                told = changed.changed() => if told.is_err() { return },
                _ = look.tick() => if !app.still_may(&self.caller, Permission::RunRead).await { return },
                () = tokio::time::sleep_until(beat) => {
                    beat = Instant::now() + BEAT;
                    let message = format!(": still here\nid: {}\n\n", self.place);
                    if self.sender.send(Bytes::from(message)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Tells everything that is in the log by now.
    async fn tell(&mut self) -> Result<(), End> {
        loop {
            let page = self.store.feed(self.place.next_leaf(), PAGE).await?;
            let whole = page.len() < PAGE.get() as usize;
            for row in page {
                self.tell_leaf(row).await?;
            }
            if whole {
                return Ok(());
            }
        }
    }

    async fn tell_leaf(&mut self, row: FeedRow) -> Result<(), End> {
        if self.is_meant(&row).await? {
            let after = self.place.seen_of(&row);
            let limit = u32::try_from(row.seq.0.saturating_sub(after.0)).ok().and_then(NonZeroU32::new);
            let events = match limit {
                Some(limit) => self.store.events(row.run, after, limit).await?,
                None => Vec::new(),
            };
            for event in events.into_iter().filter(|event| event.seq <= row.seq) {
                let place = Place::of(row.index, event.seq);
                if self.is_of_type(&event.r#type) {
                    let message = message(self.tenant, row, place, event);
                    self.sender.send(message).await.map_err(|_| End::Gone)?;
                }
                self.place = place;
            }
        }
        self.place = Place::of(row.index, row.seq).closed();
        Ok(())
    }

    /// Whether the events of a leaf are of a run that the reader asked for.
    async fn is_meant(&self, row: &FeedRow) -> Result<bool, StoreError> {
        let FeedQuery { run, route, app, agent, .. } = &self.query;
        if run.is_some_and(|run| run != row.run) {
            return Ok(false);
        }
        let wanted = [("route", route), ("app", app), ("agent", agent)];
        if wanted.iter().all(|(_, name)| name.is_none()) {
            return Ok(true);
        }
        let Some(run) = self.store.run(row.run).await? else { return Ok(false) };
        let fits = |(field, name): &(&str, &Option<Name>)| {
            name.as_ref()
                .is_none_or(|name| run.fields.get(field).and_then(Value::as_str) == Some(name.as_str()))
        };
        Ok(wanted.iter().all(fits))
    }

    fn is_of_type(&self, r#type: &str) -> bool {
        match self.query.r#type.as_ref().map(Name::as_str) {
            None => true,
            Some(wanted) => match wanted.strip_suffix('*') {
                Some(start) => r#type.starts_with(start),
                None => r#type == wanted,
            },
        }
    }
}

/// Waits until it is true, or can no longer become so.
async fn until(watched: &mut tokio::sync::watch::Receiver<bool>) {
    let _ = watched.wait_for(|is_true| *is_true).await;
}

/// One message. JSON has no line break outside of what it escapes, so the data is one line.
fn message(tenant: TenantId, row: FeedRow, place: Place, event: ledger::Event) -> Bytes {
    let event = shown::event(tenant, row.run, event);
    let data = serde_json::to_string(&event).unwrap_or_default();
    Bytes::from(format!("id: {place}\ndata: {data}\n\n"))
}
