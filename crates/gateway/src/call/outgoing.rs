//! What goes out to whom: the request in the words of each upstream that could be asked.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use providers::model::{MOCK, Resolution};
use providers::upstream::{Target, Upstream};
use serde_json::{Value, json};
use wire::{Refused, Request, Wire, splice};

use super::asked::Asked;

/// Who is asked.
pub(crate) enum Outgoing {
    /// The built-in provider, for this model.
    Mock(String),
    /// Upstreams: those of a group share the load, groups come one after the other.
    Upstreams(Vec<Vec<Ready>>),
}

/// A request made ready for one upstream.
pub(crate) struct Ready {
    pub(crate) target: Target,
    /// The wire it is asked by.
    pub(crate) wire: Wire,
    pub(crate) body: Bytes,
    /// What this wire has no word for.
    pub(crate) left_out: Vec<String>,
}

impl Outgoing {
    /// The request, ready for all who could be asked. One that cannot be told what is asked is left out; when nobody can
    /// be told, the reason of the first is the answer.
    pub(crate) fn prepare(
        asked: &Asked,
        resolution: &Resolution,
        upstreams: &HashMap<String, Arc<Upstream>>,
    ) -> Result<Self, Refused> {
        let mut refused = None;
        let mut groups = Vec::new();
        for group in &resolution.groups {
            let mut ready = Vec::new();
            for choice in group {
                let Some(upstream) = upstreams.get(&choice.upstream) else {
                    // The mock answers whatever it is asked, so nobody after it is ever needed.
                    if choice.upstream == MOCK && groups.is_empty() && ready.is_empty() {
                        return Ok(Self::Mock(choice.model.clone()));
                    }
                    continue;
                };
                match Ready::new(asked, upstream, &choice.model) {
                    Ok(one) => ready.push(one),
                    Err(why) => refused = refused.or(Some(why)),
                }
            }
            if !ready.is_empty() {
                groups.push(ready);
            }
        }
        match refused {
            Some(why) if groups.is_empty() => Err(why),
            _ => Ok(Self::Upstreams(groups)),
        }
    }
}

impl Ready {
    fn new(asked: &Asked, upstream: &Arc<Upstream>, model: &str) -> Result<Self, Refused> {
        let target = Target::new(upstream, model);
        let spoken = upstream.speaks();
        let same = spoken.contains(&asked.wire);
        if same && asked.request.goes_as_it_came(asked.wire) {
            let body = own_bytes(asked, model);
            return Ok(Self { target, wire: asked.wire, body, left_out: Vec::new() });
        }
        // The first is what the upstream speaks best.
        let wire = if same { asked.wire } else { spoken.first().copied().unwrap_or(Wire::Chat) };
        let request = Request { model: model.to_owned(), ..Request::clone(&asked.request) };
        let translated = wire.write_request(&request)?;
        let body = Bytes::from(translated.body.to_string());
        Ok(Self { target, wire, body, left_out: translated.left_out })
    }
}

/// The caller's own bytes, but for the model's name and for the usage of a stream, which we want whether or not the caller
/// does: a stream without it would read as free.
fn own_bytes(asked: &Asked, model: &str) -> Bytes {
    let mut edits = Vec::new();
    if asked.request.model != model {
        edits.push(("model", Some(json!(model))));
    }
    if asked.wire == Wire::Chat && asked.request.stream && !asked.request.include_usage {
        let mut options = asked.body.get("stream_options").cloned().unwrap_or(Value::Null);
        if !options.is_object() {
            options = json!({});
        }
        options["include_usage"] = json!(true);
        edits.push(("stream_options", Some(options)));
    }
    if edits.is_empty() {
        return asked.bytes.clone();
    }
    // The body was read as an object before, so it can be changed as one.
    splice::with_fields(&asked.bytes, &edits).map_or_else(|_| asked.bytes.clone(), Bytes::from)
}

/// Where a wire is spoken at an upstream.
pub(crate) fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "/chat/completions",
        Wire::Messages => "/messages",
        Wire::Responses => "/responses",
    }
}
