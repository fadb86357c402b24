//! What only some wires know.

use serde_json::{Map, Value};

use crate::request::{Refused, Request};
use crate::wire::Wire;

/// Fields that OpenAI's two wires have in common and no other knows.
const OPENAI: [&str; 7] = [
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "verbosity",
];

/// Fields without which the answer would be another one: a wire that does not know them cannot be asked.
const MEANT: [&str; 13] = [
    "audio",
    "background",
    "container",
    "conversation",
    "function_call",
    "functions",
    "mcp_servers",
    "modalities",
    "previous_response_id",
    "prompt",
    "tool_choice",
    "tools",
    "web_search_options",
];

/// Puts into `body` the extra fields that `to` knows. The others are refused if they change what is asked for, and
/// otherwise named in `left_out`. Tools and the choice of one are left to the caller, which has a list to add them to.
pub(crate) fn carry(
    request: &Request,
    to: Wire,
    body: &mut Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Result<(), Refused> {
    let openai = request.wire != Wire::Messages && to != Wire::Messages;
    for (name, value) in &request.extra {
        let name = name.as_str();
        if request.wire == to || (openai && OPENAI.contains(&name)) {
            if !matches!(name, "tools" | "tool_choice") {
                body.insert(name.to_owned(), value.clone());
            }
        } else if MEANT.contains(&name) && !means_nothing(name, value) {
            return Err(unsaid(name, to));
        } else {
            left_out.push(name.to_owned());
        }
    }
    left_out.extend(request.left_out.iter().cloned());
    left_out.sort_unstable();
    left_out.dedup();
    Ok(())
}

/// Refuses a field that `to` has no word for.
pub(crate) fn unsaid(name: impl Into<String>, to: Wire) -> Refused {
    Refused::new(name, &format!("cannot be said to this model, which is reached by the {} wire", to.as_str()))
}

/// Refuses a part of a message that `to` has no word for.
pub(crate) fn unsaid_part(request: &Request, what: &str, to: Wire) -> Refused {
    let param = if request.wire == Wire::Responses { "input" } else { "messages" };
    let to = to.as_str();
    Refused::new(param, &format!("{what} cannot be said to this model, which is reached by the {to} wire"))
}

/// The kind of something foreign, to name it by.
pub(crate) fn kind_of(value: &Value) -> String {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .or_else(|| value.as_object()?.keys().next().map(String::as_str));
    kind.map_or_else(|| "something of another wire".to_owned(), |kind| format!("`{kind}`"))
}

/// Whether it says no more than the default does.
fn means_nothing(name: &str, value: &Value) -> bool {
    match name {
        "background" => value == &Value::Bool(false),
        "modalities" => value.as_array().is_some_and(|list| list.iter().all(|item| item == "text")),
        "mcp_servers" => value.as_array().is_some_and(Vec::is_empty),
        _ => false,
    }
}
