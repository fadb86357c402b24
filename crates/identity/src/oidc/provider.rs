//! A provider, as its discovery document describes it.

use crate::foreign::Algorithm;
use crate::http::{Http, LONGEST_BODY, NoAnswer, trusted_url};
use crate::jose::json;
use serde_json::{Map, Value};
use url::Url;

/// A provider whose document was read and checked.
#[derive(Debug, Clone)]
pub struct Provider {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    algorithms: Vec<Algorithm>,
    names_itself: bool,
}

/// Why a provider cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The configured issuer is not an address that may be trusted.
    #[error("issuer: {0:?} is not an https address without query (http is for this machine only)")]
    Address(String),
    /// It did not answer.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
    /// It answered something else.
    #[error("discovery was answered with status {0}; check the issuer's address")]
    Status(u16),
    /// The document is not a JSON object.
    #[error("discovery document is not a JSON object, or has a name twice")]
    Form,
    /// The document is somebody else's.
    #[error("discovery document is of {found:?}; write the issuer exactly so, if that is who is meant")]
    Issuer {
        /// Whose it says it is.
        found: String,
    },
    /// A field that is missing, or an address that may not be trusted.
    #[error("{0} in the discovery document is missing or not an https address")]
    Field(&'static str),
    /// What this login needs is not offered.
    #[error("the provider does not offer {0}")]
    NotOffered(&'static str),
}

impl Provider {
    /// Asks `issuer` for its document.
    pub async fn discover(http: &dyn Http, issuer: &str) -> Result<Self, ProviderError> {
        let address = || ProviderError::Address(issuer.to_owned());
        trusted_url(issuer).filter(|url| url.query().is_none()).ok_or_else(address)?;
        let document = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let answer = http.get(&trusted_url(&document).ok_or_else(address)?).await?;
        if answer.status != 200 {
            return Err(ProviderError::Status(answer.status));
        }
        Self::parse(&answer.body, issuer)
    }

    /// Reads the document of `issuer`. Every address in it must be one that may be trusted.
    pub fn parse(document: &[u8], issuer: &str) -> Result<Self, ProviderError> {
        let bounded = Some(document).filter(|bytes| bytes.len() <= LONGEST_BODY);
        let document = bounded.and_then(json::object).ok_or(ProviderError::Form)?;
        let found = document.get("issuer").and_then(Value::as_str).ok_or(ProviderError::Field("issuer"))?;
        if found != issuer {
            return Err(ProviderError::Issuer { found: found.to_owned() });
        }
        let address = |name: &'static str| {
            let text = document.get(name).and_then(Value::as_str);
            text.and_then(trusted_url).ok_or(ProviderError::Field(name))
        };
        if !lists(&document, "response_types_supported", "code", Absent::Refuse) {
            return Err(ProviderError::NotOffered("the response type `code`"));
        }
        if !lists(&document, "code_challenge_methods_supported", "S256", Absent::Accept) {
            return Err(ProviderError::NotOffered("PKCE with S256"));
        }
        let signs = |algorithm: &Algorithm| {
            lists(&document, "id_token_signing_alg_values_supported", algorithm.name(), Absent::Refuse)
        };
        let algorithms: Vec<Algorithm> = Algorithm::ALL.into_iter().filter(signs).collect();
        if algorithms.is_empty() {
            return Err(ProviderError::NotOffered(
                "ID tokens signed with RS256, PS256, ES256, ES384 or EdDSA",
            ));
        }
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: address("authorization_endpoint")?,
            token_endpoint: address("token_endpoint")?,
            jwks_uri: address("jwks_uri")?,
            algorithms,
            names_itself: document.get("authorization_response_iss_parameter_supported")
                == Some(&Value::Bool(true)),
        })
    }

    /// Who it is.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Where its keys are.
    pub fn jwks_uri(&self) -> &Url {
        &self.jwks_uri
    }

    pub(super) fn authorization_endpoint(&self) -> &Url {
        &self.authorization_endpoint
    }

    pub(super) fn token_endpoint(&self) -> &Url {
        &self.token_endpoint
    }

    pub(super) fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Whether its answers carry `iss` (RFC 9207): then one without it is not its answer.
    pub(super) fn names_itself(&self) -> bool {
        self.names_itself
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Accept,
    Refuse,
}

fn lists(document: &Map<String, Value>, name: &str, wanted: &str, absent: Absent) -> bool {
    match document.get(name) {
        None => absent == Absent::Accept,
        Some(listed) => listed.as_array().is_some_and(|all| all.iter().any(|one| one == wanted)),
    }
}
