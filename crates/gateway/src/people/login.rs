//! The way in and out: `auth/*`, for people.
//!
//! Whoever does not exist, has no password, is not let in any more or shows a wrong password is told the same after the same
//! work. Attempts are slowed down, never locked, so that nobody can lock somebody else out.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use crypto::SecretString;
use http::HeaderMap;
use http::header::CACHE_CONTROL;
use identity::password::{PasswordHash, Verified};
use identity::throttle::Origin;
use schema::{SessionId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::account::{Account, Hashed, ShownUser};
use super::client::Client;
use super::cookie::Cookie;
use super::directory::{By, ChangeError, Versioned};
use super::email::Email;
use super::organisation::{Joined, joined};
use super::password::NewPassword;
use super::person::Person;
use super::session::{NewSession, Session, ShownSession};
use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::strict::Body;

/// How long a browser is known: a year.
const DEVICE_SECONDS: u64 = 365 * 24 * 3600;

/// Who wants in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLogin {
    /// The address, in whatever spelling: one that is none is nobody's.
    #[schemars(length(max = 254))]
    email: String,
    password: NewPassword,
}

/// Who is logged in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggedIn {
    user: ShownUser,
    session: SessionId,
    /// The organisation in which they act; null if they are in none.
    organisation: Option<Joined>,
    /// Every organisation they are in.
    organisations: Vec<Joined>,
    /// To be sent in `x-punk-csrf` with whatever changes something.
    csrf_token: String,
    /// When the session ends at the latest.
    expires_at: Timestamp,
}

/// Another password.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PasswordChange {
    /// The one that holds now.
    current_password: NewPassword,
    /// The one that is to hold.
    new_password: NewPassword,
}

/// Where to act.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrganisationChoice {
    /// One of the person's own.
    organisation: TenantId,
}

/// The sessions of a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionList {
    sessions: Vec<ShownSession>,
}

/// What was ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EndedSessions {
    /// How many.
    pub(crate) ended: usize,
}

