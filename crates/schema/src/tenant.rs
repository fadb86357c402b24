//! The tenant: the boundary that no data crosses.

use serde::{Deserialize, Serialize};

use crate::{TenantId, Timestamp};

/// An organisation. Data, settings, keys, policies, caches and artifacts belong to exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Its id; the default tenant's is all zeros.
    pub id: TenantId,
    /// Its name, for people.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}
