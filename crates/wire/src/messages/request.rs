//! What a caller asks on the Anthropic messages wire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::at::At;
use crate::part::{ImageSource, Part, ToolCall, ToolResult};
use crate::request::{Effort, Format, Message, Reasoning, Refused, Request, Role, Tool, ToolChoice};
use crate::wire::Wire;

/// The fields that have a place in the shape between; all others are passed on as they are.
const KNOWN: [&str; 15] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "metadata",
];

/// The vendor thinks at least this long, when it is told in tokens.
const MIN_BUDGET: u64 = 1024;

/// Reads what a caller asks of `/v1/messages`.
pub(crate) fn read(body: &Value) -> Result<Request, Refused> {
    let at = At::body(body)?;
    let mut request = prompt(&at)?;
    // 0 is allowed: it fills the vendor's cache and answers nothing.
    request.sampling.max_tokens = Some(at.need("max_tokens", "an integer")?.integer(0..=u64::MAX)?);
    Ok(request)
}

/// Reads what a caller asks of `/v1/messages/count_tokens`: the same, but it is never answered.
pub(crate) fn read_count(body: &Value) -> Result<Request, Refused> {
    prompt(&At::body(body)?)
}

fn prompt(at: &At<'_>) -> Result<Request, Refused> {
    let model = at.need("model", "the name of a model")?.text_of(1..=512)?;
    let mut request = Request::new(Wire::Messages, model);
    let left_out = &mut request.left_out;

    if let Some(system) = at.get("system") {
        let parts = texts(&system, left_out)?;
        if !parts.is_empty() {
            request.messages.push(Message { role: Role::System, parts });
        }
    }
    let messages = at.need("messages", "a list of messages")?;
    for message in messages.items()? {
        request.messages.push(read_message(&message, left_out)?);
    }
    if messages.value.as_array().is_some_and(Vec::is_empty) {
        return Err(messages.refused("expected at least one message"));
    }

    let mut server_tools = Vec::new();
    if let Some(tools) = at.get("tools") {
        for tool in tools.items()? {
            match tool.get("type").map(|kind| kind.text()).transpose()? {
                None | Some("custom") => request.tools.push(read_tool(&tool, left_out)?),
                // Tools that the vendor itself runs, or whose shape only it knows.
                Some(_) => server_tools.push(tool.value.clone()),
            }
        }
    }
    if let Some(choice) = at.get("tool_choice") {
        let tool_choice = read_tool_choice(&choice)?;
        // A server's tools have names that only the vendor knows.
        if let ToolChoice::Tool(name) = &tool_choice
            && server_tools.is_empty()
            && at.get("mcp_servers").is_none()
            && !request.tools.iter().any(|tool| tool.name == *name)
        {
            return Err(Refused::new("tool_choice.name", "expected the name of one of the tools"));
        }
        request.tool_choice = Some(tool_choice);
        let disabled =
            choice.get("disable_parallel_tool_use").map(|disabled| disabled.boolean()).transpose()?;
        request.parallel_tool_calls = disabled.map(|disabled| !disabled);
    }

    let sampling = &mut request.sampling;
    sampling.temperature = at.get("temperature").map(|field| field.number(0.0..=1.0)).transpose()?;
    sampling.top_p = at.get("top_p").map(|field| field.number(0.0..=1.0)).transpose()?;
    sampling.top_k = at.get("top_k").map(|field| field.integer(0..=u64::MAX)).transpose()?;
    if let Some(stops) = at.get("stop_sequences") {
        sampling.stop =
            stops.items()?.map(|stop| stop.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    }
    request.stream = at.get("stream").map(|stream| stream.boolean()).transpose()?.unwrap_or(false);
    request.include_usage = request.stream;

    for (name, value) in at.object()? {
        if !KNOWN.contains(&name.as_str()) && !value.is_null() {
            request.extra.insert(name.clone(), value.clone());
        }
    }
    if !server_tools.is_empty() {
        request.extra.insert("tools".to_owned(), Value::Array(server_tools));
    }
    read_output(at, &mut request)?;
    read_metadata(at, &mut request)?;
    Ok(request)
}

fn read_metadata(at: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    let Some(metadata) = at.get("metadata") else { return Ok(()) };
    metadata.object()?;
    request.user = metadata.get("user_id").map(|user| user.text().map(str::to_owned)).transpose()?;
    metadata.name_unknown(&["user_id"], "metadata", &mut request.left_out);
    Ok(())
}

/// How much the model thinks, and what form its answer has: the vendor has them in one field, or in three.
fn read_output(at: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    let mut effort = None;
    let mut rest = Map::new();
    let config = at.get("output_config");
    if let Some(config) = &config {
        rest.clone_from(config.object()?);
        rest.remove("format");
        rest.retain(|_, value| !value.is_null());
        effort = config.get("effort").map(|effort| read_effort(&effort)).transpose()?;
    }
    // `output_format` is the same from the time before it was generally available.
    let format = config.as_ref().and_then(|config| config.get("format")).or_else(|| at.get("output_format"));
    if let Some(format) = format {
        request.format = read_format(&format)?;
    }

    let Some(thinking) = at.get("thinking") else {
        if let Some(effort) = effort {
            rest.remove("effort");
            request.reasoning = Some(Reasoning { effort: Some(effort), budget_tokens: None, summary: None });
        }
        keep_output_config(request, rest);
        return Ok(());
    };
    let mut reasoning = Reasoning { effort: None, budget_tokens: None, summary: None };
    let kind = thinking.need("type", "`enabled`, `disabled`, `adaptive` or `between_tools`")?;
    match kind.text()? {
        "enabled" => {
            let budget = thinking.need("budget_tokens", "an integer of at least 1024")?;
            reasoning.budget_tokens = Some(budget.integer(MIN_BUDGET..=u64::MAX)?);
        }
        // What else was said of effort is about the answer itself, and stays where it is.
        "disabled" => reasoning.effort = Some(Effort::None),
        "adaptive" => {
            reasoning.effort = effort;
            rest.remove("effort");
        }
        "between_tools" => {
            reasoning.effort = Some(Effort::Minimal);
            request.extra.insert("thinking".to_owned(), thinking.value.clone());
        }
        _ => return Err(kind.expected("`enabled`, `disabled`, `adaptive` or `between_tools`")),
    }
    if thinking.object()?.keys().any(|name| name != "type" && name != "budget_tokens") {
        request.extra.insert("thinking".to_owned(), thinking.value.clone());
    }
    request.reasoning = Some(reasoning);
    keep_output_config(request, rest);
    Ok(())
}

fn keep_output_config(request: &mut Request, rest: Map<String, Value>) {
    if !rest.is_empty() {
        request.extra.insert("output_config".to_owned(), Value::Object(rest));
    }
}

fn read_effort(at: &At<'_>) -> Result<Effort, Refused> {
    Ok(match at.text()? {
        "low" => Effort::Low,
        "medium" => Effort::Medium,
        "high" => Effort::High,
        "xhigh" => Effort::Xhigh,
        "max" => Effort::Max,
        _ => return Err(at.expected("`low`, `medium`, `high`, `xhigh` or `max`")),
    })
}

fn read_format(at: &At<'_>) -> Result<Format, Refused> {
    let kind = at.need("type", "`json_schema`")?;
    if kind.text()? != "json_schema" {
        return Err(kind.expected("`json_schema`"));
    }
    let schema = at.need("schema", "a JSON Schema")?;
    schema.object()?;
    // Other wires want a name for it; this vendor always holds the answer to the schema.
    let (name, schema) = ("response".to_owned(), schema.value.clone());
    Ok(Format::Schema { name, description: None, schema, strict: Some(true) })
}

fn read_tool(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Tool, Refused> {
    at.object()?;
    let name = at.need("name", "the name of the tool")?.tool_name(128)?.to_owned();
    let description = at.get("description").map(|text| text.text().map(str::to_owned)).transpose()?;
    let schema = at.need("input_schema", "a JSON Schema")?;
    schema.object()?;
    let strict = at.get("strict").map(|strict| strict.boolean()).transpose()?;
    let cache_control = at.get("cache_control").map(|marker| marker.value.clone());
    let known = ["type", "name", "description", "input_schema", "strict", "cache_control"];
    at.name_unknown(&known, "tools", left_out);
    Ok(Tool { name, description, parameters: Some(schema.value.clone()), strict, cache_control })
}

fn read_tool_choice(at: &At<'_>) -> Result<ToolChoice, Refused> {
    let kind = at.need("type", "`auto`, `any`, `tool` or `none`")?;
    Ok(match kind.text()? {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::Tool(at.need("name", "the name of a tool")?.text()?.to_owned()),
        _ => return Err(kind.expected("`auto`, `any`, `tool` or `none`")),
    })
}

fn read_message(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Message, Refused> {
    at.object()?;
    at.name_unknown(&["role", "content"], "messages", left_out);
    let role = at.need("role", "`user` or `assistant`")?;
    let content = at.need("content", "a string or a list of blocks")?;
    let role = match role.text()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => {
            let parts = texts(&content, left_out)?;
            return Ok(Message { role: Role::System, parts });
        }
        _ => return Err(role.expected("`user` or `assistant`")),
    };
    if let Some(text) = content.value.as_str() {
        return Ok(Message { role, parts: vec![Part::text(text)] });
    }
    if !content.value.is_array() {
        return Err(content.expected("a string or a list of blocks"));
    }
    let mut parts = Vec::new();
    for block in content.items()? {
        let part = read_block(&block, left_out)?;
        let speaker = match part {
            Part::ToolResult(_) => Some(Role::User),
            Part::ToolCall(_) | Part::Thinking { .. } | Part::RedactedThinking { .. } => {
                Some(Role::Assistant)
            }
            _ => None,
        };
        if speaker.is_some_and(|speaker| speaker != role) {
            return Err(block.refused("a message of this role has no such block"));
        }
        parts.push(part);
    }
    Ok(Message { role, parts })
}

/// Words alone, as instructions are.
fn texts(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Vec<Part>, Refused> {
    if let Some(text) = at.value.as_str() {
        return Ok(vec![Part::text(text)]);
    }
    if !at.value.is_array() {
        return Err(at.expected("a string or a list of text blocks"));
    }
    let mut parts = Vec::new();
    for block in at.items()? {
        match read_block(&block, left_out)? {
            part @ Part::Text { .. } => parts.push(part),
            _ => return Err(block.refused("expected a text block")),
        }
    }
    Ok(parts)
}

fn read_block(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Part, Refused> {
    at.object()?;
    let mut note = |known: &[&str]| at.name_unknown(known, "messages.content", left_out);
    let part = match at.need("type", "the type of the block")?.text()? {
        "text" => {
            note(&["type", "text", "cache_control"]);
            let text = at.need("text", "a string")?.text()?.to_owned();
            Part::Text { text, cache_control: at.get("cache_control").map(|marker| marker.value.clone()) }
        }
        "image" => match read_source(&at.need("source", "where the image is")?)? {
            Some(source) => {
                note(&["type", "source"]);
                Part::Image { source, detail: None }
            }
            None => Part::Foreign { value: at.value.clone() },
        },
        "document" => match read_source(&at.need("source", "where the document is")?)? {
            Some(source) => {
                note(&["type", "source", "title"]);
                let name = at.get("title").map(|title| title.text().map(str::to_owned)).transpose()?;
                Part::File { source, name }
            }
            None => Part::Foreign { value: at.value.clone() },
        },
        "thinking" => {
            note(&["type", "thinking", "signature"]);
            let text = at.need("thinking", "a string")?.text()?.to_owned();
            let signature = at.need("signature", "a string")?.text()?;
            Part::Thinking { text, signature: (!signature.is_empty()).then(|| signature.to_owned()) }
        }
        "redacted_thinking" => {
            Part::RedactedThinking { data: at.need("data", "a string")?.text()?.to_owned() }
        }
        "tool_use" => {
            note(&["type", "id", "name", "input"]);
            let id = at.need("id", "the id of the call")?.text_of(1..=512)?.to_owned();
            let name = at.need("name", "the name of a tool")?.text_of(1..=512)?.to_owned();
            let input = at.need("input", "an object")?;
            input.object()?;
            Part::ToolCall(ToolCall { id, name, arguments: input.value.to_string() })
        }
        "tool_result" => {
            note(&["type", "tool_use_id", "content", "is_error"]);
            let call = at.need("tool_use_id", "the id of a call")?.text_of(1..=512)?.to_owned();
            let failed = at.get("is_error").map(|failed| failed.boolean()).transpose()?.unwrap_or(false);
            let content = at.get("content").map(|content| result(&content, left_out)).transpose()?;
            Part::ToolResult(ToolResult { call, content: content.unwrap_or_default(), failed })
        }
        _ => Part::Foreign { value: at.value.clone() },
    };
    Ok(part)
}

/// What a tool gave.
fn result(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Vec<Part>, Refused> {
    if let Some(text) = at.value.as_str() {
        return Ok(vec![Part::text(text)]);
    }
    if !at.value.is_array() {
        return Err(at.expected("a string or a list of blocks"));
    }
    let mut parts = Vec::new();
    for block in at.items()? {
        let kind = block.need("type", "the type of the block")?;
        match kind.text()? {
            "tool_use" | "tool_result" | "thinking" | "redacted_thinking" => {
                return Err(kind.refused("a result has no such block"));
            }
            _ => parts.push(read_block(&block, left_out)?),
        }
    }
    Ok(parts)
}

/// Where a picture or a document is; none for a source that only this wire knows.
fn read_source(at: &At<'_>) -> Result<Option<ImageSource>, Refused> {
    at.object()?;
    let text = |name, expected| at.need(name, expected)?.text().map(str::to_owned);
    Ok(Some(match at.need("type", "the type of the source")?.text()? {
        "base64" => ImageSource::Base64 {
            media_type: text("media_type", "a media type")?,
            data: text("data", "the bytes in base64")?,
        },
        "url" => ImageSource::Url { url: text("url", "an address")? },
        "file" => ImageSource::FileId { id: text("file_id", "the id of a file")? },
        // Words in a document: the shape between has bytes.
        "text" => ImageSource::Base64 {
            media_type: text("media_type", "a media type")?,
            data: STANDARD.encode(text("data", "the words")?),
        },
        _ => return Ok(None),
    }))
}