pub(crate) async fn create(
    State(app): State<App>,
    client: Client,
    Body(NewLogin { email, password }): Body<NewLogin>,
) -> Result<Response, ApiError> {
    // A page of somebody else's could log its visitor in as its author.
    client.must_not_be_foreign()?;
    let at = now();
    // So much of it, that two that are no addresses are told apart.
    let typed = email.trim().chars().take(300).collect::<String>().to_lowercase();
    let known = match Email::try_from(email) {
        Ok(email) => app.people.directory.by_email(&email).await?,
        Err(_) => None,
    };
    // Who is not let in any more is compared as others are, and refused whatever comes of it.
    let is_let_in = known.as_ref().is_some_and(|known| known.value.disabled_at.is_none());
    let stored = known.as_ref().and_then(|known| known.value.password.as_ref()?.read());
    let password = password.shown();
    let again = password.duplicate();
    let stale = compare(&app, &client, &typed, password, stored).await?;
    let Some(Versioned { value: mut account, version }) = known.filter(|_| is_let_in) else {
        return Err(ApiError::LoginRefused);
    };
    let by = by_person(&account);
    if stale {
        account.password = Some(Hashed::of(&app.people.hash(again).await?));
        match app.people.directory.change(&account, version, None, &by, at).await {
            // The next login finds it again.
            Ok(()) | Err(ChangeError::Moved) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut response = enter(&app, &client, &account, None, at).await?;
    if let Ok(cookie) = app.people.devices.introduce(&typed) {
        let (name, value) = Cookie::Device.set(cookie.expose(), DEVICE_SECONDS, client.secure);
        response.headers_mut().append(name, value);
    }
    Ok(response)
}

/// Compares a password, unless too many were compared of late. Says whether it should be hashed anew.
pub(crate) async fn compare(
    app: &App,
    client: &Client,
    account: &str,
    password: SecretString,
    stored: Option<PasswordHash>,
) -> Result<bool, ApiError> {
    let at = now();
    let device = client.device.as_deref().and_then(|cookie| app.people.devices.recognise(account, cookie));
    let origin = Origin { address: client.address, device: device.as_ref() };
    // Before it is looked at, so that a hundred at once are a hundred.
    let attempt = app.people.throttle().attempt(account, origin, at);
    attempt.map_err(|early| ApiError::LoginTooEarly { wait: early.wait })?;
    match app.people.verify(password, stored).await? {
        Verified::Wrong => Err(ApiError::LoginRefused),
        Verified::Right { stale } => {
            app.people.throttle().succeeded(account, origin, at);
            Ok(stale)
        }
    }
}

/// Opens a session for somebody who has proven to be who they say, and answers with its cookie.
pub(crate) async fn enter(
    app: &App,
    client: &Client,
    account: &Account,
    wanted: Option<TenantId>,
    at: Timestamp,
) -> Result<Response, ApiError> {
    let organisations = joined(app, account).await?;
    let organisation = wanted
        .filter(|wanted| organisations.iter().any(|each| each.id == *wanted))
        .or_else(|| organisations.first().map(|first| first.id))
        .unwrap_or(TenantId::NIL);
    let new = NewSession {
        user: account.id,
        organisation,
        address: client.address.to_string(),
        client: client.agent.clone(),
    };
    let rules = &app.people.rules;
    let by = by_person(account);
    let (token, session) = app.people.directory.open_session(new, rules, &by, at).await?;
    let cookie = Cookie::Session.set(token.expose(), rules.lifetime.as_secs(), client.secure);
    let told = LoggedIn::of(app, account, &session, organisations);
    Ok((AppendHeaders([cookie]), [(CACHE_CONTROL, "no-store")], Json(told)).into_response())
}

impl LoggedIn {
    fn of(app: &App, account: &Account, session: &Session, organisations: Vec<Joined>) -> Self {
        Self {
            user: ShownUser::from(account),
            session: session.id,
            organisation: organisations.iter().find(|each| each.id == session.organisation).cloned(),
            organisations,
            csrf_token: session.csrf.clone(),
            expires_at: session.ends_at(&app.people.rules),
        }
    }
}

/// Somebody, for the record, before there is a caller.
pub(crate) fn by_person(account: &Account) -> By {
    By { actor: account.id.to_string(), ..By::installation("login") }
}

pub(crate) async fn end(
    State(app): State<App>,
    client: Client,
    person: Person,
) -> Result<Response, ApiError> {
    let session = person.session.id;
    let this = |each: &Session| each.id == session;
    let ended =
        app.people.directory.end_sessions(person.id(), this, "logged out", &person.by(), now()).await?;
    Ok((AppendHeaders([Cookie::Session.clear(client.secure)]), Json(EndedSessions { ended })).into_response())
}

pub(crate) async fn show(State(app): State<App>, person: Person) -> Result<Response, ApiError> {
    let organisations = joined(&app, &person.account).await?;
    let told = LoggedIn::of(&app, &person.account, &person.session, organisations);
    Ok(([(CACHE_CONTROL, "no-store")], Json(told)).into_response())
}

pub(crate) async fn change_password(
    State(app): State<App>,
    client: Client,
    person: Person,
    Body(PasswordChange { current_password, new_password }): Body<PasswordChange>,
) -> Result<Response, ApiError> {
    let at = now();
    let by = person.by();
    let Person { mut account, version, session, .. } = person;
    let new = new_password.chosen("newPassword", &account.email)?;
    // Whoever found an open browser guesses here as they would at the door.
    let stored = account.password.as_ref().and_then(Hashed::read);
    compare(&app, &client, account.email.as_str(), current_password.shown(), stored).await?;
    account.password = Some(Hashed::of(&app.people.hash(new).await?));
    let done = ("audit.password_changed", account.id.to_string(), json!({}));
    app.people.directory.change(&account, version, Some(done), &by, at).await?;
    app.people.directory.end_sessions(account.id, |_| true, "password changed", &by, at).await?;
    enter(&app, &client, &account, Some(session.organisation), at).await
}

pub(crate) async fn choose_organisation(
    State(app): State<App>,
    person: Person,
    Body(OrganisationChoice { organisation }): Body<OrganisationChoice>,
) -> Result<Response, ApiError> {
    let organisations = joined(&app, &person.account).await?;
    if !organisations.iter().any(|each| each.id == organisation) {
        return Err(ApiError::NoSuchTenant);
    }
    let rules = &app.people.rules;
    app.people.directory.move_session(&person.session, organisation, rules, now()).await?;
    let session = Session { organisation, ..person.session };
    Ok(Json(LoggedIn::of(&app, &person.account, &session, organisations)).into_response())
}

pub(crate) async fn sessions(State(app): State<App>, person: Person) -> Result<Json<SessionList>, ApiError> {
    let mut sessions = app.people.directory.sessions(person.id(), &app.people.rules, now()).await?;
    for session in &mut sessions {
        session.current = session.id == person.session.id;
    }
    Ok(Json(SessionList { sessions }))
}

pub(crate) async fn end_others(
    State(app): State<App>,
    person: Person,
) -> Result<Json<EndedSessions>, ApiError> {
    let own = person.session.id;
    let others = |each: &Session| each.id != own;
    let by = person.by();
    let ended =
        app.people.directory.end_sessions(person.id(), others, "ended by its person", &by, now()).await?;
    Ok(Json(EndedSessions { ended }))
}

pub(crate) async fn end_one(
    State(app): State<App>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Json<EndedSessions>, ApiError> {
    let missing = ApiError::NoSuch { what: "session", hint: "`GET /api/v1/auth/sessions` lists your own" };
    let Ok(id) = id.parse::<SessionId>() else { return Err(missing) };
    let this = |each: &Session| each.id == id;
    let by = person.by();
    match app.people.directory.end_sessions(person.id(), this, "ended by its person", &by, now()).await? {
        0 => Err(missing),
        ended => Ok(Json(EndedSessions { ended })),
    }
}

/// The cookie that a request leaves with, if its token was too old to be shown again.
pub(crate) async fn renewed(
    app: &App,
    caller: &Caller,
    client: &Client,
) -> Option<(http::HeaderName, http::HeaderValue)> {
    let found = caller.session.as_deref()?;
    if found.standing != super::Standing::Old {
        return None;
    }
    let rules = &app.people.rules;
    match app.people.directory.rotate_session(found, rules, now()).await {
        Ok(token) => {
            let left = found.session.ends_at(rules).as_millis().saturating_sub(now().as_millis()) / 1_000;
            token.map(|token| Cookie::Session.set(token.expose(), left, client.secure))
        }
        Err(error) => {
            // The old one is as good as it was; the next request tries again.
            let _ = unread(error);
            None
        }
    }
}

/// Whether a header map sets a cookie already.
pub(crate) fn sets_cookie(headers: &HeaderMap) -> bool {
    headers.contains_key(http::header::SET_COOKIE)
}
