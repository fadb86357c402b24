//! A response that goes on from one that was told again.
//!
//! An answer from the cache has an id of its own, which the vendor has never heard of. Whoever goes on from it by
//! `previous_response_id` means the answer that the vendor gave, and its id is in the record.

use bytes::Bytes;
use schema::{RunId, Seq};
use serde_json::{Value, json};
use std::num::NonZeroU32;
use std::sync::Arc;
use wire::{Wire, splice};

use super::asked::Asked;
use crate::app::App;
use crate::identity::Caller;

const FIELD: &str = "previous_response_id";

/// The same request, naming the answer as the vendor knows it. What is not ours, or cannot be looked up, stays as it is.
pub(crate) async fn as_the_vendor_knows_it(app: &App, caller: &Caller, asked: Asked) -> Asked {
    let previous = asked.body.get(FIELD).and_then(Value::as_str);
    let run = previous.filter(|_| asked.wire == Wire::Responses).and_then(run_of);
    let Some(run) = run else { return asked };
    match vendors_id(app, caller, run).await {
        Some(id) => renamed(asked, &id),
        None => asked,
    }
}

/// The run that an id of ours belongs to.
fn run_of(id: &str) -> Option<RunId> {
    format!("run_{}", id.strip_prefix("resp_")?).parse().ok()
}

async fn vendors_id(app: &App, caller: &Caller, run: RunId) -> Option<String> {
    let events = app.of(caller.tenant).events(run, Seq::START, NonZeroU32::MAX).await.ok()?;
    let finished = events.iter().find(|event| event.r#type == "run.finished")?;
    let answer = finished.payload.get("answer")?.value()?;
    answer.get("id")?.as_str().map(str::to_owned)
}

fn renamed(mut asked: Asked, id: &str) -> Asked {
    let Ok(bytes) = splice::with_fields(&asked.bytes, &[(FIELD, Some(json!(id)))]) else { return asked };
    asked.bytes = Bytes::from(bytes);
    Arc::make_mut(&mut asked.body)[FIELD] = json!(id);
    Arc::make_mut(&mut asked.request).extra.insert(FIELD.to_owned(), json!(id));
    asked
}
