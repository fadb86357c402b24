//! Webhooks over REST: who is told of what happens, where, and with which signature.

use axum::Json;
use axum::extract::{Path, State};
use crypto::Purpose;
use http::StatusCode;
use outbox::{EVENTS, Webhook, secret_of};
use schema::WebhookId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{RecordFilter, RecordKind};

use crate::app::App;
use crate::audit::{Change, change_record};
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::{Name, Note};

/// A webhook to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// What people call it.
    name: Name,
    /// Where to: an address on the public network, unless `webhooks.allow_private` says more.
    url: Note,
    /// Of what: `approval.created`, `approval.decided`, `approval.*`, or `*` for all that there is and will be.
    #[schemars(length(min = 1, max = 20))]
    events: Vec<Name>,
}

/// A webhook that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeWebhook {
    webhook: Webhook,
    /// What its messages are signed with. It is kept nowhere and shown only now.
    secret: String,
}

/// One webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownWebhook {
    webhook: Webhook,
}

/// Webhooks, newest first, those that are told nothing any more too.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WebhookPage {
    webhooks: Vec<Webhook>,
    /// Where the next page begins; null on the last.
    next: Option<WebhookId>,
}

/// Which webhooks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<WebhookId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(WebhookQuery { before, limit }): Params<WebhookQuery>,
) -> Result<Json<WebhookPage>, ApiError> {
    let (filter, before) = (RecordFilter::of(RecordKind::Webhook), before.map(|id| id.to_string()));
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let webhooks = records.iter().map(Webhook::read).collect::<Result<_, _>>().map_err(unread)?;
    Ok(Json(WebhookPage { webhooks, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Kept(new): Kept<NewWebhook>,
) -> Result<(StatusCode, Json<MadeWebhook>), ApiError> {
    let webhook = new.into_webhook(&app, &caller)?;
    let secret = secret_of(app.logs.ring(), &webhook).ok_or(ApiError::Ledger)?;
    save(&app, &caller, 0, &webhook, "audit.webhook_made").await?;
    let secret = secret.expose().clone();
    Ok((StatusCode::CREATED, Json(MadeWebhook { webhook, secret })))
}

pub(crate) async fn disable(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownWebhook>, ApiError> {
    let missing =
        ApiError::NoSuch { what: "webhook", hint: "`GET /api/v1/webhooks` lists the webhooks of the tenant" };
    let Ok(id) = id.parse::<WebhookId>() else { return Err(missing) };
    let record = app.of(caller.tenant).record(RecordKind::Webhook, &id.to_string()).await.map_err(unread)?;
    let record = record.ok_or(missing)?;
    let mut webhook = Webhook::read(&record).map_err(unread)?;
    // Once is enough: asked again, it says when that was.
    if webhook.disabled_at.is_none() {
        webhook.disabled_at = Some(now());
        save(&app, &caller, record.version, &webhook, "audit.webhook_disabled").await?;
    }
    Ok(Json(ShownWebhook { webhook }))
}

impl NewWebhook {
    fn into_webhook(self, app: &App, caller: &Caller) -> Result<Webhook, ApiError> {
        let malformed = |param: &str, why: String| ApiError::Malformed {
            param: param.to_owned(),
            message: format!("{param}: {why}"),
        };
        let url = String::from(self.url);
        app.webhook_reach.judge(&url).map_err(|refusal| malformed("url", refusal.to_string()))?;
        let events: Vec<String> = self.events.into_iter().map(String::from).collect();
        let known =
            |event: &String| event == "*" || event == "approval.*" || EVENTS.contains(&event.as_str());
        if events.is_empty() || events.len() > 20 || !events.iter().all(known) {
            let all = EVENTS.join("`, `");
            return Err(malformed("events", format!("expected some of `{all}`, `approval.*`, `*`")));
        }
        let at = now();
        Ok(Webhook {
            id: WebhookId::new(at.as_millis(), app.random_bytes()),
            name: self.name.into(),
            url,
            events,
            key_id: app.logs.ring().active(Purpose::Log).ok_or(ApiError::Ledger)?.id,
            created_by: caller.actor(),
            created_at: at,
            disabled_at: None,
        })
    }
}

async fn save(
    app: &App,
    caller: &Caller,
    expected: u64,
    webhook: &Webhook,
    action: &'static str,
) -> Result<(), ApiError> {
    let id = webhook.id.to_string();
    // The address may hold a token, so it is not on record.
    let details = json!({ "name": webhook.name, "events": webhook.events });
    let change = Change { tenant: caller.tenant, at: now(), action, target: &id, details };
    change_record(app, caller, change, webhook.change(expected), "webhook").await
}
