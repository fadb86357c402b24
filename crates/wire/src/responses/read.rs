//! Requests, from a caller.

use serde_json::{Value, json};

use super::item;
use crate::at::At;
use crate::chat;
use crate::part::Part;
use crate::request::{
    Effort, Format, Message, Reasoning, Refused, Request, Role, Sampling, Tool, ToolChoice,
};
use crate::tools;
use crate::wire::Wire;

/// The fields that have a place in the shape between.
const KNOWN: [&str; 15] = [
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "model",
    "parallel_tool_calls",
    "reasoning",
    "stream",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
];

/// Where the vendor has what was said before.
pub(super) const KEPT: [&str; 3] = ["conversation", "previous_response_id", "prompt"];

/// Asks for probabilities.
pub(super) const LOGPROBS: &str = "message.output_text.logprobs";

pub(crate) fn read_request(body: &Value) -> Result<Request, Refused> {
    let at = At::body(body)?;
    let mut request =
        Request::new(Wire::Responses, at.need("model", "the name of a model")?.text_of(1..=200)?);
    request.include_usage = true;
    if let Some(instructions) = at.get("instructions") {
        let parts = vec![Part::text(instructions.text()?)];
        request.messages.push(Message { role: Role::System, parts });
    }
    read_input(&at, &mut request)?;
    tools::read(&at, &mut request, "`function` or a tool of OpenAI's", read_tool, read_choice)?;
    request.sampling = read_sampling(&at)?;
    if let Some(text) = at.get("text") {
        text.object()?;
        request.format = text.get("format").map_or(Ok(Format::Text), |format| read_format(&format))?;
        if let Some(verbosity) = text.get("verbosity") {
            request.extra.insert("verbosity".to_owned(), json!(verbosity.text()?));
        }
        text.name_unknown(&["format", "verbosity"], "text", &mut request.left_out);
    }
    request.reasoning =
        at.get("reasoning").map(|at| read_reasoning(&at, &mut request.left_out)).transpose()?;
    request.stream = at.get("stream").map_or(Ok(false), |stream| stream.boolean())?;
    request.parallel_tool_calls = at.get("parallel_tool_calls").map(|value| value.boolean()).transpose()?;
    request.user = at.get("user").map(|user| user.text().map(str::to_owned)).transpose()?;
    if let Some(include) = at.get("include") {
        let mut others = Vec::new();
        for item in include.items()? {
            match item.text()? {
                LOGPROBS => request.sampling.logprobs = true,
                other => others.push(json!(other)),
            }
        }
        if !others.is_empty() {
            request.extra.insert("include".to_owned(), Value::Array(others));
        }
    }
    read_extra(&at, &mut request)?;
    Ok(request)
}

fn read_input(at: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    let before = request.messages.len();
    let kept = KEPT.iter().any(|name| at.get(name).is_some());
    match at.get("input") {
        Some(input) => match input.value {
            Value::String(text) => {
                request.messages.push(Message { role: Role::User, parts: vec![Part::text(text)] });
            }
            _ => item::read(&input, request)?,
        },
        None if kept => {}
        None => {
            at.need("input", "a string or a list of items")?;
        }
    }
    if request.messages.len() == before && !kept {
        return Err(Refused::new("input", "expected at least one item"));
    }
    Ok(())
}

fn read_extra(at: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    for (name, value) in at.object()? {
        if KNOWN.contains(&name.as_str()) || value.is_null() {
            continue;
        }
        let Some(field) = at.get(name) else { continue };
        match name.as_str() {
            "metadata" | "prompt" | "stream_options" => {
                field.object()?;
            }
            "store" | "background" => {
                field.boolean()?;
            }
            "previous_response_id"
            | "truncation"
            | "service_tier"
            | "prompt_cache_key"
            | "safety_identifier" => {
                field.text()?;
            }
            "max_tool_calls" => {
                field.integer(1..=u64::MAX)?;
            }
            _ => {}
        }
        request.extra.insert(name.clone(), value.clone());
    }
    Ok(())
}

fn read_tool(tool: &At<'_>, left_out: &mut Vec<String>) -> Result<Tool, Refused> {
    let parameters = tool.get("parameters");
    if let Some(parameters) = &parameters {
        parameters.object()?;
    }
    tool.name_unknown(&["type", "name", "description", "parameters", "strict"], "tools", left_out);
    Ok(Tool {
        name: tool.need("name", "the name of the function")?.tool_name(128)?.to_owned(),
        description: tool.get("description").map(|text| text.text().map(str::to_owned)).transpose()?,
        parameters: parameters.map(|parameters| parameters.value.clone()),
        strict: tool.get("strict").map(|strict| strict.boolean()).transpose()?,
        cache_control: None,
    })
}

/// `None` is a choice that only this wire knows.
fn read_choice(choice: &At<'_>) -> Result<Option<ToolChoice>, Refused> {
    const EXPECTED: &str = "`auto`, `none`, `required` or {\"type\": \"function\", \"name\": …}";
    match choice.value {
        Value::String(word) => match word.as_str() {
            "auto" => Ok(Some(ToolChoice::Auto)),
            "none" => Ok(Some(ToolChoice::None)),
            "required" => Ok(Some(ToolChoice::Required)),
            _ => Err(choice.expected(EXPECTED)),
        },
        Value::Object(_) => match choice.need("type", "`function`")?.text()? {
            "function" => {
                let name = choice.need("name", "the name of a tool")?.text()?.to_owned();
                Ok(Some(ToolChoice::Tool(name)))
            }
            _ => Ok(None),
        },
        _ => Err(choice.expected(EXPECTED)),
    }
}

fn read_sampling(at: &At<'_>) -> Result<Sampling, Refused> {
    Ok(Sampling {
        temperature: at.get("temperature").map(|value| value.number(0.0..=2.0)).transpose()?,
        top_p: at.get("top_p").map(|value| value.number(0.0..=1.0)).transpose()?,
        max_tokens: at.get("max_output_tokens").map(|value| value.integer(1..=u64::MAX)).transpose()?,
        top_logprobs: at.get("top_logprobs").map(|value| value.integer(0..=20)).transpose()?,
        ..Sampling::default()
    })
}

fn read_format(format: &At<'_>) -> Result<Format, Refused> {
    const EXPECTED: &str = "`text`, `json_object` or `json_schema`";
    format.object()?;
    let kind = format.need("type", EXPECTED)?;
    match kind.text()? {
        "text" => Ok(Format::Text),
        "json_object" => Ok(Format::Json),
        "json_schema" => chat::read_schema(format),
        _ => Err(kind.expected(EXPECTED)),
    }
}

fn read_reasoning(at: &At<'_>, left_out: &mut Vec<String>) -> Result<Reasoning, Refused> {
    at.object()?;
    at.name_unknown(&["effort", "summary", "generate_summary"], "reasoning", left_out);
    let effort =
        match at.get("effort") {
            Some(effort) => {
                let known = Effort::from_word(effort.text()?);
                Some(known.ok_or_else(|| {
                    effort.expected("`none`, `minimal`, `low`, `medium`, `high` or `xhigh`")
                })?)
            }
            None => None,
        };
    let summary = at.get("summary").or_else(|| at.get("generate_summary"));
    let summary = summary.map(|summary| summary.text().map(str::to_owned)).transpose()?;
    Ok(Reasoning { effort, budget_tokens: None, summary })
}
