//! Requests, from a caller.

use serde_json::{Value, json};

use super::message;
use crate::at::At;
use crate::request::{Effort, Format, Reasoning, Refused, Request, Sampling, Tool, ToolChoice};
use crate::tools;
use crate::wire::Wire;

/// The fields that have a place in the shape between.
const KNOWN: [&str; 21] = [
    "frequency_penalty",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
];

pub(crate) fn read_request(body: &Value) -> Result<Request, Refused> {
    let at = At::body(body)?;
    let mut request = Request::new(Wire::Chat, at.need("model", "the name of a model")?.text_of(1..=200)?);
    for (legacy, now) in [("functions", "tools"), ("function_call", "tool_choice")] {
        if let Some(legacy) = at.get(legacy) {
            return Err(legacy.refused(&format!("is no longer supported: use `{now}`")));
        }
    }
    message::read(&at, &mut request)?;
    tools::read(&at, &mut request, "`function`", read_tool, read_choice)?;
    request.sampling = read_sampling(&at)?;
    request.format = at.get("response_format").map_or(Ok(Format::Text), |format| read_format(&format))?;
    request.reasoning = at.get("reasoning_effort").map(|effort| read_effort(&effort)).transpose()?;
    request.stream = at.get("stream").map_or(Ok(false), |stream| stream.boolean())?;
    if let Some(options) = at.get("stream_options") {
        options.object()?;
        let usage = options.get("include_usage").map_or(Ok(false), |usage| usage.boolean())?;
        request.include_usage = usage;
        options.name_unknown(&["include_usage"], "stream_options", &mut request.left_out);
    }
    if let Some(n) = at.get("n") {
        request.choices = u32::try_from(n.integer(1..=128)?).unwrap_or(1);
    }
    request.parallel_tool_calls = at.get("parallel_tool_calls").map(|value| value.boolean()).transpose()?;
    request.user = at.get("user").map(|user| user.text().map(str::to_owned)).transpose()?;
    read_extra(&at, &mut request)?;
    Ok(request)
}

fn read_extra(at: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    for (name, value) in at.object()? {
        if KNOWN.contains(&name.as_str()) || value.is_null() {
            continue;
        }
        let Some(field) = at.get(name) else { continue };
        match name.as_str() {
            "metadata" | "logit_bias" | "audio" | "prediction" | "web_search_options" => {
                field.object()?;
            }
            "modalities" => {
                for item in field.items()? {
                    item.text()?;
                }
            }
            "store" => {
                field.boolean()?;
            }
            "service_tier" | "verbosity" | "prompt_cache_key" | "safety_identifier" => {
                field.text()?;
            }
            // Many servers take it on this wire, and some take numbers below 1 for "all".
            "top_k" => {
                if let Some(top_k) = value.as_u64().filter(|top_k| *top_k > 0) {
                    request.sampling.top_k = Some(top_k);
                    continue;
                }
            }
            _ => {}
        }
        request.extra.insert(name.clone(), value.clone());
    }
    Ok(())
}

fn read_tool(tool: &At<'_>, left_out: &mut Vec<String>) -> Result<Tool, Refused> {
    let function = tool.need("function", "an object with a name")?;
    function.object()?;
    let parameters = function.get("parameters");
    if let Some(parameters) = &parameters {
        parameters.object()?;
    }
    function.name_unknown(&["name", "description", "parameters", "strict"], "tools.function", left_out);
    tool.name_unknown(&["type", "function", "cache_control"], "tools", left_out);
    Ok(Tool {
        name: function.need("name", "the name of the function")?.tool_name(64)?.to_owned(),
        description: function.get("description").map(|text| text.text().map(str::to_owned)).transpose()?,
        parameters: parameters.map(|parameters| parameters.value.clone()),
        strict: function.get("strict").map(|strict| strict.boolean()).transpose()?,
        cache_control: tool.get("cache_control").map(|control| control.value.clone()),
    })
}

