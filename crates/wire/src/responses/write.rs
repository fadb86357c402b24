//! Requests, for a vendor.

use serde_json::{Map, Value, json};

use super::item;
use super::read::{KEPT, LOGPROBS};
use crate::chat;
use crate::effort;
use crate::extra;
use crate::part::Part;
use crate::request::{Effort, Format, Message, Refused, Request, Role, Tool, ToolChoice, Translated};
use crate::wire::Wire;

pub(crate) fn write_request(request: &Request) -> Result<Translated, Refused> {
    let mut left_out = Vec::new();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    let messages = match instructions(request) {
        Some((text, rest)) => {
            body.insert("instructions".to_owned(), json!(text));
            rest
        }
        None => &request.messages,
    };
    if !messages.is_empty() {
        let items = item::write(request, messages, &mut left_out)?;
        body.insert("input".to_owned(), Value::Array(items));
    }
    write_controls(request, &mut body, &mut left_out);
    refuse_unsaid(request, &mut left_out)?;
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    extra::carry(request, Wire::Responses, &mut body, &mut left_out)?;
    finish(request, &mut body);
    Ok(Translated { body: Value::Object(body), left_out })
}

/// What an answer repeats of its request.
pub(crate) fn echo(request: &Request) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some((text, _)) = instructions(request) {
        body.insert("instructions".to_owned(), json!(text));
    }
    write_controls(request, &mut body, &mut Vec::new());
    if request.wire == Wire::Responses {
        body.extend(request.extra.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(tools) = request.extra.get("tools").and_then(Value::as_array) {
            let functions = request.tools.iter().map(|tool| write_tool(request, tool, &mut Vec::new()));
            body.insert("tools".to_owned(), functions.chain(tools.iter().cloned()).collect());
        }
    }
    finish(request, &mut body);
    let repeated = [
        "background",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ];
    body.retain(|name, _| repeated.contains(&name.as_str()));
    body
}

/// The first message, if it is instructions of one plain text. Instructions alone are no request, unless the vendor
/// knows what they are for.
fn instructions(request: &Request) -> Option<(&str, &[Message])> {
    let (first, rest) = request.messages.split_first()?;
    if rest.is_empty() && !KEPT.iter().any(|name| request.extra.contains_key(*name)) {
        return None;
    }
    match (first.role, first.parts.as_slice()) {
        (Role::System, [Part::Text { text, cache_control: None }]) => Some((text, rest)),
        _ => None,
    }
}

fn write_controls(request: &Request, body: &mut Map<String, Value>, left_out: &mut Vec<String>) {
    let mut tools: Vec<Value> =
        request.tools.iter().map(|tool| write_tool(request, tool, left_out)).collect();
    let mut choice = request.tool_choice.as_ref().map(write_choice);
    if request.wire == Wire::Responses {
        tools.extend(request.extra.get("tools").and_then(Value::as_array).into_iter().flatten().cloned());
        choice = choice.or_else(|| request.extra.get("tool_choice").cloned());
    }
    let any = !tools.is_empty();
    let sampling = &request.sampling;
    let mut set = |name: &str, value: Option<Value>| body.extend(value.map(|value| (name.to_owned(), value)));
    set("tools", any.then_some(Value::Array(tools)));
    set("tool_choice", choice.filter(|_| any));
    set("parallel_tool_calls", request.parallel_tool_calls.map(Value::from));
    set("temperature", sampling.temperature.map(Value::from));
    set("top_p", sampling.top_p.map(Value::from));
    set("max_output_tokens", sampling.max_tokens.map(Value::from));
    set("top_logprobs", sampling.top_logprobs.map(Value::from));
    set("user", request.user.as_deref().map(Value::from));
    set("reasoning", write_reasoning(request, left_out));
    set("text", write_format(&request.format).map(|format| json!({ "format": format })));
}

/// What stands elsewhere on this wire, or must be said although it was not.
fn finish(request: &Request, body: &mut Map<String, Value>) {
    if let Some(verbosity) = body.remove("verbosity") {
        let text = body.entry("text").or_insert_with(|| json!({}));
        text["verbosity"] = verbosity;
    }
    let mut include = match body.remove("include") {
        Some(Value::Array(include)) => include,
        _ => Vec::new(),
    };
    if request.sampling.logprobs {
        include.push(json!(LOGPROBS));
    }
    if request.wire != Wire::Responses {
        // The other wires keep nothing unless asked to, and what they do not keep must come back sealed.
        let thinks =
            request.reasoning.as_ref().is_some_and(|reasoning| reasoning.effort != Some(Effort::None));
        let kept = body.entry("store").or_insert(Value::Bool(false)) == &Value::Bool(true);
        if thinks && !kept {
            include.push(json!("reasoning.encrypted_content"));
        }
    }
    if !include.is_empty() {
        body.insert("include".to_owned(), Value::Array(include));
    }
}

fn refuse_unsaid(request: &Request, left_out: &mut Vec<String>) -> Result<(), Refused> {
    let sampling = &request.sampling;
    if request.choices > 1 {
        return Err(extra::unsaid("n", Wire::Responses));
    }
    if !sampling.stop.is_empty() {
        let name = if request.wire == Wire::Messages { "stop_sequences" } else { "stop" };
        return Err(extra::unsaid(name, Wire::Responses));
    }
    let hints = [
        ("top_k", sampling.top_k.is_some()),
        ("presence_penalty", sampling.presence_penalty.is_some()),
        ("frequency_penalty", sampling.frequency_penalty.is_some()),
        ("seed", sampling.seed.is_some()),
    ];
    left_out.extend(hints.iter().filter(|(_, said)| *said).map(|(name, _)| (*name).to_owned()));
    Ok(())
}

fn write_tool(request: &Request, tool: &Tool, left_out: &mut Vec<String>) -> Value {
    let mut written = json!({ "type": "function", "name": tool.name });
    if let Some(description) = &tool.description {
        written["description"] = json!(description);
    }
    let none = || json!({ "type": "object", "properties": {} });
    written["parameters"] = tool.parameters.clone().unwrap_or_else(none);
    // Absent is yes on this wire and no on the others.
    let default = (request.wire != Wire::Responses).then_some(false);
    if let Some(strict) = tool.strict.or(default) {
        written["strict"] = json!(strict);
    }
    if tool.cache_control.is_some() {
        left_out.push("cache_control".to_owned());
    }
    written
}

fn write_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
    }
}

fn write_reasoning(request: &Request, left_out: &mut Vec<String>) -> Option<Value> {
    let reasoning = request.reasoning.as_ref()?;
    let mut written = Map::new();
    written.extend(effort::for_openai(request, left_out).map(|effort| ("effort".to_owned(), json!(effort))));
    written.extend(reasoning.summary.as_ref().map(|summary| ("summary".to_owned(), json!(summary))));
    (!written.is_empty()).then_some(Value::Object(written))
}

fn write_format(format: &Format) -> Option<Value> {
    match format {
        Format::Text => None,
        Format::Json => Some(json!({ "type": "json_object" })),
        Format::Schema { .. } => {
            let mut written = Map::from_iter([("type".to_owned(), json!("json_schema"))]);
            written.extend(chat::write_schema(format));
            Some(Value::Object(written))
        }
    }
}
