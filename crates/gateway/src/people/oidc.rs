//! Logging in elsewhere: people whom another provider knows.
//!
//! Who somebody is, is the provider and its name for them; an address is only how they are found the first time, and only if
//! the provider has verified it and nobody here could have taken it before.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use crypto::token::TokenHash;
use crypto::{KeyRing, SecretString};
use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use identity::Role;
use identity::oidc::{Authentication, Client as Registered, ClientError, Login, LoginError, Pending, Person};
use schema::{Digest, TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::RecordKind;
use tokio::sync::Mutex;

use super::account::{Account, ForeignSubject};
use super::client::Client;
use super::cookie::Cookie;
use super::directory::{By, ChangeError, Directory, HOME, Versioned, claim, new_id, user_change};
use super::email::Email;
use super::invitation;
use super::login::{by_person, enter};
use crate::app::App;
use crate::clock::{Stopwatch, now};
use crate::error::{ApiError, unread};
use crate::strict::Params;

/// How long the document of a provider is taken to hold.
const KNOWN_FOR: Duration = Duration::from_secs(4 * 3600);
/// How long somebody may take at the provider.
const PENDING_SECONDS: u64 = 600;
/// Where a provider sends browsers back to.
const CALLBACK: &str = "/api/v1/auth/oidc/callback";
/// The group of records that hold a foreign name for its person.
const CLAIMS: &str = "subject";

/// Where people may log in instead of here.
#[derive(Debug)]
pub struct OidcProvider {
    /// The provider.
    pub issuer: String,
    /// Who we are there.
    pub client_id: String,
    /// What we prove that with; none for a public client.
    pub client_secret: Option<SecretString>,
    /// The domains whose addresses are let in; all, if there is none.
    pub domains: Vec<String>,
    /// Where whoever is new belongs.
    pub tenant: TenantId,
    /// As what; nobody new is let in without an invitation if there is none.
    pub role: Option<Role>,
}

/// The same, ready to be asked.
pub(crate) struct Oidc {
    provider: OidcProvider,
    redirect_uri: String,
    keys: Arc<KeyRing>,
    known: Mutex<Option<(Stopwatch, Arc<Login>)>>,
}

/// Where to go afterwards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OidcQuery {
    /// A path of this gateway; `/` when left out.
    #[serde(default)]
    return_to: Option<String>,
}

impl Oidc {
    pub(crate) fn new(
        provider: OidcProvider,
        base_url: &str,
        keys: Arc<KeyRing>,
    ) -> Result<Self, ClientError> {
        let redirect_uri = format!("{}{CALLBACK}", base_url.trim_end_matches('/'));
        let oidc = Self { provider, redirect_uri, keys, known: Mutex::new(None) };
        oidc.registered().map(|_| oidc)
    }

    fn registered(&self) -> Result<Registered, ClientError> {
        let authentication = match &self.provider.client_secret {
            Some(secret) => Authentication::Basic(secret.duplicate()),
            None => Authentication::Public,
        };
        Registered::new(&self.provider.client_id, authentication, &self.redirect_uri, &["email", "profile"])
    }

    /// The provider, as its document says. One at a time asks for it.
    async fn login(&self, app: &App) -> Result<Arc<Login>, ApiError> {
        let mut known = self.known.lock().await;
        if let Some((since, login)) = &*known
            && u128::from(since.millis()) < KNOWN_FOR.as_millis()
        {
            return Ok(Arc::clone(login));
        }
        let client = self.registered().map_err(unread)?;
        let http = Arc::clone(&app.machines.http);
        let found = Login::discover(http, &self.provider.issuer, client).await.map_err(|error| {
            let _ = unread(error);
            ApiError::ProviderRefused { why: "the provider does not answer".to_owned() }
        })?;
        let login = Arc::new(found);
        *known = Some((Stopwatch::start(), Arc::clone(&login)));
        Ok(login)
    }
}

fn configured(app: &App) -> Result<&Oidc, ApiError> {
    let missing =
        ApiError::NoSuch { what: "provider", hint: "set `oidc.issuer` to let people log in elsewhere" };
    app.oidc.as_ref().ok_or(missing)
}

pub(crate) async fn begin(
    State(app): State<App>,
    client: Client,
    Params(OidcQuery { return_to }): Params<OidcQuery>,
) -> Result<Response, ApiError> {
    let oidc = configured(&app)?;
    let return_to = return_to.filter(|path| is_own_path(path));
    let login = oidc.login(&app).await?;
    let (pending, url) = login.begin(return_to, now()).map_err(unread)?;
    let key = oidc.keys.seal_key().ok_or(ApiError::Unread)?;
    let sealed = pending.seal(key).map_err(unread)?;
    let cookie = Cookie::Oidc.set(sealed.expose(), PENDING_SECONDS, client.secure);
    redirect(url.as_str(), vec![cookie.1])
}

