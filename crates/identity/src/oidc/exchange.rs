//! The code for tokens.

use super::client::Client;
use super::login::LoginError;
use super::pending::Pending;
use super::provider::Provider;
use crate::http::{Http, LONGEST_BODY};
use crate::jose::json;
use crypto::SecretString;
use serde_json::{Map, Value};

/// What the token endpoint gave.
pub(super) struct Tokens {
    pub(super) id_token: SecretString,
    pub(super) access_token: SecretString,
}

pub(super) async fn exchange(
    http: &dyn Http,
    provider: &Provider,
    client: &Client,
    pending: &Pending,
    code: &str,
) -> Result<Tokens, LoginError> {
    let form = form(client, pending, code);
    let answer = http.post_form(provider.token_endpoint(), form, client.authorization()).await?;
    let body = Some(&answer.body).filter(|body| body.len() <= LONGEST_BODY);
    let body = body.and_then(|body| json::object(body)).ok_or(LoginError::Answer("is not JSON"))?;
    if answer.status != 200 {
        return Err(LoginError::Denied { error: error_code(&body) });
    }
    let secret = |name: &str, problem| {
        let text = body.get(name).and_then(Value::as_str).ok_or(LoginError::Answer(problem));
        text.map(|text| SecretString::new(text.to_owned()))
    };
    let is_bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    if !body.get("token_type").and_then(Value::as_str).is_some_and(is_bearer) {
        return Err(LoginError::Answer("has another token type than Bearer"));
    }
    Ok(Tokens {
        id_token: secret("id_token", "has no ID token; is `openid` among the scopes?")?,
        access_token: secret("access_token", "has no access token")?,
    })
}

/// What is sent. Apart, because what writes it cannot wait for an answer on another thread.
fn form(client: &Client, pending: &Pending, code: &str) -> SecretString {
    let mut form = url::form_urlencoded::Serializer::new(String::with_capacity(1024));
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", client.redirect_uri())
        .append_pair("code_verifier", pending.verifier())
        .extend_pairs(client.form_fields());
    SecretString::new(form.finish())
}

/// The provider's error code. It is for our log and a person's eyes, so only what such a code may hold is kept.
fn error_code(body: &Map<String, Value>) -> String {
    safe_code(body.get("error").and_then(Value::as_str).unwrap_or("unknown"))
}

pub(super) fn safe_code(code: &str) -> String {
    code.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).take(64).collect()
}
