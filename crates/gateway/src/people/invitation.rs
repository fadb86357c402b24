//! Invitations: somebody is asked to join an organisation, as something.
//!
//! What is handed over is a text that is shown once, works once, for one address, and not for long. It names the organisation
//! and holds a token; whatever is wrong with it, whoever shows it is told the same.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use crypto::token::{Token, TokenKind};
use http::StatusCode;
use identity::Role;
use schema::{Digest, InvitationId, TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{RecordBody, RecordChange, RecordFilter, RecordKind};

use super::account::{Account, Hashed};
use super::client::Client;
use super::directory::{ChangeError, PAGE, Versioned, body, new_id, read};
use super::email::Email;
use super::login::{by_person, compare, enter};
use super::password::NewPassword;
use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::{Asked, Caller};
use crate::page::Limit;
use crate::strict::{Body, Params};
use crate::tenant;
use crate::text::Name;

const PENDING: &str = "pending";
const ACCEPTED: &str = "accepted";
const REVOKED: &str = "revoked";
/// How long one holds, if nobody says: a week.
const HOURS: u32 = 7 * 24;
/// The longest: a month.
const MOST_HOURS: u32 = 31 * 24;

/// Somebody who is to be asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewInvitation {
    /// Whom it is for. Nobody else can accept it.
    email: Email,
    /// As what they are to join; not as more than whoever invites them.
    role: Role,
    /// How long it holds; a week when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 744))]
    hours: Option<u32>,
    /// The organisation; only whoever runs the installation may name another than their own.
    #[serde(default)]
    tenant: Option<TenantId>,
}

/// An invitation, as the store has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invitation {
    id: InvitationId,
    email: Email,
    role: Role,
    by: String,
    created_at: Timestamp,
    expires_at: Timestamp,
    accepted_by: Option<UserId>,
}

/// An invitation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownInvitation {
    id: InvitationId,
    email: Email,
    role: Role,
    /// `pending`, `accepted`, `revoked` or `expired`.
    status: &'static str,
    /// Who asked.
    by: String,
    created_at: Timestamp,
    expires_at: Timestamp,
}

/// An invitation that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeInvitation {
    invitation: ShownInvitation,
    /// What whoever is invited shows. It is kept nowhere and shown only now.
    token: String,
}

/// Invitations, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvitationPage {
    invitations: Vec<ShownInvitation>,
    /// Where the next page begins; null on the last.
    next: Option<InvitationId>,
}

/// Which invitations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvitationQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<InvitationId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// An invitation that was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevokedInvitation {
    invitation: ShownInvitation,
}

/// Somebody accepts: as somebody new, with a password, or as whoever is logged in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Acceptance {
    /// What the invitation gave them.
    token: String,
    /// What others call them.
    #[serde(default)]
    name: Option<Name>,
    /// Their password: a new one, or, for somebody who is known and not logged in, the one they have.
    #[serde(default)]
    password: Option<NewPassword>,
}

impl Invitation {
    fn shown(self, group: &str, now: Timestamp) -> ShownInvitation {
        let status = match group {
            ACCEPTED => ACCEPTED,
            REVOKED => REVOKED,
            _ if self.expires_at <= now => "expired",
            _ => PENDING,
        };
        let Self { id, email, role, by, created_at, expires_at, .. } = self;
        ShownInvitation { id, email, role, status, by, created_at, expires_at }
    }