pub(crate) async fn finish(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    let oidc = configured(&app)?;
    let at = now();
    let refused = |why: String| ApiError::ProviderRefused { why };
    let sealed = Cookie::Oidc.read(&headers, client.secure).unwrap_or_default();
    let pending =
        Pending::open(oidc.keys.seal_keys(), sealed, at).map_err(|error| refused(error.to_string()))?;
    let return_to = pending.return_to().unwrap_or("/").to_owned();
    let login = oidc.login(&app).await?;
    let person = login.finish(pending, uri.query().unwrap_or_default(), at).await.map_err(|error| {
        if let LoginError::Token(reason) = &error {
            tracing::info!(reason = reason.reason(), "an ID token was refused");
        }
        refused(error.to_string())
    })?;
    let account = recognise(&app, oidc, person, at).await?;
    if account.disabled_at.is_some() {
        return Err(ApiError::LoginRefused);
    }
    let entered = enter(&app, &client, &account, None, at).await?;
    let mut cookies: Vec<HeaderValue> = entered.headers().get_all(SET_COOKIE).iter().cloned().collect();
    cookies.push(Cookie::Oidc.clear(client.secure).1);
    redirect(&return_to, cookies)
}

/// The person whom a provider has told of: known by its name for them, or by an address that both have verified, or new.
async fn recognise(app: &App, oidc: &Oidc, person: Person, at: Timestamp) -> Result<Account, ApiError> {
    let directory = &app.people.directory;
    let subject = ForeignSubject { issuer: person.issuer, subject: person.subject };
    if let Some(known) = directory.by_subject(&subject).await? {
        return Ok(known.value);
    }
    let refused = |why: &str| ApiError::ProviderRefused { why: why.to_owned() };
    let email = person.email.filter(|_| person.email_verified);
    let email = email.and_then(|email| Email::try_from(email).ok());
    let email = email.ok_or_else(|| refused("the provider tells no address that it has verified"))?;
    let domains = &oidc.provider.domains;
    if !domains.is_empty() && !domains.iter().any(|domain| domain.eq_ignore_ascii_case(email.domain())) {
        return Err(refused("addresses of this domain are not let in"));
    }
    if let Some(Versioned { value: mut account, version }) = directory.by_email(&email).await? {
        if !account.verified {
            // Whoever made the account may not be the owner of the address.
            return Err(refused(
                "there is an account of this address that nobody has verified; ask an operator",
            ));
        }
        account.subjects.push(subject.clone());
        directory.link(&account, version, &subject, &by_person(&account), at).await?;
        return Ok(account);
    }
    let invited = invitation::pending_for(app, oidc.provider.tenant, &email, at).await?;
    let role = invited.as_ref().map(|invited| invited.role).or(oidc.provider.role);
    let role = role.ok_or_else(|| refused("nobody has invited this address"))?;
    let account = Account {
        name: person.name.map(|name| name.chars().take(120).collect()),
        verified: true,
        subjects: vec![subject.clone()],
        ..Account::new(new_id(at).map_err(unread)?, email, at)
    };
    let by = by_person(&account);
    directory.add(&account, &by, at).await?;
    app.people.has_somebody();
    let beside = match invited {
        Some(invited) => vec![invited.accepted_by(account.id)?],
        None => Vec::new(),
    };
    directory.make(oidc.provider.tenant, account.id, Some(role), beside, &by, at).await?;
    let Some(Versioned { value: account, version }) = directory.by_id(account.id).await? else {
        return Err(ApiError::Unread);
    };
    directory.link(&account, version, &subject, &by, at).await?;
    Ok(account)
}

impl Directory {
    async fn by_subject(&self, subject: &ForeignSubject) -> Result<Option<Versioned<Account>>, ChangeError> {
        let claim = self.record::<Value>(HOME, RecordKind::User, &subject_id(subject)).await?;
        let user = claim.and_then(|claim| claim.value["user"].as_str()?.parse::<UserId>().ok());
        match user {
            Some(user) => self.by_id(user).await,
            None => Ok(None),
        }
    }

    /// Remembers a foreign name of somebody. A name is one person's for ever.
    async fn link(
        &self,
        account: &Account,
        version: u64,
        subject: &ForeignSubject,
        by: &By,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        let claim = claim(CLAIMS, subject_id(subject), account.id, at);
        let done = ("audit.user_linked", account.id.to_string(), json!({ "issuer": subject.issuer }));
        self.commit(HOME, vec![claim, user_change(account, version)?], Some(done), by, at).await
    }
}

fn subject_id(subject: &ForeignSubject) -> String {
    let text = format!("{}\n{}", subject.issuer, subject.subject);
    format!("{CLAIMS}-{}", Digest::from_bytes(*TokenHash::of(&text).as_bytes()))
}

/// Whether it leads nowhere but to this gateway: `//host` and `/\host` lead elsewhere.
fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && path.len() <= 500
        && !path[1..].starts_with(['/', '\\'])
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn redirect(to: &str, cookies: Vec<HeaderValue>) -> Result<Response, ApiError> {
    let to = HeaderValue::try_from(to).map_err(unread)?;
    let headers = [(LOCATION, to), (CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    let cookies: Vec<_> = cookies.into_iter().map(|cookie| (SET_COOKIE, cookie)).collect();
    Ok((StatusCode::SEE_OTHER, headers, AppendHeaders(cookies)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere_after_a_login() {
        for own in ["/", "/runs", "/runs?x=1#y", "/a//b"] {
            assert!(is_own_path(own), "{own}");
        }
        for foreign in
            ["", "//evil.example", "/\\evil.example", "https://evil.example", "runs", "/a\nb", "/a\\b"]
        {
            assert!(!is_own_path(foreign), "{foreign:?}");
        }
    }
}
