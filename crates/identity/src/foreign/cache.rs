//! The keys of one issuer, kept for a while.
//!
//! - One fetch at a time: who comes meanwhile waits for it and takes what it brought.
//! - A token that names an unknown key causes a fetch, at most one in thirty seconds: so a rotation is seen at once, and
//!   nobody can make us hammer an issuer with invented names.
//! - An issuer that is away does not stop its tokens: keys stay usable for a day after they were fetched, and no longer.

use super::{Algorithm, Jwks, KeySource};
use crate::http::{Answer, Http, trusted_url};
use crate::jose::Refused;
use crate::oidc::Provider;
use schema::Timestamp;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECOND: u64 = 1000;
/// Between two fetches, whatever the reason.
const BETWEEN_FETCHES: u64 = 30 * SECOND;
/// How long keys are fresh: what the issuer says, within bounds, or an hour.
const FRESH: u64 = 3600 * SECOND;
const FRESH_LEAST: u64 = 60 * SECOND;
const FRESH_MOST: u64 = 24 * 3600 * SECOND;
/// How long after the fetch keys may be used while the issuer is away.
const USABLE: u64 = 24 * 3600 * SECOND;

/// The keys of one issuer. Shared by all requests.
#[derive(Debug)]
pub struct KeyCache {
    issuer: String,
    source: KeySource,
    state: Mutex<State>,
    flight: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Default)]
struct State {
    held: Option<Held>,
    /// When the last fetch was tried.
    tried: Option<u64>,
}

#[derive(Debug, Clone)]
struct Held {
    keys: Arc<Jwks>,
    fresh_until: u64,
    usable_until: u64,
}

impl KeyCache {
    /// An empty one for `issuer`.
    pub fn new(issuer: &str, source: KeySource) -> Self {
        let (state, flight) = (Mutex::new(State::default()), tokio::sync::Mutex::new(()));
        Self { issuer: issuer.to_owned(), source, state, flight }
    }

    /// Keys among which is the one that is looked for, if there is any way to have them.
    pub(crate) async fn keys_with(
        &self,
        http: &dyn Http,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<Arc<Jwks>, Refused> {
        let now = now.as_millis();
        let before = self.state().clone();
        if !before.wants_fetch(id, algorithm, now) {
            return before.usable(now);
        }
        let _flight = self.flight.lock().await;
        // Whoever held the flight before us may have fetched; then that answer is ours too.
        let state = self.state().clone();
        if state.tried == before.tried && state.wants_fetch(id, algorithm, now) {
            self.fetch(http, now).await;
        }
        self.state().usable(now)
    }

    async fn fetch(&self, http: &dyn Http, now: u64) {
        // Noted beforehand when there is something to fall back on, so that a caller who hangs up again and again cannot
        // cause a fetch each time. The very first fetch is noted after: one hang-up must not cost half a minute.
        if self.state().held.is_some() {
            self.state().tried = Some(now);
        }
        let fetched = self.ask(http).await;
        let mut state = self.state();
        state.tried = Some(now);
        if let Some((keys, answer)) = fetched {
            let fresh = max_age(answer.cache_control.as_deref()).unwrap_or(FRESH);
            state.held = Some(Held {
                keys: Arc::new(keys),
                fresh_until: now.saturating_add(fresh.clamp(FRESH_LEAST, FRESH_MOST)),
                usable_until: now.saturating_add(USABLE),
            });
        }
    }

    async fn ask(&self, http: &dyn Http) -> Option<(Jwks, Answer)> {
        let url = match &self.source {
            KeySource::Url(url) => trusted_url(url)?,
            KeySource::Discovery => Provider::discover(http, &self.issuer).await.ok()?.jwks_uri().clone(),
        };
        let answer = http.get(&url).await.ok().filter(|answer| answer.status == 200)?;
        // A set without a usable key is a mistake of the issuer's: what we have is better.
        let keys = Jwks::parse(&answer.body).ok().filter(|keys| !keys.is_empty())?;
        Some((keys, answer))
    }

    /// Nothing panics while it is held, so a poisoned lock has whole data.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wants_fetch(&self, id: Option<&str>, algorithm: Algorithm, now: u64) -> bool {
        let has_key = self.held.as_ref().is_some_and(|held| {
            now < held.fresh_until && !matches!(held.keys.find(id, algorithm), Err(Refused::UnknownKey))
        });
        let is_time = self.tried.is_none_or(|tried| now.saturating_sub(tried) >= BETWEEN_FETCHES);
        !has_key && is_time
    }

    fn usable(&self, now: u64) -> Result<Arc<Jwks>, Refused> {
        let held = self.held.as_ref().filter(|held| now < held.usable_until);
        held.map(|held| held.keys.clone()).ok_or(Refused::KeysUnavailable)
    }
}

/// `max-age` of a `cache-control` header, in milliseconds.
fn max_age(header: Option<&str>) -> Option<u64> {
    let directives = header?.split(',').map(str::trim);
    let mut seconds = directives.filter_map(|directive| directive.strip_prefix("max-age="));
    seconds.next()?.parse::<u64>().ok().map(|seconds| seconds.saturating_mul(SECOND))
}
