//! Organisations: an organisation is a tenant, seen by its people.

use axum::Json;
use axum::extract::State;
use identity::Role;
use schema::{Tenant, TenantId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Commit;

use super::account::Account;
use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unrecorded};
use crate::identity::Caller;
use crate::strict::Body;
use crate::tenant;
use crate::text::Name;

/// An organisation that somebody is in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Joined {
    pub(crate) id: TenantId,
    name: String,
    /// What they are there.
    pub(crate) role: Role,
}

/// What may be changed of an organisation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrganisationPatch {
    /// What people call it.
    name: Name,
}

/// The organisation in which the caller acts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownOrganisation {
    organisation: Tenant,
}

/// Every organisation that somebody is in, as their memberships say now.
pub(crate) async fn joined(app: &App, account: &Account) -> Result<Vec<Joined>, ApiError> {
    let mut all = Vec::new();
    for id in &account.organisations {
        let Some(membership) = app.people.directory.membership(*id, account.id).await? else { continue };
        let Some(tenant) = tenant::find(app, *id).await? else { continue };
        all.push(Joined { id: *id, name: tenant.name, role: membership.value.role });
    }
    Ok(all)
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<ShownOrganisation>, ApiError> {
    let organisation = tenant::find(&app, caller.tenant).await?.ok_or(ApiError::NoSuchTenant)?;
    Ok(Json(ShownOrganisation { organisation }))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Body(OrganisationPatch { name }): Body<OrganisationPatch>,
) -> Result<Json<ShownOrganisation>, ApiError> {
    let before = tenant::find(&app, caller.tenant).await?.ok_or(ApiError::NoSuchTenant)?;
    let organisation = Tenant { name: name.into(), ..before };
    let change = Change {
        tenant: caller.tenant,
        at: now(),
        action: "audit.organisation_renamed",
        target: &caller.tenant.to_string(),
        details: json!({ "name": organisation.name }),
    };
    let commit = Commit {
        appends: vec![change.record(&app, &caller)?],
        tenants: vec![organisation.clone()],
        ..Commit::default()
    };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    Ok(Json(ShownOrganisation { organisation }))
}
