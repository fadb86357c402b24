//! The two halves of a login.

use super::client::Client;
use super::exchange::{exchange, safe_code};
use super::id_token::{self, Person};
use super::pending::Pending;
use super::provider::{Provider, ProviderError};
use crate::foreign::{KeyCache, KeySource};
use crate::http::{Http, NoAnswer};
use crate::jose::Refused;
use crypto::random::RandomError;
use schema::Timestamp;
use std::sync::Arc;
use url::Url;

/// Longer than any query that a provider sends a browser back with.
const LONGEST_QUERY: usize = 8 * 1024;

/// Why a login came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Begun too long ago, or in another browser, or never: a forged or repeated answer looks like this.
    #[error("this answer belongs to no login that is pending in this browser; begin again")]
    State,
    /// The answer is not readable, or has a field twice.
    #[error("the answer of the provider cannot be read; begin again")]
    Query,
    /// The answer is another provider's.
    #[error("the answer is of another provider than the one that was asked; begin again")]
    Issuer,
    /// The provider says no; its code.
    #[error("the provider refused: {error}")]
    Denied {
        /// Letters, digits, `_`, `-` and `.` only.
        error: String,
    },
    /// The provider is away.
    #[error("the provider does not answer")]
    Away(#[from] NoAnswer),
    /// The token endpoint's answer cannot be used.
    #[error("the provider's answer {0}")]
    Answer(&'static str),
    /// The ID token is refused; why is for the log.
    #[error("the provider's ID token is not valid")]
    Token(#[source] Refused),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Logging in at one provider. Shared by all requests.
pub struct Login {
    provider: Provider,
    client: Client,
    cache: KeyCache,
    http: Arc<dyn Http>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Login({})", self.provider.issuer())
    }
}

impl Login {
    /// Reads the provider's document. A shell does so when somebody first wants to log in, and again every few hours.
    pub async fn discover(http: Arc<dyn Http>, issuer: &str, client: Client) -> Result<Self, ProviderError> {
        Ok(Self::new(http.clone(), Provider::discover(&*http, issuer).await?, client))
    }

    /// Logging in as `client` at a provider that is known already.
    pub fn new(http: Arc<dyn Http>, provider: Provider, client: Client) -> Self {
        let source = KeySource::Url(provider.jwks_uri().to_string());
        let cache = KeyCache::new(provider.issuer(), source);
        Self { provider, client, cache, http }
    }

    /// The first half: what to keep in the browser, and where to send it.
    pub fn begin(&self, return_to: Option<String>, now: Timestamp) -> Result<(Pending, Url), LoginError> {
        let pending = Pending::new(self.provider.issuer(), return_to, now)?;
        let mut url = self.provider.authorization_endpoint().clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", self.client.id())
            .append_pair("redirect_uri", self.client.redirect_uri())
            .append_pair("scope", &self.client.scope())
            .append_pair("state", pending.state())
            .append_pair("nonce", pending.nonce())
            .append_pair("code_challenge", &pending.challenge())
            .append_pair("code_challenge_method", "S256");
        Ok((pending, url))
    }

    /// The second half: who has logged in, given the query with which the browser came back. The pending login is used
    /// up, whatever comes of it: let the cookie go too.
    pub async fn finish(&self, pending: Pending, query: &str, now: Timestamp) -> Result<Person, LoginError> {
        let code = self.code_of(&pending, query, now)?;
        let tokens = exchange(&*self.http, &self.provider, &self.client, &pending, &code).await?;
        let http = &*self.http;
        id_token::verify(&tokens, &self.provider, &self.client, &pending, &self.cache, http, now)
            .await
            .map_err(LoginError::Token)
    }

    /// The code in `query`, when the answer belongs to this login.
    fn code_of(&self, pending: &Pending, query: &str, now: Timestamp) -> Result<String, LoginError> {
        let answer = Callback::parse(query)?;
        if pending.issuer() != self.provider.issuer() || !pending.is_in_time(now) {
            return Err(LoginError::State);
        }
        if !answer.state.is_some_and(|state| pending.is_state(&state)) {
            return Err(LoginError::State);
        }
        // A name that was not announced must be right all the same.
        match answer.issuer {
            Some(issuer) if issuer != self.provider.issuer() => return Err(LoginError::Issuer),
            None if self.provider.names_itself() => return Err(LoginError::Issuer),
            _ => {}
        }
        match (answer.code, answer.error) {
            (Some(code), None) if !code.is_empty() => Ok(code),
            (None, Some(error)) => Err(LoginError::Denied { error: safe_code(&error) }),
            _ => Err(LoginError::Query),
        }
    }
}

/// What the browser brought back.
#[derive(Default)]
struct Callback {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
}

impl Callback {
    fn parse(query: &str) -> Result<Self, LoginError> {
        if query.len() > LONGEST_QUERY {
            return Err(LoginError::Query);
        }
        let mut answer = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let slot = match &*name {
                "code" => &mut answer.code,
                "state" => &mut answer.state,
                "iss" => &mut answer.issuer,
                "error" => &mut answer.error,
                _ => continue,
            };
            if slot.replace(value.into_owned()).is_some() {
                return Err(LoginError::Query);
            }
        }
        Ok(answer)
    }
}
