//! Who we are to a provider.

use crate::http::trusted_url;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crypto::SecretString;
use url::Url;
use zeroize::Zeroizing;

/// How the token endpoint knows us.
#[derive(Debug)]
pub enum Authentication {
    /// `client_secret_basic`: the secret in the `authorization` header.
    Basic(SecretString),
    /// `client_secret_post`: the secret in the form.
    Post(SecretString),
    /// `none`: a public client, which PKCE alone protects.
    Public,
}

/// A client as it was registered at the provider.
#[derive(Debug)]
pub struct Client {
    id: String,
    authentication: Authentication,
    redirect_uri: Url,
    scopes: Vec<String>,
}

/// Why a client cannot be as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// No id.
    #[error("client id: is empty; take it from the registration at the provider")]
    Id,
    /// An address that a code must not be sent to.
    #[error("redirect address: {0:?} is not an https address (http is for this machine only)")]
    RedirectUri(String),
}

impl Client {
    /// The client `id` whose browsers come back to `redirect_uri`. `openid` is always asked for, `scopes` besides.
    pub fn new(
        id: &str,
        authentication: Authentication,
        redirect_uri: &str,
        scopes: &[&str],
    ) -> Result<Self, ClientError> {
        if id.is_empty() {
            return Err(ClientError::Id);
        }
        let redirect_uri =
            trusted_url(redirect_uri).ok_or_else(|| ClientError::RedirectUri(redirect_uri.to_owned()))?;
        let besides = scopes.iter().copied().filter(|scope| *scope != "openid");
        let scopes = std::iter::once("openid").chain(besides).map(str::to_owned).collect();
        Ok(Self { id: id.to_owned(), authentication, redirect_uri, scopes })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn redirect_uri(&self) -> &str {
        self.redirect_uri.as_str()
    }

    pub(super) fn scope(&self) -> String {
        self.scopes.join(" ")
    }

    /// What the form says of us besides the code.
    pub(super) fn form_fields(&self) -> Vec<(&'static str, &str)> {
        match &self.authentication {
            Authentication::Basic(_) => Vec::new(),
            Authentication::Post(secret) => vec![("client_id", &self.id), ("client_secret", secret.expose())],
            Authentication::Public => vec![("client_id", &self.id)],
        }
    }

    /// The `authorization` header. Both halves are form-encoded first (RFC 6749, section 2.3.1).
    pub(super) fn authorization(&self) -> Option<SecretString> {
        let Authentication::Basic(secret) = &self.authentication else {
            return None;
        };
        let encoded = |text: &str| -> Zeroizing<String> {
            Zeroizing::new(url::form_urlencoded::byte_serialize(text.as_bytes()).collect())
        };
        let pair = Zeroizing::new(format!("{}:{}", *encoded(&self.id), *encoded(secret.expose())));
        Some(SecretString::new(format!("Basic {}", BASE64.encode(pair.as_bytes()))))
    }
}