/// `None` is a choice that only this wire knows.
fn read_choice(choice: &At<'_>) -> Result<Option<ToolChoice>, Refused> {
    const EXPECTED: &str =
        "`auto`, `none`, `required` or {\"type\": \"function\", \"function\": {\"name\": …}}";
    match choice.value {
        Value::String(word) => match word.as_str() {
            "auto" => Ok(Some(ToolChoice::Auto)),
            "none" => Ok(Some(ToolChoice::None)),
            "required" => Ok(Some(ToolChoice::Required)),
            _ => Err(choice.expected(EXPECTED)),
        },
        Value::Object(_) => match choice.need("type", "`function`")?.text()? {
            "function" => {
                let function = choice.need("function", "an object with a name")?;
                function.object()?;
                let name = function.need("name", "the name of a tool")?.text()?.to_owned();
                Ok(Some(ToolChoice::Tool(name)))
            }
            "allowed_tools" | "custom" => Ok(None),
            _ => Err(choice.refused(&format!("expected {EXPECTED}"))),
        },
        _ => Err(choice.expected(EXPECTED)),
    }
}

fn read_sampling(at: &At<'_>) -> Result<Sampling, Refused> {
    let number = |name, range| at.get(name).map(|field| field.number(range)).transpose();
    let integer = |name, range| at.get(name).map(|field| field.integer(range)).transpose();
    let max_completion_tokens = integer("max_completion_tokens", 1..=u64::MAX)?;
    let max_tokens = integer("max_tokens", 1..=u64::MAX)?;
    if let (Some(new), Some(old)) = (max_completion_tokens, max_tokens)
        && new != old
    {
        return Err(Refused::new("max_tokens", "differs from `max_completion_tokens`, which replaces it"));
    }
    let seed = at.get("seed").map(|seed| seed.value.as_i64().ok_or_else(|| seed.expected("an integer")));
    Ok(Sampling {
        temperature: number("temperature", 0.0..=2.0)?,
        top_p: number("top_p", 0.0..=1.0)?,
        top_k: None,
        presence_penalty: number("presence_penalty", -2.0..=2.0)?,
        frequency_penalty: number("frequency_penalty", -2.0..=2.0)?,
        seed: seed.transpose()?,
        stop: at.get("stop").map_or(Ok(Vec::new()), |stop| read_stop(&stop))?,
        max_tokens: max_completion_tokens.or(max_tokens),
        logprobs: at.get("logprobs").map_or(Ok(false), |logprobs| logprobs.boolean())?,
        top_logprobs: integer("top_logprobs", 0..=20)?,
    })
}

fn read_stop(stop: &At<'_>) -> Result<Vec<String>, Refused> {
    if let Value::String(text) = stop.value {
        return Ok(vec![text.clone()]);
    }
    if stop.value.as_array().is_none_or(|texts| texts.len() > 4) {
        return Err(stop.expected("a string or a list of at most 4 strings"));
    }
    stop.items()?.map(|text| text.text().map(str::to_owned)).collect()
}

fn read_format(format: &At<'_>) -> Result<Format, Refused> {
    format.object()?;
    let kind = format.need("type", "`text`, `json_object` or `json_schema`")?;
    match kind.text()? {
        "text" => Ok(Format::Text),
        "json_object" => Ok(Format::Json),
        "json_schema" => {
            let schema = format.need("json_schema", "an object with a name and a schema")?;
            read_schema(&schema)
        }
        _ => Err(kind.expected("`text`, `json_object` or `json_schema`")),
    }
}

/// A schema with its name, as both of OpenAI's wires have it.
pub(crate) fn read_schema(at: &At<'_>) -> Result<Format, Refused> {
    at.object()?;
    let schema = at.get("schema");
    if let Some(schema) = &schema {
        schema.object()?;
    }
    Ok(Format::Schema {
        name: at.need("name", "a name for the schema")?.tool_name(64)?.to_owned(),
        description: at.get("description").map(|text| text.text().map(str::to_owned)).transpose()?,
        schema: schema.map_or_else(|| json!({}), |schema| schema.value.clone()),
        strict: at.get("strict").map(|strict| strict.boolean()).transpose()?,
    })
}

fn read_effort(at: &At<'_>) -> Result<Reasoning, Refused> {
    let effort = Effort::from_word(at.text()?);
    let effort =
        effort.ok_or_else(|| at.expected("`none`, `minimal`, `low`, `medium`, `high` or `xhigh`"))?;
    Ok(Reasoning { effort: Some(effort), budget_tokens: None, summary: None })
}
