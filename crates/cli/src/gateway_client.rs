//! A gateway's own interface, for the commands that govern: with the key of whoever types them, so that who may not do
//! something there may not do it here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use config::{APPROVER_KEY_VARIABLE, Settings};
use crypto::{Secret, SecretString};
use egress::{Client, Limits, Method, Reach, Request, Trust};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::args::GatewayArgs;
use crate::exit::Exit;
use crate::failure::Failure;

/// More than anything that is asked for has.
const LONGEST_ANSWER: usize = 64 << 20;

/// A gateway to talk to.
pub(crate) struct Gateway {
    client: Client,
    url: String,
    key: Option<SecretString>,
}

impl Gateway {
    pub(crate) fn new(settings: &Settings, args: &GatewayArgs) -> Result<Self, Failure> {
        let trust = Trust::system(&[])
            .map_err(|error| Failure::of(Exit::Environment, "punk_no_certificates", &error))?;
        let url = args.url.clone().unwrap_or_else(|| address(settings));
        Ok(Self {
            client: Client::new(Reach::private(), trust),
            url: url.trim_end_matches('/').to_owned(),
            key: key(settings, args)?,
        })
    }

    /// All pages of a list as one: its `member`, read on by the parameter `cursor`.
    pub(crate) async fn all(&self, path: &str, member: &str, cursor: &str) -> Result<Value, Failure> {
        let start = format!("{path}{}limit=200", if path.contains('?') { '&' } else { '?' });
        let mut whole = self.ask(Method::Get, &start, None).await?;
        while let Some(next) = whole["next"].as_str() {
            let further = format!("{start}&{cursor}={}", segment(next));
            let mut page = self.ask(Method::Get, &further, None).await?;
            if let (Some(items), Some(more)) = (whole[member].as_array_mut(), page[member].as_array_mut()) {
                items.append(more);
            }
            whole["next"] = page["next"].take();
        }
        Ok(whole)
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let away = |why: &dyn std::error::Error| {
            Failure::of(Exit::Environment, "punk_gateway_away", why)
                .hint("start it with `punk serve`, or say where it is with --url")
        };
        // An artifact with its proof is longer than what others send; it is one's own gateway that is asked.
        let limits = Limits { body: LONGEST_ANSWER, ..Limits::default() };
        let mut request = Request::new(method, format!("{}{path}", self.url)).limits(limits);
        if let Some(body) = body {
            request = request.body(body.to_string());
            let json = HeaderValue::from_static("application/json");
            request = request.header(CONTENT_TYPE, json).map_err(|error| away(&error))?;
        }
        if let Some(key) = &self.key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let mut value = value.map_err(|_| {
                Failure::new(Exit::Usage, "punk_key_unfit", "the key has characters that no key has")
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value).map_err(|error| away(&error))?;
        }
        let answer = self.client.send(&request).await.map_err(|error| away(&error))?;
        let said: Value = serde_json::from_slice(&answer.body).map_err(|_| {
            Failure::new(Exit::Environment, "punk_gateway_away", "what answered there is no gateway")
                .hint("say where it is with --url")
        })?;
        if answer.status.is_success() {
            return Ok(said);
        }
        let error = &said["error"];
        let failure = Failure::new(Exit::No, "punk_gateway_refused", text(&error["message"]));
        Err(if error["hint"].is_null() { failure } else { failure.hint(text(&error["hint"])) })
    }
}

/// Where a gateway of this configuration listens, as seen from the same machine.
fn address(settings: &Settings) -> String {
    let host = match settings.host() {
        IpAddr::V4(host) if host.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(host) if host.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        host => host,
    };
    format!("http://{}", std::net::SocketAddr::new(host, settings.port()))
}

/// The key of whoever types: their own, or that of whoever runs the installation.
fn key(settings: &Settings, args: &GatewayArgs) -> Result<Option<SecretString>, Failure> {
    if let Some(path) = &args.key_file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            Failure::new(Exit::Usage, "punk_key_unread", message)
        })?;
        return Ok(Some(Secret::new(text.trim().to_owned())));
    }
    let own = std::env::var(APPROVER_KEY_VARIABLE).ok().filter(|key| !key.is_empty()).map(Secret::new);
    Ok(own.or_else(|| settings.api_key().map(Secret::duplicate)))
}

/// A name as it stands in a path or a query.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

/// A value as people read it. Agents choose some of what is shown here, so nothing in it moves a terminal's cursor.
pub(crate) fn text(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.replace(char::is_control, "\u{fffd}")
}

/// A policy, or a rule of it by its place.
pub(crate) fn rule(named: &Value) -> String {
    let policy = text(&named["policy"]);
    named["rule"].as_u64().map_or_else(|| policy.clone(), |rule| format!("{policy}#{rule}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_stays_one_segment_and_says_nothing_to_a_terminal() {
        assert_eq!(segment("a/b c?ü"), "a%2Fb%20c%3F%C3%BC");
        assert_eq!(text(&json!("ada\u{1b}[2J\nbob")), "ada\u{fffd}[2J\u{fffd}bob");
        assert_eq!((text(&Value::Null), text(&json!(7))), ("-".to_owned(), "7".to_owned()));
    }

    #[test]
    fn a_rule_is_named_by_its_place() {
        assert_eq!(rule(&json!({ "policy": "desk", "rule": 0 })), "desk#0");
        assert_eq!(rule(&json!({ "policy": "desk", "rule": null })), "desk");
    }
}
