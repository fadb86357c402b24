//! Requests, for a vendor.

use serde_json::{Map, Value, json};

use super::message;
use crate::effort;
use crate::extra;
use crate::request::{Format, Refused, Request, Tool, ToolChoice, Translated};
use crate::wire::Wire;

pub(crate) fn write_request(request: &Request) -> Result<Translated, Refused> {
    let mut left_out = Vec::new();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), Value::Array(message::write(request, &mut left_out)?));
    write_tools(request, &mut body, &mut left_out);
    write_sampling(request, &mut body, &mut left_out)?;
    write_reasoning(request, &mut body, &mut left_out);
    if let Some(format) = write_format(&request.format) {
        body.insert("response_format".to_owned(), format);
    }
    if let Some(parallel) = request.parallel_tool_calls.filter(|_| body.contains_key("tools")) {
        body.insert("parallel_tool_calls".to_owned(), json!(parallel));
    }
    if request.choices != 1 {
        body.insert("n".to_owned(), json!(request.choices));
    }
    if let Some(user) = &request.user {
        body.insert("user".to_owned(), json!(user));
    }
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
        // Asked for whether or not the caller did: what is not said cannot be counted.
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    extra::carry(request, Wire::Chat, &mut body, &mut left_out)?;
    Ok(Translated { body: Value::Object(body), left_out })
}

fn write_tools(request: &Request, body: &mut Map<String, Value>, left_out: &mut Vec<String>) {
    let mut tools: Vec<Value> =
        request.tools.iter().map(|tool| write_tool(request, tool, left_out)).collect();
    if request.wire == Wire::Chat {
        tools.extend(request.extra.get("tools").and_then(Value::as_array).into_iter().flatten().cloned());
        body.extend(
            request.extra.get("tool_choice").map(|choice| ("tool_choice".to_owned(), choice.clone())),
        );
    }
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    let choice = match &request.tool_choice {
        None => return,
        Some(ToolChoice::Auto) => json!("auto"),
        Some(ToolChoice::None) => json!("none"),
        Some(ToolChoice::Required) => json!("required"),
        Some(ToolChoice::Tool(name)) => json!({ "type": "function", "function": { "name": name } }),
    };
    // Without tools there is nothing to choose, and saying so is an error.
    if body.contains_key("tools") {
        body.insert("tool_choice".to_owned(), choice);
    }
}

fn write_tool(request: &Request, tool: &Tool, left_out: &mut Vec<String>) -> Value {
    let mut function = json!({ "name": tool.name });
    if let Some(description) = &tool.description {
        function["description"] = json!(description);
    }
    if let Some(parameters) = &tool.parameters {
        function["parameters"] = parameters.clone();
    }
    if let Some(strict) = tool.strict {
        function["strict"] = json!(strict);
    }
    let mut written = json!({ "type": "function", "function": function });
    match &tool.cache_control {
        Some(control) if request.wire == Wire::Chat => written["cache_control"] = control.clone(),
        Some(_) => left_out.push("cache_control".to_owned()),
        None => {}
    }
    written
}

fn write_sampling(
    request: &Request,
    body: &mut Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Result<(), Refused> {
    let sampling = &request.sampling;
    let mut set = |name: &str, value: Option<Value>| body.extend(value.map(|value| (name.to_owned(), value)));
    set("temperature", sampling.temperature.map(Value::from));
    set("top_p", sampling.top_p.map(Value::from));
    set("presence_penalty", sampling.presence_penalty.map(Value::from));
    set("frequency_penalty", sampling.frequency_penalty.map(Value::from));
    set("seed", sampling.seed.map(Value::from));
    set(max_tokens_field(&request.model), sampling.max_tokens.map(Value::from));
    set("logprobs", sampling.logprobs.then_some(Value::Bool(true)));
    set("top_logprobs", sampling.top_logprobs.map(Value::from));
    set("stop", (!sampling.stop.is_empty()).then(|| json!(sampling.stop)));
    if request.wire == Wire::Chat {
        set("top_k", sampling.top_k.map(Value::from));
    } else if sampling.top_k.is_some() {
        left_out.push("top_k".to_owned());
    }
    if sampling.stop.len() > 4 {
        return Err(Refused::new(
            "stop_sequences",
            "the chat wire, by which this model is reached, takes at most 4",
        ));
    }
    Ok(())
}

/// OpenAI's models that think take only the new name; servers that came before it know only the old one.
fn max_tokens_field(model: &str) -> &'static str {
    if thinks(model) { "max_completion_tokens" } else { "max_tokens" }
}

fn thinks(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5"].iter().any(|name| model.starts_with(name))
}

fn write_reasoning(request: &Request, body: &mut Map<String, Value>, left_out: &mut Vec<String>) {
    if let Some(effort) = effort::for_openai(request, left_out) {
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
    if request.reasoning.as_ref().is_some_and(|reasoning| reasoning.summary.is_some()) {
        left_out.push("reasoning.summary".to_owned());
    }
}

fn write_format(format: &Format) -> Option<Value> {
    match format {
        Format::Text => None,
        Format::Json => Some(json!({ "type": "json_object" })),
        Format::Schema { .. } => Some(json!({ "type": "json_schema", "json_schema": write_schema(format) })),
    }
}

/// A schema with its name, as both of OpenAI's wires have it.
pub(crate) fn write_schema(format: &Format) -> Map<String, Value> {
    let mut written = Map::new();
    if let Format::Schema { name, description, schema, strict } = format {
        written.insert("name".to_owned(), json!(name));
        written.extend(description.iter().map(|text| ("description".to_owned(), json!(text))));
        written.insert("schema".to_owned(), schema.clone());
        written.extend(strict.map(|strict| ("strict".to_owned(), json!(strict))));
    }
    written
}
