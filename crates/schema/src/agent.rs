//! Who calls: the application, the agent identity and the pseudonymous end user.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TenantId, Timestamp};

/// How far an agent is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrustTier {
    /// Seen, nothing more.
    Unverified,
    /// Known to somebody.
    Verified,
    /// Has a good record.
    Trusted,
    /// May do what few may.
    Privileged,
}

/// A logical application of a tenant (`X-Punk-App`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct App {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name, unique within the tenant.
    pub name: String,
}

/// An agent identity (`X-Punk-Agent`), created when it is first seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name, unique within the tenant; `anonymous` when the caller gave none.
    pub name: String,
    /// How far it is trusted.
    pub trust_tier: TrustTier,
    /// Its behavioural score, from 0 to 1.
    pub trust_score: f64,
    /// Labels that policies select by.
    pub tags: Vec<String>,
    /// When it was first seen.
    pub first_seen_at: Timestamp,
}

/// A pseudonymous end user (`X-Punk-Subject`). Part of every cache key, so one user's answer never serves another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Subject(String);

/// The text cannot name a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectError;

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected 1 to 120 visible characters")
    }
}
impl std::error::Error for SubjectError {}

impl Subject {
    /// The pseudonym.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl TryFrom<String> for Subject {
    type Error = SubjectError;

    fn try_from(text: String) -> Result<Self, SubjectError> {
        let length = text.chars().count();
        if (1..=120).contains(&length) && !text.chars().any(char::is_control) {
            Ok(Self(text))
        } else {
            Err(SubjectError)
        }
    }
}
impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.0
    }
}
