//! The models behind the gateway: who serves them, what they cost, and the list of them (`GET /v1/models`).

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use providers::mock::{self, Pace};
use providers::model::{Catalogue, Resolution};
use providers::pricing::{self, PriceList};
use providers::upstream::Upstream;
use schema::{MicroUsd, Usage};
use serde_json::{Value, json};

use crate::app::{App, Shared};
use crate::error::ApiError;
use crate::identity::Caller;

/// Who can be asked, ready to be.
pub struct Models {
    /// Which model is whose.
    pub catalogue: Catalogue,
    /// Everybody who can be called, by name.
    pub upstreams: HashMap<String, Arc<Upstream>>,
    /// What calls cost.
    pub prices: PriceList,
    /// How the built-in provider streams.
    pub pace: Pace,
}

/// How long an answer is thought to be that may be as long as it likes.
const EXPECTED_ANSWER: u64 = 4_096;

impl Models {
    /// What a call would cost that uses all that it may, if the price is known. What budgets set aside.
    pub(crate) fn expected_cost(&self, model: &str, request: &wire::Request) -> Option<MicroUsd> {
        let answer = request.sampling.max_tokens.unwrap_or(EXPECTED_ANSWER);
        let usage = Usage {
            input_tokens: providers::tokens::guess_request(request),
            output_tokens: answer.saturating_mul(u64::from(request.choices)),
            ..Usage::default()
        };
        self.cost(model, &usage)
    }

    /// What a call cost, if the price is known.
    pub(crate) fn cost(&self, model: &str, usage: &Usage) -> Option<MicroUsd> {
        self.prices.find(model).map(|price| price.cost(usage))
    }
}

impl Models {
    /// The models that are known by name, with who serves them. Others may be served too: vendors bring out new ones.
    fn known(&self) -> Vec<(String, String)> {
        let mut known = Vec::new();
        let mut add = |model: &str, owner: &str| known.push((model.to_owned(), owner.to_owned()));
        for rule in &self.catalogue.models {
            let owner = rule.upstreams.first().or(rule.alias_of.as_ref()).map_or("punk", String::as_str);
            add(&rule.name, owner);
        }
        for upstream in &self.catalogue.upstreams {
            for model in upstream.models.iter().filter(|model| !model.contains('*')) {
                add(model, &upstream.name);
            }
        }
        for (vendor, served) in [("openai", self.catalogue.openai), ("anthropic", self.catalogue.anthropic)] {
            if served && !self.catalogue.is_mock() {
                pricing::models(vendor).iter().for_each(|model| add(model, vendor));
            }
        }
        if self.catalogue.is_mock() {
            mock::MODELS.iter().for_each(|model| add(model, mock::NAME));
        }
        known
    }
}

impl Shared {
    /// Whom to ask for a model.
    pub(crate) fn resolve(&self, model: &str) -> Result<Resolution, ApiError> {
        self.models
            .catalogue
            .resolve(model)
            .map_err(|unserved| ApiError::NoSuchModel { message: unserved.to_string() })
    }
}

/// `GET /v1/models`, in the shape that the caller's client reads: Anthropic's say which version they speak.
pub(crate) async fn list(State(app): State<App>, _caller: Caller, headers: HeaderMap) -> Json<Value> {
    let names = app.models.known();
    let anthropic = headers.contains_key("anthropic-version");
    let data: Vec<Value> = names.iter().map(|(name, owner)| shown(name, owner, anthropic)).collect();
    Json(if anthropic {
        let (first, last) = (names.first().map(|(name, _)| name), names.last().map(|(name, _)| name));
        json!({ "data": data, "has_more": false, "first_id": first, "last_id": last })
    } else {
        json!({ "object": "list", "data": data })
    })
}

/// `GET /v1/models/{model}`.
pub(crate) async fn show(
    State(app): State<App>,
    _caller: Caller,
    headers: HeaderMap,
    Path(model): Path<String>,
) -> Response {
    let anthropic = headers.contains_key("anthropic-version");
    let wire = if anthropic { wire::Wire::Messages } else { wire::Wire::Chat };
    match app.resolve(&model) {
        Ok(resolution) => {
            let owner = resolution.groups.first().and_then(|group| group.first());
            let owner = owner.map_or("", |choice| choice.upstream.as_str());
            Json(shown(&model, owner, anthropic)).into_response()
        }
        Err(error) => error.respond(wire.into()),
    }
}

/// Vendors date their models; when one of ours was made is not known, and both wires want a date.
fn shown(name: &str, owner: &str, anthropic: bool) -> Value {
    if anthropic {
        json!({ "type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z" })
    } else {
        json!({ "id": name, "object": "model", "created": 0, "owned_by": owner })
    }
}
