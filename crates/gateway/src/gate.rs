//! The gate before every guarded endpoint: who asks, whether they may, and whether they have asked too often.
//!
//! It comes before the body is read, so whoever is turned away costs little and leaves nothing behind.

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;

use crate::app::App;
use crate::clock::now;
use crate::endpoint::Guard;
use crate::error::{ApiError, Wire};
use crate::identity::{Caller, token};
use crate::limits::{Tally, Who};

/// The address that a connection comes from.
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
}

/// Lets a request through, or answers it.
pub(crate) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| *address);
    let (admitted, tally) = gate.admit(request.headers(), peer).await;
    let mut response = match admitted {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.respond(gate.wire),
    };
    if let Some(tally) = tally {
        tally.write(response.headers_mut());
    }
    response
}

impl Gate {
    /// Whether somebody may go on, and what was counted for it.
    async fn admit(&self, headers: &HeaderMap, peer: IpAddr) -> (Result<Caller, ApiError>, Option<Tally>) {
        let limits = &self.app.limits;
        if let Some(refused) = limits.count_address(peer).filter(Tally::refused) {
            return (Err(ApiError::too_often(refused)), Some(refused));
        }
        let caller = match self.app.identify(headers, now()).await {
            Ok(caller) => caller,
            // Guessing is counted by address, whatever was guessed; showing nothing is no guess.
            Err(error) if error.is_about_credentials() && token(headers).is_some() => {
                let tally = limits.count_failure(peer);
                let refused = tally.filter(Tally::refused).map(|_| ApiError::GuessedTooOften);
                return (Err(refused.unwrap_or(error)), tally);
            }
            Err(error) => return (Err(error), None),
        };
        // A token that people made up can be guessed; ours cannot, so those are never held up by the guesses of others.
        if caller.key.is_none()
            && self.app.api_key.is_some()
            && let Some(tally) = limits.guessing(peer)
        {
            return (Err(ApiError::GuessedTooOften), Some(tally));
        }
        let who = caller.key.map_or(Who::Address(peer), Who::Key);
        let tally = limits.count(who, self.surface, caller.requests_per_minute);
        if let Some(refused) = tally.filter(Tally::refused) {
            return (Err(ApiError::too_often(refused)), tally);
        }
        (self.allow(&caller).map(|()| caller), tally)
    }

    fn allow(&self, caller: &Caller) -> Result<(), ApiError> {
        match self.guard {
            Guard::Public => Ok(()),
            Guard::Scope(scope) if caller.has(scope) => Ok(()),
            Guard::Scope(scope) => Err(ApiError::ScopeMissing { scope }),
            Guard::Admin if caller.admin => Ok(()),
            Guard::Installation if caller.installation => Ok(()),
            Guard::Admin => Err(ApiError::AdminRequired { what: "an admin key" }),
            Guard::Installation => Err(ApiError::AdminRequired { what: "the key of the installation" }),
        }
    }
}
