//! Members: who belongs to an organisation, and as what.

use axum::Json;
use axum::extract::{Path, State};
use identity::Role;
use schema::{TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::directory::Membership;
use super::email::Email;
use super::login::EndedSessions;
use super::session::Session;
use crate::app::App;
use crate::clock::now;
use crate::error::ApiError;
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Body, Params};

/// Which members.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<UserId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// What may be changed of a member.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberPatch {
    role: Role,
}

/// Somebody who belongs to the organisation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownMember {
    user: UserId,
    /// Null for somebody who is no longer there at all.
    email: Option<Email>,
    name: Option<String>,
    role: Role,
    since: Timestamp,
}

/// Members, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MemberPage {
    members: Vec<ShownMember>,
    /// Where the next page begins; null on the last.
    next: Option<UserId>,
}

/// A member.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MemberDetail {
    member: ShownMember,
}

const MISSING: ApiError = ApiError::NoSuch { what: "member", hint: "`GET /api/v1/members` lists them" };

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(MemberQuery { before, limit }): Params<MemberQuery>,
) -> Result<Json<MemberPage>, ApiError> {
    let members = app.people.directory.members(caller.tenant, before, limit.and_one()).await?;
    let (members, next) = limit.cut(members, |member| member.user);
    let mut shown = Vec::with_capacity(members.len());
    for member in members {
        shown.push(show(&app, member).await?);
    }
    Ok(Json(MemberPage { members: shown, next }))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(MemberPatch { role }): Body<MemberPatch>,
) -> Result<Json<MemberDetail>, ApiError> {
    let member = turn(&app, &caller, &id, Some(role)).await?;
    Ok(Json(MemberDetail { member: show(&app, Membership { role, ..member }).await? }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<MemberDetail>, ApiError> {
    let member = turn(&app, &caller, &id, None).await?;
    Ok(Json(MemberDetail { member: show(&app, member).await? }))
}

pub(crate) async fn end_sessions(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<EndedSessions>, ApiError> {
    let member = find(&app, caller.tenant, &id).await?;
    caller.granter().may_turn(Some(member.role), Some(member.role)).map_err(ApiError::from)?;
    // In this organisation alone: what they do elsewhere is not this one's to end.
    let here = |session: &Session| session.organisation == caller.tenant;
    let by = caller.by();
    let ended = app.people.directory.end_sessions(member.user, here, "ended by an admin", &by, now()).await?;
    Ok(Json(EndedSessions { ended }))
}

/// Makes a member something else, or nothing. Returns what they were.
async fn turn(app: &App, caller: &Caller, id: &str, role: Option<Role>) -> Result<Membership, ApiError> {
    let member = find(app, caller.tenant, id).await?;
    caller.granter().may_turn(Some(member.role), role).map_err(ApiError::from)?;
    let made =
        app.people.directory.make(caller.tenant, member.user, role, Vec::new(), &caller.by(), now()).await;
    made.map_err(|error| ApiError::of_change(error, "member"))?;
    Ok(member)
}

async fn find(app: &App, tenant: TenantId, id: &str) -> Result<Membership, ApiError> {
    let Ok(id) = id.parse::<UserId>() else { return Err(MISSING) };
    let found = app.people.directory.membership(tenant, id).await?;
    found.map(|found| found.value).ok_or(MISSING)
}

async fn show(app: &App, member: Membership) -> Result<ShownMember, ApiError> {
    let account = app.people.directory.by_id(member.user).await?.map(|found| found.value);
    let (email, name) = account.map_or((None, None), |account| (Some(account.email), account.name));
    Ok(ShownMember { user: member.user, email, name, role: member.role, since: member.since })
}
