//! Another decision maker that is asked as well: a service that says allow, ask or deny. What it says is a fact like any
//! other, so a verdict can be re-derived without it.
//!
//! It fails closed: no answer, a late one, or one that nobody understands is a denial that says so.

use std::time::Duration;

use crypto::SecretString;
use egress::{Client, EgressError, Limits, Method, Reach, Request, Trust, TrustError};
use governance::{Facts, Remote};
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use schema::{Effect, RunId};
use serde::Deserialize;
use serde_json::json;

/// More than any verdict has.
const LONGEST_ANSWER: usize = 64 * 1024;
/// The longest name of a policy that is taken over.
const LONGEST_NAME: usize = 120;

/// Where the other decision maker is.
pub struct RemoteGovernor {
    /// Its address.
    pub url: String,
    /// What it knows us by.
    pub key: Option<SecretString>,
    /// How long it has to answer.
    pub patience: Duration,
}

/// The other decision maker, ready to be asked.
pub(crate) struct Bridge {
    client: Client,
    to: RemoteGovernor,
}

/// What it may answer with a success.
#[derive(Debug, Deserialize)]
struct Said {
    #[serde(alias = "decision")]
    effect: Option<Word>,
    /// The older way to say it.
    allowed: Option<bool>,
    policy: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Allow,
    Deny,
    #[serde(alias = "ask")]
    ApprovalRequired,
}

impl Bridge {
    /// Where it is was said by whoever runs the installation, so it may be in their own network.
    pub(crate) fn new(to: RemoteGovernor) -> Result<Self, TrustError> {
        Ok(Self { client: Client::new(Reach::private(), Trust::system(&[])?), to })
    }

    /// What it says of an action. A failure is a denial.
    pub(crate) async fn ask(&self, facts: &Facts, action: &str, run: RunId) -> Remote {
        match self.answer(facts, action, run).await {
            Ok(remote) => remote,
            Err(why) => {
                tracing::warn!(why, "the remote governor gave no verdict, so nothing is allowed");
                Remote { effect: Effect::Deny, policy: why.to_owned() }
            }
        }
    }

    async fn answer(&self, facts: &Facts, action: &str, run: RunId) -> Result<Remote, &'static str> {
        let request = self.request(facts, action, run).ok_or("unspeakable")?;
        let answer = self.client.send(&request).await.map_err(|error| match error {
            EgressError::Total { .. } => "late",
            _ => "unreachable",
        })?;
        let said: Option<Said> = if answer.body.is_empty() {
            Some(Said { effect: None, allowed: None, policy: None })
        } else {
            serde_json::from_slice(&answer.body).ok()
        };
        let policy = |said: &Said| {
            let name = said.policy.as_deref().filter(|name| name.chars().count() <= LONGEST_NAME);
            name.unwrap_or("unnamed").to_owned()
        };
        match (answer.status, said) {
            (StatusCode::FORBIDDEN, said) => {
                let policy = said.map_or_else(|| "unnamed".to_owned(), |said| policy(&said));
                Ok(Remote { effect: Effect::Deny, policy })
            }
            (status, Some(said)) if status.is_success() => {
                let effect = match (said.effect, said.allowed) {
                    (Some(Word::Allow), None | Some(true)) | (None, Some(true)) => Effect::Allow,
                    (Some(Word::ApprovalRequired), None) => Effect::Ask,
                    // A success that says nothing else is a yes; one that contradicts itself is not.
                    (None, None) if answer.body.is_empty() => Effect::Allow,
                    _ => Effect::Deny,
                };
                Ok(Remote { effect, policy: policy(&said) })
            }
            (status, None) if status.is_success() => Err("unreadable"),
            _ => Err("failing"),
        }
    }

    fn request(&self, facts: &Facts, action: &str, run: RunId) -> Option<Request> {
        let (_, resource) = action.split_once(':')?;
        let body = json!({
            "action": action, "resource": resource, "traceId": run, "tenant": facts.tenant, "app": facts.app,
            "agent": { "id": facts.agent, "trust": facts.trust_tier, "tags": facts.tags },
            "model": facts.model, "tool": facts.tool, "sideEffectLevel": facts.level,
            "costMicroUsd": facts.cost_micro_usd, "labels": facts.labels,
        });
        let text = |text: &str| HeaderValue::from_str(text).ok();
        let limits = Limits { connect: self.to.patience, total: self.to.patience, body: LONGEST_ANSWER };
        let mut request =
            Request::new(Method::Post, self.to.url.clone()).limits(limits).body(body.to_string());
        let named = [
            (CONTENT_TYPE, text("application/json")?),
            (HeaderName::from_static("x-meshguard-action"), text(action)?),
            (HeaderName::from_static("x-meshguard-resource"), text(resource)?),
            (HeaderName::from_static("x-meshguard-trace-id"), text(&run.to_string())?),
        ];
        for (name, value) in named {
            request = request.header(name, value).ok()?;
        }
        if let Some(key) = &self.to.key {
            let mut value = text(&format!("Bearer {}", key.expose()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value).ok()?;
        }
        Some(request)
    }
}
