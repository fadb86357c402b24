//! Tenants over REST: for whoever runs the installation.

use std::num::NonZeroU32;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use identity::{Permission, Role};
use schema::{Tenant, TenantId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Commit;

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::Name;

/// A tenant to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTenant {
    /// What people call it.
    name: Name,
}

/// A tenant that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeTenant {
    tenant: Tenant,
}

/// Tenants, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TenantPage {
    tenants: Vec<Tenant>,
    /// Where the next page begins; null on the last.
    next: Option<TenantId>,
}

/// Which tenants.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantQuery {
    /// The `next` of the page before.
    #[serde(default)]
    after: Option<TenantId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Kept(NewTenant { name }): Kept<NewTenant>,
) -> Result<(StatusCode, Json<MadeTenant>), ApiError> {
    let at = now();
    let id = TenantId::new(at.as_millis(), app.random_bytes());
    let tenant = Tenant { id, name: name.into(), created_at: at };
    // On record where the installation is at home, and in the same commit.
    let details = json!({ "name": tenant.name });
    let change = Change {
        tenant: caller.tenant,
        at,
        action: "audit.tenant_created",
        target: &id.to_string(),
        details,
    };
    let commit = Commit {
        appends: vec![change.record(&app, &caller)?],
        tenants: vec![tenant.clone()],
        ..Commit::default()
    };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    if let Some(user) = caller.user {
        // Whoever makes one owns it; a key makes one for others to be invited to.
        app.people.directory.make(id, user, Some(Role::Owner), Vec::new(), &caller.by(), at).await?;
    }
    Ok((StatusCode::CREATED, Json(MadeTenant { tenant })))
}

pub(crate) async fn list(
    State(app): State<App>,
    Params(TenantQuery { after, limit }): Params<TenantQuery>,
) -> Result<Json<TenantPage>, ApiError> {
    let tenants = app.store.tenant_rows(after, limit.and_one()).await.map_err(unread)?;
    let (tenants, next) = limit.cut(tenants, |tenant| tenant.id);
    Ok(Json(TenantPage { tenants, next }))
}

/// The tenant that a request is about: the caller's own, or one that whoever runs the installation names. To others,
/// there is no other.
pub(crate) async fn meant(app: &App, caller: &Caller, named: Option<TenantId>) -> Result<TenantId, ApiError> {
    match named {
        None => Ok(caller.tenant),
        Some(named) if named == caller.tenant => Ok(named),
        Some(named) if caller.may(Permission::InstallationManage) && find(app, named).await?.is_some() => {
            Ok(named)
        }
        Some(_) => Err(ApiError::NoSuchTenant),
    }
}

/// The tenant as its record says, if there is one.
pub(crate) async fn find(app: &App, wanted: TenantId) -> Result<Option<Tenant>, ApiError> {
    // Lists begin past an id: past the one before it, the first is it.
    let before = u128::from_be_bytes(*wanted.as_bytes()).checked_sub(1);
    let after = before.map(|before| TenantId::from_bytes(before.to_be_bytes()));
    let rows = app.store.tenant_rows(after, NonZeroU32::MIN).await.map_err(unread)?;
    Ok(rows.into_iter().next().filter(|tenant| tenant.id == wanted))
}