    fn change(&self, group: &str, key: Digest, expected: u64) -> Result<RecordChange, ChangeError> {
        let due = (group == PENDING).then_some(self.expires_at);
        let to = RecordBody { key: Some(key), ..body(group, self, self.created_at, due)? };
        Ok(RecordChange { kind: RecordKind::Invitation, id: self.id.to_string(), expected, to: Some(to) })
    }
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewInvitation { email, role, hours, tenant }): Body<NewInvitation>,
) -> Result<(StatusCode, Json<MadeInvitation>), ApiError> {
    let at = now();
    let tenant = tenant::meant(&app, &caller, tenant).await?;
    caller.granter().may_turn(None, Some(role)).map_err(ApiError::from)?;
    let hours = hours.unwrap_or(HOURS);
    if !(1..=MOST_HOURS).contains(&hours) {
        let message = format!("hours: expected a whole number from 1 to {MOST_HOURS}");
        return Err(ApiError::Malformed { param: "hours".to_owned(), message });
    }
    let lasts = Duration::from_secs(u64::from(hours) * 3600);
    let expires_at =
        Timestamp::from_millis(at.as_millis() + lasts.as_secs() * 1_000).unwrap_or(Timestamp::LAST);
    let id = new_id(at).map_err(unread)?;
    let invitation =
        Invitation { id, email, role, by: caller.actor(), created_at: at, expires_at, accepted_by: None };
    let token = Token::generate(TokenKind::Invitation).map_err(unread)?;
    let key = Digest::from_bytes(*token.hash().as_bytes());
    let done = ("audit.invitation_created", id.to_string(), json!({ "role": role }));
    let change = invitation.change(PENDING, key, 0)?;
    app.people.directory.commit(tenant, vec![change], Some(done), &caller.by(), at).await?;
    let token = format!("{tenant}.{}", token.expose());
    Ok((StatusCode::CREATED, Json(MadeInvitation { invitation: invitation.shown(PENDING, at), token })))
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(InvitationQuery { before, limit }): Params<InvitationQuery>,
) -> Result<Json<InvitationPage>, ApiError> {
    let before = before.map(|id| id.to_string());
    let filter = RecordFilter::of(RecordKind::Invitation);
    let found =
        app.people.directory.records(caller.tenant, &filter, before.as_deref(), limit.and_one()).await?;
    let mut invitations = Vec::with_capacity(found.len());
    for record in &found {
        invitations.push(read::<Invitation>(record)?.value.shown(&record.group, now()));
    }
    let (invitations, next) = limit.cut(invitations, |invitation| invitation.id);
    Ok(Json(InvitationPage { invitations, next }))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RevokedInvitation>, ApiError> {
    let missing = ApiError::NoSuch { what: "invitation", hint: "`GET /api/v1/invitations` lists them" };
    let Ok(id) = id.parse::<InvitationId>() else { return Err(missing) };
    let found =
        app.of(caller.tenant).record(RecordKind::Invitation, &id.to_string()).await.map_err(unread)?;
    let record = found.ok_or(missing)?;
    let Versioned { value: invitation, version } = read::<Invitation>(&record)?;
    // Once is enough, and what was accepted is a membership by now.
    if record.group != PENDING {
        return Ok(Json(RevokedInvitation { invitation: invitation.shown(&record.group, now()) }));
    }
    let change = invitation.change(REVOKED, record.key.unwrap_or(Digest::ZERO), version)?;
    let done = ("audit.invitation_revoked", id.to_string(), json!({}));
    let committed =
        app.people.directory.commit(caller.tenant, vec![change], Some(done), &caller.by(), now()).await;
    committed.map_err(|error| ApiError::of_change(error, "invitation"))?;
    Ok(Json(RevokedInvitation { invitation: invitation.shown(REVOKED, now()) }))
}

pub(crate) async fn accept(
    State(app): State<App>,
    client: Client,
    asked: Asked,
    Body(Acceptance { token, name, password }): Body<Acceptance>,
) -> Result<Response, ApiError> {
    client.must_not_be_foreign()?;
    let at = now();
    let caller = app.identify_person(&asked, at).await?;
    let (tenant, key, Versioned { value: invitation, version }) = find(&app, &token, at).await?;
    let known = app.people.directory.by_email(&invitation.email).await?;
    let account = match (known, caller.and_then(|caller| caller.user)) {
        // The address says whom it is for; who is somebody else cannot take it along.
        (Some(known), Some(user)) if known.value.id == user => known.value,
        (_, Some(_)) => return Err(ApiError::InvitationRefused),
        (Some(known), None) => prove(&app, &client, known.value, password).await?,
        (None, None) => join(&app, &invitation, name, password, at).await?,
    };
    if account.disabled_at.is_some() {
        return Err(ApiError::InvitationRefused);
    }
    let used =
        Invitation { accepted_by: Some(account.id), ..invitation.clone() }.change(ACCEPTED, key, version)?;
    let by = by_person(&account);
    // Whoever is more than that already stays what they are.
    let was = app.people.directory.membership(tenant, account.id).await?.map(|was| was.value.role);
    let role =
        was.filter(|was| invitation.role.permissions().within(was.permissions())).unwrap_or(invitation.role);
    let made = app.people.directory.make(tenant, account.id, Some(role), vec![used], &by, at).await;
    made.map_err(|error| match error {
        // Somebody used it in that moment.
        ChangeError::Moved => ApiError::InvitationRefused,
        other => other.into(),
    })?;
    let account = app.people.directory.by_id(account.id).await?.map_or(account, |found| found.value);
    enter(&app, &client, &account, Some(tenant), at).await
}

/// The invitation that a text is of, if it still holds.
async fn find(
    app: &App,
    text: &str,
    now: Timestamp,
) -> Result<(TenantId, Digest, Versioned<Invitation>), ApiError> {
    let parts = text.trim().split_once('.').and_then(|(tenant, token)| {
        Some((tenant.parse::<TenantId>().ok()?, Token::parse(TokenKind::Invitation, token).ok()?))
    });
    let (tenant, token) = parts.ok_or(ApiError::InvitationRefused)?;
    let key = Digest::from_bytes(*token.hash().as_bytes());
    let group = Some(PENDING.to_owned());
    let filter = RecordFilter { group, key: Some(key), ..RecordFilter::of(RecordKind::Invitation) };
    let found = app.people.directory.records(tenant, &filter, None, std::num::NonZeroU32::MIN).await?;
    let invitation: Versioned<Invitation> = read(found.first().ok_or(ApiError::InvitationRefused)?)?;
    if invitation.value.expires_at <= now {
        return Err(ApiError::InvitationRefused);
    }
    Ok((tenant, key, invitation))
}

/// An invitation that waits for somebody.
pub(crate) struct Waiting {
    pub(crate) role: Role,
    invitation: Invitation,
    key: Digest,
    version: u64,
}

impl Waiting {
    /// The change that uses it up.
    pub(crate) fn accepted_by(self, user: UserId) -> Result<RecordChange, ChangeError> {
        let used = Invitation { accepted_by: Some(user), ..self.invitation };
        used.change(ACCEPTED, self.key, self.version)
    }
}

/// The invitation of somebody whom another provider has told of, if there is one.
pub(crate) async fn pending_for(
    app: &App,
    tenant: TenantId,
    email: &Email,
    now: Timestamp,
) -> Result<Option<Waiting>, ApiError> {
    let group = Some(PENDING.to_owned());
    let filter = RecordFilter { group, ..RecordFilter::of(RecordKind::Invitation) };
    let mut before: Option<String> = None;
    loop {
        let page = app.people.directory.records(tenant, &filter, before.as_deref(), PAGE).await?;
        for record in &page {
            let Versioned { value: invitation, version } = read::<Invitation>(record)?;
            if invitation.email == *email && invitation.expires_at > now {
                let key = record.key.unwrap_or(Digest::ZERO);
                return Ok(Some(Waiting { role: invitation.role, invitation, key, version }));
            }
        }
        if page.len() < PAGE.get() as usize {
            return Ok(None);
        }
        before = page.last().map(|record| record.id.clone());
    }
}

/// Somebody who is known and not logged in shows their password; without the right one they are told no more than that.
async fn prove(
    app: &App,
    client: &Client,
    account: Account,
    password: Option<NewPassword>,
) -> Result<Account, ApiError> {
    let Some(password) = password else { return Err(ApiError::LoginRefused) };
    let stored = account.password.as_ref().and_then(Hashed::read);
    compare(app, client, account.email.as_str(), password.shown(), stored).await?;
    Ok(account)
}

/// Makes the person whom an invitation is for.
async fn join(
    app: &App,
    invitation: &Invitation,
    name: Option<Name>,
    password: Option<NewPassword>,
    at: Timestamp,
) -> Result<Account, ApiError> {
    let Some(password) = password else {
        let message = "password: choose one of at least 12 characters".to_owned();
        return Err(ApiError::Malformed { param: "password".to_owned(), message });
    };
    let password = password.chosen("password", &invitation.email)?;
    let hash = app.people.hash(password).await?;
    // Not verified: whoever invited them had the token as well, and may not be the owner of that address.
    let account = Account {
        name: name.map(String::from),
        password: Some(Hashed::of(&hash)),
        ..Account::new(new_id(at).map_err(unread)?, invitation.email.clone(), at)
    };
    app.people.directory.add(&account, &by_person(&account), at).await?;
    app.people.has_somebody();
    Ok(account)
}
