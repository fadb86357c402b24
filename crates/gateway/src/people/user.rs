//! The people of the installation, for whoever runs it.

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use identity::Role;
use schema::{TenantId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::account::{Account, Hashed, ShownUser};
use super::directory::{Versioned, new_id};
use super::email::Email;
use super::password::NewPassword;
use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Body, Params};
use crate::tenant;
use crate::text::Name;

/// Somebody who is to log in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    email: Email,
    /// What others call them.
    #[serde(default)]
    name: Option<Name>,
    /// Their first password.
    password: NewPassword,
    /// What they are in the organisation.
    role: Role,
    /// The organisation; the caller's own when left out.
    #[serde(default)]
    tenant: Option<TenantId>,
}

/// What may be changed of somebody.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserPatch {
    /// What others call them.
    #[serde(default)]
    name: Option<Name>,
    /// Whether they are let in. Who is not is logged out at once, everywhere.
    #[serde(default)]
    disabled: Option<bool>,
    /// Whether the address is known to be theirs.
    #[serde(default)]
    verified: Option<bool>,
    /// Another password, which logs them out everywhere.
    #[serde(default)]
    password: Option<NewPassword>,
}

/// Which people.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<UserId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// People, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UserPage {
    users: Vec<ShownUser>,
    /// Where the next page begins; null on the last.
    next: Option<UserId>,
}

/// A person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UserDetail {
    user: ShownUser,
}

pub(crate) async fn list(
    State(app): State<App>,
    Params(UserQuery { before, limit }): Params<UserQuery>,
) -> Result<Json<UserPage>, ApiError> {
    let people = app.people.directory.people(before, limit.and_one()).await?;
    let (people, next) = limit.cut(people, |person| person.id);
    Ok(Json(UserPage { users: people.iter().map(ShownUser::from).collect(), next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(new): Body<NewUser>,
) -> Result<(StatusCode, Json<UserDetail>), ApiError> {
    let at = now();
    let tenant = tenant::meant(&app, &caller, new.tenant).await?;
    caller.granter().may_turn(None, Some(new.role)).map_err(ApiError::from)?;
    let rules = new.role == Role::Owner && tenant == TenantId::NIL;
    if !rules && app.is_open().await? {
        // From then on nobody is the operator any more just by being there.
        let message = "role: the first person has to be an owner of the default organisation".to_owned();
        return Err(ApiError::Malformed { param: "role".to_owned(), message });
    }
    let password = new.password.chosen("password", &new.email)?;
    let hash = app.people.hash(password).await?;
    let account = Account {
        name: new.name.map(String::from),
        password: Some(Hashed::of(&hash)),
        // Whoever runs the installation says so.
        verified: true,
        ..Account::new(new_id(at).map_err(unread)?, new.email, at)
    };
    app.people.directory.add(&account, &caller.by(), at).await?;
    app.people.has_somebody();
    app.people.directory.make(tenant, account.id, Some(new.role), Vec::new(), &caller.by(), at).await?;
    Ok((StatusCode::CREATED, Json(UserDetail { user: ShownUser::from(&account) })))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(UserPatch { name, disabled, verified, password }): Body<UserPatch>,
) -> Result<Json<UserDetail>, ApiError> {
    let at = now();
    let missing = ApiError::NoSuch { what: "user", hint: "`GET /api/v1/users` lists them" };
    let Ok(id) = id.parse::<UserId>() else { return Err(missing) };
    let found = app.people.directory.by_id(id).await?;
    let Versioned { value: mut account, version } = found.ok_or(missing)?;
    if let Some(name) = name {
        account.name = Some(name.into());
    }
    if let Some(disabled) = disabled {
        account.disabled_at = disabled.then(|| account.disabled_at.unwrap_or(at));
    }
    account.verified = verified.unwrap_or(account.verified);
    let resets = password.is_some();
    if let Some(password) = password {
        let password = password.chosen("password", &account.email)?;
        account.password = Some(Hashed::of(&app.people.hash(password).await?));
    }
    let by = caller.by();
    let details = json!({ "disabled": account.disabled_at.is_some(), "passwordReset": resets });
    let done = ("audit.user_changed", id.to_string(), details);
    app.people.directory.change(&account, version, Some(done), &by, at).await?;
    if resets || account.disabled_at.is_some() {
        app.people.directory.end_sessions(id, |_| true, "changed by an operator", &by, at).await?;
    }
    Ok(Json(UserDetail { user: ShownUser::from(&account) }))
}
