//! The gate before every guarded endpoint: who asks, whether they may, and whether they have asked too often.
//!
//! Before all of that comes whether there is room (`room.rs`), and whether anything can be recorded (`store_watch.rs`).
//! It comes before the body is read, so whoever is turned away costs little and leaves nothing behind.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::Method;
use http::header::{CONNECTION, HeaderValue};
use http::request::Parts;
use http_body_util::BodyExt as _;

use crate::app::App;
use crate::clock::now;
use crate::endpoint::Guard;
use crate::error::{ApiError, Wire, unread};
use crate::identity::{Caller, peer, token};
use crate::limits::{Asking, Counted, Tally, Who};
use crate::origin::authority;
use crate::people::{Client, login};
use crate::room::{Place, Shed};

/// How much of the body of somebody who is turned away is heard out, in bytes.
const HEARD_OUT: usize = 64 << 10;
/// How long anybody is heard out, and how long while they say nothing.
const HEARD_FOR: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_millis(200);

/// The address that a connection comes from, and behind the gate the one that a request does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// What is counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Surface {
    /// Calls of models.
    Model,
    /// Everything else.
    Rest,
}

impl Surface {
    pub(crate) fn of(path: &str) -> Self {
        if path.starts_with("/v1/") { Self::Model } else { Self::Rest }
    }
}

/// What stands before one endpoint.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) app: App,
    pub(crate) guard: Guard,
    pub(crate) wire: Wire,
    pub(crate) surface: Surface,
    /// The path of the endpoint, with the names of its parts.
    pub(crate) path: &'static str,
}

/// Lets a request through, or answers it.
pub(crate) async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let place = match gate.room(&parts.method) {
        Ok(place) => place,
        Err(error) => {
            heard_out(body, HEARD_OUT).await;
            return error.respond(gate.wire);
        }
    };
    let body = place.counted(body);
    let peer = gate.app.proxies.client(peer(&parts.extensions), &parts.headers);
    parts.extensions.insert(Peer(peer));
    let (admitted, tally) = gate.admit(&parts, peer).await;
    // Nothing of a tenant is recorded before it is known what must not be in it.
    let admitted = match admitted {
        Ok(Some(caller)) => {
            gate.app.vault.refresh(caller.tenant).await.map(|()| Some(caller)).map_err(unread)
        }
        other => other,
    };
    let mut response = match admitted {
        Ok(Some(mut caller)) => {
            caller.place = Some(place.clone());
            let renew = caller.session.is_some().then(|| gate.client(&parts));
            let renew = renew.map(|client| (client, caller.clone()));
            parts.extensions.insert(caller);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            // Afterwards: what the request did to its own session comes first.
            if let Some((client, caller)) = renew
                && !login::sets_cookie(response.headers())
                && let Some((name, value)) = login::renewed(&gate.app, &caller, &client).await
            {
                response.headers_mut().append(name, value);
            }
            response
        }
        Ok(None) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => error.respond(gate.wire),
    };
    if place.burst() {
        response = ApiError::Overloaded.respond(gate.wire);
    }
    if gate.app.leaving.load(Ordering::Relaxed) {
        // Whoever comes again comes by a new connection, to a process that stays.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(tally) = tally {
        tally.write(response.headers_mut());
    }
    response
}

/// Lets somebody who is turned away finish a body of at most so many bytes, and throws it away: a connection that is closed
/// while they still send takes the answer along. Whoever sends nothing waits for the answer, and is not waited for.
pub(crate) async fn heard_out(mut body: impl HttpBody<Data = Bytes> + Unpin, most: usize) {
    let all = async {
        let mut heard = 0;
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(SILENCE, body.frame()).await
            && heard < most
        {
            heard += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Whoever takes longer than that does without the answer.
    let _ = tokio::time::timeout(HEARD_FOR, all).await;
}

impl Gate {
    /// A place for one more request, unless there is no room, or it would do what nobody could record.
    fn room(&self, method: &Method) -> Result<Place, ApiError> {
        let room = &self.app.room;
        if !method.is_safe() && self.app.store_watch.is_away() {
            room.count(Shed::Store);
            return Err(ApiError::Unread);
        }
        room.enter().ok_or(ApiError::Overloaded)
    }

    /// Whether somebody may go on, and what was counted for it.
    async fn admit(&self, parts: &Parts, peer: IpAddr) -> (Result<Option<Caller>, ApiError>, Option<Tally>) {
        let (limits, headers) = (&self.app.limits, &parts.headers);
        if let Some(refused) = limits.count_address(peer).await.filter(Tally::refused) {
            return (Err(ApiError::too_often(refused)), Some(refused));
        }
        if self.guard == Guard::Anyone {
            return (Ok(None), None);
        }
        let caller = match self.app.identify(parts, self.surface, now()).await {
            Ok(caller) => caller,
            // Guessing is counted by address, whatever was guessed; showing nothing is no guess.
            Err(error) if error.is_about_credentials() && token(headers).is_some() => {
                let tally = limits.count_failure(peer).await;
                let refused = tally.filter(Tally::refused).map(|_| ApiError::GuessedTooOften);
                return (Err(refused.unwrap_or(error)), tally);
            }
            Err(error) => return (Err(error), None),
        };
        // What is recorded from here on is recorded as the tenant wants it; whoever needs to be sure reads it again.
        let _ = self.app.decided(caller.tenant).await;
        let asking = Asking {
            who: Who::of(caller.key, caller.user, peer),
            user: caller.user,
            surface: self.surface,
            own: caller.requests_per_minute,
            // A token that people made up can be guessed; ours cannot, so those are never held up by the guesses of others.
            guessed_from: (caller.is_installation_itself() && self.app.api_key.is_some()).then_some(peer),
        };
        let tally = match limits.count(asking).await {
            Counted::Guessing(tally) => return (Err(ApiError::GuessedTooOften), Some(tally)),
            Counted::Request(tally) => tally,
        };
        if let Some(refused) = tally.filter(Tally::refused) {
            return (Err(ApiError::too_often(refused)), tally);
        }
        let allowed = self.allow(&caller).and_then(|()| self.reach(&caller, parts.uri.path()));
        (allowed.map(|()| Some(caller)), tally)
    }

    /// Whether an endpoint is one of the run that somebody was let in for, if they were for one alone.
    fn reach(&self, caller: &Caller, path: &str) -> Result<(), ApiError> {
        if caller.run.is_none() {
            return Ok(());
        }
        match self.path {
            "/api/v1/runs/{id}"
            | "/api/v1/runs/{id}/evidence-packet"
            | "/api/v1/runs/{id}/feedback"
            | "/api/v1/runs/{id}/memory" => caller.must_reach(path.split('/').nth(4).unwrap_or_default()),
            // Its body says which run; the handler asks.
            "/api/v1/trace" => Ok(()),
            _ => Err(ApiError::OutOfReach),
        }
    }

    fn client(&self, parts: &Parts) -> Client {
        Client::of(&self.app, &parts.headers, authority(&parts.headers, &parts.uri), peer(&parts.extensions))
    }

    fn allow(&self, caller: &Caller) -> Result<(), ApiError> {
        match self.guard {
            Guard::Public | Guard::Anyone => Ok(()),
            Guard::Person if caller.user.is_some() => Ok(()),
            Guard::Person => Err(ApiError::NotLoggedIn),
            Guard::Needs(permission) => caller.must(permission),
        }
    }
}
