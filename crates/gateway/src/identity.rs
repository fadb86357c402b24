//! Who asks: read from the request's headers, before anything else is looked at.

use crypto::{Secret, SecretString};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use schema::{GatewayMode, Subject, TenantId};

use crate::app::Shared;
use crate::error::ApiError;

/// Who asks, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: TenantId,
    pub(crate) app: String,
    pub(crate) agent: String,
    pub(crate) subject: Option<Subject>,
    pub(crate) gateway_mode: GatewayMode,
}

impl Shared {
    /// The caller, or why nobody is let in.
    pub(crate) fn identify(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        if let Some(wanted) = &self.api_key {
            let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
            let given =
                given.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ApiError::Unauthorised)?;
            let given: SecretString = Secret::new(given.to_owned());
            // Secrets compare in constant time.
            if given != *wanted {
                return Err(ApiError::Unauthorised);
            }
        }
        Ok(Caller {
            tenant: self.tenant,
            app: named(headers, "x-punk-app")?.unwrap_or_else(|| "default-app".to_owned()),
            agent: named(headers, "x-punk-agent")?.unwrap_or_else(|| "anonymous".to_owned()),
            subject: named(headers, "x-punk-subject")?.and_then(|text| Subject::try_from(text).ok()),
            gateway_mode: GatewayMode::Enforce,
        })
    }
}

/// A header that names somebody: by the rules of subjects, whoever it is.
fn named(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let subject = value.to_str().ok().and_then(|text| Subject::try_from(text.to_owned()).ok());
    match subject {
        Some(subject) => Ok(Some(subject.into())),
        None => Err(ApiError::Header { name, wanted: "expected 1 to 120 visible ASCII characters" }),
    }
}
